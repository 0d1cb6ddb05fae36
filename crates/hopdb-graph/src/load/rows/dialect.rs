//! The bytes that separate things in a CSV file.
//!
//! Invariant: a [`Dialect`] that exists has three different ASCII bytes, none of them a line end.

/// Which bytes separate and quote fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    pub(super) delimiter: u8,
    pub(super) quote: u8,
    pub(super) array_delimiter: u8,
}

impl Default for Dialect {
    /// Comma, double quote, semicolon.
    fn default() -> Self {
        Self { delimiter: b',', quote: b'"', array_delimiter: b';' }
    }
}

impl Dialect {
    /// The default with another field delimiter: one ASCII character, or `\t`, `tab`, `TAB`. When
    /// it is the semicolon, arrays are split at commas.
    ///
    /// # Errors
    /// What is wrong with it, for a person.
    pub fn with_delimiter(text: &str) -> Result<Self, String> {
        let delimiter = separator(text)?;
        let array_delimiter = if delimiter == b';' { b',' } else { b';' };
        Self { delimiter, array_delimiter, ..Self::default() }.checked()
    }

    /// The same with another array delimiter, written like a field delimiter.
    ///
    /// # Errors
    /// What is wrong with it, for a person.
    pub fn with_array_delimiter(self, text: &str) -> Result<Self, String> {
        Self { array_delimiter: separator(text)?, ..self }.checked()
    }

    /// The same with another quote.
    ///
    /// # Errors
    /// What is wrong with it, for a person.
    pub fn with_quote(self, text: &str) -> Result<Self, String> {
        Self { quote: separator(text)?, ..self }.checked()
    }

    /// The byte between the items of an array.
    #[must_use]
    pub fn array_delimiter(self) -> u8 {
        self.array_delimiter
    }

    fn checked(self) -> Result<Self, String> {
        let Self { delimiter, quote, array_delimiter } = self;
        if delimiter == quote || delimiter == array_delimiter || quote == array_delimiter {
            return Err(format!(
                "field delimiter {:?}, quote {:?} and array delimiter {:?} must differ",
                char::from(delimiter),
                char::from(quote),
                char::from(array_delimiter)
            ));
        }
        Ok(self)
    }
}

fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" | b"tab" | b"TAB" => Ok(b'\t'),
        [b'\n' | b'\r'] => Err("a line end cannot separate fields".into()),
        [byte] => Ok(*byte),
        _ => Err(format!("{text:?} is not one ASCII character; write tab for a tabulator")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_read() {
        for (text, byte) in [("\\t", b'\t'), ("tab", b'\t'), ("TAB", b'\t'), ("|", b'|')] {
            assert_eq!(Dialect::with_delimiter(text).unwrap().delimiter, byte);
        }
        assert_eq!(Dialect::with_delimiter(";").unwrap().array_delimiter(), b',');
        for text in ["", "ab", "→", "\n", "\""] {
            assert!(Dialect::with_delimiter(text).is_err(), "{text:?} was taken");
        }
        assert!(Dialect::default().with_array_delimiter(",").is_err());
        assert_eq!(Dialect::default().with_quote("'").unwrap().quote, b'\'');
    }
}
