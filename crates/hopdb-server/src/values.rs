//! Property values as JSON, out and in.
//!
//! Null, booleans, strings, lists, finite floats and integers of at most 53 bits are plain JSON; a float always has
//! a point or an exponent, so that it is told from an integer. All else is `{"$type":"Date","_value":"2024-02-29"}`:
//! `_value` is the text that HopDB prints, base64 for bytes.
//!
//! Reading takes numbers as they are written: what does not fit 64 bits is refused, never rounded.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hopdb::Value;
use serde::ser::{Serialize, SerializeSeq, SerializeStruct, Serializer};
use serde_json::value::RawValue;

/// The largest integer that every JSON reader keeps exactly: 2^53 - 1.
const PLAIN_INTEGER_MAX: u64 = (1 << 53) - 1;

/// How deep lists may nest in what is read; the database's own limit.
const DEPTH_MAX: usize = 32;

/// A value, to be written.
pub(crate) struct Json<'v>(pub(crate) &'v Value);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => to.serialize_unit(),
            Value::Boolean(value) => to.serialize_bool(*value),
            Value::Integer(value) if value.unsigned_abs() <= PLAIN_INTEGER_MAX => {
                to.serialize_i64(*value)
            }
            Value::Float(value) if value.is_finite() => to.serialize_f64(*value),
            Value::String(value) => to.serialize_str(value),
            Value::List(values) => {
                let mut list = to.serialize_seq(Some(values.len()))?;
                values.iter().try_for_each(|value| list.serialize_element(&Json(value)))?;
                list.end()
            }
            typed => {
                let mut object = to.serialize_struct("Typed", 2)?;
                object.serialize_field("$type", typed.type_name())?;
                object.serialize_field("_value", &text(typed))?;
                object.end()
            }
        }
    }
}

/// The text of a value that JSON has no type for.
fn text(value: &Value) -> String {
    match value {
        Value::Bytes(bytes) => BASE64.encode(bytes),
        Value::Date(value) => value.to_string(),
        Value::LocalTime(value) => value.to_string(),
        Value::Time(value) => value.to_string(),
        Value::LocalDateTime(value) => value.to_string(),
        Value::DateTime(value) => value.to_string(),
        Value::Duration(value) => value.to_string(),
        Value::Point(value) => value.to_string(),
        other => other.to_string(),
    }
}

/// Why JSON is no value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoValue(String);

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads a value.
pub(crate) fn read(json: &RawValue) -> Result<Value, NoValue> {
    read_at(json.get(), 0)
}

fn read_at(json: &str, depth: usize) -> Result<Value, NoValue> {
    let parse_failed = |error: serde_json::Error| NoValue(error.to_string());
    match json.as_bytes() {
        b"null" => Ok(Value::Null),
        b"true" => Ok(Value::Boolean(true)),
        b"false" => Ok(Value::Boolean(false)),
        [b'"', ..] => Ok(Value::String(serde_json::from_str(json).map_err(parse_failed)?)),
        [b'[', ..] if depth == DEPTH_MAX => {
            Err(NoValue(format!("its lists nest more than {DEPTH_MAX} deep")))
        }
        [b'[', ..] => {
            let items: Vec<&RawValue> = serde_json::from_str(json).map_err(parse_failed)?;
            let items = items.into_iter().map(|item| read_at(item.get(), depth + 1));
            Ok(Value::List(items.collect::<Result<_, _>>()?))
        }
        [b'{', ..] => read_typed(json),
        _ => read_number(json),
    }
}

fn read_number(json: &str) -> Result<Value, NoValue> {
    if json.contains(['.', 'e', 'E']) {
        let float = json.parse().ok().filter(|float: &f64| float.is_finite());
        let too_large = || NoValue(format!("{json} is beyond the largest float"));
        return float.map(Value::Float).ok_or_else(too_large);
    }
    let too_large = || NoValue(format!("{json} does not fit 64 bits; 1e20 is a float"));
    json.parse().map(Value::Integer).map_err(|_| too_large())
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed<'j> {
    #[serde(rename = "$type")]
    kind: String,
    #[serde(rename = "_value", borrow)]
    value: &'j RawValue,
}

