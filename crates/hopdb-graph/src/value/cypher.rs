//! Values as Cypher expressions.

use std::fmt;

use super::Value;

impl fmt::Display for Value {
    /// Prints the value as a Cypher expression that makes it; bytes, for which Cypher has none, as
    /// GQL's `X'0aff'`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write_float(*value, f),
            Self::String(value) => write_string(value, f),
            Self::Bytes(bytes) => {
                f.write_str("X'")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str("'")
            }
            Self::List(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{value}")?;
                }
                f.write_str("]")
            }
            Self::Date(value) => write!(f, "date('{value}')"),
            Self::LocalTime(value) => write!(f, "localtime('{value}')"),
            Self::Time(value) => write!(f, "time('{value}')"),
            Self::LocalDateTime(value) => write!(f, "localdatetime('{value}')"),
            Self::DateTime(value) => write!(f, "datetime('{value}')"),
            Self::Duration(value) => write!(f, "duration('{value}')"),
            Self::Point(value) => write!(f, "point({value})"),
            Self::Vector(value) => write!(f, "{value}"),
        }
    }
}

/// Rust's debug form always has a point or an exponent, so the text reads back as a float.
pub(super) fn write_float(value: f64, f: &mut impl fmt::Write) -> fmt::Result {
    if value.is_nan() {
        f.write_str("NaN")
    } else if value.is_infinite() {
        f.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        write!(f, "{value:?}")
    }
}

fn write_string(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("'")?;
    for character in text.chars() {
        match character {
            '\'' => f.write_str("\\'")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            control if control.is_control() => write!(f, "\\u{:04x}", u32::from(control))?,
            other => write!(f, "{other}")?,
        }
    }
    f.write_str("'")
}
