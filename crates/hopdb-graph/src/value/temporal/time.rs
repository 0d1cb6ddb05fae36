//! Times of day, with and without an offset.

use std::fmt;
use std::str::FromStr;

use super::clock::{self, ClockText, NANOS_PER_DAY, NANOS_PER_SECOND};
use super::zone::Zone;
use crate::value::error::TextError;

/// A time of day on a clock anywhere, to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalTime {
    nanos: u64,
}

/// A time of day to the nanosecond, with an offset from UTC.
///
/// Equal only when time and offset are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Time {
    local: LocalTime,
    offset_seconds: i32,
}

impl LocalTime {
    /// Midnight, where a day starts.
    pub const MIDNIGHT: Self = Self { nanos: 0 };

    /// The time `nanos` nanoseconds after midnight; `None` for a day or more.
    #[must_use]
    pub fn from_nanos(nanos: u64) -> Option<Self> {
        (nanos < NANOS_PER_DAY).then_some(Self { nanos })
    }

    /// Nanoseconds since midnight.
    #[must_use]
    pub fn nanos(self) -> u64 {
        self.nanos
    }

    /// Whole seconds since midnight, and nanoseconds after them.
    pub(super) fn parts(self) -> (u32, u32) {
        let per_second = u64::from(NANOS_PER_SECOND);
        let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        (small(self.nanos / per_second), small(self.nanos % per_second))
    }
}

impl FromStr for LocalTime {
    type Err = TextError;

    /// Reads an ISO 8601 time (`12:30`, `12:30:00.5`, `123000`, with or without a `T` before it).
    fn from_str(text: &str) -> Result<Self, TextError> {
        let text = text.strip_prefix(['T', 't']).unwrap_or(text);
        if text.contains(['Z', 'z', '+', '-', '[']) && !text.starts_with(['+', '-']) {
            return Err(TextError::new("it has an offset as well; use the type time"));
        }
        clock::time_of_day(text).map(|nanos| Self { nanos })
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = self.parts();
        write!(f, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
        clock::write_fraction(nanos, f)
    }
}

impl Time {
    /// A time of day at `offset_seconds` east of UTC; `None` when that is 26 hours or more.
    #[must_use]
    pub fn new(local: LocalTime, offset_seconds: i32) -> Option<Self> {
        clock::is_offset(offset_seconds).then_some(Self { local, offset_seconds })
    }

    /// What a clock at the offset shows.
    #[must_use]
    pub fn local(self) -> LocalTime {
        self.local
    }

    /// Seconds east of UTC.
    #[must_use]
    pub fn offset_seconds(self) -> i32 {
        self.offset_seconds
    }

    /// A time of day in `zone`.
    ///
    /// # Errors
    /// When the zone is a named one, as its offset depends on the day.
    pub fn from_local(local: LocalTime, zone: &Zone) -> Result<Self, TextError> {
        match zone {
            Zone::Offset(offset_seconds) => Ok(Self { local, offset_seconds: *offset_seconds }),
            Zone::Named(_) => Err(zone_needs_a_day()),
        }
    }

    /// Reads an ISO 8601 time (`12:30:00.5+01:00`); one without an offset is in `zone`.
    ///
    /// # Errors
    /// Why it is none. A named zone is not taken, as its offset depends on the day.
    pub fn parse_in(text: &str, zone: &Zone) -> Result<Self, TextError> {
        let (text, name) = clock::split_zone(text)?;
        let text = text.strip_prefix(['T', 't']).unwrap_or(text);
        let clock = ClockText::parse(text, name)?;
        let local = LocalTime { nanos: clock.nanos };
        match clock.offset {
            _ if clock.zone.is_some() => Err(zone_needs_a_day()),
            Some(offset_seconds) => Ok(Self { local, offset_seconds }),
            None => Self::from_local(local, zone),
        }
    }
}

fn zone_needs_a_day() -> TextError {
    TextError::new("a named zone says no offset without a day; write the offset, as in +01:00")
}

impl FromStr for Time {
    type Err = TextError;

    /// [`Time::parse_in`] UTC.
    fn from_str(text: &str) -> Result<Self, TextError> {
        Self::parse_in(text, &Zone::UTC)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.local)?;
        clock::write_offset(self.offset_seconds, f)
    }
}