fn read_typed(json: &str) -> Result<Value, NoValue> {
    let typed: Typed<'_> = serde_json::from_str(json).map_err(|_| {
        NoValue(
            "an object is a value only when it is {\"$type\": …, \"_value\": …}; no property is a map"
                .into(),
        )
    })?;
    let kind = typed.kind.as_str();
    if kind == "Map" {
        return Err(NoValue("no property is a map".into()));
    }
    let text: String = serde_json::from_str(typed.value.get())
        .map_err(|_| NoValue(format!("the _value of a {kind} is a string")))?;
    match kind {
        "Integer" => parse(&text, kind).map(Value::Integer),
        "Float" => read_float(&text),
        "Bytes" => {
            let bytes = BASE64.decode(&text);
            bytes.map(Value::Bytes).map_err(|error| NoValue(format!("no base64: {error}")))
        }
        "Date" => parse(&text, kind).map(Value::Date),
        "Time" => parse(&text, kind).map(Value::Time),
        "LocalTime" => parse(&text, kind).map(Value::LocalTime),
        "DateTime" => parse(&text, kind).map(Value::DateTime),
        "LocalDateTime" => parse(&text, kind).map(Value::LocalDateTime),
        "Duration" => parse(&text, kind).map(Value::Duration),
        "Point" => parse(&text, kind).map(Value::Point),
        "Vector" => match parse(&text, kind)? {
            Value::Vector(vector) => Ok(Value::Vector(vector)),
            _ => Err(NoValue(format!("{text:?} is no Vector; write vector([0.5], 1, FLOAT32)"))),
        },
        _ => Err(NoValue(format!("there is no $type {kind:?}"))),
    }
}

fn read_float(text: &str) -> Result<Value, NoValue> {
    let float = match text {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        text => parse(text, "Float")?,
    };
    Ok(Value::Float(float))
}

fn parse<T: FromStr<Err: fmt::Display>>(text: &str, kind: &str) -> Result<T, NoValue> {
    let shown: String = text.chars().take(100).collect();
    text.parse().map_err(|error| NoValue(format!("{shown:?} is no {kind}: {error}")))
}

#[cfg(test)]
mod tests {
    use hopdb::{Coordinates, Vector};

    use super::*;

    fn written(value: &Value) -> String {
        serde_json::to_string(&Json(value)).unwrap()
    }

    fn back(json: &str) -> Result<Value, NoValue> {
        read(serde_json::from_str::<&RawValue>(json).unwrap())
    }

    fn both_ways(value: impl Into<Value>, json: &str) {
        let value = value.into();
        assert_eq!(written(&value), json);
        assert_eq!(back(json), Ok(value), "{json}");
    }

