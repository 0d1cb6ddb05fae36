//! Dates with a time: on a clock anywhere, and instants.

use std::fmt;
use std::str::FromStr;

use jiff::civil;
use jiff::tz::Offset;
use jiff::{Timestamp, civil::Time as CivilTime};

use super::clock::{self, ClockText, NANOS_PER_SECOND};
use super::zone::{self, Zone};
use super::{Date, LocalTime};
use crate::value::error::TextError;

const SECONDS_PER_DAY: i64 = 86_400;

/// A date and time on a clock anywhere, to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalDateTime {
    seconds: i64,
    nanos: u32,
}

/// An instant to the nanosecond, with the offset from UTC under which it was written and the name
/// of the zone if one was given.
///
/// Equal only when all three are equal; ordered by instant, then by offset, then by name. Name and
/// offset are kept as given: that the zone had this offset then is not checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime {
    epoch_seconds: i64,
    nanos: u32,
    offset_seconds: i32,
    zone: Option<Box<str>>,
}

impl LocalDateTime {
    /// The time `seconds` + `nanos` after 1970-01-01T00:00 on the same clock. `None` when `nanos`
    /// is a second or more, or outside the years -9999 to 9999.
    #[must_use]
    pub fn new(seconds: i64, nanos: u32) -> Option<Self> {
        Date::from_days(seconds.div_euclid(SECONDS_PER_DAY))?;
        (nanos < NANOS_PER_SECOND).then_some(Self { seconds, nanos })
    }

    /// Seconds since 1970-01-01T00:00 on the same clock, rounded down.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Nanoseconds after [`Self::seconds`], below 1,000,000,000.
    #[must_use]
    pub fn nanos(self) -> u32 {
        self.nanos
    }

    fn of(date: Date, time: LocalTime) -> Self {
        let (seconds, nanos) = time.parts();
        Self { seconds: date.days() * SECONDS_PER_DAY + i64::from(seconds), nanos }
    }

    fn date(self) -> Option<Date> {
        Date::from_days(self.seconds.div_euclid(SECONDS_PER_DAY))
    }

    fn time(self) -> Option<LocalTime> {
        let second = u64::try_from(self.seconds.rem_euclid(SECONDS_PER_DAY)).ok()?;
        LocalTime::from_nanos(second * u64::from(NANOS_PER_SECOND) + u64::from(self.nanos))
    }

    pub(super) fn civil(self) -> civil::DateTime {
        let date = self.date().and_then(Date::civil).unwrap_or_default();
        let parts = || {
            let (seconds, nanos) = self.time()?.parts();
            let small = |value: u32| i8::try_from(value).ok();
            let (hour, minute) = (small(seconds / 3600)?, small(seconds / 60 % 60)?);
            CivilTime::new(hour, minute, small(seconds % 60)?, i32::try_from(nanos).ok()?).ok()
        };
        date.to_datetime(parts().unwrap_or_default())
    }

    pub(super) fn from_civil(civil: civil::DateTime) -> Result<Self, TextError> {
        let time = civil.time();
        let second = i64::from(time.hour()) * 3600
            + i64::from(time.minute()) * 60
            + i64::from(time.second());
        let nanos = u32::try_from(time.subsec_nanosecond()).map_err(TextError::new)?;
        let days = Date::from_civil(civil.date())?.days();
        Ok(Self { seconds: days * SECONDS_PER_DAY + second, nanos })
    }

    /// The instant at which a clock at `offset` shows this time.
    pub(super) fn at_offset(self, offset: i32, zone: Option<&str>) -> Result<DateTime, TextError> {
        DateTime::new(self.seconds - i64::from(offset), self.nanos, offset)
            .map(|instant| DateTime { zone: zone.map(Into::into), ..instant })
            .ok_or_else(|| TextError::new("it lies outside the years -9999 to 9999"))
    }
}

/// Splits a text at the `T` or space between date and time.
fn split_time(text: &str) -> (&str, Option<&str>) {
    match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    }
}

impl FromStr for LocalDateTime {
    type Err = TextError;

