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
//! [`codec`] has the byte layout, [`temporal`] the calendar, [`point`] the coordinate systems,
//! [`field_text`] the texts of import files; `cypher` and `literal` Cypher expressions, out and in.

pub mod codec;
mod cypher;
pub mod error;
pub mod field_text;
mod literal;
pub(crate) mod map;
pub mod point;
mod readings;
pub mod temporal;
pub mod vector;

use std::hash::{Hash, Hasher};

pub use error::TextError;
use hopdb_storage::codec::key::KeyWriter;
pub use point::{Crs, Point};
pub use temporal::{Date, DateTime, Duration, LocalDateTime, LocalTime, Time};
use vector::Number;
pub use vector::{CoordinateType, Coordinates, Vector};

/// How deep lists may nest: `[1]` is 1, `[[1]]` is 2.
pub const LIST_DEPTH_MAX: usize = 32;

/// First item of the list that stands for a vector in index keys.
const VECTOR_KEY: &[u8] = b"vector";

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
    /// A time of day.
    LocalTime(LocalTime),
    /// A time of day with an offset.
    Time(Time),
    /// A date and time of day.
    LocalDateTime(LocalDateTime),
    /// An instant with an offset, and the name of a zone perhaps.
    DateTime(DateTime),
    /// Months, days and seconds.
    Duration(Duration),
    /// A point in a coordinate system.
    Point(Point),
    /// Numbers of one type.
    Vector(Vector),
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
            Self::LocalTime(_) => "LocalTime",
            Self::Time(_) => "Time",
            Self::LocalDateTime(_) => "LocalDateTime",
            Self::DateTime(_) => "DateTime",
            Self::Duration(_) => "Duration",
            Self::Point(_) => "Point",
            Self::Vector(_) => "Vector",
        }
    }

    /// Appends the value to an index key: in Cypher's order, in which 1 and 1.0 are one place, and
    /// so are two date-times that differ in the zone's name alone. A vector is among the lists,
    /// behind those of other values: ordered by the type of its coordinates, then by them.
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
            Self::LocalTime(value) => key.local_time(value.nanos()),
            Self::Time(value) => key.zoned_time(value.local().nanos(), value.offset_seconds()),
            Self::LocalDateTime(value) => key.local_date_time(value.seconds(), value.nanos()),
            Self::DateTime(value) => {
                key.zoned_date_time(value.epoch_seconds(), value.nanos(), value.offset_seconds())
            }
            Self::Duration(value) => {
                key.duration(value.months(), value.days(), value.seconds(), value.nanos())
            }
            Self::Point(value) => key.point(value.key()),
            Self::Vector(value) => {
                // Keys have no type of their own for vectors: the bytes keep them apart from lists.
                key.list_start().bytes(VECTOR_KEY).integer(value.coordinate_type() as i64);
                value.for_each_number(|number| match number {
                    Number::Integer(value) => drop(key.integer(value)),
                    Number::Float(value) => drop(key.float(value)),
                });
                key.list_end()
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
            (Self::LocalTime(a), Self::LocalTime(b)) => a == b,
            (Self::Time(a), Self::Time(b)) => a == b,
            (Self::LocalDateTime(a), Self::LocalDateTime(b)) => a == b,
            (Self::DateTime(a), Self::DateTime(b)) => a == b,
            (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::Point(a), Self::Point(b)) => a == b,
            (Self::Vector(a), Self::Vector(b)) => a == b,
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
            Self::LocalTime(value) => value.hash(state),
            Self::Time(value) => value.hash(state),
            Self::LocalDateTime(value) => value.hash(state),
            Self::DateTime(value) => value.hash(state),
            Self::Duration(value) => value.hash(state),
            Self::Point(value) => value.hash(state),
            Self::Vector(value) => value.hash(state),
        }
    }
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
    &str => String, Vec<u8> => Bytes, Vec<Value> => List, Date => Date, LocalTime => LocalTime,
    Time => Time, LocalDateTime => LocalDateTime, DateTime => DateTime, Duration => Duration,
    Point => Point, Vector => Vector,
}

#[cfg(test)]
pub(crate) mod tests;
