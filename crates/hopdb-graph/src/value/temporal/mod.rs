//! Dates, times and durations, as stored: plain numbers that the calendar can show.
//!
//! [`Date`], [`LocalTime`], [`Time`], [`LocalDateTime`], [`DateTime`] and [`Duration`] are Cypher's
//! types; texts are ISO 8601. Between date and time a space does for the `T`.
//!
//! Invariant: a value that exists lies within the years -9999 to 9999, and its offset within a day
//! or so, so that printing and parsing are total. The constructors check; the calendar itself is
//! jiff's.

mod clock;
mod date;
mod date_time;
mod duration;
mod time;
mod zone;

pub use date::Date;
pub use date_time::{DateTime, LocalDateTime};
pub use duration::Duration;
pub use time::{LocalTime, Time};
pub use zone::{NamedZone, Zone};

#[cfg(test)]
mod tests;
