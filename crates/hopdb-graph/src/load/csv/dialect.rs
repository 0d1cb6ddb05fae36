//! The bytes that separate things in a CSV file.
//!
//! Invariant: a [`Dialect`] that exists has ASCII bytes only, none of them a line end. Delimiter and
//! quote differ from each other and from all others.

use crate::load::field::FieldRules;

/// Which bytes separate and quote fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    delimiter: u8,
    quote: u8,
    array_delimiter: u8,
    vector_delimiter: u8,
    escape: Option<u8>,
    multiline: bool,
}

impl Default for Dialect {
    /// Comma, double quote, semicolon in arrays and vectors; no escape; fields of many lines.
    fn default() -> Self {
        Self {
            delimiter: b',',
            quote: b'"',
            array_delimiter: b';',
            vector_delimiter: b';',
            escape: None,
            multiline: true,
        }
    }
}

impl Dialect {
    /// The default with another field delimiter: one ASCII character, or `\t`, `tab`, `TAB`. When
    /// it is the semicolon, arrays and vectors are split at commas.
    ///
    /// # Errors
    /// What is wrong with it, for a person.
    pub fn with_delimiter(text: &str) -> Result<Self, String> {
        let delimiter = separator(text)?;
        let items = if delimiter == b';' { b',' } else { b';' };
        Self { delimiter, array_delimiter: items, vector_delimiter: items, ..Self::default() }
            .checked()
    }

    /// The same with another array delimiter, written like a field delimiter.
    ///
    /// # Errors
    /// What is wrong with it, for a person.
    pub fn with_array_delimiter(self, text: &str) -> Result<Self, String> {
        Self { array_delimiter: separator(text)?, ..self }.checked()
    }

    /// The same with another delimiter between the numbers of a vector, written like a field
    /// delimiter. It may be the array delimiter.
    ///
    /// # Errors
    /// What is wrong with it, for a person.
    pub fn with_vector_delimiter(self, text: &str) -> Result<Self, String> {
        Self { vector_delimiter: separator(text)?, ..self }.checked()
    }

    /// The same with another quote.
    ///
    /// # Errors
    /// What is wrong with it, for a person.
    pub fn with_quote(self, text: &str) -> Result<Self, String> {
        Self { quote: separator(text)?, ..self }.checked()
    }

    /// The same with a byte that makes the next one plain in quoted fields, usually a backslash.
    /// Doubled quotes stay possible.
    ///
    /// # Errors
    /// What is wrong with it, for a person.
    pub fn with_escape(self, text: &str) -> Result<Self, String> {
        Self { escape: Some(separator(text)?), ..self }.checked()
    }

    /// The same, with or without newlines in quoted fields. Without them every newline ends a row,
    /// and a row that ends so is told to be broken.
    #[must_use]
    pub fn with_multiline(self, multiline: bool) -> Self {
        Self { multiline, ..self }
    }

    /// The byte between fields.
    #[must_use]
    pub fn delimiter(self) -> u8 {
        self.delimiter
    }

    /// The byte around quoted fields.
    #[must_use]
    pub fn quote(self) -> u8 {
        self.quote
    }

    /// The byte between the items of an array.
    #[must_use]
    pub fn array_delimiter(self) -> u8 {
        self.array_delimiter
    }

    /// The byte between the numbers of a vector.
    #[must_use]
    pub fn vector_delimiter(self) -> u8 {
        self.vector_delimiter
    }

    /// The byte that makes the next one plain in quoted fields.
    #[must_use]
    pub fn escape(self) -> Option<u8> {
        self.escape
    }

    /// Whether quoted fields may hold newlines.
    #[must_use]
    pub fn multiline(self) -> bool {
        self.multiline
    }

    /// How fields are read that are separated like this.
    #[must_use]
    pub fn field_rules(self) -> FieldRules {
        let Self { quote, array_delimiter, vector_delimiter, .. } = self;
        FieldRules { quote, array_delimiter, vector_delimiter, ..FieldRules::default() }
    }

    fn checked(self) -> Result<Self, String> {
        let delimiter = ("field delimiter", self.delimiter);
        let quote = ("quote", self.quote);
        differ(delimiter, quote)?;
        for items in
            [("array delimiter", self.array_delimiter), ("vector delimiter", self.vector_delimiter)]
        {
            differ(delimiter, items)?;
            differ(quote, items)?;
        }
        if let Some(escape) = self.escape {
            differ(delimiter, ("escape", escape))?;
            differ(quote, ("escape", escape))?;
        }
        Ok(self)
    }
}

fn differ(one: (&str, u8), other: (&str, u8)) -> Result<(), String> {
    if one.1 != other.1 {
        return Ok(());
    }
    Err(format!(
        "{} and {} must differ, both are {:?}; give another byte for one of them",
        one.0,
        other.0,
        char::from(one.1)
    ))
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
            assert_eq!(Dialect::with_delimiter(text).unwrap().delimiter(), byte);
        }
        let semicolon = Dialect::with_delimiter(";").unwrap();
        assert_eq!((semicolon.array_delimiter(), semicolon.vector_delimiter()), (b',', b','));
        for text in ["", "ab", "→", "\n", "\r", "\""] {
            assert!(Dialect::with_delimiter(text).is_err(), "{text:?} was taken");
        }
    }

    #[test]
    fn each_byte_can_be_set_and_must_differ_where_rows_would_be_unclear() {
        let default = Dialect::default();
        assert_eq!(default.with_quote("'").unwrap().quote(), b'\'');
        assert_eq!(default.with_escape("\\").unwrap().escape(), Some(b'\\'));
        assert_eq!(default.with_vector_delimiter("|").unwrap().vector_delimiter(), b'|');
        assert_eq!(default.with_array_delimiter("|").unwrap().array_delimiter(), b'|');
        assert!(!default.with_multiline(false).multiline());
        for byte in [",", "\"", "\n"] {
            assert!(default.with_array_delimiter(byte).is_err(), "{byte:?} was taken");
            assert!(default.with_vector_delimiter(byte).is_err(), "{byte:?} was taken");
            assert!(default.with_escape(byte).is_err(), "{byte:?} was taken");
        }
        assert!(default.with_quote(";").is_err());
        let why = default.with_escape("\"").unwrap_err();
        assert!(why.starts_with("quote and escape must differ, both are '\"'"), "{why}");
    }
}
