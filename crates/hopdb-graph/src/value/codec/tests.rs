//! Values of every kind to bytes and back, and damage.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::value::tests::any_value;

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
    assert_eq!(Value::decode(&[u8::from(ValueTag::String), 0xc3]), Err(DecodeError::InvalidUtf8));
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
