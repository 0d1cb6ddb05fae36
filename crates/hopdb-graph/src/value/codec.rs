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
//! | date-time | zigzag varint epoch seconds, varint nanoseconds, zigzag varint offset in seconds |
//!
//! Invariants: `decode` is total: any bytes give a value or an error, in memory proportional to
//! their length; equal values have equal bytes. The `put_*` functions write one value each without
//! a [`Value`] in between: the loader uses them.

use hopdb_storage::codec::num::len_u64;
use hopdb_storage::codec::tag::ValueTag;
use hopdb_storage::codec::varint;

use super::{Date, DateTime, LIST_DEPTH_MAX, Value};
use crate::error::{DecodeError, NestingError};

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
            Self::DateTime(value) => put_date_time(*value, out),
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
        decode_within(LIST_DEPTH_MAX, bytes)
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

/// Appends a date-time.
pub fn put_date_time(value: DateTime, out: &mut Vec<u8>) {
    out.push(ValueTag::OffsetDateTime.into());
    varint::put(out, varint::zigzag(value.epoch_seconds()));
    varint::put(out, u64::from(value.nanos()));
    varint::put(out, varint::zigzag(i64::from(value.offset_seconds())));
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

fn decode_within(depth_left: usize, bytes: &[u8]) -> Result<Value, DecodeError> {
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
        ValueTag::OffsetDateTime => decode_date_time(body),
        _ => Err(unknown),
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

fn decode_date_time(body: &[u8]) -> Result<Value, DecodeError> {
    let mut at = 0;
    let epoch_seconds = signed(body, &mut at)?;
    let nanos = varint::get(body, &mut at).ok_or(DecodeError::Truncated)?;
    let offset_seconds = signed(body, &mut at)?;
    at_end(body, at)?;
    let nanos = u32::try_from(nanos).map_err(|_| DecodeError::OutOfRange)?;
    let offset_seconds = i32::try_from(offset_seconds).map_err(|_| DecodeError::OutOfRange)?;
    DateTime::new(epoch_seconds, nanos, offset_seconds)
        .map(Value::DateTime)
        .ok_or(DecodeError::OutOfRange)
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

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Values of every kind, lists nested a few levels deep.
    fn any_value() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Boolean),
            any::<i64>().prop_map(Value::Integer),
            any::<u64>().prop_map(|bits| Value::Float(f64::from_bits(bits))),
            ".{0,200}".prop_map(Value::String),
            vec(any::<u8>(), 0..40).prop_map(Value::Bytes),
            (-4_000_000_i64..2_900_000).prop_map(|days| Date::from_days(days).unwrap().into()),
            (any::<i32>(), 0_u32..1_000_000_000, -50_000_i32..50_000)
                .prop_map(|(s, n, o)| DateTime::new(s.into(), n, o).unwrap().into()),
        ];
        scalar.prop_recursive(4, 40, 8, |item| vec(item, 0..8).prop_map(Value::List))
    }

    fn encoded(value: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        value.encode(&mut out).unwrap();
        out
    }

    fn nested(depth: usize) -> Value {
        (0..depth).fold(Value::Integer(1), |inner, _| Value::List(vec![inner]))
    }

    #[test]
    fn small_values_are_small() {
        assert_eq!(encoded(&Value::Integer(-64)).len(), 2);
        assert_eq!(encoded(&Value::from("abc")).len(), 4);
        assert_eq!(encoded(&Value::List(vec![1_i64.into(), 2_i64.into()])).len(), 8);
    }

    #[test]
    fn nesting_is_limited_on_both_ways() {
        let deepest = nested(LIST_DEPTH_MAX);
        assert_eq!(Value::decode(&encoded(&deepest)), Ok(deepest.clone()));
        let mut out = Vec::new();
        assert_eq!(Value::List(vec![deepest.clone()]).encode(&mut out), Err(NestingError));
        // The same by hand, as a damaged or hostile file could have it.
        let inner = encoded(&deepest);
        let mut bytes = Vec::new();
        put_list_header(1, &mut bytes);
        varint::put(&mut bytes, len_u64(inner.len()));
        bytes.extend_from_slice(&inner);
        assert_eq!(Value::decode(&bytes), Err(DecodeError::TooDeep));
    }

    #[test]
    fn damage_is_named() {
        assert_eq!(Value::decode(&[]), Err(DecodeError::Truncated));
        assert_eq!(Value::decode(&[0xff, 1]), Err(DecodeError::UnknownTag(0xff)));
        let mut long = encoded(&Value::Integer(5));
        long.push(0);
        assert_eq!(Value::decode(&long), Err(DecodeError::TrailingBytes));
        assert_eq!(
            Value::decode(&[u8::from(ValueTag::String), 0xc3]),
            Err(DecodeError::InvalidUtf8)
        );
        assert_eq!(Value::decode(&[ValueTag::True.into(), 1]), Err(DecodeError::TrailingBytes));
        let mut far = vec![u8::from(ValueTag::Date)];
        varint::put(&mut far, varint::zigzag(i64::MAX));
        assert_eq!(Value::decode(&far), Err(DecodeError::OutOfRange));
    }

    #[test]
    fn a_huge_count_takes_no_memory() {
        let mut bytes = vec![u8::from(ValueTag::List)];
        varint::put(&mut bytes, u64::MAX / 4);
        bytes.extend_from_slice(&[1, u8::from(ValueTag::Null)]);
        assert_eq!(Value::decode(&bytes), Err(DecodeError::Truncated));
    }

    proptest! {
        #[test]
        fn values_survive(value in any_value()) {
            let bytes = encoded(&value);
            prop_assert_eq!(Value::decode(&bytes), Ok(value));
        }

        #[test]
        fn equality_is_equality_of_bytes(a in any_value(), b in any_value()) {
            prop_assert_eq!(a == b, encoded(&a) == encoded(&b));
        }

        #[test]
        fn any_bytes_decode_or_err(bytes in vec(any::<u8>(), 0..60)) {
            drop(Value::decode(&bytes));
        }

        #[test]
        fn damaged_values_never_panic(value in any_value(), at: prop::sample::Index, byte: u8) {
            let mut bytes = encoded(&value);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            // What still decodes must be a proper value again.
            if let Ok(other) = Value::decode(&bytes) {
                prop_assert_eq!(Value::decode(&encoded(&other)), Ok(other));
            }
            bytes.truncate(at);
            drop(Value::decode(&bytes));
        }
    }
}
