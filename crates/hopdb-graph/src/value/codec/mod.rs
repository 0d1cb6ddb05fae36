//! The stored form of a value: one tag byte, then a body that runs to the end of the bytes.
//!
//! A value does not say its own length: whoever stores it does (the property directory of
//! [`crate::record`], the item lengths of a list).
//!
//! | tag ([`ValueTag`]) | body |
//! |---|---|
//! | null, false, true | nothing |
//! | integer | zigzag varint |
//! | float | 8 bytes, the IEEE 754 bits, little endian |
//! | string | UTF-8 |
//! | bytes | the bytes |
//! | list | varint count, then for each item: varint length, the item as a value |
//! | date | zigzag varint days since 1970-01-01 |
//! | local time | varint nanoseconds since midnight |
//! | zoned time | varint nanoseconds since midnight, zigzag varint offset in seconds |
//! | local date-time | zigzag varint seconds since 1970-01-01T00:00, varint nanoseconds |
//! | date-time, offset | zigzag varint epoch seconds, varint nanoseconds, zigzag varint offset in seconds |
//! | date-time, named zone | the same, then the zone's name |
//! | duration | zigzag varints of months, days, seconds, then varint nanoseconds |
//! | points | two or three coordinates, 8 bytes each like a float |
//! | vector | one byte [`CoordinateType`], the coordinates, little endian |
//!
//! Invariants: `decode` is total: any bytes give a value or an error, in memory proportional to
//! their length; equal values have equal bytes. The `put_*` functions write one value each without
//! a [`Value`] in between: the loader uses them.

mod decode;

pub use decode::decode_str;

use hopdb_storage::codec::num::len_u64;
use hopdb_storage::codec::tag::ValueTag;
use hopdb_storage::codec::varint;

use super::{
    Crs, Date, DateTime, Duration, LIST_DEPTH_MAX, LocalDateTime, LocalTime, Point, Time, Value,
    Vector,
};
use crate::error::{DecodeError, NestingError};

#[cfg(doc)]
use super::CoordinateType;

impl Value {
    /// Appends the stored form.
    ///
    /// # Errors
    /// [`NestingError`] when lists nest deeper than [`LIST_DEPTH_MAX`]; `out` then holds a part
    /// that the caller must cut off.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), NestingError> {
        self.encode_within(LIST_DEPTH_MAX, out)
    }

    fn encode_within(&self, depth_left: usize, out: &mut Vec<u8>) -> Result<(), NestingError> {
        match self {
            Self::Null => out.push(ValueTag::Null.into()),
            Self::Boolean(value) => put_boolean(*value, out),
            Self::Integer(value) => put_integer(*value, out),
            Self::Float(value) => put_float(*value, out),
            Self::String(value) => put_string(value, out),
            Self::Bytes(value) => put_bytes(value, out),
            Self::Date(value) => put_date(*value, out),
            Self::LocalTime(value) => put_local_time(*value, out),
            Self::Time(value) => put_time(*value, out),
            Self::LocalDateTime(value) => put_local_date_time(*value, out),
            Self::DateTime(value) => put_date_time(value, out),
            Self::Duration(value) => put_duration(*value, out),
            Self::Point(value) => put_point(value, out),
            Self::Vector(value) => put_vector(value, out),
            Self::List(values) => {
                let depth_left = depth_left.checked_sub(1).ok_or(NestingError)?;
                put_list_header(len_u64(values.len()), out);
                for value in values {
                    put_item(out, |out| value.encode_within(depth_left, out))?;
                }
            }
        }
        Ok(())
    }

    /// Reads a value that fills `bytes` exactly.
    ///
    /// # Errors
    /// Any [`DecodeError`]; the bytes are then no value this layer wrote.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        decode::decode_within(LIST_DEPTH_MAX, bytes)
    }
}

/// Appends a boolean.
pub fn put_boolean(value: bool, out: &mut Vec<u8>) {
    out.push(if value { ValueTag::True } else { ValueTag::False }.into());
}

/// Appends an integer.
pub fn put_integer(value: i64, out: &mut Vec<u8>) {
    out.push(ValueTag::Integer.into());
    varint::put(out, varint::zigzag(value));
}

