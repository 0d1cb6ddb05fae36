//! The items of an array inside one field.

use std::borrow::Cow;

use super::FieldRules;

/// Items between delimiters, those in quotes without them; the error is the reason alone, and the
/// last of all.
///
/// There is one item at least: that of an empty text is empty.
pub(super) struct Items<'f, F> {
    rest: Option<&'f [u8]>,
    quote: u8,
    delimiter: u8,
    trim: F,
}

impl<'f, F: Fn(&'f [u8]) -> &'f [u8]> Items<'f, F> {
    /// The items of `field`, those without quotes after `trim`.
    pub(super) fn new(field: &'f [u8], rules: &FieldRules, trim: F) -> Self {
        let FieldRules { quote, array_delimiter: delimiter, .. } = *rules;
        Self { rest: Some(field), quote, delimiter, trim }
    }

    /// The item that starts behind a quote.
    #[cold]
    fn quoted(&mut self, text: &'f [u8]) -> Result<Cow<'f, [u8]>, String> {
        self.rest = None;
        let mut item = Cow::Borrowed(&text[..0]);
        let mut text = text;
        loop {
            let Some(end) = text.iter().position(|&byte| byte == self.quote) else {
                return Err("an item's quote is not closed; double the quotes inside one".into());
            };
            let (part, after) = (&text[..end], &text[end + 1..]);
            if item.is_empty() {
                item = Cow::Borrowed(part);
            } else {
                item.to_mut().extend_from_slice(part);
            }
            if let Some((_, more)) = after.split_first().filter(|(byte, _)| **byte == self.quote) {
                item.to_mut().push(self.quote);
                text = more;
                continue;
            }
            match (self.trim)(after).split_first() {
                None => {}
                Some((&byte, _)) if byte == self.delimiter => {
                    let skipped = after.iter().position(|&byte| byte == self.delimiter);
                    self.rest = skipped.map(|skipped| &after[skipped + 1..]);
                }
                Some(_) => {
                    let shown: String = String::from_utf8_lossy(after).chars().take(10).collect();
                    return Err(format!(
                        "after an item's closing quote comes {shown:?}; put the whole item in \
                         quotes and double those inside"
                    ));
                }
            }
            return Ok(item);
        }
    }
}

impl<'f, F: Fn(&'f [u8]) -> &'f [u8]> Iterator for Items<'f, F> {
    type Item = Result<Cow<'f, [u8]>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.rest?;
        if let Some((_, text)) =
            (self.trim)(text).split_first().filter(|(byte, _)| **byte == self.quote)
        {
            return Some(self.quoted(text));
        }
        let end = text.iter().position(|&byte| byte == self.delimiter);
        let item = &text[..end.unwrap_or(text.len())];
        self.rest = end.map(|end| &text[end + 1..]);
        Some(Ok(Cow::Borrowed((self.trim)(item))))
    }
}
