//! Zones: the offset that a text without one of its own is read with.
//!
//! The rules of named zones are jiff's, from the time-zone database that is compiled in; they serve
//! reading alone, as a stored instant keeps the offset it was given.

use std::str::FromStr;

use jiff::tz::TimeZone;

use super::clock;
use super::{DateTime, LocalDateTime};
use crate::value::error::TextError;

/// Longest name of a zone, in bytes.
pub(super) const NAME_BYTES_MAX: usize = 64;

/// A zone that a column of texts can be read in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Zone {
    /// Seconds east of UTC.
    Offset(i32),
    /// A zone with rules.
    Named(NamedZone),
}

/// A zone of the time-zone database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedZone {
    name: Box<str>,
    rules: TimeZone,
}

impl Zone {
    /// Where nothing is said.
    pub const UTC: Self = Self::Offset(0);

    /// The instant at which clocks of the zone show `local`. Where they skip it, the instant as
    /// much later; where they show it twice, the first.
    pub(super) fn instant(&self, local: LocalDateTime) -> Result<DateTime, TextError> {
        match self {
            Self::Offset(offset) => local.at_offset(*offset, None),
            Self::Named(NamedZone { name, rules }) => {
                let zoned =
                    rules.to_ambiguous_zoned(local.civil()).compatible().map_err(TextError::new)?;
                let local = LocalDateTime::from_civil(zoned.datetime())?;
                local.at_offset(zoned.offset().seconds(), Some(name))
            }
        }
    }
}

impl FromStr for Zone {
    type Err = TextError;

    /// Reads `Z`, an offset or the name of a zone.
    fn from_str(text: &str) -> Result<Self, TextError> {
        if text.starts_with(['+', '-']) || text.eq_ignore_ascii_case("z") {
            return clock::parse_offset(text).map(Self::Offset);
        }
        let name = check_name(text)?;
        let rules = TimeZone::get(name).map_err(|_| {
            TextError::new(format!(
                "{name} is no zone of the time-zone database; write the offset, as in +01:00"
            ))
        })?;
        let name = rules.iana_name().unwrap_or(name).into();
        Ok(Self::Named(NamedZone { name, rules }))
    }
}

/// The name, if one can be written in brackets.
pub(super) fn check_name(name: &str) -> Result<&str, TextError> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"~/._+-".contains(&byte);
    let starts = name.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    if starts && name.len() <= NAME_BYTES_MAX && name.bytes().all(fits) {
        Ok(name)
    } else {
        Err(TextError::new(format!(
            "{name:?} cannot be the name of a zone; write it like Europe/London"
        )))
    }
}
