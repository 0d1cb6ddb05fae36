//! Fields of every type, right and wrong.

use proptest::prelude::*;

use super::*;
use crate::load::header::Role;
use crate::value::Value;

fn column(scalar: Scalar, array: bool) -> Column {
    Column {
        index: 0,
        text: "x".into(),
        role: Role::Property("x".into()),
        column_type: ColumnType { scalar, array_delimiter: array.then_some(b';') },
    }
}

fn read(column: &Column, field: &[u8]) -> Result<Option<Value>, String> {
    let mut out = b"before".to_vec();
    let present = encode_field(column, field, &mut out).map_err(|error| error.to_string());
    let (before, value) = out.split_at(6);
    assert_eq!(before, b"before");
    assert!(matches!(present, Ok(true)) || value.is_empty(), "something was left behind");
    Ok(if present? { Some(Value::decode(value).unwrap()) } else { None })
}

fn good(scalar: Scalar, field: &str) -> Value {
    read(&column(scalar, false), field.as_bytes()).unwrap().unwrap()
}

fn bad(scalar: Scalar, field: &str) -> String {
    read(&column(scalar, false), field.as_bytes()).unwrap_err()
}

const INT: Scalar = Scalar::Integer { bytes: 4 };
const LONG: Scalar = Scalar::Integer { bytes: 8 };

#[test]
fn values_of_every_type_are_read() {
    assert_eq!(good(LONG, "-9223372036854775808"), Value::Integer(i64::MIN));
    assert_eq!(good(LONG, " +42 "), Value::Integer(42));
    assert_eq!(good(Scalar::Float, "-1.5e3"), Value::Float(-1500.0));
    assert_eq!(good(Scalar::Float, "-Infinity"), Value::Float(f64::NEG_INFINITY));
    assert!(matches!(good(Scalar::Float, "NaN"), Value::Float(value) if value.is_nan()));
    assert_eq!(good(Scalar::Boolean, "TRUE"), Value::Boolean(true));
    assert_eq!(good(Scalar::Boolean, "false"), Value::Boolean(false));
    assert_eq!(good(Scalar::String, " naïve \n"), Value::from(" naïve \n"));
    assert_eq!(good(Scalar::Char, "ï"), Value::from("ï"));
    assert_eq!(good(Scalar::Bytes, "0x00fF"), Value::Bytes(vec![0, 255]));
    assert_eq!(good(Scalar::Bytes, "0x"), Value::Bytes(vec![]));
    assert_eq!(good(Scalar::Date, "1970-01-02").to_string(), "date('1970-01-02')");
    let time = good(Scalar::DateTime, "2024-01-01T00:00:00.25+02:00").to_string();
    assert_eq!(time, "datetime('2024-01-01T00:00:00.25+02:00')");
}

#[test]
fn an_empty_field_is_no_property() {
    for scalar in [LONG, Scalar::Float, Scalar::Boolean, Scalar::Date, Scalar::String] {
        assert_eq!(read(&column(scalar, false), b""), Ok(None));
        assert_eq!(read(&column(scalar, true), b""), Ok(None));
    }
    assert_eq!(read(&column(LONG, false), b"  "), Ok(None));
    assert_eq!(read(&column(Scalar::String, false), b" "), Ok(Some(Value::from(" "))));
}

#[test]
fn arrays_are_split() {
    let list = |values: &[i64]| Value::List(values.iter().map(|&value| value.into()).collect());
    assert_eq!(read(&column(INT, true), b"1; 2;-3"), Ok(Some(list(&[1, 2, -3]))));
    assert_eq!(read(&column(INT, true), b"7"), Ok(Some(list(&[7]))));
    let long = "x".repeat(300);
    let field = format!("a;;{long}");
    let strings = Value::List(vec!["a".into(), "".into(), long.as_str().into()]);
    assert_eq!(read(&column(Scalar::String, true), field.as_bytes()), Ok(Some(strings)));
    let empty_item = read(&column(INT, true), b"1;;2").unwrap_err();
    assert_eq!(empty_item, "\"\" is not an int: it has no digits");
}

#[test]
fn wrong_fields_are_named_with_the_reason() {
    assert_eq!(bad(INT, "12x"), "\"12x\" is not an int: character 3 is 'x'");
    assert_eq!(bad(INT, "-"), "\"-\" is not an int: it has no digits");
    assert_eq!(bad(INT, "1-"), "\"1-\" is not an int: character 2 is '-'");
    assert_eq!(
        bad(Scalar::Integer { bytes: 1 }, "128"),
        "\"128\" is not a byte: it must lie between -128 and 127; the type long holds more"
    );
    assert!(bad(Scalar::Integer { bytes: 2 }, "-32769").contains("-32768 and 32767"));
    assert!(bad(LONG, "9223372036854775808").contains("9223372036854775807"));
    assert!(bad(Scalar::Float, "1,5").contains("write it like 1.5"));
    assert!(bad(Scalar::Float, "1e999").contains("too large"));
    assert!(bad(Scalar::Boolean, "yes").contains("write true or false"));
    assert!(bad(Scalar::Char, "ab").contains("2 characters"));
    assert!(bad(Scalar::Bytes, "ff").contains("after 0x"));
    assert!(bad(Scalar::Bytes, "0xf").contains("odd number"));
    assert!(bad(Scalar::Bytes, "0xgg").contains("only hexadecimal"));
    assert!(bad(Scalar::Date, "2023-02-30").contains("write it like 2024-02-29"));
    assert!(bad(Scalar::DateTime, "noon").contains("is not a datetime"));
    let latin = read(&column(Scalar::String, false), b"na\xefve").unwrap_err();
    assert!(latin.contains("byte 3 is not UTF-8"), "{latin}");
}

#[test]
fn a_long_text_is_shortened() {
    let error = bad(INT, &"ï".repeat(5_000));
    assert!(error.len() < 200 && error.contains('…'), "{error}");
}

proptest! {
    #[test]
    fn integers_survive(value: i64) {
        prop_assert_eq!(good(LONG, &value.to_string()), Value::Integer(value));
        let narrow = read(&column(INT, false), value.to_string().as_bytes());
        prop_assert_eq!(narrow.is_ok(), i32::try_from(value).is_ok());
    }

    #[test]
    fn floats_survive(value: f64) {
        prop_assert_eq!(good(Scalar::Float, &format!("{value:?}")), Value::Float(value));
    }

    #[test]
    fn any_bytes_are_read_or_refused(field in prop::collection::vec(any::<u8>(), 0..30)) {
        for scalar in [INT, Scalar::Float, Scalar::Boolean, Scalar::String, Scalar::Char,
            Scalar::Bytes, Scalar::Date, Scalar::DateTime]
        {
            drop(read(&column(scalar, false), &field));
            drop(read(&column(scalar, true), &field));
        }
    }
}
