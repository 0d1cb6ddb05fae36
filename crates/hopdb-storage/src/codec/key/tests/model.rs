//! Values, a comparator written from Cypher's rules alone, and strategies that draw near misses.

use std::cmp::Ordering;

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::{Element, KeyWriter, Point, read};

#[derive(Clone, Debug)]
pub(super) enum Value {
    List(Vec<Value>),
    Point(Point),
    ZonedDateTime(i64, u32, i32),
    LocalDateTime(i64, u32),
    Date(i64),
    ZonedTime(u64, i32),
    LocalTime(u64),
    Duration(i64, i64, i64, u32),
    Bytes(Vec<u8>),
    String(String),
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Null,
    Id(u64),
}

impl Value {
    pub(super) fn write(&self, key: &mut KeyWriter<'_>) {
        match self {
            Self::List(values) => {
                key.list_start();
                values.iter().for_each(|value| value.write(key));
                key.list_end()
            }
            Self::Point(point) => key.point(*point),
            Self::ZonedDateTime(secs, nanos, offset) => key.zoned_date_time(*secs, *nanos, *offset),
            Self::LocalDateTime(secs, nanos) => key.local_date_time(*secs, *nanos),
            Self::Date(days) => key.date(*days),
            Self::ZonedTime(nanos, offset) => key.zoned_time(*nanos, *offset),
            Self::LocalTime(nanos) => key.local_time(*nanos),
            Self::Duration(months, days, secs, nanos) => {
                key.duration(*months, *days, *secs, *nanos)
            }
            Self::Bytes(bytes) => key.bytes(bytes),
            Self::String(text) => key.string(text),
            Self::Boolean(value) => key.boolean(*value),
            Self::Integer(value) => key.integer(*value),
            Self::Float(value) => key.float(*value),
            Self::Null => key.null(),
            Self::Id(id) => key.id(*id),
        };
    }

    /// Reads a value with all that is in it.
    pub(super) fn read(bytes: &[u8], at: &mut usize) -> Self {
        match read(bytes, at).expect("a written key reads back") {
            Element::ListStart => {
                let mut values = Vec::new();
                while bytes[*at] != super::super::kind::LIST_END {
                    values.push(Self::read(bytes, at));
                }
                *at += 1;
                Self::List(values)
            }
            element => Self::from_element(&element),
        }
    }

    pub(super) fn from_element(element: &Element<'_>) -> Self {
        match element {
            Element::Null => Self::Null,
            Element::Boolean(value) => Self::Boolean(*value),
            Element::Integer(value) => Self::Integer(*value),
            Element::Float(value) => Self::Float(*value),
            Element::String(text) => Self::String(text.to_string()),
            Element::Bytes(bytes) => Self::Bytes(bytes.to_vec()),
            Element::Date { days } => Self::Date(*days),
            Element::LocalTime { nanos } => Self::LocalTime(*nanos),
            Element::ZonedTime { nanos, offset_secs } => Self::ZonedTime(*nanos, *offset_secs),
            Element::LocalDateTime { secs, nanos } => Self::LocalDateTime(*secs, *nanos),
            Element::ZonedDateTime { epoch_secs, nanos, offset_secs } => {
                Self::ZonedDateTime(*epoch_secs, *nanos, *offset_secs)
            }
            Element::Duration { months, days, secs, nanos } => {
                Self::Duration(*months, *days, *secs, *nanos)
            }
            Element::Point(point) => Self::Point(*point),
            Element::Id(id) => Self::Id(*id),
            Element::ListStart | Element::ListEnd => panic!("a bracket is no value"),
        }
    }

    /// Cypher's order of types, ascending; ids, which are no values, are last.
    fn rank(&self) -> u8 {
        match self {
            Self::List(_) => 0,
            Self::Point(_) => 1,
            Self::ZonedDateTime(..) => 2,
            Self::LocalDateTime(..) => 3,
            Self::Date(_) => 4,
            Self::ZonedTime(..) => 5,
            Self::LocalTime(_) => 6,
            Self::Duration(..) => 7,
            Self::Bytes(_) => 8,
            Self::String(_) => 9,
            Self::Boolean(_) => 10,
            Self::Integer(_) | Self::Float(_) => 11,
            Self::Null => 12,
            Self::Id(_) => 13,
        }
    }

