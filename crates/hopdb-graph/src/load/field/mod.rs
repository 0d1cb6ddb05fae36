//! One field of a row as a stored value, without anything in between.
//!
//! Rules, those of `neo4j-admin database import` unless said otherwise:
//! - An empty field is no property. (Quoted or not: the CSV reader does not tell `""` from nothing.)
//! - An array is split at its delimiter; each item must be a value, so `1;;2` is an error for
//!   numbers and three strings, one of them empty, for strings.
//! - Strings are kept to the letter; around all other types white space is dropped.
//! - `true` and `false` in any case; floats also `NaN` and `Infinity`; numbers past the range of
//!   their type are errors, never rounded to its end.
//!
//! Invariant: after an error or for an absent value, `out` is as it was.

mod parse;

use std::fmt;

use super::header::{Column, ColumnType, Scalar};
use crate::value::codec;

/// Why a field's text is no value of its column's type. Where it stood is added by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The text, or its beginning.
    pub text: String,
    /// What it should have been, with an article.
    pub wanted: &'static str,
    /// Why it is not that.
    pub why: String,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not {}: {}", self.text, self.wanted, self.why)
    }
}

impl std::error::Error for FieldError {}

/// Appends the stored value of `field`, and says whether there is one.
///
/// # Errors
/// When the text is not of the column's type.
pub fn encode_field(column: &Column, field: &[u8], out: &mut Vec<u8>) -> Result<bool, FieldError> {
    let ColumnType { scalar, array_delimiter } = column.column_type;
    let field = trimmed(scalar, field);
    if field.is_empty() {
        return Ok(false);
    }
    let start = out.len();
    let done = match array_delimiter {
        None => encode_scalar(scalar, field, out),
        Some(delimiter) => encode_array(scalar, delimiter, field, out),
    };
    done.map(|()| true).inspect_err(|_| out.truncate(start))
}

fn encode_array(
    scalar: Scalar,
    delimiter: u8,
    field: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), FieldError> {
    let items = || field.split(|&byte| byte == delimiter);
    codec::put_list_header(items().fold(0, |count, _| count + 1), out);
    for item in items() {
        codec::put_item(out, |out| encode_scalar(scalar, trimmed(scalar, item), out))?;
    }
    Ok(())
}

fn encode_scalar(scalar: Scalar, text: &[u8], out: &mut Vec<u8>) -> Result<(), FieldError> {
    let done = match scalar {
        Scalar::Integer { bytes } => {
            parse::integer(text, bytes).map(|value| codec::put_integer(value, out))
        }
        Scalar::Float => parse::float(text).map(|value| codec::put_float(value, out)),
        Scalar::Boolean => parse::boolean(text).map(|value| codec::put_boolean(value, out)),
        Scalar::String => parse::string(text).map(|value| codec::put_string(value, out)),
        Scalar::Char => parse::char(text).map(|value| codec::put_string(value, out)),
        Scalar::Bytes => parse::bytes(text, |bytes| codec::put_bytes(bytes, out)),
        Scalar::Date => parse::date(text).map(|value| codec::put_date(value, out)),
        Scalar::DateTime => parse::date_time(text).map(|value| codec::put_date_time(&value, out)),
    };
    done.map_err(|why| error(scalar, text, why))
}

fn trimmed(scalar: Scalar, text: &[u8]) -> &[u8] {
    match scalar {
        Scalar::String | Scalar::Char => text,
        _ => text.trim_ascii(),
    }
}

/// How much of a wrong text is shown.
const SHOWN_CHARS_MAX: usize = 40;

#[cold]
fn error(scalar: Scalar, text: &[u8], why: String) -> FieldError {
    let whole = String::from_utf8_lossy(&text[..text.len().min(4 * SHOWN_CHARS_MAX)]);
    let mut shown: String = whole.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    FieldError { text: shown, wanted: wanted(scalar), why }
}

fn wanted(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Integer { bytes: 1 } => "a byte",
        Scalar::Integer { bytes: 2 } => "a short",
        Scalar::Integer { bytes: 4 } => "an int",
        Scalar::Integer { .. } => "a long",
        Scalar::Float => "a float",
        Scalar::Boolean => "a boolean",
        Scalar::String => "a string",
        Scalar::Char => "a char",
        Scalar::Bytes => "bytes",
        Scalar::Date => "a date",
        Scalar::DateTime => "a datetime",
    }
}

#[cfg(test)]
mod tests;
