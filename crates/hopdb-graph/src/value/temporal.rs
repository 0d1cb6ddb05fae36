//! Dates and date-times, as stored: plain numbers that the calendar can show.
//!
//! Invariant: a [`Date`] or [`DateTime`] that exists lies within the years -9999 to 9999, so that
//! printing and parsing are total. The constructors check; the calendar itself is jiff's.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil;
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::tz::Offset;
use jiff::{Span, Unit};

/// 1970-01-01, from which days and seconds are counted.
const EPOCH: civil::Date = civil::date(1970, 1, 1);
const NANOS_PER_SECOND: u32 = 1_000_000_000;

/// A calendar day without a time zone, as days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    days: i64,
}

/// An instant to the nanosecond, with the offset from UTC under which it was written.
///
/// Equal only when instant and offset are equal; ordered by instant, then by offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime {
    epoch_seconds: i64,
    nanos: u32,
    offset_seconds: i32,
}

/// Why a text is no date or date-time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct TemporalError {
    reason: String,
}

impl TemporalError {
    fn new(reason: impl fmt::Display) -> Self {
        Self { reason: reason.to_string() }
    }
}

impl Date {
    /// The day `days` after 1970-01-01 (before it when negative); `None` outside the years -9999
    /// to 9999.
    #[must_use]
    pub fn from_days(days: i64) -> Option<Self> {
        let date = Self { days };
        date.civil().map(|_| date)
    }

    /// Days since 1970-01-01.
    #[must_use]
    pub fn days(self) -> i64 {
        self.days
    }

    fn civil(self) -> Option<civil::Date> {
        EPOCH.checked_add(Span::new().try_days(self.days).ok()?).ok()
    }

    fn from_civil(date: civil::Date) -> Result<Self, TemporalError> {
        let span = EPOCH.until((Unit::Day, date)).map_err(TemporalError::new)?;
        Ok(Self { days: i64::from(span.get_days()) })
    }
}

impl FromStr for Date {
    type Err = TemporalError;

    /// Reads an ISO 8601 date (`2024-02-29`, `20240229`). A time or an offset behind it is an
    /// error rather than silently lost.
    fn from_str(text: &str) -> Result<Self, TemporalError> {
        let pieces = Pieces::parse(text).map_err(TemporalError::new)?;
        if pieces.time().is_some() || pieces.offset().is_some() {
            return Err(TemporalError::new("it has a time as well; use the type datetime"));
        }
        if pieces.time_zone_annotation().is_some() {
            return Err(TemporalError::new("a date has no time zone"));
        }
        Self::from_civil(pieces.date())
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.civil() {
            Some(date) => write!(f, "{date}"),
            None => write!(f, "day {}", self.days),
        }
    }
}

impl DateTime {
    /// The instant `epoch_seconds` + `nanos` after 1970-01-01T00:00:00Z, shown at `offset_seconds`
    /// east of UTC. `None` when `nanos` is a second or more, the offset is more than about a day,
    /// or the instant lies outside the years -9999 to 9999.
    #[must_use]
    pub fn new(epoch_seconds: i64, nanos: u32, offset_seconds: i32) -> Option<Self> {
        let date_time = Self { epoch_seconds, nanos, offset_seconds };
        date_time.civil().map(|_| date_time)
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    #[must_use]
    pub fn epoch_seconds(self) -> i64 {
        self.epoch_seconds
    }

    /// Nanoseconds after [`Self::epoch_seconds`], below 1,000,000,000.
    #[must_use]
    pub fn nanos(self) -> u32 {
        self.nanos
    }

    /// Seconds east of UTC.
    #[must_use]
    pub fn offset_seconds(self) -> i32 {
        self.offset_seconds
    }

    fn civil(self) -> Option<civil::DateTime> {
        if self.nanos >= NANOS_PER_SECOND {
            return None;
        }
        let nanos = i32::try_from(self.nanos).ok()?;
        let instant = Timestamp::new(self.epoch_seconds, nanos).ok()?;
        Some(Offset::from_seconds(self.offset_seconds).ok()?.to_datetime(instant))
    }

    fn from_parts(local: civil::DateTime, offset: Offset) -> Result<Self, TemporalError> {
        let instant = offset.to_timestamp(local).map_err(TemporalError::new)?;
        // jiff's fraction has the sign of the whole; ours counts up from the second below.
        let fraction = instant.subsec_nanosecond();
        let (epoch_seconds, fraction) = if fraction < 0 {
            (instant.as_second() - 1, fraction + 1_000_000_000)
        } else {
            (instant.as_second(), fraction)
        };
        let nanos = u32::try_from(fraction).map_err(TemporalError::new)?;
        Ok(Self { epoch_seconds, nanos, offset_seconds: offset.seconds() })
    }
}

impl FromStr for DateTime {
    type Err = TemporalError;

