//! Keys as people read them, for inspection tools. Not a format: nothing parses it.

use std::fmt::Write as _;

use super::{Element, KeyError, Point, read};

/// A readable form of any bytes, taken as a key: elements separated by commas, lists in brackets,
/// ids with `#`. From where the bytes stop being a key (as a cut one does) they stand in
/// hexadecimal, with the reason.
///
/// ```
/// use hopdb_storage::codec::key::{KeyWriter, describe};
///
/// let mut buffer = Vec::new();
/// let mut key = KeyWriter::new(&mut buffer);
/// key.list_start().string("Ada").float(0.5).list_end().id(7);
/// assert_eq!(describe(key.finish()), r#"["Ada", 0.5], #7"#);
/// ```
#[must_use]
pub fn describe(key: &[u8]) -> String {
    let mut out = String::new();
    let mut at = 0;
    let mut open_lists = 0_usize;
    let mut separator = "";
    while at < key.len() {
        let start = at;
        let element = match read(key, &mut at) {
            Ok(Element::ListEnd) if open_lists == 0 => {
                Err(KeyError::Malformed { at: start, what: "a list ends where none is open" })
            }
            element => element,
        };
        match element {
            Ok(Element::ListStart) => {
                append(&mut out, format_args!("{separator}["));
                open_lists += 1;
                separator = "";
            }
            Ok(Element::ListEnd) => {
                out.push(']');
                open_lists -= 1;
                separator = ", ";
            }
            Ok(element) => {
                out.push_str(separator);
                push_element(&mut out, &element);
                separator = ", ";
            }
            Err(error) => {
                append(&mut out, format_args!("{separator}<{error}:"));
                for byte in &key[start..] {
                    append(&mut out, format_args!(" {byte:02x}"));
                }
                out.push('>');
                return out;
            }
        }
    }
    if open_lists > 0 {
        append(&mut out, format_args!("<{}>", KeyError::Truncated { at }));
    }
    out
}

/// Writing to a `String` cannot fail.
fn append(out: &mut String, text: std::fmt::Arguments<'_>) {
    assert!(out.write_fmt(text).is_ok(), "a String refused text");
}

fn push_element(out: &mut String, element: &Element<'_>) {
    match element {
        Element::Null => out.push_str("null"),
        Element::Boolean(value) => append(out, format_args!("{value}")),
        Element::Integer(value) => append(out, format_args!("{value}")),
        Element::Float(value) => append(out, format_args!("{value:?}")),
        Element::String(value) => append(out, format_args!("{value:?}")),
        Element::Bytes(value) => {
            out.push_str("0x");
            for byte in value.iter() {
                append(out, format_args!("{byte:02x}"));
            }
        }
        Element::Date { days } => append(out, format_args!("date({days}d)")),
        Element::LocalTime { nanos } => append(out, format_args!("localtime({nanos}ns)")),
        Element::ZonedTime { nanos, offset_secs } => {
            append(out, format_args!("time({nanos}ns {offset_secs:+}s)"));
        }
        Element::LocalDateTime { secs, nanos } => {
            append(out, format_args!("localdatetime({secs}.{nanos:09}s)"));
        }
        Element::ZonedDateTime { epoch_secs, nanos, offset_secs } => {
            append(out, format_args!("datetime({epoch_secs}.{nanos:09}s {offset_secs:+}s)"));
        }
        Element::Duration { months, days, secs, nanos } => {
            append(out, format_args!("duration({months}mo {days}d {secs}s {nanos}ns)"));
        }
        Element::Point(point) => push_point(out, *point),
        Element::Id(id) => append(out, format_args!("#{id}")),
        Element::ListStart => out.push('['),
        Element::ListEnd => out.push(']'),
    }
}

fn push_point(out: &mut String, point: Point) {
    let (name, coordinates): (&str, &[f64]) = match &point {
        Point::Wgs84(at) => ("wgs-84", at),
        Point::Wgs84Height(at) => ("wgs-84-3d", at),
        Point::Cartesian2d(at) => ("cartesian", at),
        Point::Cartesian3d(at) => ("cartesian-3d", at),
    };
    append(out, format_args!("point({name} {coordinates:?})"));
}
