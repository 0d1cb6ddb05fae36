//! Unsigned integers in keys: `memcmp` order is numeric order, small numbers are short, no code is
//! the prefix of another, and every number has exactly one code.
//!
//! The first byte tells the length by its leading one bits (a length prefix, as in UTF-8), and the
//! number follows big-endian in the bits that are left:
//!
//! | first byte | bytes | number bits | numbers |
//! |---|---|---|---|
//! | `00`–`3f` | — | — | never: these are the type bytes of [`super::key`] |
//! | `40`–`bf` | 1 | first byte − `40` | 0 – 127 |
//! | `c0`–`df` | 2 | 13 | 128 – 2^13−1 |
//! | `e0`–`ef` | 3 | 20 | 2^13 – 2^20−1 |
//! | `f0`–`f7` | 4 | 27 | 2^20 – 2^27−1 |
//! | `f8`–`fb` | 5 | 34 | 2^27 – 2^34−1 |
//! | `fc`–`fd` | 6 | 41 | 2^34 – 2^41−1 |
//! | `fe` | 7 | 48 | 2^41 – 2^48−1 |
//! | `ff` | 9 | 64 | 2^48 – 2^64−1 |
//!
//! Chosen over the `SQLite4` varint and over "up to `f7` itself, else a count of bytes": all three
//! decode in 2 to 3 ns (measured in a chain, each number's place depending on the one before), and
//! this one takes a byte less for ids of 2^16 to 2^20 and of 2^24 to 2^27, which is most databases.
//! As no code starts below `40`, an id in a key needs no type byte and is still told from a value.

use super::num;

/// Length in bytes of the longest code.
pub const MAX_LEN: usize = 9;

/// The lowest first byte: below it are the type bytes of [`super::key`].
pub const FIRST_MIN: u8 = 0x40;

/// Numbers below this take one byte.
const ONE_BYTE_END: u64 = 0x80;
const TWO_BYTES_FIRST: u8 = 0xc0;
const NINE_BYTES_FIRST: u8 = 0xff;

/// The smallest number of each length; a code that says less is not the shortest.
const VALUE_MIN: [u64; MAX_LEN + 1] =
    [0, 0, ONE_BYTE_END, 1 << 13, 1 << 20, 1 << 27, 1 << 34, 1 << 41, u64::MAX, 1 << 48];

/// Length in bytes of `value`, 1 to [`MAX_LEN`].
#[inline]
#[must_use]
pub fn len(value: u64) -> usize {
    match 64 - value.leading_zeros() {
        0..=7 => 1,
        bits @ 8..=48 => num::to_usize(u64::from((bits + 7) / 7)),
        _ => MAX_LEN,
    }
}

/// Length in bytes of the code that starts with `first`; `None` if no code does.
#[inline]
#[must_use]
pub fn len_from_first(first: u8) -> Option<usize> {
    match first {
        0..FIRST_MIN => None,
        FIRST_MIN..TWO_BYTES_FIRST => Some(1),
        NINE_BYTES_FIRST => Some(MAX_LEN),
        _ => Some(num::to_usize(u64::from(first.leading_ones()))),
    }
}

/// Appends `value` to `out`.
#[inline]
pub fn put(out: &mut Vec<u8>, value: u64) {
    let [.., low] = value.to_be_bytes();
    if value < ONE_BYTE_END {
        out.push(FIRST_MIN + low);
        return;
    }
    let size = len(value);
    if size == MAX_LEN {
        out.push(NINE_BYTES_FIRST);
        out.extend_from_slice(&value.to_be_bytes());
        return;
    }
    let prefix = u64::from(!(0xff_u8 >> size)) << (8 * (size - 1));
    // As many bytes for every number: a copy of a length that is known costs no call.
    out.extend_from_slice(&((prefix | value) << (8 * (8 - size))).to_be_bytes());
    out.truncate(out.len() - 8 + size);
}

