//! Signed integers inside key elements: ordered, prefix-free, short for small magnitudes.
//!
//! A header byte and `n` big-endian bytes, `n` being 0 to 16 and as small as possible:
//! `80` + n and the number for those from zero up, `7f` − n and the number for those below, both
//! without their leading bytes `00` or `ff`. More bytes mean further from zero, so headers order
//! numbers of different lengths: -256 is `7e 00`, -1 is `7f`, 0 is `80`, 1 is `81 01`.

use crate::codec::num;

/// Header of zero; the bytes above and below it count up and down.
const ZERO: u8 = 0x80;
const BYTES_MAX: u8 = 16;

pub(super) fn put(out: &mut Vec<u8>, value: i128) {
    let distance = (value ^ (value >> 127)).cast_unsigned();
    let bytes = num::to_u8(num::to_usize(u64::from((128 - distance.leading_zeros()).div_ceil(8))));
    out.push(if value < 0 { ZERO - 1 - bytes } else { ZERO + bytes });
    out.extend_from_slice(&value.to_be_bytes()[usize::from(BYTES_MAX - bytes)..]);
}

/// Count of bytes after the header; `None` if it is no header.
pub(super) fn len_from_header(header: u8) -> Option<usize> {
    let bytes = if header < ZERO { ZERO - 1 - header } else { header - ZERO };
    (bytes <= BYTES_MAX).then_some(usize::from(bytes))
}

/// The number of a header and the bytes it asked for; `None` if that is not its shortest form.
pub(super) fn value(header: u8, rest: &[u8]) -> Option<i128> {
    let fill: i128 = if header < ZERO { -1 } else { 0 };
    let [.., fill_byte] = fill.to_be_bytes();
    if rest.first() == Some(&fill_byte) {
        return None;
    }
    // A full-width number has its sign in its own top bit, which must agree with the header's.
    let value = rest.iter().fold(fill, |value, byte| value << 8 | i128::from(*byte));
    ((value < 0) == (header < ZERO)).then_some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encode(value: i128) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, value);
        out
    }

    fn decode(bytes: &[u8]) -> Option<i128> {
        let (header, rest) = bytes.split_first()?;
        (len_from_header(*header)? == rest.len()).then(|| value(*header, rest))?
    }

    fn any_length() -> impl Strategy<Value = i128> {
        (any::<i128>(), 0..128_u32).prop_map(|(value, shift)| value >> shift)
    }

    #[test]
    fn golden_bytes() {
        assert_eq!(encode(-257), [0x7d, 0xfe, 0xff]);
        assert_eq!(encode(-256), [0x7e, 0x00]);
        assert_eq!(encode(-2), [0x7e, 0xfe]);
        assert_eq!(encode(-1), [0x7f]);
        assert_eq!(encode(0), [0x80]);
        assert_eq!(encode(1), [0x81, 0x01]);
        assert_eq!(encode(255), [0x81, 0xff]);
        assert_eq!(encode(19_800), [0x82, 0x4d, 0x58]);
    }

    proptest! {
        #[test]
        fn ordered_prefix_free_and_round_trips(a in any_length(), b in any_length()) {
            let (left, right) = (encode(a), encode(b));
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
            prop_assert!(a == b || !left.starts_with(&right));
            prop_assert_eq!(decode(&left), Some(a));
        }

        #[test]
        fn whatever_is_read_is_what_would_be_written(
            header in 0x6c..0x94_u8,
            body in prop::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(0xff)], 16),
        ) {
            let len = len_from_header(header).unwrap_or(0).min(16);
            if let Some(value) = value(header, &body[..len]) && len_from_header(header).is_some() {
                let mut bytes = vec![header];
                bytes.extend(&body[..len]);
                prop_assert_eq!(encode(value), bytes);
            }
        }
    }
}