    /// Reads an ISO 8601 date-time (`2024-02-29T12:30:00.5+01:00`).
    ///
    /// **Without an offset the text is read as UTC**, and without a time as midnight. A named zone
    /// (`[Europe/Stockholm]`) is an error: only the offset is stored.
    fn from_str(text: &str) -> Result<Self, TemporalError> {
        let pieces = Pieces::parse(text).map_err(TemporalError::new)?;
        if pieces.time_zone_annotation().is_some() {
            return Err(TemporalError::new(
                "named time zones are not supported; write the offset, as in +01:00",
            ));
        }
        let time = pieces.time().unwrap_or(civil::Time::midnight());
        let offset = match pieces.offset() {
            None | Some(PiecesOffset::Zulu) => Offset::UTC,
            Some(_) => pieces.to_numeric_offset().unwrap_or(Offset::UTC),
        };
        Self::from_parts(pieces.date().to_datetime(time), offset)
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(local) = self.civil() else {
            return write!(f, "second {}", self.epoch_seconds);
        };
        write!(f, "{local}")?;
        if self.offset_seconds == 0 {
            return f.write_str("Z");
        }
        let sign = if self.offset_seconds < 0 { '-' } else { '+' };
        let seconds = self.offset_seconds.unsigned_abs();
        write!(f, "{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60)?;
        if !seconds.is_multiple_of(60) {
            write!(f, ":{:02}", seconds % 60)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    fn date_time(text: &str) -> DateTime {
        text.parse().unwrap()
    }

    #[test]
    fn dates_count_from_1970() {
        assert_eq!(date("1970-01-01").days(), 0);
        assert_eq!(date("1969-12-31").days(), -1);
        assert_eq!(date("2000-03-01").days(), 11_017);
        assert_eq!(date("20000301").days(), 11_017);
        assert_eq!(Date::from_days(11_017).unwrap().to_string(), "2000-03-01");
    }

    #[test]
    fn dates_outside_the_calendar_do_not_exist() {
        let last = date("9999-12-31");
        assert_eq!(Date::from_days(last.days()), Some(last));
        assert_eq!(Date::from_days(last.days() + 1), None);
        assert_eq!(Date::from_days(i64::MIN), None);
        assert_eq!(Date::from_days(i64::MAX), None);
        for text in ["2023-02-29", "2023-13-01", "", "today", "2023-01-01T00:00", "1"] {
            assert!(text.parse::<Date>().is_err(), "{text} was read as a date");
        }
    }

    #[test]
    fn date_times_keep_instant_and_offset() {
        let there = date_time("2024-02-29T12:30:00.5+01:30");
        assert_eq!(there.epoch_seconds(), 1_709_204_400);
        assert_eq!(there.nanos(), 500_000_000);
        assert_eq!(there.offset_seconds(), 5_400);
        assert_eq!(there.to_string(), "2024-02-29T12:30:00.5+01:30");
        assert_eq!(date_time("2024-02-29T11:00:00.5Z").epoch_seconds(), there.epoch_seconds());
        assert_ne!(date_time("2024-02-29T11:00:00.5Z"), there);
    }

    #[test]
    fn no_offset_means_utc_and_no_time_means_midnight() {
        assert_eq!(date_time("1970-01-02T00:00:01").to_string(), "1970-01-02T00:00:01Z");
        assert_eq!(date_time("1970-01-02").epoch_seconds(), 86_400);
        let before = date_time("1969-12-31T23:59:59.75");
        assert_eq!((before.epoch_seconds(), before.nanos()), (-1, 750_000_000));
    }

    #[test]
    fn wrong_date_times_are_refused() {
        assert_eq!(DateTime::new(0, 1_000_000_000, 0), None);
        assert_eq!(DateTime::new(i64::MAX, 0, 0), None);
        assert_eq!(DateTime::new(0, 0, 1_000_000), None);
        let named = "2024-01-01T00:00+01:00[Europe/Stockholm]".parse::<DateTime>().unwrap_err();
        assert!(named.to_string().contains("write the offset"), "{named}");
        assert!("2024-01-01T25:00".parse::<DateTime>().is_err());
    }

    proptest! {
        #[test]
        fn dates_print_and_parse(days in -4_371_587_i64..=2_932_896) {
            let day = Date::from_days(days).unwrap();
            prop_assert_eq!(day.to_string().parse::<Date>().unwrap(), day);
        }

        #[test]
        fn date_times_print_and_parse(
            seconds in -377_000_000_000_i64..253_000_000_000,
            nanos in 0_u32..1_000_000_000,
            offset in -64_800_i32..=64_800,
        ) {
            let time = DateTime::new(seconds, nanos, offset).unwrap();
            prop_assert_eq!(time.to_string().parse::<DateTime>().unwrap(), time);
        }
    }
}
