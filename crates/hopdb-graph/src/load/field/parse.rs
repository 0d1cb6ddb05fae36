//! Text to plain numbers, days and bytes; the error is the reason alone.

use std::fmt;

use crate::load::header::TypeOptions;
use crate::value::point::PointParts;
use crate::value::temporal::Zone;
use crate::value::{
    Date, DateTime, Duration, LocalDateTime, LocalTime, Point, Time, Value, Vector,
};

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
    in_range(value.ok_or_else(|| out_of_range(bytes))?, bytes)
}

/// The integer, if it is in the range of a signed integer of `bytes` bytes.
pub(super) fn in_range(value: i64, bytes: u8) -> Parsed<i64> {
    if fits(value, bytes) { Ok(value) } else { Err(out_of_range(bytes)) }
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
    let value: f64 =
        utf8(text)?.parse().map_err(|_| "write it like 1.5, -2e10, NaN or Infinity".to_owned())?;
    if value.is_infinite() && text.iter().any(u8::is_ascii_digit) {
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

/// Whether the text starts like hexadecimal digits.
pub(super) fn is_hexadecimal(text: &[u8]) -> bool {
    matches!(text, [b'0', b'x' | b'X', ..])
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
    like(text, "2024-02-29", str::parse)
}

/// An ISO 8601 time of day.
pub(super) fn local_time(text: &[u8]) -> Parsed<LocalTime> {
    like(text, "12:30:00", str::parse)
}

/// An ISO 8601 time of day with an offset, that of `zone` without one.
pub(super) fn time(text: &[u8], zone: &Zone) -> Parsed<Time> {
    like(text, "12:30:00+01:00", |text| Time::parse_in(text, zone))
}

/// An ISO 8601 date-time without an offset.
pub(super) fn local_date_time(text: &[u8]) -> Parsed<LocalDateTime> {
    like(text, "2024-02-29T12:30:00", str::parse)
}

/// An ISO 8601 date-time, in `zone` without an offset.
pub(super) fn date_time(text: &[u8], zone: &Zone) -> Parsed<DateTime> {
    like(text, "2024-02-29T12:30:00+01:00", |text| DateTime::parse_in(text, zone))
}

/// An ISO 8601 duration.
pub(super) fn duration(text: &[u8]) -> Parsed<Duration> {
    utf8(text)?.parse().map_err(|error| format!("{error}"))
}

/// A map of coordinates over defaults.
pub(super) fn point(text: &[u8], defaults: &PointParts) -> Parsed<Point> {
    like(text, "{x: 1.5, y: 2}", |text| Point::parse_with(text, defaults))
}

/// Coordinates with `delimiter` between them, as the column says.
pub(super) fn vector(text: &[u8], delimiter: u8, options: &TypeOptions) -> Parsed<Vector> {
    let TypeOptions::Vector { coordinate_type, .. } = options else {
        return Err("the column does not say what its vectors hold".into());
    };
    let vector = Vector::parse(utf8(text)?, delimiter, *coordinate_type);
    fitting_vector(vector.map_err(|error| error.to_string())?, options)
}

/// The vector, if it is what the column says.
pub(super) fn fitting_vector(vector: Vector, options: &TypeOptions) -> Parsed<Vector> {
    let TypeOptions::Vector { coordinate_type, dimensions } = options else {
        return Err("the column does not say what its vectors hold".into());
    };
    let (found, of) = (vector.dimensions(), vector.coordinate_type());
    if of != *coordinate_type {
        let (found, wanted) = (of.header_name(), coordinate_type.header_name());
        return Err(format!("it holds {found}, where the column says {wanted}"));
    }
    if found != *dimensions {
        return Err(format!("it has {found} coordinates, where the column says {dimensions}"));
    }
    Ok(vector)
}

/// A Cypher literal.
pub(super) fn any(text: &[u8]) -> Parsed<Value> {
    like(text, "[1, 'a', null, date('2024-02-29')]", str::parse)
}

/// What `read` reads; an error shows an example.
fn like<'t, T, E: fmt::Display>(
    text: &'t [u8],
    example: &str,
    read: impl FnOnce(&'t str) -> Result<T, E>,
) -> Parsed<T> {
    read(utf8(text)?).map_err(|error| format!("{error}; write it like {example}"))
}

fn utf8(text: &[u8]) -> Parsed<&str> {
    std::str::from_utf8(text).map_err(|_| "it is not UTF-8".into())
}
