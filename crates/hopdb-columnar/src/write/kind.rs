//! The type of a column to be written: its name, its Arrow type, and arrays of its values.

use std::sync::Arc;

use arrow_array::types::{
    Date32Type, Float64Type, Int64Type, Time64NanosecondType, TimestampMicrosecondType,
};
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, ListArray, PrimitiveArray, StringArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, FieldRef, TimeUnit};
use hopdb::Value;
use hopdb::load::{Separators, TableColumn};

const UTC: &str = "UTC";
const MICROS_PER_SECOND: i64 = 1_000_000;
const NANOS_PER_MICRO: u32 = 1_000;

/// The type of a column, or of the items of its lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalar {
    Boolean,
    Integer,
    Float,
    String,
    Bytes,
    Date,
    LocalTime,
    LocalDateTime,
    DateTime,
    /// Whatever has no type in Arrow, as text.
    Text,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    scalar: Scalar,
    is_list: bool,
}

impl Kind {
    /// That which a header calls `type_text`.
    pub(super) fn of(type_text: Option<&str>) -> Self {
        let Some(text) = type_text else { return Self { scalar: Scalar::Text, is_list: false } };
        let lower = text.trim().to_ascii_lowercase();
        let item = lower.strip_suffix("[]");
        if item.is_some_and(|item| item.trim_end() == "byte") {
            return Self { scalar: Scalar::Bytes, is_list: false };
        }
        let scalar = match item.unwrap_or(&lower).trim_end() {
            "boolean" | "bool" => Scalar::Boolean,
            "byte" | "short" | "int" | "integer" | "long" => Scalar::Integer,
            "float" | "double" => Scalar::Float,
            "string" | "char" => Scalar::String,
            "bytes" => Scalar::Bytes,
            "date" => Scalar::Date,
            "localtime" => Scalar::LocalTime,
            "localdatetime" => Scalar::LocalDateTime,
            "datetime" => Scalar::DateTime,
            _ => Scalar::Text,
        };
        Self { scalar, is_list: item.is_some() }
    }

    /// The column's name, with its type when the file cannot say it and the name does not.
    pub(super) fn name(self, column: &TableColumn) -> String {
        match &column.type_text {
            Some(text) if self.scalar == Scalar::Text && !column.name.contains(':') => {
                format!("{}:{}", column.name, text.trim())
            }
            _ => column.name.clone(),
        }
    }

    pub(super) fn data_type(self) -> DataType {
        if self.is_list { DataType::List(self.item()) } else { self.scalar.data_type() }
    }

    fn item(self) -> FieldRef {
        Arc::new(Field::new("element", self.scalar.data_type(), true))
    }

    pub(super) fn fits(self, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::List(items) if self.is_list => items.iter().all(|item| self.scalar.fits(item)),
            _ => !self.is_list && self.scalar.fits(value),
        }
    }

    /// For messages.
    pub(super) fn shown(self) -> String {
        let scalar = match self.scalar {
            Scalar::Boolean => "boolean",
            Scalar::Integer => "long",
            Scalar::Float => "double",
            Scalar::String | Scalar::Text => "string",
            Scalar::Bytes => "bytes",
            Scalar::Date => "date",
            Scalar::LocalTime => "localtime",
            Scalar::LocalDateTime => "localdatetime of whole microseconds",
            Scalar::DateTime => "datetime in UTC of whole microseconds",
        };
        if self.is_list { format!("list of {scalar}") } else { scalar.to_owned() }
    }

    /// All values, each of which fits.
    pub(super) fn array(self, values: &[Value]) -> ArrayRef {
        if !self.is_list {
            return self.scalar.array(&values.iter().collect::<Vec<_>>());
        }
        let lengths = values.iter().map(|value| list_items(value).map_or(0, <[Value]>::len));
        let nulls: NullBuffer = values.iter().map(|value| !value.is_null()).collect();
        let flat: Vec<&Value> = values.iter().filter_map(list_items).flatten().collect();
        let offsets = OffsetBuffer::from_lengths(lengths);
        Arc::new(ListArray::new(self.item(), offsets, self.scalar.array(&flat), Some(nulls)))
    }
}

fn list_items(value: &Value) -> Option<&[Value]> {
    match value {
        Value::List(items) => Some(items),
        _ => None,
    }
}

