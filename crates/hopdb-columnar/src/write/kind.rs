//! The type of a column to be written: its name, its Arrow type, and arrays of its values.

use std::sync::Arc;

use arrow_array::types::{Date32Type, Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, ListArray, PrimitiveArray, StringArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, FieldRef, TimeUnit};
use hopdb::load::TableColumn;
use hopdb::{DateTime, Value};

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
        let scalar = match item.unwrap_or(&lower).trim_end() {
            "boolean" | "bool" => Scalar::Boolean,
            "byte" | "short" | "int" | "integer" | "long" => Scalar::Integer,
            "float" | "double" => Scalar::Float,
            "string" | "char" => Scalar::String,
            "bytes" => Scalar::Bytes,
            "date" => Scalar::Date,
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
            (Self::DateTime, Value::DateTime(time)) => micros(*time).is_some(),
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
            Self::Date | Self::DateTime => self.temporal_array(values),
        }
    }

    fn temporal_array(self, values: &[&Value]) -> ArrayRef {
        if self == Self::Date {
            let get = |value: &&Value| match value {
                Value::Date(date) => i32::try_from(date.days()).ok(),
                _ => None,
            };
            return Arc::new(values.iter().map(get).collect::<PrimitiveArray<Date32Type>>());
        }
        let get = |value: &&Value| match value {
            Value::DateTime(time) => micros(*time),
            _ => None,
        };
        let array: PrimitiveArray<TimestampMicrosecondType> = values.iter().map(get).collect();
        Arc::new(array.with_timezone(UTC))
    }
}

/// Microseconds since 1970-01-01T00:00:00Z, when they say all that the value says.
fn micros(time: DateTime) -> Option<i64> {
    if time.offset_seconds() != 0 || !time.nanos().is_multiple_of(NANOS_PER_MICRO) {
        return None;
    }
    let whole = time.epoch_seconds().checked_mul(MICROS_PER_SECOND)?;
    whole.checked_add(i64::from(time.nanos() / NANOS_PER_MICRO))
}

/// A value as text, none for null: what a CSV field of its type would be.
fn text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Bytes(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("0x{digits}")
        }
        other => argument(&other.to_string()).to_owned(),
    })
}

/// What a printed call is called with, quotes taken off: `P1D` of `duration('P1D')`. What is no
/// call stays as it is.
fn argument(printed: &str) -> &str {
    let call = printed.strip_suffix(')').and_then(|printed| printed.split_once('('));
    let Some((name, argument)) = call else { return printed };
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return printed;
    }
    let quoted = argument.strip_prefix('\'').and_then(|argument| argument.strip_suffix('\''));
    quoted.unwrap_or(argument)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_by_their_argument() {
        assert_eq!(argument("duration('P1D')"), "P1D");
        assert_eq!(argument("point({x: 1.0, y: 2.0})"), "{x: 1.0, y: 2.0}");
        assert_eq!(argument("[date('2024-02-29')]"), "[date('2024-02-29')]");
        assert_eq!(argument("-1.5"), "-1.5");
        assert_eq!(argument("(1)"), "(1)");
    }

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
