//! Flat maps as text, `{x: 1, crs: 'WGS-84'}`: points have them, and the options of a header.
//!
//! Keys and values may stand in single quotes, double quotes or backticks, which cannot be inside
//! them; without quotes a value runs to the next comma. Nothing is nested.

use super::error::TextError;

/// Calls `each` with every key and value of `text`, in order.
///
/// # Errors
/// When the text is no such map, and those of `each`.
pub(crate) fn for_each_entry<'t>(
    text: &'t str,
    mut each: impl FnMut(&'t str, &'t str) -> Result<(), TextError>,
) -> Result<(), TextError> {
    let inner = text
        .trim()
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .ok_or_else(|| TextError::new("it does not stand in braces"))?;
    let mut rest = inner.trim();
    while !rest.is_empty() {
        let (key, after) = word(rest, ':')?;
        let after = after
            .strip_prefix(':')
            .ok_or_else(|| TextError::new(format!("{key:?} has no value; write {key}: value")))?;
        let (value, after) = word(after.trim_start(), ',')?;
        each(key, value)?;
        rest = match after.strip_prefix(',') {
            Some(next) => next.trim_start(),
            None => after,
        };
    }
    Ok(())
}

/// The word at the start of `text`, quoted or up to `end`; and what comes behind it, which is
/// nothing or starts with `end`.
fn word(text: &str, end: char) -> Result<(&str, &str), TextError> {
    let Some(quote) = text.chars().next().filter(|first| matches!(first, '\'' | '"' | '`')) else {
        let (word, rest) = text.split_at(text.find(end).unwrap_or(text.len()));
        return Ok((word.trim_end(), rest));
    };
    let (word, rest) = text[1..]
        .split_once(quote)
        .ok_or_else(|| TextError::new(format!("the quote {quote} is not closed")))?;
    let rest = rest.trim_start();
    if rest.is_empty() || rest.starts_with(end) {
        Ok((word, rest))
    } else {
        Err(TextError::new(format!("after {quote}{word}{quote} a {end:?} is missing")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str) -> Result<Vec<(&str, &str)>, String> {
        let mut found = Vec::new();
        for_each_entry(text, |key, value| {
            found.push((key, value));
            Ok(())
        })
        .map_err(|error| error.to_string())?;
        Ok(found)
    }

    #[test]
    fn maps_are_read_in_any_quoting() {
        let wanted = Ok(vec![("x", "1"), ("crs", "WGS-84")]);
        assert_eq!(entries("{x: 1, crs: 'WGS-84'}"), wanted);
        assert_eq!(entries(" {'x':1,\"crs\" : WGS-84 } "), wanted);
        assert_eq!(entries("{`x`: \"1\",crs:`WGS-84`,}"), wanted);
        assert_eq!(entries("{timezone:+01:00}"), Ok(vec![("timezone", "+01:00")]));
        assert_eq!(entries("{}"), Ok(vec![]));
    }

    #[test]
    fn wrong_maps_are_named() {
        for (text, reason) in [
            ("x: 1", "it does not stand in braces"),
            ("{x}", "\"x\" has no value; write x: value"),
            ("{x: 'a}", "the quote ' is not closed"),
            ("{'x' y: 1}", "after 'x' a ':' is missing"),
            ("{x: 'a' b}", "after 'a' a ',' is missing"),
        ] {
            assert_eq!(entries(text), Err(reason.to_owned()), "{text}");
        }
    }
}