/// Reads the number at `*at` and moves `*at` past it.
///
/// `None`, with `*at` unchanged, if the bytes end too early, start no code, or are not the shortest
/// code of their number.
#[inline]
#[must_use]
pub fn get(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    if first < TWO_BYTES_FIRST {
        let value = first.checked_sub(FIRST_MIN)?;
        *at += 1;
        return Some(u64::from(value));
    }
    get_long(bytes, at, first)
}

#[inline]
fn get_long(bytes: &[u8], at: &mut usize, first: u8) -> Option<u64> {
    let size = len_from_first(first)?;
    let code = bytes.get(*at..)?;
    let value = if size == MAX_LEN {
        u64::from_be_bytes(*code.get(1..)?.first_chunk()?)
    } else {
        let word = match code.first_chunk::<8>() {
            Some(chunk) => u64::from_be_bytes(*chunk),
            None => last_word(code, size)?,
        };
        // Drop the prefix (`size` ones and a zero), then the bytes that follow the code.
        (word << (size + 1)) >> (65 - 7 * size)
    };
    if value < VALUE_MIN[size] {
        return None;
    }
    *at += size;
    Some(value)
}

/// The code at the end of a slice, where eight bytes cannot be loaded; zeros stand for the rest.
#[inline]
fn last_word(code: &[u8], size: usize) -> Option<u64> {
    let code = code.get(..size)?;
    let word = code.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    Some(word << (64 - 8 * size))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of every length, and those where lengths change.
    fn any_length() -> impl Strategy<Value = u64> {
        prop_oneof![
            (any::<u64>(), 0..64_u32).prop_map(|(value, shift)| value >> shift),
            (0..64_u32, 0..3_u64).prop_map(|(bit, step)| (1_u64 << bit).wrapping_add(step) - 1),
        ]
    }

    fn encode(value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, value);
        out
    }

    #[test]
    fn golden_bytes() {
        assert_eq!(encode(0), [0x40]);
        assert_eq!(encode(127), [0xbf]);
        assert_eq!(encode(128), [0xc0, 0x80]);
        assert_eq!(encode(8_191), [0xdf, 0xff]);
        assert_eq!(encode(8_192), [0xe0, 0x20, 0x00]);
        assert_eq!(encode(1_000_000), [0xef, 0x42, 0x40]);
        assert_eq!(encode((1 << 20) - 1), [0xef, 0xff, 0xff]);
        assert_eq!(encode(1 << 20), [0xf0, 0x10, 0x00, 0x00]);
        assert_eq!(encode((1 << 48) - 1), [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(encode(1 << 48), [0xff, 0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(encode(u64::MAX), [0xff; 9]);
    }

    #[test]
    fn codes_that_are_not_the_shortest_are_refused() {
        let bad: [&[u8]; 6] = [
            &[0xc0, 0x7f],
            &[0xe0, 0x1f, 0xff],
            &[0xf0, 0x0f, 0xff, 0xff],
            &[0xfe, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0x3f],
        ];
        for bytes in bad {
            let mut at = 0;
            assert_eq!((get(bytes, &mut at), at), (None, 0), "{bytes:02x?}");
        }
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
            prop_assert_eq!(len_from_first(bytes[0]), Some(size));
            for keep in 0..size {
                prop_assert_eq!(get(&bytes[..keep], &mut 0), None);
            }
            bytes.extend(tail);
            let mut at = 0;
            prop_assert_eq!(get(&bytes, &mut at), Some(value));
            prop_assert_eq!(at, size);
        }

        #[test]
        fn byte_order_is_numeric_order_and_no_code_is_a_prefix(
            a in any_length(),
            b in any_length(),
        ) {
            let (left, right) = (encode(a), encode(b));
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
            prop_assert!(a == b || !left.starts_with(&right));
        }

        #[test]
        fn whatever_is_read_is_what_would_be_written(
            bytes in prop::collection::vec(any::<u8>(), 0..12),
            start in 0..14_usize,
        ) {
            let mut at = start;
            match get(&bytes, &mut at) {
                Some(value) => prop_assert_eq!(&bytes[start..at], &encode(value)[..]),
                None => prop_assert_eq!(at, start),
            }
        }
    }
}
