//! Text to plain numbers, days and bytes; the error is the reason alone.

use crate::value::{Date, DateTime};

type Parsed<T> = Result<T, String>;

/// A decimal integer with an optional sign, in the range of a signed integer of `bytes` bytes.
pub(super) fn integer(text: &[u8], bytes: u8) -> Parsed<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return Err("it has no digits".into());
    }
    let mut value = 0_i64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(unexpected(text, |byte| !byte.is_ascii_digit()));
        }
        // Counted downwards, as the smallest integer has no positive twin.
        value = value
            .checked_mul(10)
            .and_then(|value| value.checked_sub(i64::from(digit)))
            .ok_or_else(|| out_of_range(bytes))?;
    }
    let value = if negative { Some(value) } else { value.checked_neg() };
    value.filter(|&value| fits(value, bytes)).ok_or_else(|| out_of_range(bytes))
}

fn bounds(bytes: u8) -> (i64, i64) {
    let unused_bits = 64 - 8 * u32::from(bytes.clamp(1, 8));
    (i64::MIN >> unused_bits, i64::MAX >> unused_bits)
}

fn fits(value: i64, bytes: u8) -> bool {
    let (lowest, highest) = bounds(bytes);
    (lowest..=highest).contains(&value)
}

#[cold]
fn out_of_range(bytes: u8) -> String {
    let (lowest, highest) = bounds(bytes);
    let way_out = if bytes < 8 { "; the type long holds more" } else { "" };
    format!("it must lie between {lowest} and {highest}{way_out}")
}

/// Names the first character after a sign that `wrong` finds.
#[cold]
fn unexpected(text: &[u8], wrong: impl Fn(u8) -> bool) -> String {
    let text = String::from_utf8_lossy(text);
    let found = text.chars().enumerate().find(|&(index, character)| {
        let sign = index == 0 && matches!(character, '+' | '-');
        !sign && u8::try_from(character).map_or(true, &wrong)
    });
    match found {
        Some((index, character)) => format!("character {} is {character:?}", index + 1),
        None => "it has a character that does not belong".into(),
    }
}

/// A decimal float with an optional exponent, `NaN`, or `Infinity` with an optional sign.
pub(super) fn float(text: &[u8]) -> Parsed<f64> {
    let text = std::str::from_utf8(text).map_err(|_| not_utf8())?;
    let value: f64 =
        text.parse().map_err(|_| "write it like 1.5, -2e10, NaN or Infinity".to_owned())?;
    if value.is_infinite() && text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Err("it is too large for 64 bits".into());
    }
    Ok(value)
}

/// `true` or `false`, in any case.
pub(super) fn boolean(text: &[u8]) -> Parsed<bool> {
    if text.eq_ignore_ascii_case(b"true") {
        Ok(true)
    } else if text.eq_ignore_ascii_case(b"false") {
        Ok(false)
    } else {
        Err("write true or false".into())
    }
}

/// Any UTF-8.
pub(super) fn string(text: &[u8]) -> Parsed<&str> {
    std::str::from_utf8(text).map_err(|error| {
        format!(
            "byte {} is not UTF-8; convert the file, for example with iconv",
            error.valid_up_to() + 1
        )
    })
}

/// One character.
pub(super) fn char(text: &[u8]) -> Parsed<&str> {
    let text = string(text)?;
    match text.chars().count() {
        1 => Ok(text),
        count => Err(format!("it has {count} characters; use the type string")),
    }
}

/// Hexadecimal digits in pairs after `0x`.
pub(super) fn bytes(text: &[u8], put: impl FnOnce(&[u8])) -> Parsed<()> {
    let digits = text
        .strip_prefix(b"0x")
        .or_else(|| text.strip_prefix(b"0X"))
        .ok_or("write it as hexadecimal digits after 0x")?;
    if digits.len() % 2 != 0 {
        return Err("it has an odd number of hexadecimal digits".into());
    }
    let decoded: Option<Vec<u8>> = digits
        .chunks_exact(2)
        .map(|pair| Some(hex_digit(pair[0])? << 4 | hex_digit(pair[1])?))
        .collect();
    put(&decoded.ok_or("after 0x only hexadecimal digits may come")?);
    Ok(())
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

/// An ISO 8601 date.
pub(super) fn date(text: &[u8]) -> Parsed<Date> {
    let text = std::str::from_utf8(text).map_err(|_| not_utf8())?;
    text.parse::<Date>().map_err(|error| format!("{error}; write it like 2024-02-29"))
}

/// An ISO 8601 date-time; UTC without an offset.
pub(super) fn date_time(text: &[u8]) -> Parsed<DateTime> {
    let text = std::str::from_utf8(text).map_err(|_| not_utf8())?;
    text.parse::<DateTime>()
        .map_err(|error| format!("{error}; write it like 2024-02-29T12:30:00+01:00"))
}

fn not_utf8() -> String {
    "it is not UTF-8".into()
}
