//! The part of a temporal text that a clock and a map give: time of day, offset, zone.
//!
//! `12:30:00.5+01:00[Europe/London]`: all but the hours may be missing. Times also without colons;
//! fractions of a second to the nanosecond, after a point or a comma. Seconds end at 59.

use std::fmt;

use super::zone;
use crate::value::error::TextError;

pub(super) const NANOS_PER_SECOND: u32 = 1_000_000_000;
pub(super) const NANOS_PER_DAY: u64 = 86_400 * 1_000_000_000;
/// The farthest offset, in seconds: one second less than 26 hours.
const OFFSET_SECONDS_MAX: i32 = 93_599;

/// What a text says after the date.
#[derive(Debug)]
pub(super) struct ClockText<'t> {
    /// Nanoseconds since midnight.
    pub(super) nanos: u64,
    /// Seconds east of UTC.
    pub(super) offset: Option<i32>,
    /// The name of a zone.
    pub(super) zone: Option<&'t str>,
}

impl<'t> ClockText<'t> {
    /// Reads `text`, which has a time, behind which `zone` stood in brackets.
    pub(super) fn parse(text: &'t str, zone: Option<&'t str>) -> Result<Self, TextError> {
        let end = text.find(['Z', 'z', '+', '-']).unwrap_or(text.len());
        let (time, offset) = text.split_at(end);
        let nanos = time_of_day(time)?;
        let mut offset = if offset.is_empty() { None } else { Some(parse_offset(offset)?) };
        // `[+01:00]` is an offset, not a name.
        let zone = match zone {
            Some(name) if name.starts_with(['+', '-']) => {
                let named = parse_offset(name)?;
                if offset.is_some_and(|offset| offset != named) {
                    return Err(TextError::new("the offset and that in brackets differ"));
                }
                offset = Some(named);
                None
            }
            Some(name) => Some(zone::check_name(name)?),
            None => None,
        };
        Ok(Self { nanos, offset, zone })
    }
}

/// Takes `[…]` off the end.
pub(super) fn split_zone(text: &str) -> Result<(&str, Option<&str>), TextError> {
    let Some(inner) = text.strip_suffix(']') else { return Ok((text, None)) };
    let (text, zone) =
        inner.split_once('[').ok_or_else(|| TextError::new("a ] closes what no [ opens"))?;
    Ok((text.trim_end(), Some(zone)))
}

/// Nanoseconds since midnight.
pub(super) fn time_of_day(text: &str) -> Result<u64, TextError> {
    let wrong = || TextError::new("a time is written like 12:30 or 12:30:00.5");
    let (clock, fraction) = match text.split_once(['.', ',']) {
        Some((clock, fraction)) => (clock.as_bytes(), Some(fraction)),
        None => (text.as_bytes(), None),
    };
    let (hours, minutes, seconds) = match *clock {
        [a, b] => ([a, b], None, None),
        [a, b, b':', c, d] | [a, b, c, d] => ([a, b], Some([c, d]), None),
        [a, b, b':', c, d, b':', e, f] | [a, b, c, d, e, f] => ([a, b], Some([c, d]), Some([e, f])),
        _ => return Err(wrong()),
    };
    if fraction.is_some() && seconds.is_none() {
        return Err(wrong());
    }
    let part = |digits: Option<[u8; 2]>, max: u64, name: &str| {
        let value = digits.map_or(Some(0), two_digits).ok_or_else(wrong)?;
        if value > max {
            return Err(TextError::new(format!("its {name} are {value}, of at most {max}")));
        }
        Ok(value)
    };
    let hours = part(Some(hours), 23, "hours")?;
    let minutes = part(minutes, 59, "minutes")?;
    let seconds = part(seconds, 59, "seconds")?;
    let nanos = fraction.map_or(Ok(0), parse_fraction)?;
    Ok((hours * 3600 + minutes * 60 + seconds) * u64::from(NANOS_PER_SECOND) + u64::from(nanos))
}

fn two_digits(digits: [u8; 2]) -> Option<u64> {
    let [tens, ones] = digits.map(|digit| digit.wrapping_sub(b'0'));
    (tens <= 9 && ones <= 9).then(|| u64::from(tens * 10 + ones))
}

/// Nanoseconds of the digits after the point.
pub(super) fn parse_fraction(digits: &str) -> Result<u32, TextError> {
    if digits.len() > 9 {
        return Err(TextError::new("it is finer than nanoseconds; give nine digits at most"));
    }
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(TextError::new("after the point only digits may come"));
    }
    let scale = (digits.len()..9).fold(1, |scale, _| scale * 10);
    Ok(digits.bytes().fold(0, |value, byte| value * 10 + u32::from(byte - b'0')) * scale)
}

/// Seconds east of UTC.
pub(super) fn parse_offset(text: &str) -> Result<i32, TextError> {
    let wrong = || TextError::new("an offset is written like +01:00 or Z");
    let (sign, clock) = match text.as_bytes() {
        [b'Z' | b'z'] => return Ok(0),
        [b'+', clock @ ..] => (1, clock),
        [b'-', clock @ ..] => (-1, clock),
        _ => return Err(wrong()),
    };
    let (hours, minutes, seconds) = match *clock {
        [a, b] => ([a, b], [b'0'; 2], [b'0'; 2]),
        [a, b, b':', c, d] | [a, b, c, d] => ([a, b], [c, d], [b'0'; 2]),
        [a, b, b':', c, d, b':', e, f] | [a, b, c, d, e, f] => ([a, b], [c, d], [e, f]),
        _ => return Err(wrong()),
    };
    let part = |digits| two_digits(digits).ok_or_else(wrong);
    let (hours, minutes, seconds) = (part(hours)?, part(minutes)?, part(seconds)?);
    let total = i32::try_from(hours * 3600 + minutes * 60 + seconds).unwrap_or(i32::MAX);
    if minutes > 59 || seconds > 59 || !is_offset(total) {
        return Err(TextError::new("the offset is more than 25:59:59"));
    }
    Ok(sign * total)
}

/// Whether an offset is near enough to exist.
pub(super) fn is_offset(seconds: i32) -> bool {
    (-OFFSET_SECONDS_MAX..=OFFSET_SECONDS_MAX).contains(&seconds)
}

pub(super) fn write_offset(seconds: i32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if seconds == 0 {
        return f.write_str("Z");
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    write!(f, "{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60)?;
    if !seconds.is_multiple_of(60) {
        write!(f, ":{:02}", seconds % 60)?;
    }
    Ok(())
}

/// Writes a point and nanoseconds, without zeros at the end; nothing for none.
pub(super) fn write_fraction(nanos: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if nanos == 0 {
        return Ok(());
    }
    let (mut digits, mut width) = (nanos, 9);
    while digits.is_multiple_of(10) {
        digits /= 10;
        width -= 1;
    }
    write!(f, ".{digits:0width$}")
}