    fn typed<T: FromStr<Err: fmt::Debug> + Into<Value>>(kind: &str, text: &str) {
        let value: T = text.parse().unwrap();
        both_ways(value, &format!(r#"{{"$type":"{kind}","_value":"{text}"}}"#));
    }

    #[test]
    fn plain_values_are_plain_json() {
        both_ways(Value::Null, "null");
        both_ways(true, "true");
        both_ways(false, "false");
        both_ways("a\"\n\u{1f600}", "\"a\\\"\\n\u{1f600}\"");
        both_ways(0, "0");
        both_ways(9_007_199_254_740_991_i64, "9007199254740991");
        both_ways(-9_007_199_254_740_991_i64, "-9007199254740991");
        both_ways(1.0, "1.0");
        both_ways(-0.0, "-0.0");
        both_ways(0.1, "0.1");
        both_ways(f64::MAX, "1.7976931348623157e+308");
        both_ways(5e-324, "5e-324");
        both_ways(Vec::<Value>::new(), "[]");
        let list = vec![Value::Null, 1.into(), vec![Value::from("x"), 2.0.into()].into()];
        both_ways(list, r#"[null,1,["x",2.0]]"#);
    }

    #[test]
    fn all_else_has_its_type_beside_it() {
        both_ways(i64::MAX, r#"{"$type":"Integer","_value":"9223372036854775807"}"#);
        both_ways(i64::MIN, r#"{"$type":"Integer","_value":"-9223372036854775808"}"#);
        both_ways(1_i64 << 53, r#"{"$type":"Integer","_value":"9007199254740992"}"#);
        both_ways(f64::NAN, r#"{"$type":"Float","_value":"NaN"}"#);
        both_ways(f64::INFINITY, r#"{"$type":"Float","_value":"Infinity"}"#);
        both_ways(f64::NEG_INFINITY, r#"{"$type":"Float","_value":"-Infinity"}"#);
        both_ways(vec![0_u8, 255, 16], r#"{"$type":"Bytes","_value":"AP8Q"}"#);
        both_ways(Vec::<u8>::new(), r#"{"$type":"Bytes","_value":""}"#);
        typed::<hopdb::Date>("Date", "2024-02-29");
        typed::<hopdb::LocalTime>("LocalTime", "12:30:00.5");
        typed::<hopdb::Time>("Time", "12:30:00+01:00");
        typed::<hopdb::LocalDateTime>("LocalDateTime", "2024-02-29T12:30:00");
        typed::<hopdb::DateTime>("DateTime", "2024-02-29T12:30:00+01:00[Europe/Paris]");
        typed::<hopdb::Duration>("Duration", "P1Y2M3DT4H5M6S");
        typed::<hopdb::Point>("Point", "{x: 1.0, y: 2.0, crs: 'cartesian'}");
        let vector = Vector::new(Coordinates::Float32(vec![0.5, -1.0])).unwrap();
        let json = r#"{"$type":"Vector","_value":"vector([0.5, -1.0], 2, FLOAT32)"}"#;
        both_ways(vector, json);
    }

    #[test]
    fn integers_of_any_writing_are_read() {
        assert_eq!(back("9223372036854775807"), Ok(Value::Integer(i64::MAX)));
        assert_eq!(back(r#"{"_value":"5","$type":"Integer"}"#), Ok(Value::Integer(5)));
        assert_eq!(back(r#"{"$type":"Float","_value":"1.5"}"#), Ok(Value::Float(1.5)));
        assert_eq!(back("1e2"), Ok(Value::Float(100.0)));
    }

    #[test]
    fn what_is_no_value_is_told() {
        for (json, reason) in [
            ("9223372036854775808", "9223372036854775808 does not fit 64 bits"),
            ("1e999", "1e999 is beyond the largest float"),
            ("{}", "an object is a value only when"),
            (r#"{"a":1}"#, "an object is a value only when"),
            (r#"{"$type":"Date","_value":"2024-02-29","x":1}"#, "an object is a value only when"),
            (r#"{"$type":"Map","_value":{}}"#, "no property is a map"),
            (r#"{"$type":"Dat","_value":"2024-02-29"}"#, "there is no $type \"Dat\""),
            (r#"{"$type":"Date","_value":20240229}"#, "the _value of a Date is a string"),
            (r#"{"$type":"Date","_value":"2023-02-29"}"#, "\"2023-02-29\" is no Date: "),
            (r#"{"$type":"Bytes","_value":"?"}"#, "no base64: "),
            (r#"{"$type":"Vector","_value":"1"}"#, "\"1\" is no Vector"),
            (r#"{"$type":"Integer","_value":"1.5"}"#, "\"1.5\" is no Integer"),
        ] {
            let said = back(json).unwrap_err().to_string();
            assert!(said.starts_with(reason), "{json}: {said}");
        }
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(back(&nested(32)).is_ok());
        let said = back(&nested(33)).unwrap_err().to_string();
        assert_eq!(said, "its lists nest more than 32 deep");
    }
}
