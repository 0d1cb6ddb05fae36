//! Stored bytes back to values: any bytes give a value or an error.

use hopdb_storage::codec::tag::ValueTag;
use hopdb_storage::codec::varint;

use crate::error::DecodeError;
use crate::value::{
    CoordinateType, Crs, Date, DateTime, Duration, LocalDateTime, LocalTime, Point, Time, Value,
    Vector,
};

pub(super) fn decode_within(depth_left: usize, bytes: &[u8]) -> Result<Value, DecodeError> {
    let (&tag, body) = bytes.split_first().ok_or(DecodeError::Truncated)?;
    let unknown = DecodeError::UnknownTag(tag);
    match ValueTag::try_from(tag).map_err(|_| unknown)? {
        ValueTag::Null => at_end(body, 0).map(|()| Value::Null),
        ValueTag::False => at_end(body, 0).map(|()| Value::Boolean(false)),
        ValueTag::True => at_end(body, 0).map(|()| Value::Boolean(true)),
        ValueTag::Integer => {
            let mut at = 0;
            let value = signed(body, &mut at)?;
            at_end(body, at)?;
            Ok(Value::Integer(value))
        }
        ValueTag::Float => {
            let bits = body.first_chunk::<8>().ok_or(DecodeError::Truncated)?;
            at_end(body, 8)?;
            Ok(Value::Float(f64::from_bits(u64::from_le_bytes(*bits))))
        }
        ValueTag::String => decode_str(bytes).map(|text| Value::String(text.to_owned())),
        ValueTag::Bytes => Ok(Value::Bytes(body.to_vec())),
        ValueTag::List => decode_list(depth_left, body),
        ValueTag::Date => decode_date(body),
        ValueTag::LocalTime => decode_local_time(body),
        ValueTag::ZonedTime => decode_time(body),
        ValueTag::LocalDateTime => decode_local_date_time(body),
        ValueTag::OffsetDateTime => decode_date_time(body, false),
        ValueTag::NamedZoneDateTime => decode_date_time(body, true),
        ValueTag::Duration => decode_duration(body),
        ValueTag::PointCartesian2d => decode_point(Crs::Cartesian2d, body),
        ValueTag::PointCartesian3d => decode_point(Crs::Cartesian3d, body),
        ValueTag::PointWgs84 => decode_point(Crs::Wgs84, body),
        ValueTag::PointWgs84Height => decode_point(Crs::Wgs84Height, body),
        ValueTag::Vector => decode_vector(body),
        ValueTag::Map => Err(unknown),
    }
}

/// The text of a stored string, borrowed.
///
/// # Errors
/// When the value is not a string or not UTF-8.
pub fn decode_str(bytes: &[u8]) -> Result<&str, DecodeError> {
    let (&tag, body) = bytes.split_first().ok_or(DecodeError::Truncated)?;
    if tag != u8::from(ValueTag::String) {
        return Err(DecodeError::UnknownTag(tag));
    }
    std::str::from_utf8(body).map_err(|_| DecodeError::InvalidUtf8)
}

fn decode_list(depth_left: usize, body: &[u8]) -> Result<Value, DecodeError> {
    let depth_left = depth_left.checked_sub(1).ok_or(DecodeError::TooDeep)?;
    let mut at = 0;
    let count = length(body, &mut at)?;
    // An item is a length and a tag at least, so a count past half the bytes is damage: it must
    // not decide how much memory is taken.
    if count > (body.len() - at) / 2 {
        return Err(DecodeError::Truncated);
    }
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        let item_length = length(body, &mut at)?;
        let item = take(body, &mut at, item_length)?;
        values.push(decode_within(depth_left, item)?);
    }
    at_end(body, at)?;
    Ok(Value::List(values))
}

fn decode_date(body: &[u8]) -> Result<Value, DecodeError> {
    let mut at = 0;
    let days = signed(body, &mut at)?;
    at_end(body, at)?;
    Date::from_days(days).map(Value::Date).ok_or(DecodeError::OutOfRange)
}

fn decode_local_time(body: &[u8]) -> Result<Value, DecodeError> {
    let mut at = 0;
    let time = local_time(body, &mut at)?;
    at_end(body, at)?;
    Ok(Value::LocalTime(time))
}

fn decode_time(body: &[u8]) -> Result<Value, DecodeError> {
    let mut at = 0;
    let time = local_time(body, &mut at)?;
    let offset_seconds = offset(body, &mut at)?;
    at_end(body, at)?;
    Time::new(time, offset_seconds).map(Value::Time).ok_or(DecodeError::OutOfRange)
}

