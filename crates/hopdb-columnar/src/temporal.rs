//! Counts of days and of parts of seconds as dates and times.
//!
//! Reasons read on behind "the column holds".

use arrow_schema::TimeUnit;
use hopdb::{Date, DateTime, Duration, LocalDateTime, LocalTime, Value};

use crate::cells::Cell;

const SECONDS_PER_DAY: i64 = 86_400;

/// A day, counted from 1970-01-01.
pub(crate) fn date(days: i64) -> Cell {
    Date::from_days(days)
        .map(Value::Date)
        .ok_or_else(|| format!("the day {days} after 1970-01-01, outside the years -9999 to 9999"))
}

/// The day of an instant in milliseconds since 1970-01-01.
pub(crate) fn date_of_millis(millis: i64) -> Cell {
    date(millis.div_euclid(SECONDS_PER_DAY * 1_000))
}

/// Whole seconds, rounded down, and the nanoseconds above them.
fn split(count: i64, unit: TimeUnit) -> (i64, u32) {
    let (per_second, nanos) = match unit {
        TimeUnit::Second => (1, 1_000_000_000),
        TimeUnit::Millisecond => (1_000, 1_000_000),
        TimeUnit::Microsecond => (1_000_000, 1_000),
        TimeUnit::Nanosecond => (1_000_000_000, 1),
    };
    let fraction = u32::try_from(count.rem_euclid(per_second) * nanos).unwrap_or_default();
    (count.div_euclid(per_second), fraction)
}

/// An instant, shown at `offset_seconds` east of UTC.
pub(crate) fn date_time(count: i64, unit: TimeUnit, offset_seconds: i32) -> Cell {
    let (seconds, nanos) = split(count, unit);
    DateTime::new(seconds, nanos, offset_seconds).map(Value::DateTime).ok_or_else(|| {
        format!("the second {seconds} after 1970-01-01, outside the years -9999 to 9999")
    })
}

/// Seconds east of UTC of a zone written as an offset (`+02:00`, `-0530`, `+01`); 0 for names, as
/// an instant needs no zone to be exact.
pub(crate) fn offset_seconds(zone: &str) -> i32 {
    let (sign, digits) = match zone.split_at_checked(1) {
        Some(("+", digits)) => (1, digits),
        Some(("-", digits)) => (-1, digits),
        _ => return 0,
    };
    let digits: String = digits.chars().filter(|&character| character != ':').collect();
    let is_offset = matches!(digits.len(), 2 | 4) && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_offset {
        return 0;
    }
    let part = |range| digits.get(range).and_then(|part: &str| part.parse().ok()).unwrap_or(0);
    sign * (part(0..2) * 3_600 + part(2..4) * 60)
}

/// A date and a time without a zone, counted from 1970-01-01T00:00 on the same clock.
pub(crate) fn local_date_time(count: i64, unit: TimeUnit) -> Cell {
    let (seconds, nanos) = split(count, unit);
    LocalDateTime::new(seconds, nanos).map(Value::LocalDateTime).ok_or_else(|| {
        format!("the second {seconds} after 1970-01-01, outside the years -9999 to 9999")
    })
}

/// A time of day without a zone, counted from midnight.
pub(crate) fn local_time(count: i64, unit: TimeUnit) -> Cell {
    let (seconds, nanos) = split(count, unit);
    let nanos_of_day = u64::try_from(seconds)
        .ok()
        .and_then(|seconds| seconds.checked_mul(1_000_000_000)?.checked_add(nanos.into()));
    nanos_of_day
        .and_then(LocalTime::from_nanos)
        .map(Value::LocalTime)
        .ok_or_else(|| format!("the second {seconds} after midnight, outside the day"))
}

/// A duration of months, days, and a count of smaller units.
pub(crate) fn duration(months: i32, days: i32, count: i64, unit: TimeUnit) -> Cell {
    let (seconds, nanos) = split(count, unit);
    Duration::new(months.into(), days.into(), seconds, nanos)
        .map(Value::Duration)
        .ok_or_else(|| format!("a duration of {count} parts of a second"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_before_1970_round_down() {
        assert_eq!(split(-1, TimeUnit::Nanosecond), (-1, 999_999_999));
        assert_eq!(split(-1, TimeUnit::Millisecond), (-1, 999_000_000));
        assert_eq!(split(-1, TimeUnit::Second), (-1, 0));
        assert_eq!(split(1_500_001, TimeUnit::Microsecond), (1, 500_001_000));
        assert_eq!(date_of_millis(-1), date(-1));
        assert_eq!(date_of_millis(86_400_000), date(1));
    }

    #[test]
    fn zones_are_offsets_or_names() {
        for (zone, seconds) in [
            ("+00:00", 0),
            ("+05:30", 19_800),
            ("-0830", -30_600),
            ("+01", 3_600),
            ("UTC", 0),
            ("Europe/Stockholm", 0),
            ("", 0),
            ("+", 0),
            ("+1x", 0),
            ("é", 0),
        ] {
            assert_eq!(offset_seconds(zone), seconds, "{zone}");
        }
    }

    #[test]
    fn what_lies_outside_the_calendar_is_refused() {
        assert!(date(i64::MAX).is_err());
        assert!(date_time(i64::MIN, TimeUnit::Second, 0).is_err());
        assert!(date_time(i64::MIN, TimeUnit::Nanosecond, 0).is_ok());
        assert!(local_date_time(i64::MAX, TimeUnit::Millisecond).is_err());
        assert!(local_time(86_399, TimeUnit::Second).is_ok());
        assert_eq!(
            local_time(86_400, TimeUnit::Second).unwrap_err(),
            "the second 86400 after midnight, outside the day"
        );
        assert!(local_time(-1, TimeUnit::Nanosecond).is_err());
    }
}