impl Scalar {
    fn data_type(self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::Integer => DataType::Int64,
            Self::Float => DataType::Float64,
            Self::String | Self::Text => DataType::Utf8,
            Self::Bytes => DataType::Binary,
            Self::Date => DataType::Date32,
            Self::LocalTime => DataType::Time64(TimeUnit::Nanosecond),
            Self::LocalDateTime => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::DateTime => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
        }
    }

    fn fits(self, value: &Value) -> bool {
        match (self, value) {
            (_, Value::Null)
            | (Self::Text, _)
            | (Self::Boolean, Value::Boolean(_))
            | (Self::Integer, Value::Integer(_))
            | (Self::Float, Value::Float(_))
            | (Self::String, Value::String(_))
            | (Self::Bytes, Value::Bytes(_)) => true,
            (Self::Date, Value::Date(date)) => i32::try_from(date.days()).is_ok(),
            (Self::LocalTime, Value::LocalTime(_)) => true,
            (Self::LocalDateTime, Value::LocalDateTime(_))
            | (Self::DateTime, Value::DateTime(_)) => micros(value).is_some(),
            _ => false,
        }
    }

    /// All values; null for those that do not fit.
    fn array(self, values: &[&Value]) -> ArrayRef {
        match self {
            Self::Boolean => {
                let get = |value: &&Value| match value {
                    Value::Boolean(value) => Some(*value),
                    _ => None,
                };
                Arc::new(values.iter().map(get).collect::<BooleanArray>())
            }
            Self::Integer => {
                let get = |value: &&Value| match value {
                    Value::Integer(value) => Some(*value),
                    _ => None,
                };
                Arc::new(values.iter().map(get).collect::<PrimitiveArray<Int64Type>>())
            }
            Self::Float => {
                let get = |value: &&Value| match value {
                    Value::Float(value) => Some(*value),
                    _ => None,
                };
                Arc::new(values.iter().map(get).collect::<PrimitiveArray<Float64Type>>())
            }
            Self::Bytes => {
                let get = |value: &&Value| match value {
                    Value::Bytes(bytes) => Some(bytes.clone()),
                    _ => None,
                };
                Arc::new(values.iter().map(get).collect::<BinaryArray>())
            }
            Self::String | Self::Text => {
                Arc::new(values.iter().map(|value| text(value)).collect::<StringArray>())
            }
            Self::Date => {
                let get = |value: &&Value| match value {
                    Value::Date(date) => i32::try_from(date.days()).ok(),
                    _ => None,
                };
                Arc::new(values.iter().map(get).collect::<PrimitiveArray<Date32Type>>())
            }
            Self::LocalTime => {
                let get = |value: &&Value| match value {
                    Value::LocalTime(time) => i64::try_from(time.nanos()).ok(),
                    _ => None,
                };
                Arc::new(values.iter().map(get).collect::<PrimitiveArray<Time64NanosecondType>>())
            }
            Self::LocalDateTime | Self::DateTime => {
                let array: PrimitiveArray<TimestampMicrosecondType> =
                    values.iter().map(|value| micros(value)).collect();
                let zone = (self == Self::DateTime).then_some(UTC);
                Arc::new(array.with_timezone_opt(zone))
            }
        }
    }
}

/// Microseconds since 1970-01-01T00:00, in UTC or on the value's own clock, when they say all that
/// the value says.
fn micros(value: &Value) -> Option<i64> {
    let (seconds, nanos) = match value {
        Value::LocalDateTime(time) => (time.seconds(), time.nanos()),
        Value::DateTime(time) if time.offset_seconds() == 0 && time.zone().is_none() => {
            (time.epoch_seconds(), time.nanos())
        }
        _ => return None,
    };
    if !nanos.is_multiple_of(NANOS_PER_MICRO) {
        return None;
    }
    seconds.checked_mul(MICROS_PER_SECOND)?.checked_add(i64::from(nanos / NANOS_PER_MICRO))
}

/// A value as text, none for null: what a CSV field of its type would be.
fn text(value: &Value) -> Option<String> {
    let mut text = String::new();
    match value {
        Value::Null => return None,
        Value::String(text) => return Some(text.clone()),
        // Nested, or with nulls: as Cypher writes it, which no header type reads anyway.
        list @ Value::List(_) => return Some(list.to_string()),
        scalar => scalar.write_field(&Separators::default(), &mut text).ok()?,
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_type_that_the_file_cannot() {
        let name = |name: &str, type_text: Option<&str>| {
            let column =
                TableColumn { name: name.into(), type_text: type_text.map(ToOwned::to_owned) };
            Kind::of(type_text).name(&column)
        };
        assert_eq!(name("home", Some("point")), "home:point");
        assert_eq!(name("times", Some("duration[]")), "times:duration[]");
        assert_eq!(name("home:point", Some("point")), "home:point");
        assert_eq!(name("id:ID(Person)", Some("string")), "id:ID(Person)");
        assert_eq!(name("age", Some("long")), "age");
        assert_eq!(name("mixed", None), "mixed");
    }
}
