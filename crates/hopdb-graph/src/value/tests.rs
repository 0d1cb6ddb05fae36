//! Equality, keys and Cypher text of values; and any value at all, for the tests of others.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn any_finite<T: Arbitrary + Clone>(is_finite: fn(&T) -> bool) -> impl Strategy<Value = T> {
    any::<T>().prop_filter("finite", is_finite)
}

fn any_zone_name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["Europe/London", "Etc/GMT+8", "UTC", "America/Argentina/Ushuaia"])
}

fn any_temporal() -> impl Strategy<Value = Value> {
    let day = 86_400_000_000_000_u64;
    let seconds = -377_000_000_000_i64..253_000_000_000;
    let nanos = prop_oneof![Just(0), 0_u32..1_000_000_000, (0_u32..10).prop_map(|n| n * 1_000)];
    let offset = prop_oneof![Just(0), -1_500_i32..1_500, (-93_599_i32..=93_599)];
    let time = (0..day).prop_map(|nanos| LocalTime::from_nanos(nanos).unwrap());
    prop_oneof![
        (-4_371_587_i64..=2_932_896).prop_map(|days| Date::from_days(days).unwrap().into()),
        time.clone().prop_map(Value::LocalTime),
        (time, offset.clone()).prop_map(|(time, o)| Time::new(time, o).unwrap().into()),
        (seconds.clone(), nanos.clone())
            .prop_map(|(s, n)| LocalDateTime::new(s, n).unwrap().into()),
        (seconds, nanos.clone(), offset, prop::option::of(any_zone_name())).prop_map(
            |(s, n, o, zone)| {
                let instant = DateTime::new(s, n, o).unwrap();
                zone.map_or_else(
                    || instant.clone(),
                    |zone| instant.clone().with_zone(zone).unwrap(),
                )
                .into()
            }
        ),
        (any::<i64>(), any::<i64>(), any::<i64>(), nanos.clone())
            .prop_map(|(m, d, s, n)| Duration::new(m, d, s, n).unwrap().into()),
        (-30_i64..30, -40_i64..40, -9_000_i64..9_000, nanos)
            .prop_map(|(m, d, s, n)| Duration::new(m, d, s, n).unwrap().into()),
    ]
}

fn any_point() -> impl Strategy<Value = Point> {
    let coordinates = prop::array::uniform3(any_finite::<f64>(|value| value.is_finite()));
    let degrees = (-180.0..=180.0, -90.0..=90.0, -1e4..1e4).prop_map(|(x, y, z)| [x, y, z]);
    (prop::sample::select(&Crs::ALL[..]), coordinates, degrees).prop_map(|(crs, any, degrees)| {
        let flat = matches!(crs, Crs::Cartesian2d | Crs::Cartesian3d);
        let coordinates = if flat { any } else { degrees };
        Point::new(crs, &coordinates[..crs.dimensions()]).unwrap()
    })
}

fn any_vector() -> impl Strategy<Value = Vector> {
    prop_oneof![
        vec(any::<i8>(), 1..9).prop_map(Coordinates::Integer8),
        vec(any::<i16>(), 1..9).prop_map(Coordinates::Integer16),
        vec(any::<i32>(), 1..9).prop_map(Coordinates::Integer32),
        vec(any::<i64>(), 1..9).prop_map(Coordinates::Integer64),
        vec(any_finite::<f32>(|value| value.is_finite()), 1..9).prop_map(Coordinates::Float32),
        vec(any_finite::<f64>(|value| value.is_finite()), 1..9).prop_map(Coordinates::Float64),
    ]
    .prop_map(|coordinates| Vector::new(coordinates).unwrap())
}

/// Any value that is neither null nor a list.
pub(crate) fn any_scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => any::<bool>().prop_map(Value::Boolean),
        1 => any::<i64>().prop_map(Value::Integer),
        1 => any::<u64>().prop_map(|bits| Value::Float(f64::from_bits(bits))),
        1 => ".{0,200}".prop_map(Value::String),
        1 => "[\"'; a\n]{0,6}".prop_map(Value::String),
        1 => vec(any::<u8>(), 0..40).prop_map(Value::Bytes),
        4 => any_temporal(),
        1 => any_point().prop_map(Value::Point),
        1 => any_vector().prop_map(Value::Vector),
    ]
}

/// Values of every kind, lists nested a few levels deep.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![1 => Just(Value::Null), 9 => any_scalar()]
        .prop_recursive(4, 40, 8, |item| vec(item, 0..8).prop_map(Value::List))
}

