//! From an Arrow array to a value for each row.
//!
//! Reasons read on behind "the column holds". Types are those that `columns` lets pass.

use std::fmt::Display;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ArrowTimestampType, Date32Type, Date64Type, Decimal32Type, Decimal64Type,
    Decimal128Type, Decimal256Type, DecimalType, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType,
    IntervalYearMonthType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, OffsetSizeTrait};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use hopdb::Value;

use crate::columns::scale;
use crate::temporal::{
    date, date_of_millis, date_time, duration, local_date_time, local_time, offset_seconds,
};

/// A value, or why the row cannot be read.
pub(crate) type Cell = Result<Value, String>;

/// The values of all rows of `array`.
pub(crate) fn cells(array: &dyn Array) -> Vec<Cell> {
    match array.data_type() {
        DataType::Boolean => each(array.as_boolean(), |value| Ok(Value::Boolean(value))),
        DataType::Utf8 => each(array.as_string::<i32>(), string),
        DataType::LargeUtf8 => each(array.as_string::<i64>(), string),
        DataType::Utf8View => each(array.as_string_view(), string),
        DataType::Binary => each(array.as_binary::<i32>(), bytes),
        DataType::LargeBinary => each(array.as_binary::<i64>(), bytes),
        DataType::BinaryView => each(array.as_binary_view(), bytes),
        DataType::FixedSizeBinary(_) => each(array.as_fixed_size_binary(), bytes),
        DataType::Dictionary(..) => dictionary(array),
        DataType::List(_) => list::<i32>(array),
        DataType::LargeList(_) => list::<i64>(array),
        DataType::FixedSizeList(..) => fixed_size_list(array),
        DataType::Date32 => primitive::<Date32Type>(array, |days| date(days.into())),
        DataType::Date64 => primitive::<Date64Type>(array, date_of_millis),
        DataType::Timestamp(unit, zone) => timestamps(array, *unit, zone.as_deref()),
        DataType::Time32(unit) | DataType::Time64(unit) => times(array, *unit),
        DataType::Duration(unit) => durations(array, *unit),
        DataType::Interval(unit) => intervals(array, *unit),
        decimal if decimal.is_decimal() => decimals(array),
        number if number.is_numeric() => numbers(array),
        // Nulls alone: nothing else comes past `columns`.
        _ => vec![Ok(Value::Null); array.len()],
    }
}

fn each<T>(array: impl IntoIterator<Item = Option<T>>, make: impl Fn(T) -> Cell) -> Vec<Cell> {
    array.into_iter().map(|value| value.map_or(Ok(Value::Null), &make)).collect()
}

fn primitive<T: ArrowPrimitiveType>(
    array: &dyn Array,
    make: impl Fn(T::Native) -> Cell,
) -> Vec<Cell> {
    each(array.as_primitive::<T>(), make)
}

fn string(text: &str) -> Cell {
    Ok(Value::String(text.to_owned()))
}

fn bytes(bytes: &[u8]) -> Cell {
    Ok(Value::Bytes(bytes.to_vec()))
}

fn integer<T: TryInto<i64> + Display + Copy>(value: T) -> Cell {
    value.try_into().map(Value::Integer).map_err(|_| too_large(value))
}

#[cold]
fn too_large(value: impl Display) -> String {
    format!(
        "{value}, but an integer must lie between {} and {}; cast the column to string",
        i64::MIN,
        i64::MAX
    )
}

fn float(value: impl Into<f64>) -> Cell {
    Ok(Value::Float(value.into()))
}

fn numbers(array: &dyn Array) -> Vec<Cell> {
    match array.data_type() {
        DataType::Int8 => primitive::<Int8Type>(array, integer),
        DataType::Int16 => primitive::<Int16Type>(array, integer),
        DataType::Int32 => primitive::<Int32Type>(array, integer),
        DataType::UInt8 => primitive::<UInt8Type>(array, integer),
        DataType::UInt16 => primitive::<UInt16Type>(array, integer),
        DataType::UInt32 => primitive::<UInt32Type>(array, integer),
        DataType::UInt64 => primitive::<UInt64Type>(array, integer),
        DataType::Float16 => primitive::<Float16Type>(array, float),
        DataType::Float32 => primitive::<Float32Type>(array, float),
        DataType::Float64 => primitive::<Float64Type>(array, float),
        _ => primitive::<Int64Type>(array, integer),
    }
}

fn decimals(array: &dyn Array) -> Vec<Cell> {
    match array.data_type() {
        DataType::Decimal32(..) => decimal::<Decimal32Type>(array),
        DataType::Decimal64(..) => decimal::<Decimal64Type>(array),
        DataType::Decimal128(..) => decimal::<Decimal128Type>(array),
        _ => decimal::<Decimal256Type>(array),
    }
}

