//! Integers and floats in one order, exactly: 2^53 + 1 is above the float 2^53, and 1 is 1.0.
//!
//! A finite number other than zero is ±(1 + fraction) × 2^exponent. After the type byte, which has
//! the sign, come the exponent in one or two bytes and the fraction in groups of seven bits:
//!
//! | exponent e | bytes |
//! |---|---|
//! | -1074 ..= -121 | e + 1074 as two big-endian bytes: `00 00` – `03 b9` |
//! | -120 ..= 127 | e + 124: `04` – `fb` |
//! | 128 ..= 1023 | `fc00` + e − 128 as two big-endian bytes: `fc 00` – `ff 7f` |
//!
//! A group is the next seven bits of the fraction, highest first, in the byte's upper bits; the
//! lowest bit says that another group follows. There is at least one group, and no last group is
//! zero unless it is the only one. Below zero all bytes after the type byte are inverted.
//!
//! Exponent before fraction, both aligned at the top, is numeric order; a set follow-bit sorts
//! after a clear one, and what follows it is more. Neither type is converted to the other, so there
//! is no rounding anywhere: a number has the same parts whichever way it was stored.

use super::{KeyError, kind};
use crate::codec::num;

/// Exponents of one byte.
const SHORT_MIN: i32 = -120;
const SHORT_MAX: i32 = 127;
/// Added to an exponent of one byte.
const SHORT_BIAS: i32 = 124;
/// First bytes from here to [`HIGH_FIRST`] are exponents of one byte.
const SHORT_FIRST: u8 = 0x04;
/// First bytes from here up belong to two-byte exponents above [`SHORT_MAX`].
const HIGH_FIRST: u8 = 0xfc;
const HIGH_BASE: i32 = 0xfc00;

/// The least exponent of a normal float, and of any float.
const NORMAL_MIN: i32 = -1022;
const EXPONENT_MIN: i32 = -1074;
const EXPONENT_MAX: i32 = 1023;
/// Fraction bits beyond those a float has.
const BEYOND_FLOAT: u64 = 0xfff;

/// The NaN that stands for all of them in a coordinate: quiet, positive, above infinity.
const NAN_BITS: u64 = 0x7ff8_0000_0000_0000;

/// Two exponent bytes and nine groups: 63 bits of fraction.
const BYTES_MAX: usize = 11;
const GROUPS_MAX: usize = 9;
const MORE: u8 = 0x01;

/// A number that a key holds; the key does not know which type it had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// Any number that an `i64` holds exactly.
    Integer(i64),
    /// Any other.
    Float(f64),
}

/// (1 + fraction / 2^64) × 2^exponent; the lowest bit of the fraction is never set.
#[derive(Clone, Copy)]
struct Magnitude {
    exponent: i32,
    fraction: u64,
}

impl Magnitude {
    /// `significand` × 2^`scale`; the significand is not zero.
    fn new(significand: u64, scale: i32) -> Self {
        let zeros = significand.leading_zeros();
        let exponent = scale + 63 - zeros.cast_signed();
        // Two shifts: drop the zeros, then the leading one, which goes without saying.
        Self { exponent, fraction: significand << zeros << 1 }
    }

    /// The significand with its leading one at bit 63.
    fn significand(self) -> u64 {
        1 << 63 | self.fraction >> 1
    }

    /// The number as an integer, if it is one below 2^64.
    fn to_integer(self) -> Option<u64> {
        let exponent = u32::try_from(self.exponent).ok().filter(|exponent| *exponent <= 63)?;
        let whole = self.significand() >> (63 - exponent);
        (whole << (63 - exponent) == self.significand()).then_some(whole)
    }

    /// The number as the bits of a positive float, if one holds it exactly.
    fn to_float_bits(self) -> Option<u64> {
        if self.exponent >= NORMAL_MIN {
            let biased = u64::from((self.exponent - NORMAL_MIN + 1).unsigned_abs());
            return (self.fraction & BEYOND_FLOAT == 0)
                .then_some(biased << 52 | self.fraction >> 12);
        }
        let drop = 63 - (self.exponent - EXPONENT_MIN);
        let bits = self.significand() >> drop;
        (bits << drop == self.significand()).then_some(bits)
    }
}

pub(super) fn put_integer(out: &mut Vec<u8>, value: i64) {
    if value == 0 {
        out.push(kind::ZERO);
        return;
    }
    put_finite(out, value < 0, Magnitude::new(value.unsigned_abs(), 0));
}

pub(super) fn put_float(out: &mut Vec<u8>, value: f64) {
    if value.is_nan() {
        out.push(kind::NAN);
    } else if value == 0.0 {
        out.push(kind::ZERO);
    } else if value.is_infinite() {
        out.push(if value < 0.0 { kind::NEGATIVE_INFINITY } else { kind::POSITIVE_INFINITY });
    } else {
        put_finite(out, value < 0.0, float_magnitude(value));
    }
}

/// The magnitude of a finite float other than zero.
fn float_magnitude(value: f64) -> Magnitude {
    let bits = value.abs().to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match i32::from(num::to_u16(num::to_usize(bits >> 52))) {
        0 => Magnitude::new(fraction, EXPONENT_MIN),
        biased => Magnitude { exponent: biased + NORMAL_MIN - 1, fraction: fraction << 12 },
    }
}

fn put_finite(out: &mut Vec<u8>, negative: bool, magnitude: Magnitude) {
    let (kind, flip) = if negative { (kind::NEGATIVE, 0xff) } else { (kind::POSITIVE, 0x00) };
    let mut bytes = [0; 1 + BYTES_MAX];
    bytes[0] = kind;
    let mut len = 1 + write_exponent(&mut bytes[1..], magnitude.exponent);
    let mut fraction = magnitude.fraction;
    loop {
        let [top, ..] = fraction.to_be_bytes();
        fraction <<= 7;
        bytes[len] = top & !MORE | u8::from(fraction != 0);
        len += 1;
        if fraction == 0 {
            break;
        }
    }
    for byte in &mut bytes[1..len] {
        *byte ^= flip;
    }
    out.extend_from_slice(&bytes[..len]);
}