/// Appends a float.
pub fn put_float(value: f64, out: &mut Vec<u8>) {
    out.push(ValueTag::Float.into());
    out.extend_from_slice(&value.to_bits().to_le_bytes());
}

/// Appends a string.
pub fn put_string(value: &str, out: &mut Vec<u8>) {
    out.push(ValueTag::String.into());
    out.extend_from_slice(value.as_bytes());
}

/// Appends raw bytes.
pub fn put_bytes(value: &[u8], out: &mut Vec<u8>) {
    out.push(ValueTag::Bytes.into());
    out.extend_from_slice(value);
}

/// Appends a date.
pub fn put_date(value: Date, out: &mut Vec<u8>) {
    out.push(ValueTag::Date.into());
    varint::put(out, varint::zigzag(value.days()));
}

/// Appends a time of day without an offset.
pub fn put_local_time(value: LocalTime, out: &mut Vec<u8>) {
    out.push(ValueTag::LocalTime.into());
    varint::put(out, value.nanos());
}

/// Appends a time of day with an offset.
pub fn put_time(value: Time, out: &mut Vec<u8>) {
    out.push(ValueTag::ZonedTime.into());
    varint::put(out, value.local().nanos());
    varint::put(out, varint::zigzag(i64::from(value.offset_seconds())));
}

/// Appends a date-time without an offset.
pub fn put_local_date_time(value: LocalDateTime, out: &mut Vec<u8>) {
    out.push(ValueTag::LocalDateTime.into());
    varint::put(out, varint::zigzag(value.seconds()));
    varint::put(out, u64::from(value.nanos()));
}

/// Appends a date-time.
pub fn put_date_time(value: &DateTime, out: &mut Vec<u8>) {
    let named = value.zone();
    let tag = named.map_or(ValueTag::OffsetDateTime, |_| ValueTag::NamedZoneDateTime);
    out.push(tag.into());
    varint::put(out, varint::zigzag(value.epoch_seconds()));
    varint::put(out, u64::from(value.nanos()));
    varint::put(out, varint::zigzag(i64::from(value.offset_seconds())));
    out.extend_from_slice(named.unwrap_or_default().as_bytes());
}

/// Appends a duration.
pub fn put_duration(value: Duration, out: &mut Vec<u8>) {
    out.push(ValueTag::Duration.into());
    for part in [value.months(), value.days(), value.seconds()] {
        varint::put(out, varint::zigzag(part));
    }
    varint::put(out, u64::from(value.nanos()));
}

/// Appends a point.
pub fn put_point(value: &Point, out: &mut Vec<u8>) {
    let tag = match value.crs() {
        Crs::Wgs84 => ValueTag::PointWgs84,
        Crs::Wgs84Height => ValueTag::PointWgs84Height,
        Crs::Cartesian2d => ValueTag::PointCartesian2d,
        Crs::Cartesian3d => ValueTag::PointCartesian3d,
    };
    out.push(tag.into());
    for coordinate in value.coordinates() {
        out.extend_from_slice(&coordinate.to_bits().to_le_bytes());
    }
}

/// Appends a vector.
pub fn put_vector(value: &Vector, out: &mut Vec<u8>) {
    out.push(ValueTag::Vector.into());
    out.push(value.coordinate_type() as u8);
    value.put_bytes(out);
}

/// Appends the beginning of a list; exactly `count` calls of [`put_item`] must follow.
pub fn put_list_header(count: u64, out: &mut Vec<u8>) {
    out.push(ValueTag::List.into());
    varint::put(out, count);
}

/// Appends one list item: its length, and the value that `put` appends.
///
/// # Errors
/// Those of `put`.
pub fn put_item<E>(
    out: &mut Vec<u8>,
    put: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    // The length is known only afterwards: most fit the one byte left free, others are moved up.
    let at = out.len();
    out.push(0);
    put(out)?;
    let length = out.len() - at - 1;
    match u8::try_from(length) {
        Ok(short) if short < 0x80 => out[at] = short,
        _ => {
            let mut prefix = Vec::with_capacity(10);
            varint::put(&mut prefix, len_u64(length));
            out.splice(at..=at, prefix);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
