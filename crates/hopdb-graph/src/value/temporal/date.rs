//! Calendar days.

use std::fmt;
use std::str::FromStr;

use jiff::civil;
use jiff::fmt::temporal::Pieces;
use jiff::{Span, Unit};

use crate::value::error::TextError;

/// 1970-01-01, from which days are counted.
const EPOCH: civil::Date = civil::date(1970, 1, 1);

/// A calendar day without a time zone, as days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    days: i64,
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

    pub(super) fn civil(self) -> Option<civil::Date> {
        EPOCH.checked_add(Span::new().try_days(self.days).ok()?).ok()
    }

    pub(super) fn from_civil(date: civil::Date) -> Result<Self, TextError> {
        let span = EPOCH.until((Unit::Day, date)).map_err(TextError::new)?;
        Ok(Self { days: i64::from(span.get_days()) })
    }
}

impl FromStr for Date {
    type Err = TextError;

    /// Reads an ISO 8601 date (`2024-02-29`, `20240229`). A time or an offset behind it is an
    /// error rather than silently lost.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let pieces = Pieces::parse(text).map_err(TextError::new)?;
        if pieces.time().is_some() || pieces.offset().is_some() {
            return Err(TextError::new("it has a time as well; use the type datetime"));
        }
        if pieces.time_zone_annotation().is_some() {
            return Err(TextError::new("a date has no time zone"));
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