fn decode_local_date_time(body: &[u8]) -> Result<Value, DecodeError> {
    let mut at = 0;
    let seconds = signed(body, &mut at)?;
    let nanos = nanos(body, &mut at)?;
    at_end(body, at)?;
    LocalDateTime::new(seconds, nanos).map(Value::LocalDateTime).ok_or(DecodeError::OutOfRange)
}

fn decode_date_time(body: &[u8], named: bool) -> Result<Value, DecodeError> {
    let mut at = 0;
    let epoch_seconds = signed(body, &mut at)?;
    let nanos = nanos(body, &mut at)?;
    let offset_seconds = offset(body, &mut at)?;
    let mut value = DateTime::new(epoch_seconds, nanos, offset_seconds);
    if named {
        let name = std::str::from_utf8(&body[at..]).map_err(|_| DecodeError::InvalidUtf8)?;
        value = value.and_then(|value| value.with_zone(name));
    } else {
        at_end(body, at)?;
    }
    value.map(Value::DateTime).ok_or(DecodeError::OutOfRange)
}

fn decode_duration(body: &[u8]) -> Result<Value, DecodeError> {
    let mut at = 0;
    let mut part = || signed(body, &mut at);
    let (months, days, seconds) = (part()?, part()?, part()?);
    let nanos = nanos(body, &mut at)?;
    at_end(body, at)?;
    Duration::new(months, days, seconds, nanos).map(Value::Duration).ok_or(DecodeError::OutOfRange)
}

fn decode_point(crs: Crs, body: &[u8]) -> Result<Value, DecodeError> {
    let mut coordinates = [0.0; 3];
    let coordinates = &mut coordinates[..crs.dimensions()];
    let mut at = 0;
    for coordinate in &mut *coordinates {
        let bits = body[at..].first_chunk::<8>().ok_or(DecodeError::Truncated)?;
        *coordinate = f64::from_bits(u64::from_le_bytes(*bits));
        at += 8;
    }
    at_end(body, at)?;
    let point = Point::new(crs, coordinates).map_err(|_| DecodeError::OutOfRange)?;
    // A longitude that had to be turned was not written by us.
    let same = point.coordinates()[0].to_bits() == coordinates[0].to_bits();
    if same { Ok(Value::Point(point)) } else { Err(DecodeError::OutOfRange) }
}

fn decode_vector(body: &[u8]) -> Result<Value, DecodeError> {
    let (&number, bytes) = body.split_first().ok_or(DecodeError::Truncated)?;
    let of = CoordinateType::ALL.into_iter().find(|of| *of as u8 == number);
    let vector = Vector::from_bytes(of.ok_or(DecodeError::OutOfRange)?, bytes);
    vector.map(Value::Vector).ok_or(DecodeError::OutOfRange)
}

fn local_time(body: &[u8], at: &mut usize) -> Result<LocalTime, DecodeError> {
    let nanos = varint::get(body, at).ok_or(DecodeError::Truncated)?;
    LocalTime::from_nanos(nanos).ok_or(DecodeError::OutOfRange)
}

fn nanos(body: &[u8], at: &mut usize) -> Result<u32, DecodeError> {
    let nanos = varint::get(body, at).ok_or(DecodeError::Truncated)?;
    u32::try_from(nanos).map_err(|_| DecodeError::OutOfRange)
}

fn offset(body: &[u8], at: &mut usize) -> Result<i32, DecodeError> {
    i32::try_from(signed(body, at)?).map_err(|_| DecodeError::OutOfRange)
}

fn at_end(body: &[u8], at: usize) -> Result<(), DecodeError> {
    if at == body.len() { Ok(()) } else { Err(DecodeError::TrailingBytes) }
}

fn signed(body: &[u8], at: &mut usize) -> Result<i64, DecodeError> {
    varint::get(body, at).map(varint::unzigzag).ok_or(DecodeError::Truncated)
}

fn length(body: &[u8], at: &mut usize) -> Result<usize, DecodeError> {
    let length = varint::get(body, at).ok_or(DecodeError::Truncated)?;
    usize::try_from(length).map_err(|_| DecodeError::Truncated)
}

fn take<'a>(body: &'a [u8], at: &mut usize, length: usize) -> Result<&'a [u8], DecodeError> {
    let end = at.checked_add(length).ok_or(DecodeError::Truncated)?;
    let taken = body.get(*at..end).ok_or(DecodeError::Truncated)?;
    *at = end;
    Ok(taken)
}
