//! Values that have a type already, as JSON and Parquet give them, for columns of a type.

use super::{
    Field, FieldError, FieldRules, encode_any, encode_scalar, encode_text, error, parse, zone,
};
use crate::load::header::{ColumnType, Scalar, TypeOptions};
use crate::value::{CoordinateType, Coordinates, DateTime, Time, Value, Vector, codec};

/// Appends the stored form of `value` as a column of type `of` has it, and says whether there is
/// one: null is none.
///
/// A string is read like a field in quotes for every type but string; `any` takes all else as it is. Integers must fit the
/// type's width; a float column takes those that a float holds exactly. Local times and date-times
/// get the column's zone. Nothing else changes its type.
///
/// # Errors
/// When the value is not of the type; `out` is then as it was.
pub fn encode_value(
    of: &ColumnType,
    rules: &FieldRules,
    value: &Value,
    out: &mut Vec<u8>,
) -> Result<bool, FieldError> {
    let start = out.len();
    let done = match value {
        Value::Null => return Ok(false),
        Value::String(text) if of.array || !is_text(of.scalar) => {
            return encode_text(of, rules, Field { text: text.as_bytes(), quoted: true }, out);
        }
        value if of.scalar == Scalar::Any => return encode_any(value, out),
        Value::Bytes(bytes) if of.is_byte_array() => {
            codec::put_bytes(bytes, out);
            Ok(())
        }
        Value::List(items) if of.array => encode_list(of, rules, items, out),
        value if of.array => Err(wrong(of, value, "the column holds arrays")),
        value => encode_one(of, value, out),
    };
    done.map(|()| true).inspect_err(|_| out.truncate(start))
}

fn is_text(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::String | Scalar::Char)
}

fn encode_list(
    of: &ColumnType,
    rules: &FieldRules,
    items: &[Value],
    out: &mut Vec<u8>,
) -> Result<(), FieldError> {
    if of.is_byte_array() {
        let byte = |item: &Value| match item {
            Value::Integer(value) => parse::in_range(*value, 1)
                .map(|value| value.to_le_bytes()[0])
                .map_err(|why| error(of.scalar, item.to_string().as_bytes(), why)),
            other => Err(wrong(of, other, "the column holds bytes")),
        };
        let bytes: Vec<u8> = items.iter().map(byte).collect::<Result<_, _>>()?;
        codec::put_bytes(&bytes, out);
        return Ok(());
    }
    codec::put_list_header(items.len() as u64, out);
    for item in items {
        codec::put_item(out, |out| match item {
            Value::Null => Err(wrong(of, item, "an array has no place for nothing")),
            Value::String(text) if !is_text(of.scalar) => {
                encode_scalar(of, rules, text.trim().as_bytes(), out)
            }
            item => encode_one(of, item, out),
        })?;
    }
    Ok(())
}

