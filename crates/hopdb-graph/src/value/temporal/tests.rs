//! Texts of every temporal type, right and wrong, and there and back.

use proptest::prelude::*;

use super::*;
use crate::value::TextError;

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

#[test]
fn named_zones_are_kept_and_looked_up() {
    let both = "2015-06-24T12:50:35.556+01:00[Europe/London]";
    assert_eq!(date_time(both).to_string(), both);
    assert_eq!(date_time(both).zone(), Some("Europe/London"));
    assert_ne!(date_time(both), date_time("2015-06-24T12:50:35.556+01:00"));
    let looked_up = date_time("2018-05-10T10:30[Europe/Berlin]").to_string();
    assert_eq!(looked_up, "2018-05-10T10:30:00+02:00[Europe/Berlin]");
    assert_eq!(date_time("2018-05-10T10:30[+02:00]").to_string(), "2018-05-10T10:30:00+02:00");
    let column: Zone = "europe/stockholm".parse().unwrap();
    let read = |text| DateTime::parse_in(text, &column).unwrap().to_string();
    assert_eq!(read("2018-05-10T10:30"), "2018-05-10T10:30:00+02:00[Europe/Stockholm]");
    assert_eq!(read("2018-12-10T10:30"), "2018-12-10T10:30:00+01:00[Europe/Stockholm]");
    assert_eq!(read("2018-05-10T10:30Z"), "2018-05-10T10:30:00Z");
    // Clocks skip this half hour, and show that one twice.
    assert_eq!(read("2018-03-25T02:30"), "2018-03-25T03:30:00+02:00[Europe/Stockholm]");
    assert_eq!(read("2018-10-28T02:30"), "2018-10-28T02:30:00+02:00[Europe/Stockholm]");
}

#[test]
fn times_are_read() {
    let time = |text: &str| text.parse::<Time>().unwrap().to_string();
    assert_eq!(time("12:50:35.556+01:00"), "12:50:35.556+01:00");
    assert_eq!(time("T1250Z"), "12:50:00Z");
    assert_eq!(time("125035,5-0130"), "12:50:35.5-01:30");
    assert_eq!(time("12"), "12:00:00Z");
    assert_eq!(time("12:00[+02]"), "12:00:00+02:00");
    let zone = "-03:00".parse().unwrap();
    assert_eq!(Time::parse_in("12:00", &zone).unwrap().to_string(), "12:00:00-03:00");
    let local = |text: &str| text.parse::<LocalTime>().unwrap().to_string();
    assert_eq!(local("23:59:59.999999999"), "23:59:59.999999999");
    assert_eq!(local("0000"), "00:00:00");
    let local = |text: &str| text.parse::<LocalDateTime>().unwrap().to_string();
    assert_eq!(local("2015-06-24T12:50:35.5"), "2015-06-24T12:50:35.5");
    assert_eq!(local("2015-06-24 12:50"), "2015-06-24T12:50:00");
    assert_eq!(local("-000001-01-01"), "-000001-01-01T00:00:00");
}

#[test]
fn durations_are_read() {
    for (text, wanted) in [
        ("P1Y2M3DT4H5M6.7S", "P1Y2M3DT4H5M6.7S"),
        ("P2W", "P14D"),
        ("p1wt1h", "P7DT1H"),
        ("PT0S", "PT0S"),
        ("P0D", "PT0S"),
        ("-P1Y-2M", "P-10M"),
        ("P-1DT-0.5S", "P-1DT-0.5S"),
        ("PT-1M30S", "PT-30S"),
        ("P0.5Y", "P6M"),
        ("P0.5D", "PT12H"),
        ("P1.5M", "P1M15DT5H14M33S"),
        ("PT90M", "PT1H30M"),
        ("PT1,5H", "PT1H30M"),
        ("P13M", "P1Y1M"),
    ] {
        assert_eq!(text.parse::<Duration>().unwrap().to_string(), wanted, "{text}");
    }
    let half_back: Duration = "PT-0.5S".parse().unwrap();
    assert_eq!((half_back.seconds(), half_back.nanos()), (-1, 500_000_000));
}

#[test]
fn wrong_texts_are_named() {
    fn said<T: std::str::FromStr<Err = TextError>>(text: &str) -> String {
        text.parse::<T>().err().map_or_else(|| panic!("{text} was read"), |e| e.to_string())
    }
    for (said, wanted) in [
        (said::<LocalTime>("12:30Z"), "it has an offset as well; use the type time"),
        (said::<LocalTime>("25:00"), "its hours are 25, of at most 23"),
        (said::<LocalTime>("12:60"), "its minutes are 60, of at most 59"),
        (said::<LocalTime>("1:30"), "a time is written like 12:30 or 12:30:00.5"),
        (said::<LocalTime>("12:30:00.1234567890"), "finer than nanoseconds"),
        (said::<LocalTime>("12:30:00."), "after the point only digits may come"),
        (said::<Time>("12:30[Europe/London]"), "a named zone says no offset without a day"),
        (said::<Time>("12:30+1"), "an offset is written like +01:00 or Z"),
        (said::<Time>("12:30+26:00"), "the offset is more than 25:59:59"),
        (said::<LocalDateTime>("2024-01-01T00:00+01:00"), "use the type datetime"),
        (said::<DateTime>("2024-01-01T00:00[Europe/Nowhere]"), "write the offset, as in +01:00"),
        (said::<DateTime>("2024-01-01T00:00+01:00[x y]"), "\"x y\" cannot be the name of a zone"),
        (said::<DateTime>("2024-01-01T00:00+01:00[+02:00]"), "that in brackets differ"),
        (said::<DateTime>("2024-01-01T00:00]"), "a ] closes what no [ opens"),
        (said::<DateTime>("9999-12-31T23:59-01:00"), "outside the years -9999 to 9999"),
        (said::<Duration>("1D"), "a duration is written like P1Y2M3DT4H5M6.7S"),
        (said::<Duration>("P"), "a duration is written like"),
        (said::<Duration>("PT"), "before each letter a number"),
        (said::<Duration>("P1D1Y"), "a duration is written like"),
        (said::<Duration>("P1H"), "a duration is written like"),
        (said::<Duration>("P9223372036854775808D"), "longer than 64 bits count"),
    ] {
        assert!(said.contains(wanted), "{said}");
    }
}
