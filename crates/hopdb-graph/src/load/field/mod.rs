//! One field of a row as a stored value, without anything in between.
//!
//! Rules, those of `neo4j-admin database import` unless said otherwise:
//! - An empty field without quotes is no property. `""` is the empty string, and (our own) the
//!   empty list for arrays; for other types no property. With `ignore_empty_strings` it is always
//!   none.
//! - Strings are kept to the letter. With `trim_strings` white space around those without quotes
//!   is dropped; what is inside quotes stays. Around all other types it is dropped always.
//! - An array is split at its delimiter; each item must be a value, so `1;;2` is an error for
//!   numbers and three strings, one of them empty, for strings. Our own: an item that starts with
//!   the quote ends with one, may hold the delimiter, and has quotes doubled inside.
//! - An array of `byte` is stored as bytes, and may also be written as hexadecimal digits.
//! - `true` and `false` in any case, others are errors (there they are false); floats also `NaN`
//!   and `Infinity`; numbers past the range of their type are errors, never rounded to its end.
//! - Our own: `any` is a Cypher literal, `null` no property.
//!
//! Invariant: after an error or for an absent value, `out` is as it was.

mod guess;
mod items;
mod parse;
mod typed;

use std::fmt;

pub use guess::{TypeSet, guess};
pub use typed::encode_value;

use super::header::{Column, ColumnType, Scalar, TypeOptions};
use crate::value::Value;
use crate::value::codec;
use crate::value::field_text::Separators;
use crate::value::point::PointParts;
use crate::value::temporal::Zone;
use items::Items;

/// One field of a row: its text without quotes, and whether it stood in quotes.
#[derive(Clone, Copy, Debug)]
pub struct Field<'r> {
    /// The text; doubled quotes are one already.
    pub text: &'r [u8],
    /// Whether it stood in quotes.
    pub quoted: bool,
}

/// How fields are read, for all columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldRules {
    /// Around an array's items that hold the delimiter.
    pub quote: u8,
    /// Between the items of an array.
    pub array_delimiter: u8,
    /// Between the coordinates of a vector.
    pub vector_delimiter: u8,
    /// Whether white space around strings without quotes is dropped.
    pub trim_strings: bool,
    /// Whether `""` is no property.
    pub ignore_empty_strings: bool,
}

impl Default for FieldRules {
    /// Double quote and semicolons; strings are kept as they are.
    fn default() -> Self {
        let Separators { quote, array_delimiter, vector_delimiter } = Separators::default();
        let (trim_strings, ignore_empty_strings) = (false, false);
        Self { quote, array_delimiter, vector_delimiter, trim_strings, ignore_empty_strings }
    }
}

impl From<FieldRules> for Separators {
    /// What a field must be written with to be read by these rules.
    fn from(rules: FieldRules) -> Self {
        let FieldRules { quote, array_delimiter, vector_delimiter, .. } = rules;
        Self { quote, array_delimiter, vector_delimiter }
    }
}

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
pub fn encode_field(
    column: &Column,
    rules: &FieldRules,
    field: Field<'_>,
    out: &mut Vec<u8>,
) -> Result<bool, FieldError> {
    encode_text(&column.column_type, rules, field, out)
}

fn encode_text(
    of: &ColumnType,
    rules: &FieldRules,
    field: Field<'_>,
    out: &mut Vec<u8>,
) -> Result<bool, FieldError> {
    if field.text.is_empty() {
        return Ok(field.quoted && !rules.ignore_empty_strings && encode_empty(of, out));
    }
    let text = trimmed(of.scalar, field.text, rules.trim_strings && !field.quoted);
    if text.is_empty() {
        return Ok(false);
    }
    if of.scalar == Scalar::Any {
        let value = parse::any(text).map_err(|why| error(of.scalar, text, why))?;
        return encode_any(&value, out);
    }
    let start = out.len();
    let done = if of.array {
        encode_array(of, rules, text, out)
    } else {
        encode_scalar(of, rules, text, out)
    };
    done.map(|()| true).inspect_err(|_| out.truncate(start))
}

/// Any value as it is; null is none.
fn encode_any(value: &Value, out: &mut Vec<u8>) -> Result<bool, FieldError> {
    let start = out.len();
    let done = if value.is_null() { Ok(()) } else { value.encode(out) };
    done.map(|()| !value.is_null()).map_err(|deep| {
        out.truncate(start);
        error(Scalar::Any, value.to_string().as_bytes(), deep.to_string())
    })
}