    /// Reads an ISO 8601 date-time without an offset (`2024-02-29T12:30:00.5`); midnight when it
    /// has no time.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let (date, time) = split_time(text);
        let date = date.parse()?;
        let Some(time) = time else { return Ok(Self::of(date, LocalTime::MIDNIGHT)) };
        if time.contains(['Z', 'z', '+', '-', '[']) {
            return Err(TextError::new("it has an offset as well; use the type datetime"));
        }
        let nanos = clock::time_of_day(time)?;
        Ok(Self::of(date, LocalTime::from_nanos(nanos).unwrap_or(LocalTime::MIDNIGHT)))
    }
}

impl fmt::Display for LocalDateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.date().zip(self.time()) {
            Some((date, time)) => write!(f, "{date}T{time}"),
            None => write!(f, "second {}", self.seconds),
        }
    }
}

impl DateTime {
    /// The instant `epoch_seconds` + `nanos` after 1970-01-01T00:00:00Z, shown at `offset_seconds`
    /// east of UTC. `None` when `nanos` is a second or more, the offset is more than about a day,
    /// or the instant lies outside the years -9999 to 9999.
    #[must_use]
    pub fn new(epoch_seconds: i64, nanos: u32, offset_seconds: i32) -> Option<Self> {
        Offset::from_seconds(offset_seconds).ok()?;
        let fraction = i32::try_from(nanos).ok().filter(|_| nanos < NANOS_PER_SECOND)?;
        Timestamp::new(epoch_seconds, fraction).ok()?;
        Some(Self { epoch_seconds, nanos, offset_seconds, zone: None })
    }

    /// The same with the name of a zone; `None` when it is no such name.
    #[must_use]
    pub fn with_zone(self, name: &str) -> Option<Self> {
        let name = zone::check_name(name).ok()?;
        Some(Self { zone: Some(name.into()), ..self })
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    #[must_use]
    pub fn epoch_seconds(&self) -> i64 {
        self.epoch_seconds
    }

    /// Nanoseconds after [`Self::epoch_seconds`], below 1,000,000,000.
    #[must_use]
    pub fn nanos(&self) -> u32 {
        self.nanos
    }

    /// Seconds east of UTC.
    #[must_use]
    pub fn offset_seconds(&self) -> i32 {
        self.offset_seconds
    }

    /// The name of the zone, if one was given.
    #[must_use]
    pub fn zone(&self) -> Option<&str> {
        self.zone.as_deref()
    }

    /// The instant at which clocks of `zone` show `local`. Where they skip it, the instant as much
    /// later; where they show it twice, the first.
    ///
    /// # Errors
    /// When it lies outside the years -9999 to 9999.
    pub fn from_local(local: LocalDateTime, zone: &Zone) -> Result<Self, TextError> {
        zone.instant(local)
    }

    /// Reads an ISO 8601 date-time (`2024-02-29T12:30:00.5+01:00`, `2024-02-29T12:30[Europe/Paris]`
    /// or both); one with neither is in `zone`, one without a time is at midnight.
    ///
    /// A name with an offset is kept as it is; a name without one must be in the time-zone
    /// database.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse_in(text: &str, zone: &Zone) -> Result<Self, TextError> {
        let (text, name) = clock::split_zone(text)?;
        let (date, time) = split_time(text);
        let date = date.parse()?;
        let clock = ClockText::parse(time.unwrap_or("00"), name)?;
        let time = LocalTime::from_nanos(clock.nanos).unwrap_or(LocalTime::MIDNIGHT);
        let local = LocalDateTime::of(date, time);
        match (clock.offset, clock.zone) {
            (Some(offset), name) => local.at_offset(offset, name),
            (None, Some(name)) => name.parse::<Zone>()?.instant(local),
            (None, None) => zone.instant(local),
        }
    }
}

impl FromStr for DateTime {
    type Err = TextError;

    /// [`DateTime::parse_in`] UTC: **without an offset the text is read as UTC**.
    fn from_str(text: &str) -> Result<Self, TextError> {
        Self::parse_in(text, &Zone::UTC)
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.epoch_seconds + i64::from(self.offset_seconds);
        write!(f, "{}", LocalDateTime { seconds, nanos: self.nanos })?;
        clock::write_offset(self.offset_seconds, f)?;
        match &self.zone {
            Some(name) => write!(f, "[{name}]"),
            None => Ok(()),
        }
    }
}
