//! Durations: months, days and seconds apart, as neither is a fixed number of the next.

use std::fmt;
use std::str::FromStr;

use super::clock::{self, NANOS_PER_DAY, NANOS_PER_SECOND};
use crate::value::error::TextError;

/// Seconds of an average month of the Gregorian calendar, for parts of months.
const SECONDS_PER_MONTH: i128 = 2_629_746;
const BILLION: i128 = 1_000_000_000;

/// A duration of months, days, seconds and nanoseconds.
///
/// Equal only when all parts are: a day is not 24 hours, as days differ with the clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Duration {
    months: i64,
    days: i64,
    seconds: i64,
    nanos: u32,
}

impl Duration {
    /// A duration; `None` when `nanos` is a second or more. Nanoseconds count up from the seconds:
    /// half a second back is -1 second and 500,000,000 nanoseconds.
    #[must_use]
    pub fn new(months: i64, days: i64, seconds: i64, nanos: u32) -> Option<Self> {
        (nanos < NANOS_PER_SECOND).then_some(Self { months, days, seconds, nanos })
    }

    /// Months.
    #[must_use]
    pub fn months(self) -> i64 {
        self.months
    }

    /// Days.
    #[must_use]
    pub fn days(self) -> i64 {
        self.days
    }

    /// Seconds, rounded down.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Nanoseconds after [`Self::seconds`], below 1,000,000,000.
    #[must_use]
    pub fn nanos(self) -> u32 {
        self.nanos
    }

    /// From billionths of months and of days, and nanoseconds: part of a month becomes days of the
    /// average month, part of a day becomes seconds.
    fn from_billionths(months: i128, days: i128, nanos: i128) -> Result<Self, TextError> {
        let nanos_per_day = i128::from(NANOS_PER_DAY);
        let part_of_month = months % BILLION * SECONDS_PER_MONTH;
        let part_of_day = days % BILLION * 86_400;
        let whole_days = days / BILLION + part_of_month / nanos_per_day;
        let nanos = nanos + part_of_month % nanos_per_day + part_of_day;
        let out_of_range = || TextError::new("it is longer than 64 bits count");
        let count = |value: i128| i64::try_from(value).map_err(|_| out_of_range());
        Ok(Self {
            months: count(months / BILLION)?,
            days: count(whole_days)?,
            seconds: count(nanos.div_euclid(BILLION))?,
            nanos: u32::try_from(nanos.rem_euclid(BILLION)).map_err(|_| out_of_range())?,
        })
    }
}

/// The units in the order in which they may come, and what one is: months, days, seconds.
const UNITS: [(u8, [i128; 3]); 7] = [
    (b'Y', [12, 0, 0]),
    (b'M', [1, 0, 0]),
    (b'W', [0, 7, 0]),
    (b'D', [0, 1, 0]),
    (b'H', [0, 0, 3600]),
    (b'M', [0, 0, 60]),
    (b'S', [0, 0, 1]),
];
/// Where in [`UNITS`] those after the `T` begin.
const TIME_UNITS: usize = 4;

impl FromStr for Duration {
    type Err = TextError;

    /// Reads `P1Y2M3W4DT5H6M7.8S`: any of its parts in this order, each with a sign and a fraction
    /// if need be, a sign also before the `P`.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let wrong = || TextError::new("a duration is written like P1Y2M3DT4H5M6.7S");
        let (negative, rest) = split_sign(text);
        let mut rest =
            rest.strip_prefix(['P', 'p']).filter(|rest| !rest.is_empty()).ok_or_else(wrong)?;
        let mut totals = [0_i128; 3];
        let (mut next_unit, mut until) = (0, TIME_UNITS);
        while !rest.is_empty() {
            if until == TIME_UNITS
                && let Some(time) = rest.strip_prefix(['T', 't'])
            {
                (next_unit, until) = (TIME_UNITS, UNITS.len());
                rest = time;
            }
            let (billionths, after) = number(rest)?;
            let unit = after.bytes().next().ok_or_else(wrong)?.to_ascii_uppercase();
            let index = (next_unit..until).find(|&at| UNITS[at].0 == unit).ok_or_else(wrong)?;
            for (total, scale) in totals.iter_mut().zip(UNITS[index].1) {
                *total += billionths * scale;
            }
            next_unit = index + 1;
            rest = &after[1..];
        }
        let sign = if negative { -1 } else { 1 };
        let [months, days, nanos] = totals.map(|total| total * sign);
        Self::from_billionths(months, days, nanos)
    }
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    }
}

/// The number at the start of `text` in billionths, and what comes behind it.
fn number(text: &str) -> Result<(i128, &str), TextError> {
    let (negative, text) = split_sign(text);
    let digits_end = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (whole, mut rest) = text.split_at(digits_end(text));
    // Nineteen digits hold every 64-bit count, and keep all sums far within 128 bits.
    if whole.is_empty() || whole.len() > 19 {
        return Err(TextError::new("before each letter a number of up to 19 digits must come"));
    }
    let mut value =
        whole.bytes().fold(0, |value, byte| value * 10 + i128::from(byte - b'0')) * BILLION;
    if let Some(after) = rest.strip_prefix(['.', ',']) {
        let (fraction, after) = after.split_at(digits_end(after));
        value += i128::from(clock::parse_fraction(fraction)?);
        rest = after;
    }
    Ok((if negative { -value } else { value }, rest))
}

impl fmt::Display for Duration {
    /// ISO 8601, with a sign before every part that is negative; `PT0S` for no duration.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("P")?;
        for (count, unit) in [(self.months / 12, 'Y'), (self.months % 12, 'M'), (self.days, 'D')] {
            if count != 0 {
                write!(f, "{count}{unit}")?;
            }
        }
        let nanos = i128::from(self.seconds) * BILLION + i128::from(self.nanos);
        let seconds = nanos / BILLION;
        let fraction = u32::try_from((nanos % BILLION).unsigned_abs()).map_err(|_| fmt::Error)?;
        if nanos == 0 {
            return if self.months == 0 && self.days == 0 { f.write_str("T0S") } else { Ok(()) };
        }
        f.write_str("T")?;
        for (count, unit) in [(seconds / 3600, 'H'), (seconds / 60 % 60, 'M')] {
            if count != 0 {
                write!(f, "{count}{unit}")?;
            }
        }
        let seconds = seconds % 60;
        if seconds == 0 && fraction == 0 {
            return Ok(());
        }
        let sign = if nanos < 0 { "-" } else { "" };
        write!(f, "{sign}{}", seconds.unsigned_abs())?;
        clock::write_fraction(fraction, f)?;
        f.write_str("S")
    }
}
