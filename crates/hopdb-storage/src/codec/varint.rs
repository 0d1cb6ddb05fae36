//! Unsigned varints for payloads: little-endian base 128, and zigzag for signed numbers.
//!
//! Each byte holds seven bits, lowest first; the high bit says that another byte follows. One byte
//! up to 127, two up to 16,383, ten for the largest. Not ordered: keys use [`super::ordered`].
//!
//! Decoding neighbour lists is the hottest loop of a graph walk, so [`get`] settles one and two
//! bytes with a branch each and longer ones in a plain loop. Lengths in one list are mostly alike,
//! and a predicted branch lets the next number start before this one is done: computing the length
//! from a word of eight bytes instead was measured at 3.6 ns a number, where this takes 1.4.
//! Needless trailing zero groups are read as the number they mean (payloads are never compared as
//! bytes); what does not fit in 64 bits is refused.

use super::num;

/// Length in bytes of the longest varint.
pub const MAX_LEN: usize = 10;

const MORE: u8 = 0x80;

/// Length in bytes of `value` as a varint, 1 to [`MAX_LEN`].
#[inline]
#[must_use]
pub fn len(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros();
    num::to_usize(u64::from(bits.div_ceil(7)))
}

/// Appends `value` to `out`.
#[inline]
pub fn put(out: &mut Vec<u8>, value: u64) {
    let [low, ..] = value.to_le_bytes();
    if value < 0x80 {
        out.push(low);
        return;
    }
    let mut buffer = [0; MAX_LEN];
    let len = write(&mut buffer, value);
    // As many bytes for every number: a copy of a length that is known costs no call.
    out.extend_from_slice(&buffer);
    out.truncate(out.len() - MAX_LEN + len);
}

/// Writes `value` at the start of `out` and returns its length.
///
/// # Panics
/// If `out` is shorter than [`len`]`(value)`.
#[inline]
pub fn write(out: &mut [u8], value: u64) -> usize {
    let mut rest = value;
    let mut at = 0;
    loop {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        if rest == 0 {
            out[at] = low;
            return at + 1;
        }
        out[at] = low | MORE;
        at += 1;
    }
}

/// Reads the varint at `*at` and moves `*at` past it.
///
/// `None`, with `*at` unchanged, if the bytes end too early, or say a number above `u64::MAX`, or
/// run on past [`MAX_LEN`] bytes.
#[inline]
#[must_use]
pub fn get(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    if first < MORE {
        *at += 1;
        return Some(u64::from(first));
    }
    let second = *bytes.get(*at + 1)?;
    if second < MORE {
        *at += 2;
        return Some(u64::from(first & !MORE) | u64::from(second) << 7);
    }
    let mut value = u64::from(first & !MORE) | u64::from(second & !MORE) << 7;
    for index in 2..MAX_LEN {
        let byte = *bytes.get(*at + index)?;
        // Nine groups make 63 bits: the tenth may hold one bit only, and ends the number.
        if index == MAX_LEN - 1 && byte > 1 {
            return None;
        }
        value |= u64::from(byte & !MORE) << (7 * index);
        if byte < MORE {
            *at += index + 1;
            return Some(value);
        }
    }
    None
}

/// Maps signed to unsigned so that small magnitudes stay small: 0, -1, 1, -2 become 0, 1, 2, 3.
#[inline]
#[must_use]
pub fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// The inverse of [`zigzag`].
#[inline]
#[must_use]
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of every length, not only the ten-byte ones that a uniform draw gives.
    fn any_length() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0..64_u32).prop_map(|(value, shift)| value >> shift)
    }

    fn encode(value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, value);
        out
    }

    #[test]
    fn golden_bytes() {
        assert_eq!(encode(0), [0x00]);
        assert_eq!(encode(127), [0x7f]);
        assert_eq!(encode(128), [0x80, 0x01]);
        assert_eq!(encode(16_383), [0xff, 0x7f]);
        assert_eq!(encode(16_384), [0x80, 0x80, 0x01]);
        assert_eq!(encode(u64::MAX), [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    }

    #[test]
    fn more_than_64_bits_are_refused() {
        let mut eleven = vec![0x80; 10];
        eleven.push(0);
        let mut too_large = vec![0xff; 9];
        too_large.push(0x02);
        for bytes in [eleven, too_large] {
            let mut at = 0;
            assert_eq!((get(&bytes, &mut at), at), (None, 0));
        }
        assert_eq!(get(&[1], &mut usize::MAX.clone()), None);
    }

    #[test]
    fn zigzag_keeps_small_numbers_small() {
        assert_eq!(
            [0, -1, 1, -2, i64::MAX, i64::MIN].map(zigzag),
            [0, 1, 2, 3, u64::MAX - 1, u64::MAX]
        );
    }

    proptest! {
        #[test]
        fn round_trips_with_any_bytes_after(
            value in any_length(),
            tail in prop::collection::vec(any::<u8>(), 0..12),
        ) {
            let mut bytes = encode(value);
            let size = bytes.len();
            prop_assert_eq!(size, len(value));
            let mut buffer = [0; MAX_LEN];
            prop_assert_eq!(write(&mut buffer, value), size);
            prop_assert_eq!(&buffer[..size], &bytes[..]);
            bytes.extend(tail);
            let mut at = 0;
            prop_assert_eq!(get(&bytes, &mut at), Some(value));
            prop_assert_eq!(at, size);
        }

        #[test]
        fn a_truncated_number_is_refused(value in any_length(), keep in 0..10_usize) {
            let bytes = encode(value);
            let keep = keep.min(bytes.len() - 1);
            let mut at = 0;
            prop_assert_eq!(get(&bytes[..keep], &mut at), None);
            prop_assert_eq!(at, 0);
        }

        #[test]
        fn any_bytes_are_read_as_a_wide_sum_of_groups(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0x80..=0xff_u8], 0..14),
            start in 0..16_usize,
        ) {
            let code = bytes.get(start..).unwrap_or_default();
            let size = code.iter().take(MAX_LEN).position(|byte| *byte < 0x80).map(|last| last + 1);
            let expected = size.and_then(|size| {
                let groups = code[..size].iter().rev();
                let wide = groups.fold(0_u128, |wide, byte| wide * 128 + u128::from(byte % 128));
                u64::try_from(wide).ok()
            });
            let mut at = start;
            prop_assert_eq!(get(&bytes, &mut at), expected);
            prop_assert_eq!(at - start, expected.and(size).unwrap_or(0));
        }

        #[test]
        fn zigzag_round_trips(value in any::<i64>()) {
            prop_assert_eq!(unzigzag(zigzag(value)), value);
        }
    }
}