    pub(super) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::List(a), Self::List(b)) => order_lists(a, b),
            (Self::Point(a), Self::Point(b)) => order_points(a, b),
            (Self::ZonedDateTime(s, n, o), Self::ZonedDateTime(t, m, p)) => {
                (s, n, o).cmp(&(t, m, p))
            }
            (Self::LocalDateTime(s, n), Self::LocalDateTime(t, m)) => (s, n).cmp(&(t, m)),
            (Self::Date(a), Self::Date(b)) => a.cmp(b),
            (Self::ZonedTime(a, o), Self::ZonedTime(b, p)) => {
                let utc = |nanos: u64, offset: i32| {
                    i128::from(nanos) - i128::from(offset) * 1_000_000_000
                };
                utc(*a, *o).cmp(&utc(*b, *p)).then(o.cmp(p))
            }
            (Self::LocalTime(a), Self::LocalTime(b)) | (Self::Id(a), Self::Id(b)) => a.cmp(b),
            (Self::Duration(a, b, c, n), Self::Duration(d, e, f, m)) => {
                let nanos = |months: i64, days: i64, secs: i64, nanos: u32| {
                    let secs = i128::from(months) * 2_629_746
                        + i128::from(days) * 86_400
                        + i128::from(secs);
                    secs * 1_000_000_000 + i128::from(nanos)
                };
                nanos(*a, *b, *c, *n).cmp(&nanos(*d, *e, *f, *m)).then((a, b).cmp(&(d, e)))
            }
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::String(a), Self::String(b)) => a.chars().cmp(b.chars()),
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Integer(a), Self::Float(b)) => order_mixed(*a, *b),
            (Self::Float(a), Self::Integer(b)) => order_mixed(*b, *a).reverse(),
            (Self::Float(a), Self::Float(b)) => order_floats(*a, *b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

pub(super) fn order_lists(a: &[Value], b: &[Value]) -> Ordering {
    let differing = a.iter().zip(b).map(|(a, b)| a.order(b)).find(|order| order.is_ne());
    differing.unwrap_or(a.len().cmp(&b.len()))
}

/// NaN is last and equal to itself.
fn order_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(a.is_nan().cmp(&b.is_nan()))
}

/// Exact: the whole part as a wide integer, then whether anything is left of the float.
fn order_mixed(integer: i64, float: f64) -> Ordering {
    if float.is_nan() || float >= 1e30 {
        return Ordering::Less;
    }
    if float <= -1e30 {
        return Ordering::Greater;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below 1e30 in magnitude")]
    let whole = float.floor() as i128;
    let rest = if float > float.floor() { Ordering::Less } else { Ordering::Equal };
    i128::from(integer).cmp(&whole).then(rest)
}

fn order_points(a: &Point, b: &Point) -> Ordering {
    let parts = |point: &Point| match *point {
        Point::Wgs84(at) => (4326, at.to_vec()),
        Point::Wgs84Height(at) => (4979, at.to_vec()),
        Point::Cartesian2d(at) => (7203, at.to_vec()),
        Point::Cartesian3d(at) => (9157, at.to_vec()),
    };
    let ((a, a_at), (b, b_at)) = (parts(a), parts(b));
    let coordinates = a_at.iter().zip(&b_at).map(|(a, b)| order_floats(*a, *b));
    a.cmp(&b).then(coordinates.fold(Ordering::Equal, Ordering::then))
}

/// Integers of every size, and many close to powers of two.
fn any_integer() -> impl Strategy<Value = i64> {
    prop_oneof![
        (any::<i64>(), 0..64_u32).prop_map(|(value, shift)| value >> shift),
        (0..64_u32, -2..3_i64).prop_map(|(bit, step)| (1_i64 << bit).wrapping_add(step)),
        -3..4_i64,
    ]
}

#[expect(clippy::cast_precision_loss, reason = "any float close to the integer will do")]
fn any_float() -> impl Strategy<Value = f64> {
    let special = [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, 0.5];
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        any_integer().prop_map(|value| value as f64),
        any_integer().prop_map(|value| value as f64 / 8.0),
        (0..1_u64 << 53).prop_map(f64::from_bits),
        prop::sample::select(special.to_vec()),
    ]
}