#[test]
fn values_print_as_cypher() {
    let values = Value::List(vec![
        Value::Null,
        true.into(),
        (-5_i64).into(),
        1.0.into(),
        1e300.into(),
        f64::NEG_INFINITY.into(),
        f64::NAN.into(),
        "it's \\ a\nline\u{1}".into(),
        vec![10_u8, 255].into(),
        Date::from_days(0).unwrap().into(),
        DateTime::new(0, 0, 3600).unwrap().into(),
        LocalTime::from_nanos(1_500_000_000).unwrap().into(),
        Time::new(LocalTime::MIDNIGHT, 0).unwrap().into(),
        LocalDateTime::new(-1, 0).unwrap().into(),
        Duration::new(14, 3, 0, 0).unwrap().into(),
        Point::new(Crs::Cartesian2d, &[1.0, 2.0]).unwrap().into(),
        Vector::new(Coordinates::Float32(vec![0.5])).unwrap().into(),
    ]);
    assert_eq!(
        values.to_string(),
        "[null, true, -5, 1.0, 1e300, -Infinity, NaN, 'it\\'s \\\\ a\\nline\\u0001', X'0aff', \
         date('1970-01-01'), datetime('1970-01-01T01:00:00+01:00'), localtime('00:00:01.5'), \
             time('00:00:00Z'), localdatetime('1969-12-31T23:59:59'), duration('P1Y2M3D'), \
             point({x: 1.0, y: 2.0, crs: 'cartesian'}), vector([0.5], 1, FLOAT32)]"
    );
}

#[test]
fn keys_order_numbers_as_one_and_values_by_kind() {
    let key = |value: Value| {
        let mut out = Vec::new();
        value.key(&mut KeyWriter::new(&mut out));
        out
    };
    assert_eq!(key(1_i64.into()), key(1.0.into()));
    let ascending = [
        Value::List(vec!["a".into()]),
        Value::List(vec!["a".into(), 1_i64.into()]),
        "a".into(),
        "a\0".into(),
        "b".into(),
        false.into(),
        true.into(),
        (-1_i64).into(),
        1.5.into(),
        2_i64.into(),
        f64::NAN.into(),
        Value::Null,
    ];
    assert!(ascending.map(key).is_sorted_by(|a, b| a < b));
    let day = |days| key(Date::from_days(days).unwrap().into());
    assert!(day(-1) < day(0));
    let time = |seconds, offset| key(DateTime::new(seconds, 0, offset).unwrap().into());
    assert!(time(-5, 60) < time(5, -60));
}

#[test]
fn equality_is_of_the_stored_form() {
    assert_eq!(Value::Float(f64::NAN), Value::Float(f64::NAN));
    assert_ne!(Value::Float(0.0), Value::Float(-0.0));
    assert_ne!(Value::Integer(1), Value::Float(1.0));
    assert_ne!(Value::from("1"), Value::Bytes(b"1".to_vec()));
    assert_eq!(Value::Null, Value::Null);
}

proptest! {
    #[test]
    fn texts_are_read_back(value in any_scalar()) {
        let read = |text: String| -> Result<Value, TextError> {
            Ok(match &value {
                Value::Date(_) => text.parse::<Date>()?.into(),
                Value::LocalTime(_) => text.parse::<LocalTime>()?.into(),
                Value::Time(_) => text.parse::<Time>()?.into(),
                Value::LocalDateTime(_) => text.parse::<LocalDateTime>()?.into(),
                Value::DateTime(_) => text.parse::<DateTime>()?.into(),
                Value::Duration(_) => text.parse::<Duration>()?.into(),
                Value::Point(_) => text.parse::<Point>()?.into(),
                _ => value.clone(),
            })
        };
        // Inside the Cypher expression stands the text.
        let cypher = value.to_string();
        let text = match &value {
            Value::Point(point) => point.to_string(),
            _ => cypher.split('\'').nth(1).unwrap_or_default().to_owned(),
        };
        prop_assert_eq!(&read(text).unwrap(), &value);
        let mut field = String::new();
        value.write_field(&field_text::Separators::default(), &mut field).unwrap();
        prop_assert_eq!(&read(field).unwrap(), &value);
    }

    #[test]
    fn keys_are_equal_for_equal_values(a in any_value(), b in any_value()) {
        let key = |value: &Value| {
            let mut out = Vec::new();
            value.key(&mut KeyWriter::new(&mut out));
            out
        };
        prop_assert_eq!(key(&a), key(&a.clone()));
        prop_assert!(a != b || key(&a) == key(&b));
    }
}