fn encode_one(of: &ColumnType, value: &Value, out: &mut Vec<u8>) -> Result<(), FieldError> {
    let refused = |why| error(of.scalar, value.to_string().as_bytes(), why);
    match (of.scalar, value) {
        (Scalar::Integer { bytes }, Value::Integer(value)) => {
            codec::put_integer(parse::in_range(*value, bytes).map_err(refused)?, out);
        }
        (Scalar::Float, Value::Integer(integer)) => match exact_float(*integer) {
            Some(value) => codec::put_float(value, out),
            None => return Err(refused("a float cannot hold it exactly; use long".into())),
        },
        (Scalar::Float, Value::Float(value)) => codec::put_float(*value, out),
        (Scalar::Boolean, Value::Boolean(value)) => codec::put_boolean(*value, out),
        (Scalar::String, Value::String(value)) => codec::put_string(value, out),
        (Scalar::Char, Value::String(value)) => {
            codec::put_string(parse::char(value.as_bytes()).map_err(refused)?, out);
        }
        (Scalar::Bytes, Value::Bytes(value)) => codec::put_bytes(value, out),
        (Scalar::Date, Value::Date(value)) => codec::put_date(*value, out),
        (Scalar::LocalTime, Value::LocalTime(value)) => codec::put_local_time(*value, out),
        (Scalar::Time, Value::Time(value)) => codec::put_time(*value, out),
        (Scalar::Time, Value::LocalTime(value)) => {
            let time = Time::from_local(*value, zone(of));
            codec::put_time(time.map_err(|error| refused(error.to_string()))?, out);
        }
        (Scalar::LocalDateTime, Value::LocalDateTime(value)) => {
            codec::put_local_date_time(*value, out);
        }
        (Scalar::DateTime, Value::DateTime(value)) => codec::put_date_time(value, out),
        (Scalar::DateTime, Value::LocalDateTime(value)) => {
            let instant = DateTime::from_local(*value, zone(of));
            codec::put_date_time(&instant.map_err(|error| refused(error.to_string()))?, out);
        }
        (Scalar::Duration, Value::Duration(value)) => codec::put_duration(*value, out),
        (Scalar::Point, Value::Point(value)) => codec::put_point(value, out),
        (Scalar::Vector, Value::Vector(value)) => {
            let vector = parse::fitting_vector(value.clone(), &of.options);
            codec::put_vector(&vector.map_err(refused)?, out);
        }
        (Scalar::Vector, Value::List(items)) => {
            let vector = vector(items, &of.options)
                .and_then(|vector| parse::fitting_vector(vector, &of.options));
            codec::put_vector(&vector.map_err(refused)?, out);
        }
        _ => return Err(wrong(of, value, "nothing is converted")),
    }
    Ok(())
}

/// The float of this value, if there is one.
pub(super) fn exact_float(integer: i64) -> Option<f64> {
    let size = integer.unsigned_abs();
    let digits = size.checked_ilog2().map_or(0, |top| top + 1 - size.trailing_zeros());
    #[expect(clippy::cast_precision_loss, reason = "53 binary digits are held exactly")]
    (digits <= f64::MANTISSA_DIGITS).then_some(integer as f64)
}

/// A vector of a list's numbers.
fn vector(items: &[Value], options: &TypeOptions) -> Result<Vector, String> {
    fn all<T>(items: &[Value], one: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>, String> {
        let each = |item| one(item).ok_or_else(|| format!("its {item} is not of the type"));
        items.iter().map(each).collect()
    }
    let integer = |item: &Value| match item {
        Value::Integer(value) => Some(*value),
        _ => None,
    };
    let float = |item: &Value| match item {
        Value::Float(value) => Some(*value),
        Value::Integer(value) => exact_float(*value),
        _ => None,
    };
    #[expect(clippy::cast_possible_truncation, reason = "a narrow float is the nearest one")]
    let narrow = |item: &Value| float(item).map(|value| value as f32);
    let TypeOptions::Vector { coordinate_type, .. } = options else {
        return Err("the column does not say what its vectors hold".into());
    };
    let coordinates = match coordinate_type {
        CoordinateType::Integer8 => {
            Coordinates::Integer8(all(items, |item| integer(item)?.try_into().ok())?)
        }
        CoordinateType::Integer16 => {
            Coordinates::Integer16(all(items, |item| integer(item)?.try_into().ok())?)
        }
        CoordinateType::Integer32 => {
            Coordinates::Integer32(all(items, |item| integer(item)?.try_into().ok())?)
        }
        CoordinateType::Integer64 => Coordinates::Integer64(all(items, integer)?),
        CoordinateType::Float32 => Coordinates::Float32(all(items, narrow)?),
        CoordinateType::Float64 => Coordinates::Float64(all(items, float)?),
    };
    Vector::new(coordinates).map_err(|error| error.to_string())
}

/// The error for a value of another type.
#[cold]
fn wrong(of: &ColumnType, value: &Value, why: &str) -> FieldError {
    let type_name = value.type_name();
    let why = format!("its type is {type_name}, that of the column {}; {why}", name(of));
    error(of.scalar, value.to_string().as_bytes(), why)
}

fn name(of: &ColumnType) -> String {
    format!("{}{}", of.scalar.name(), if of.array { "[]" } else { "" })
}