fn any_number() -> impl Strategy<Value = Value> {
    prop_oneof![any_integer().prop_map(Value::Integer), any_float().prop_map(Value::Float)]
}

/// Two numbers that have nothing to do with each other, or are within a few steps.
#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is wanted")]
pub(super) fn pair_of_numbers() -> impl Strategy<Value = (Value, Value)> {
    let near = |(integer, step): (i64, i64)| {
        let float = f64::from_bits((integer as f64).to_bits().wrapping_add_signed(step));
        (Value::Integer(integer), Value::Float(float))
    };
    prop_oneof![
        (any_integer(), -2..3_i64).prop_map(near),
        (any_float(), -2..3_i64).prop_map(|(float, step)| {
            let next = f64::from_bits(float.to_bits().wrapping_add_signed(step));
            (Value::Float(float), Value::Float(next))
        }),
        (any_integer(), -2..3_i64).prop_map(|(integer, step)| {
            (Value::Integer(integer), Value::Integer(integer.wrapping_add(step)))
        }),
        (any_number(), any_number()),
    ]
    .prop_flat_map(|(a, b)| prop_oneof![Just((a.clone(), b.clone())), Just((b, a))])
}

fn any_point() -> impl Strategy<Value = Point> {
    (0..4_u8, [any_float(), any_float(), any_float()]).prop_map(
        |(system, [x, y, z])| match system {
            0 => Point::Wgs84([x, y]),
            1 => Point::Wgs84Height([x, y, z]),
            2 => Point::Cartesian2d([x, y]),
            _ => Point::Cartesian3d([x, y, z]),
        },
    )
}

fn any_temporal() -> impl Strategy<Value = Value> {
    let nanos = || prop_oneof![Just(0), Just(999_999_999), 0..1_000_000_000_u32];
    let day = || prop_oneof![0..3_u64, 0..86_400_000_000_000_u64];
    let offset = || prop_oneof![-2..3_i32, -64_800..64_801_i32];
    prop_oneof![
        (any_integer(), nanos(), offset()).prop_map(|(s, n, o)| Value::ZonedDateTime(s, n, o)),
        (any_integer(), nanos()).prop_map(|(s, n)| Value::LocalDateTime(s, n)),
        any_integer().prop_map(Value::Date),
        (day(), offset()).prop_map(|(n, o)| Value::ZonedTime(n, o)),
        day().prop_map(Value::LocalTime),
        (any_integer(), any_integer(), any_integer(), nanos())
            .prop_map(|(months, days, secs, n)| Value::Duration(months, days, secs, n)),
        (-1..2_i64, -1..2_i64, -86_400..86_401_i64, 0..2_u32)
            .prop_map(|(months, days, secs, n)| Value::Duration(months, days, secs, n)),
    ]
}

fn any_scalar() -> impl Strategy<Value = Value> {
    let byte = || prop_oneof![0..4_u8, Just(b'a'), Just(0xff), any::<u8>()];
    prop_oneof![
        3 => any_number(),
        2 => any_temporal(),
        1 => any_point().prop_map(Value::Point),
        1 => vec(byte(), 0..6).prop_map(Value::Bytes),
        1 => "[\0\u{1}\u{2}a\u{7f}é\u{10ffff}]{0,5}".prop_map(Value::String),
        1 => any::<String>().prop_map(Value::String),
        1 => "[ab]{14,36}\0?[ab]{0,20}".prop_map(Value::String),
        1 => any::<bool>().prop_map(Value::Boolean),
        1 => Just(Value::Null),
    ]
}

/// Any value; lists to a depth of three.
pub(super) fn any_value() -> impl Strategy<Value = Value> {
    any_scalar().prop_recursive(3, 8, 3, |inner| vec(inner, 0..3).prop_map(Value::List))
}

/// Elements of a composite key, ids among them.
pub(super) fn any_composite() -> impl Strategy<Value = Vec<Value>> {
    let id = (any::<u64>(), 0..64_u32).prop_map(|(id, shift)| Value::Id(id >> shift));
    vec(prop_oneof![3 => any_value(), 1 => id], 0..4)
}
