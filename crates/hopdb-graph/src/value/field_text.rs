//! Values as the fields of import files have them: the reverse of [`crate::load::field`].
//!
//! Scalars as they are (`2024-01-01`, `P1D`, `{x:1.0, y:2.0, crs:cartesian}`), bytes as `0x00ff`,
//! the items of a list and the coordinates of a vector with a delimiter between them. A list's item
//! stands in quotes of its own where it would not be read back otherwise.

use std::fmt::{self, Write as _};

use super::Value;
use super::cypher::write_float;

/// The bytes between the parts of a field; all ASCII and none like the quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separators {
    /// Around items that hold a delimiter; doubled inside them.
    pub quote: u8,
    /// Between the items of a list.
    pub array_delimiter: u8,
    /// Between the coordinates of a vector.
    pub vector_delimiter: u8,
}

impl Default for Separators {
    /// Double quote and semicolons.
    fn default() -> Self {
        Self { quote: b'"', array_delimiter: b';', vector_delimiter: b';' }
    }
}

/// Why a value cannot be a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldTextError {
    /// A list is inside a list.
    #[error("a list inside a list cannot be written as a field")]
    NestedList,
    /// A null is inside a list.
    #[error("a null inside a list cannot be written as a field")]
    NullItem,
}

impl Value {
    /// Appends the text of a field that is read back as this value, given its type, and says
    /// whether the field must stand in quotes for that: where nothing was written, but not for
    /// null, which is an empty field without quotes; and where white space could be trimmed.
    ///
    /// Other reasons to quote it (it holds the field delimiter, a quote or a newline) are those of
    /// CSV, and the caller's.
    ///
    /// # Errors
    /// [`FieldTextError`] for lists that no field can hold; `out` then holds a part.
    pub fn write_field(
        &self,
        separators: &Separators,
        out: &mut String,
    ) -> Result<bool, FieldTextError> {
        let start = out.len();
        match self {
            Self::List(items) => write_items(items, separators, out)?,
            other => write_scalar(other, separators, out),
        }
        let text = &out[start..];
        Ok(!self.is_null() && (text.is_empty() || text.trim().len() < text.len()))
    }
}

fn write_items(
    items: &[Value],
    separators: &Separators,
    out: &mut String,
) -> Result<(), FieldTextError> {
    let mut item = String::new();
    for (index, value) in items.iter().enumerate() {
        item.clear();
        match value {
            Value::List(_) => return Err(FieldTextError::NestedList),
            Value::Null => return Err(FieldTextError::NullItem),
            value => write_scalar(value, separators, &mut item),
        }
        if index > 0 {
            out.push(char::from(separators.array_delimiter));
        }
        write_item(&item, separators, out);
    }
    Ok(())
}

fn write_item(item: &str, separators: &Separators, out: &mut String) {
    let quote = char::from(separators.quote);
    let special = |byte| byte == separators.array_delimiter || byte == separators.quote;
    let plain = !item.is_empty() && item.trim().len() == item.len() && !item.bytes().any(special);
    if plain {
        out.push_str(item);
        return;
    }
    out.push(quote);
    for character in item.chars() {
        if character == quote {
            out.push(quote);
        }
        out.push(character);
    }
    out.push(quote);
}

fn write_scalar(value: &Value, separators: &Separators, out: &mut String) {
    try_write_scalar(value, separators, out).expect("a string takes everything");
}

fn try_write_scalar(value: &Value, separators: &Separators, out: &mut String) -> fmt::Result {
    match value {
        Value::Null | Value::List(_) => Ok(()),
        Value::Boolean(value) => write!(out, "{value}"),
        Value::Integer(value) => write!(out, "{value}"),
        Value::Float(value) => write_float(*value, out),
        Value::String(value) => out.write_str(value),
        Value::Bytes(bytes) => {
            out.push_str("0x");
            bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
        }
        Value::Date(value) => write!(out, "{value}"),
        Value::LocalTime(value) => write!(out, "{value}"),
        Value::Time(value) => write!(out, "{value}"),
        Value::LocalDateTime(value) => write!(out, "{value}"),
        Value::DateTime(value) => write!(out, "{value}"),
        Value::Duration(value) => write!(out, "{value}"),
        Value::Point(point) => {
            out.push('{');
            for (name, coordinate) in ["x", "y", "z"].into_iter().zip(point.coordinates()) {
                write!(out, "{name}:{coordinate:?}, ")?;
            }
            write!(out, "crs:{}}}", point.crs().name())
        }
        Value::Vector(vector) => {
            let mut delimiter = [0; 4];
            let delimiter = char::from(separators.vector_delimiter).encode_utf8(&mut delimiter);
            vector.write(out, delimiter)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{CoordinateType, Vector};

    fn text(value: impl Into<Value>) -> (String, bool) {
        let mut out = String::new();
        let quoted = value.into().write_field(&Separators::default(), &mut out).unwrap();
        (out, quoted)
    }

    #[test]
    fn fields_are_written() {
        let plain = |value: Value| {
            let (text, quoted) = text(value);
            assert!(!quoted, "{text}");
            text
        };
        assert_eq!(plain(Value::Null), "");
        assert_eq!(plain(vec![0_u8, 255].into()), "0x00ff");
        assert_eq!(plain(f64::NEG_INFINITY.into()), "-Infinity");
        assert_eq!(plain(1e300.into()), "1e300");
        assert_eq!(plain("it's".into()), "it's");
        let point: crate::value::Point = "{x: 1, y: 2}".parse().unwrap();
        assert_eq!(plain(point.into()), "{x:1.0, y:2.0, crs:cartesian}");
        let vector = Vector::parse("1;2", b';', CoordinateType::Integer8).unwrap();
        assert_eq!(plain(vector.clone().into()), "1;2");
        let items: Vec<Value> =
            vec!["a".into(), "b;c".into(), "".into(), "say \"hi\"".into(), " d".into()];
        assert_eq!(plain(items.into()), "a;\"b;c\";\"\";\"say \"\"hi\"\"\";\" d\"");
        assert_eq!(plain(Value::List(vec![vector.into()])), "\"1;2\"");
    }

    #[test]
    fn empty_texts_must_stand_in_quotes() {
        assert_eq!(text(""), (String::new(), true));
        assert_eq!(text(Vec::<Value>::new()), (String::new(), true));
        assert_eq!(text(" a"), (" a".into(), true));
    }

    #[test]
    fn lists_of_lists_and_nulls_are_refused() {
        let refused =
            |item| Value::List(vec![item]).write_field(&Separators::default(), &mut String::new());
        assert_eq!(refused(Value::Null), Err(FieldTextError::NullItem));
        assert_eq!(refused(Value::List(vec![])), Err(FieldTextError::NestedList));
    }
}
