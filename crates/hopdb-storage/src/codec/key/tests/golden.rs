//! Fixed bytes, computed by another program from the byte tables in `docs/file-format.md`.
//!
//! A change here is a change of the file format and needs a feature bit.

use super::super::{KeyWriter, Point, describe};

fn hex(write: impl for<'k, 'b> FnOnce(&'k mut KeyWriter<'b>) -> &'k mut KeyWriter<'b>) -> String {
    let mut out = Vec::new();
    let mut key = KeyWriter::new(&mut out);
    write(&mut key);
    key.finish().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn integers() {
    let golden = [
        (i64::MIN, "2a44ff"),
        (i64::MIN + 1, "2a45000000000000000003"),
        (-(1 << 53) - 1, "2a4efefefefefefefeef"),
        (-1000, "2a7a0b"),
        (-1, "2a83ff"),
        (0, "2c"),
        (1, "2e7c00"),
        (2, "2e7d00"),
        (3, "2e7d80"),
        (255, "2e83fe"),
        (1000, "2e85f4"),
        ((1 << 53) - 1, "2eb0ffffffffffffffe0"),
        (1 << 53, "2eb100"),
        ((1 << 53) + 1, "2eb10101010101010110"),
        (i64::MAX, "2ebafffffffffffffffffc"),
    ];
    for (value, expected) in golden {
        assert_eq!(hex(|key| key.integer(value)), expected, "{value}");
    }
}

#[test]
fn floats() {
    let golden = [
        (f64::NEG_INFINITY, "28"),
        (f64::MIN, "2a0080000000000000001f"),
        (-1.5, "2a837f"),
        (-f64::MIN_POSITIVE, "2affcbff"),
        (-5e-324, "2affffff"),
        (-0.0, "2c"),
        (0.0, "2c"),
        (5e-324, "2e000000"),
        (2.225_073_858_507_201e-308, "2e0033ffffffffffffffc0"),
        (f64::MIN_POSITIVE, "2e003400"),
        (0.1, "2e7899cd673399cd6740"),
        (0.5, "2e7b00"),
        (1.0, "2e7c00"),
        (9_007_199_254_740_992.0, "2eb100"),
        (9_223_372_036_854_775_808.0, "2ebb00"),
        (f64::MAX, "2eff7fffffffffffffffe0"),
        (f64::INFINITY, "30"),
        (f64::NAN, "32"),
    ];
    for (value, expected) in golden {
        assert_eq!(hex(|key| key.float(value)), expected, "{value}");
    }
}

#[test]
fn other_values() {
    assert_eq!(hex(|key| key.null()), "3e");
    assert_eq!(hex(|key| key.boolean(false).boolean(true)), "2223");
    assert_eq!(hex(|key| key.string("")), "1e00");
    assert_eq!(hex(|key| key.string("a\0b\u{1}é")), "1e610101620102c3a900");
    assert_eq!(hex(|key| key.bytes(&[0, 1, 2, 255])), "1c0101010202ff00");
    assert_eq!(hex(|key| key.list_start().integer(1).list_end()), "082e7c0000");
    assert_eq!(hex(|key| key.list_start().list_end()), "0800");
    assert_eq!(hex(|key| key.id(7).id(300)), "47c12c");
}

#[test]
fn temporal_values_and_points() {
    assert_eq!(hex(|key| key.date(19_800)), "14824d58");
    assert_eq!(hex(|key| key.date(-1)), "147f");
    assert_eq!(hex(|key| key.local_time(86_399_999_999_999)), "18fe4e94914effff");
    assert_eq!(hex(|key| key.zoned_time(0, 3600)), "1679fcb9cf476000820e10");
    assert_eq!(hex(|key| key.local_date_time(-1, 999_999_999)), "127ff83b9ac9ff");
    assert_eq!(hex(|key| key.zoned_date_time(1_700_000_000, 5, -3600)), "10846553f100457df1f0");
    assert_eq!(hex(|key| key.duration(1, -2, 3, 4)), "1a83257d754481017efe");
    assert_eq!(
        hex(|key| key.duration(i64::MAX, 0, i64::MIN, 0)),
        "1a8b1410387fffffffffd7df8e40887fffffffffffffff80"
    );
    assert_eq!(
        hex(|key| key.point(Point::Cartesian2d([-0.0, 1.5]))),
        "0c038000000000000000bff8000000000000"
    );
    assert_eq!(
        hex(|key| key.point(Point::Wgs84Height([-1.0, 0.0, 2.0]))),
        "0c02400fffffffffffff8000000000000000c000000000000000"
    );
}

#[test]
fn descriptions() {
    let mut out = Vec::new();
    let mut key = KeyWriter::new(&mut out);
    key.null().boolean(true).integer(-3).float(0.5).string("a\"\n").bytes(&[1, 0xab]);
    key.list_start().list_start().list_end().float(f64::NAN).list_end().date(-5);
    key.local_time(1).zoned_time(2, -60).local_date_time(3, 4).zoned_date_time(5, 6, 7);
    key.duration(1, 2, 3, 4).point(Point::Wgs84([1.0, -2.5])).id(42);
    assert_eq!(
        describe(key.finish()),
        "null, true, -3, 0.5, \"a\\\"\\n\", 0x01ab, [[], NaN], date(-5d), localtime(1ns), \
         time(2ns -60s), localdatetime(3.000000004s), datetime(5.000000006s +7s), \
         duration(1mo 2d 3s 4ns), point(wgs-84 [1.0, -2.5]), #42"
    );
    assert_eq!(describe(b""), "");
    assert_eq!(
        describe(b"\x3e\0"),
        "null, <byte 1 of the key: a list ends where none is open: 00>"
    );
    assert_eq!(describe(b"\x08\x3e"), "[null<the key ends at byte 2, inside an element>");
    assert_eq!(describe(b"\x1eab"), "<the key ends at byte 3, inside an element: 1e 61 62>");
}