/// An integer when there is nothing behind the point, else the digits: nothing is rounded.
fn decimal<T: DecimalType>(array: &dyn Array) -> Vec<Cell> {
    let is_integer = scale(array.data_type()) <= 0;
    let array = array.as_primitive::<T>();
    let cell = |row| {
        if array.is_null(row) {
            return Ok(Value::Null);
        }
        let digits = array.value_as_string(row);
        if !is_integer {
            return Ok(Value::String(digits));
        }
        digits.parse().map(Value::Integer).map_err(|_| too_large(digits))
    };
    (0..array.len()).map(cell).collect()
}

fn timestamps(array: &dyn Array, unit: TimeUnit, zone: Option<&str>) -> Vec<Cell> {
    match unit {
        TimeUnit::Second => timestamp::<TimestampSecondType>(array, zone),
        TimeUnit::Millisecond => timestamp::<TimestampMillisecondType>(array, zone),
        TimeUnit::Microsecond => timestamp::<TimestampMicrosecondType>(array, zone),
        TimeUnit::Nanosecond => timestamp::<TimestampNanosecondType>(array, zone),
    }
}

fn timestamp<T: ArrowTimestampType>(array: &dyn Array, zone: Option<&str>) -> Vec<Cell> {
    let Some(zone) = zone else {
        return primitive::<T>(array, |count| local_date_time(count, T::UNIT));
    };
    let offset = offset_seconds(zone);
    primitive::<T>(array, |count| date_time(count, T::UNIT, offset))
}

fn times(array: &dyn Array, unit: TimeUnit) -> Vec<Cell> {
    let time = |count: i64| local_time(count, unit);
    match unit {
        TimeUnit::Second => primitive::<Time32SecondType>(array, |count| time(count.into())),
        TimeUnit::Millisecond => {
            primitive::<Time32MillisecondType>(array, |count| time(count.into()))
        }
        TimeUnit::Microsecond => primitive::<Time64MicrosecondType>(array, time),
        TimeUnit::Nanosecond => primitive::<Time64NanosecondType>(array, time),
    }
}

fn durations(array: &dyn Array, unit: TimeUnit) -> Vec<Cell> {
    let make = |count| duration(0, 0, count, unit);
    match unit {
        TimeUnit::Second => primitive::<DurationSecondType>(array, make),
        TimeUnit::Millisecond => primitive::<DurationMillisecondType>(array, make),
        TimeUnit::Microsecond => primitive::<DurationMicrosecondType>(array, make),
        TimeUnit::Nanosecond => primitive::<DurationNanosecondType>(array, make),
    }
}

fn intervals(array: &dyn Array, unit: IntervalUnit) -> Vec<Cell> {
    match unit {
        IntervalUnit::YearMonth => primitive::<IntervalYearMonthType>(array, |months| {
            duration(months, 0, 0, TimeUnit::Second)
        }),
        IntervalUnit::DayTime => primitive::<IntervalDayTimeType>(array, |span| {
            duration(0, span.days, span.milliseconds.into(), TimeUnit::Millisecond)
        }),
        IntervalUnit::MonthDayNano => primitive::<IntervalMonthDayNanoType>(array, |span| {
            duration(span.months, span.days, span.nanoseconds, TimeUnit::Nanosecond)
        }),
    }
}

/// Each value of the dictionary is made once.
fn dictionary(array: &dyn Array) -> Vec<Cell> {
    let array = array.as_any_dictionary();
    let values = cells(array.values());
    if values.is_empty() {
        return vec![Ok(Value::Null); array.len()];
    }
    let cell = |(row, key): (usize, usize)| {
        if array.keys().is_null(row) { Ok(Value::Null) } else { values[key].clone() }
    };
    array.normalized_keys().into_iter().enumerate().map(cell).collect()
}

fn list<O: OffsetSizeTrait>(array: &dyn Array) -> Vec<Cell> {
    let array = array.as_list::<O>();
    let offsets = array.value_offsets();
    let first = offsets.first().map_or(0, |offset| offset.as_usize());
    let last = offsets.last().map_or(0, |offset| offset.as_usize());
    let items = array.values().slice(first, last - first);
    let ranges = offsets.windows(2).map(|ends| {
        let [start, end] = [ends[0], ends[1]].map(|end| end.as_usize() - first);
        start..end
    });
    lists(array, &items, ranges)
}

fn fixed_size_list(array: &dyn Array) -> Vec<Cell> {
    let array = array.as_fixed_size_list();
    let length = usize::try_from(array.value_length()).unwrap_or_default();
    let items = array.values().slice(0, array.len() * length);
    lists(array, &items, (0..array.len()).map(|row| row * length..(row + 1) * length))
}

/// A list for each row of `array`, of the items in its range; ranges do not overlap.
fn lists(
    array: &dyn Array,
    items: &dyn Array,
    ranges: impl Iterator<Item = Range<usize>>,
) -> Vec<Cell> {
    let mut items = cells(items);
    let cell = |(row, range): (usize, Range<usize>)| {
        if array.is_null(row) {
            return Ok(Value::Null);
        }
        let taken = items[range].iter_mut().map(|item| std::mem::replace(item, Ok(Value::Null)));
        taken.collect::<Result<_, _>>().map(Value::List)
    };
    ranges.enumerate().map(cell).collect()
}