fn write_exponent(out: &mut [u8], exponent: i32) -> usize {
    let (code, len) = match exponent {
        ..SHORT_MIN => (exponent - EXPONENT_MIN, 2),
        SHORT_MIN..=SHORT_MAX => (exponent + SHORT_BIAS, 1),
        _ => (exponent - SHORT_MAX - 1 + HIGH_BASE, 2),
    };
    out[..len].copy_from_slice(&code.to_be_bytes()[4 - len..]);
    len
}

fn exponent_len(first: u8) -> usize {
    if (SHORT_FIRST..HIGH_FIRST).contains(&first) { 1 } else { 2 }
}

/// Moves `*at`, which is after the type byte, past the number.
#[inline]
pub(super) fn skip(negative: bool, bytes: &[u8], at: &mut usize) -> Result<(), KeyError> {
    let flip = if negative { 0xff } else { 0x00 };
    let first = *bytes.get(*at).ok_or(KeyError::Truncated { at: *at })?;
    let groups_at = *at + exponent_len(first ^ flip);
    let groups = bytes.get(groups_at..).unwrap_or_default();
    let last = match last_of_eight(groups, flip) {
        Some(last) => last,
        None => match groups.iter().take(GROUPS_MAX).position(|group| (group ^ flip) & MORE == 0) {
            Some(last) => last,
            None if groups.len() < GROUPS_MAX => {
                return Err(KeyError::Truncated { at: bytes.len() });
            }
            None => return Err(malformed(*at, "a number has too many bits")),
        },
    };
    *at = groups_at + last + 1;
    Ok(())
}

/// The index of the last group, from the follow-bits of eight groups at once (as many as any float
/// has); `None` if there are not eight bytes, or the last group is not among them.
#[inline]
fn last_of_eight(groups: &[u8], flip: u8) -> Option<usize> {
    let word = u64::from_le_bytes(*groups.first_chunk()?) ^ u64::from_le_bytes([flip; 8]);
    let ends = !word & u64::from_le_bytes([MORE; 8]);
    (ends != 0).then(|| num::to_usize(u64::from(ends.trailing_zeros() / 8)))
}

/// Reads the number whose sign was in the type byte; `*at` is after that byte.
pub(super) fn read(negative: bool, bytes: &[u8], at: &mut usize) -> Result<Number, KeyError> {
    let start = *at;
    skip(negative, bytes, at)?;
    let flip = if negative { 0xff } else { 0x00 };
    let mut plain = [0; BYTES_MAX];
    let len = *at - start;
    for (byte, coded) in plain.iter_mut().zip(&bytes[start..*at]) {
        *byte = coded ^ flip;
    }
    let (exponent_bytes, groups) = plain[..len].split_at(exponent_len(plain[0]));
    let exponent = read_exponent(exponent_bytes)
        .ok_or(malformed(start, "a number has an exponent that no float has"))?;
    if groups.len() > 1 && groups.last() == Some(&0) {
        return Err(malformed(start, "a number is not in its shortest form"));
    }
    let fraction =
        groups.iter().rev().fold(0, |fraction, group| fraction >> 7 | u64::from(group >> 1) << 57);
    number(negative, Magnitude { exponent, fraction })
        .ok_or(malformed(start, "a number is neither a 64-bit integer nor a float"))
}

fn read_exponent(bytes: &[u8]) -> Option<i32> {
    let exponent = match *bytes {
        [short] => return Some(i32::from(short) - SHORT_BIAS),
        [first @ ..SHORT_FIRST, second] => {
            let exponent = i32::from(u16::from_be_bytes([first, second])) + EXPONENT_MIN;
            return (exponent < SHORT_MIN).then_some(exponent);
        }
        [first, second] => i32::from(u16::from_be_bytes([first, second])) - HIGH_BASE,
        _ => return None,
    };
    Some(exponent + SHORT_MAX + 1).filter(|exponent| *exponent <= EXPONENT_MAX)
}

fn number(negative: bool, magnitude: Magnitude) -> Option<Number> {
    if let Some(whole) = magnitude.to_integer() {
        let value = i128::from(whole) * if negative { -1 } else { 1 };
        if let Ok(value) = i64::try_from(value) {
            return Some(Number::Integer(value));
        }
    }
    let value = f64::from_bits(magnitude.to_float_bits()?);
    Some(Number::Float(if negative { -value } else { value }))
}

fn malformed(at: usize, what: &'static str) -> KeyError {
    KeyError::Malformed { at, what }
}

/// Eight bytes whose order is that of floats, for coordinates: both zeros equal, all NaNs last.
pub(super) fn fixed_from_float(value: f64) -> [u8; 8] {
    let bits = if value.is_nan() { NAN_BITS } else { (value + 0.0).to_bits() };
    let mask = if bits >> 63 == 1 { u64::MAX } else { 1 << 63 };
    (bits ^ mask).to_be_bytes()
}

/// The inverse of [`fixed_from_float`]; `None` for bytes that it does not give.
pub(super) fn float_from_fixed(bytes: [u8; 8]) -> Option<f64> {
    let code = u64::from_be_bytes(bytes);
    let mask = if code >> 63 == 1 { 1 << 63 } else { u64::MAX };
    let value = f64::from_bits(code ^ mask);
    (fixed_from_float(value) == bytes).then_some(value)
}
