//! The types a header can give a column.
//!
//! Names are those of `neo4j-admin database import`, in upper or lower case, and `bytes`. Narrow
//! integers are checked for their range and stored as 64-bit integers like all others.

/// The type of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A signed integer of this many bytes: `byte` 1, `short` 2, `int` 4, `long` and
    /// `integer` (Cypher's own name) 8.
    Integer {
        /// Width in bytes, which bounds the value.
        bytes: u8,
    },
    /// `float`, `double`: stored as a 64-bit float.
    Float,
    /// `boolean`, `bool`.
    Boolean,
    /// `string`.
    String,
    /// `char`: a string of one character.
    Char,
    /// `bytes`: hexadecimal digits after `0x`.
    Bytes,
    /// `date`.
    Date,
    /// `datetime`: read as UTC when it has no offset.
    DateTime,
}

/// The type of a column's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnType {
    /// The type of a value, or of each item of an array.
    pub scalar: Scalar,
    /// For an array (`type[]`), the byte between its items.
    pub array_delimiter: Option<u8>,
}

impl ColumnType {
    /// Plain text.
    pub const STRING: Self = Self { scalar: Scalar::String, array_delimiter: None };
}

/// Types of the same tool that we cannot store yet.
const NOT_YET: [&str; 6] = ["point", "time", "localtime", "localdatetime", "duration", "vector"];

/// Reads `type` or `type[]`; the error is the reason alone.
pub(super) fn parse(text: &str, array_delimiter: u8) -> Result<ColumnType, String> {
    let (name, array) = match text.strip_suffix("[]") {
        Some(name) => (name.trim_end(), true),
        None => (text, false),
    };
    let lower = name.to_ascii_lowercase();
    let scalar = match lower.as_str() {
        "byte" => Scalar::Integer { bytes: 1 },
        "short" => Scalar::Integer { bytes: 2 },
        "int" => Scalar::Integer { bytes: 4 },
        "long" | "integer" => Scalar::Integer { bytes: 8 },
        "float" | "double" => Scalar::Float,
        "boolean" | "bool" => Scalar::Boolean,
        "string" => Scalar::String,
        "char" => Scalar::Char,
        "bytes" => Scalar::Bytes,
        "date" => Scalar::Date,
        "datetime" => Scalar::DateTime,
        other if NOT_YET.contains(&other) => {
            return Err(format!("the type {name} is not supported yet; load it as string"));
        }
        _ => {
            return Err(format!(
                "{name:?} is not a type; use byte, short, int, long, float, double, boolean, \
                 string, char, bytes, date or datetime, with [] for an array, or rename the column \
                 if the colon belongs to its name"
            ));
        }
    };
    Ok(ColumnType { scalar, array_delimiter: array.then_some(array_delimiter) })
}
