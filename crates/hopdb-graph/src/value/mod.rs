//! Property values: what a node or relationship can hold under a property key.
//!
//! Invariants: two values are equal exactly when their stored bytes are equal ("stored equality"):
//! the integer 1 and the float 1.0 differ, NaN equals itself, 0.0 and -0.0 differ. Cypher's own
//! `=` (three-valued, numeric across types) belongs to the query layer, not here.
//!
//! Limits: lists nest at most [`LIST_DEPTH_MAX`] deep; an encoded value is shorter than 4 GiB;
//! dates and date-times lie within the years -9999 to 9999. Null is a value so that lists can hold
//! it; a property that is null is not stored at all.
//!
//! [`codec`] has the byte layout, [`temporal`] the calendar.

pub mod codec;
pub mod temporal;

use std::fmt;
use std::hash::{Hash, Hasher};

use hopdb_storage::codec::key::KeyWriter;
pub use temporal::{Date, DateTime, TemporalError};

/// How deep lists may nest: `[1]` is 1, `[[1]]` is 2.
pub const LIST_DEPTH_MAX: usize = 32;

/// One property value.
#[derive(Clone, Debug)]
pub enum Value {
    /// No value.
    Null,
    /// True or false.
    Boolean(bool),
    /// A 64-bit signed integer.
    Integer(i64),
    /// A 64-bit IEEE 754 float, NaN and infinities included.
    Float(f64),
    /// Unicode text.
    String(String),
    /// Raw bytes.
    Bytes(Vec<u8>),
    /// Values of any kinds in order.
    List(Vec<Value>),
    /// A calendar day.
    Date(Date),
    /// An instant with an offset.
    DateTime(DateTime),
}

impl Value {
    /// The type's name as error messages write it.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "Null",
            Self::Boolean(_) => "Boolean",
            Self::Integer(_) => "Integer",
            Self::Float(_) => "Float",
            Self::String(_) => "String",
            Self::Bytes(_) => "Bytes",
            Self::List(_) => "List",
            Self::Date(_) => "Date",
            Self::DateTime(_) => "DateTime",
        }
    }

    /// Appends the value to an index key: in Cypher's order, in which 1 and 1.0 are one place.
    ///
    /// Equal keys are therefore not always equal values: whoever looks for stored equality must
    /// compare the values as well.
    pub fn key(&self, key: &mut KeyWriter<'_>) {
        match self {
            Self::Null => key.null(),
            Self::Boolean(value) => key.boolean(*value),
            Self::Integer(value) => key.integer(*value),
            Self::Float(value) => key.float(*value),
            Self::String(value) => key.string(value),
            Self::Bytes(value) => key.bytes(value),
            Self::List(values) => {
                key.list_start();
                values.iter().for_each(|value| value.key(key));
                key.list_end()
            }
            Self::Date(value) => key.date(value.days()),
            Self::DateTime(value) => {
                key.zoned_date_time(value.epoch_seconds(), value.nanos(), value.offset_seconds())
            }
        };
    }

    /// Whether this is [`Value::Null`].
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Date(a), Self::Date(b)) => a == b,
            (Self::DateTime(a), Self::DateTime(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Null => {}
            Self::Boolean(value) => value.hash(state),
            Self::Integer(value) => value.hash(state),
            Self::Float(value) => value.to_bits().hash(state),
            Self::String(value) => value.hash(state),
            Self::Bytes(value) => value.hash(state),
            Self::List(values) => values.hash(state),
            Self::Date(value) => value.hash(state),
            Self::DateTime(value) => value.hash(state),
        }
    }
}

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
            Self::DateTime(value) => write!(f, "datetime('{value}')"),
        }
    }
}

/// Rust's debug form always has a point or an exponent, so the text reads back as a float.
fn write_float(value: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

macro_rules! from {
    ($($source:ty => $variant:ident),* $(,)?) => {
        $(impl From<$source> for Value {
            fn from(value: $source) -> Self {
                Self::$variant(value.into())
            }
        })*
    };
}

from! {
    bool => Boolean, i64 => Integer, i32 => Integer, f64 => Float, String => String,
    &str => String, Vec<u8> => Bytes, Vec<Value> => List, Date => Date, DateTime => DateTime,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_print_as_cypher() {
        let values = Value::List(vec![
            Value::Null,
            true.into(),
            (-5_i64).into(),
            1.0.into(),
            1e300.into(),
            f64::NEG_INFINITY.into(),
            f64::NAN.into(),
            "it's \\ a\nline\u{1}".into(),
            vec![10_u8, 255].into(),
            Date::from_days(0).unwrap().into(),
            DateTime::new(0, 0, 3600).unwrap().into(),
        ]);
        assert_eq!(
            values.to_string(),
            "[null, true, -5, 1.0, 1e300, -Infinity, NaN, 'it\\'s \\\\ a\\nline\\u0001', X'0aff', \
             date('1970-01-01'), datetime('1970-01-01T01:00:00+01:00')]"
        );
    }

    #[test]
    fn keys_order_numbers_as_one_and_values_by_kind() {
        let key = |value: Value| {
            let mut out = Vec::new();
            value.key(&mut KeyWriter::new(&mut out));
            out
        };
        assert_eq!(key(1_i64.into()), key(1.0.into()));
        let ascending = [
            Value::List(vec!["a".into()]),
            Value::List(vec!["a".into(), 1_i64.into()]),
            "a".into(),
            "a\0".into(),
            "b".into(),
            false.into(),
            true.into(),
            (-1_i64).into(),
            1.5.into(),
            2_i64.into(),
            f64::NAN.into(),
            Value::Null,
        ];
        assert!(ascending.map(key).is_sorted_by(|a, b| a < b));
        let day = |days| key(Date::from_days(days).unwrap().into());
        assert!(day(-1) < day(0));
        let time = |seconds, offset| key(DateTime::new(seconds, 0, offset).unwrap().into());
        assert!(time(-5, 60) < time(5, -60));
    }

    #[test]
    fn equality_is_of_the_stored_form() {
        assert_eq!(Value::Float(f64::NAN), Value::Float(f64::NAN));
        assert_ne!(Value::Float(0.0), Value::Float(-0.0));
        assert_ne!(Value::Integer(1), Value::Float(1.0));
        assert_ne!(Value::from("1"), Value::Bytes(b"1".to_vec()));
        assert_eq!(Value::Null, Value::Null);
    }
}