/// What `""` is, if anything.
#[cold]
fn encode_empty(of: &ColumnType, out: &mut Vec<u8>) -> bool {
    if of.is_byte_array() {
        codec::put_bytes(&[], out);
    } else if of.array {
        codec::put_list_header(0, out);
    } else if of.scalar == Scalar::String {
        codec::put_string("", out);
    } else {
        return false;
    }
    true
}

fn encode_array(
    of: &ColumnType,
    rules: &FieldRules,
    field: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), FieldError> {
    if of.is_byte_array() {
        return encode_bytes(of, rules, field, out);
    }
    let trim = rules.trim_strings;
    let items = || Items::new(field, rules, |item| trimmed(of.scalar, item, trim));
    codec::put_list_header(items().fold(0, |count, _| count + 1), out);
    for item in items() {
        let item = item.map_err(|why| error(of.scalar, field, why))?;
        codec::put_item(out, |out| encode_scalar(of, rules, &item, out))?;
    }
    Ok(())
}

/// An array of `byte`.
fn encode_bytes(
    of: &ColumnType,
    rules: &FieldRules,
    field: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), FieldError> {
    if parse::is_hexadecimal(field) {
        return encode_scalar(&ColumnType::of(Scalar::Bytes), rules, field, out);
    }
    let mut bytes = Vec::new();
    for item in Items::new(field, rules, <[u8]>::trim_ascii) {
        let item = item.map_err(|why| error(of.scalar, field, why))?;
        let value = parse::integer(&item, 1).map_err(|why| error(of.scalar, &item, why))?;
        bytes.push(value.to_le_bytes()[0]);
    }
    codec::put_bytes(&bytes, out);
    Ok(())
}

static UTC: Zone = Zone::UTC;

fn encode_scalar(
    of: &ColumnType,
    rules: &FieldRules,
    text: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), FieldError> {
    let done = match of.scalar {
        Scalar::String => parse::string(text).map(|value| codec::put_string(value, out)),
        Scalar::Integer { bytes } => {
            parse::integer(text, bytes).map(|value| codec::put_integer(value, out))
        }
        Scalar::Float => parse::float(text).map(|value| codec::put_float(value, out)),
        Scalar::Boolean => parse::boolean(text).map(|value| codec::put_boolean(value, out)),
        Scalar::Char => parse::char(text).map(|value| codec::put_string(value, out)),
        Scalar::Bytes => parse::bytes(text, |bytes| codec::put_bytes(bytes, out)),
        Scalar::Date => parse::date(text).map(|value| codec::put_date(value, out)),
        Scalar::LocalTime => parse::local_time(text).map(|value| codec::put_local_time(value, out)),
        Scalar::Time => parse::time(text, zone(of)).map(|value| codec::put_time(value, out)),
        Scalar::LocalDateTime => {
            parse::local_date_time(text).map(|value| codec::put_local_date_time(value, out))
        }
        Scalar::DateTime => {
            parse::date_time(text, zone(of)).map(|value| codec::put_date_time(&value, out))
        }
        Scalar::Duration => parse::duration(text).map(|value| codec::put_duration(value, out)),
        Scalar::Point => {
            parse::point(text, &point_parts(of)).map(|value| codec::put_point(&value, out))
        }
        Scalar::Vector => parse::vector(text, rules.vector_delimiter, &of.options)
            .map(|value| codec::put_vector(&value, out)),
        Scalar::Any => Err("it cannot be the item of an array".into()),
    };
    done.map_err(|why| error(of.scalar, text, why))
}

fn zone(of: &ColumnType) -> &Zone {
    if let TypeOptions::Zone(zone) = &of.options { zone } else { &UTC }
}

fn point_parts(of: &ColumnType) -> PointParts {
    if let TypeOptions::Point(parts) = &of.options { **parts } else { PointParts::default() }
}

#[inline]
fn trimmed(scalar: Scalar, text: &[u8], trim_strings: bool) -> &[u8] {
    match scalar {
        Scalar::String | Scalar::Char if !trim_strings => text,
        Scalar::Char if text.len() == 1 => text,
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
        Scalar::Time => "a time",
        Scalar::LocalTime => "a localtime",
        Scalar::DateTime => "a datetime",
        Scalar::LocalDateTime => "a localdatetime",
        Scalar::Duration => "a duration",
        Scalar::Point => "a point",
        Scalar::Vector => "a vector",
        Scalar::Any => "a literal",
    }
}

#[cfg(test)]
mod tests;
