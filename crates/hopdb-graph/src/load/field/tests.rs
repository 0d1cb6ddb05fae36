//! Fields of every type, right and wrong, there and back.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::load::header::Role;
use crate::value::tests::any_scalar;
use crate::value::{Value, Vector};

const RULES: FieldRules = FieldRules {
    quote: b'"',
    array_delimiter: b';',
    vector_delimiter: b';',
    trim_strings: false,
    ignore_empty_strings: false,
};

fn column(column_type: ColumnType) -> Column {
    let role = Role::Property("x".into());
    Column { index: 0, text: "x".into(), role, column_type, untyped: false }
}

fn encode(
    of: &ColumnType,
    rules: &FieldRules,
    field: Field<'_>,
) -> Result<Option<Value>, FieldError> {
    kept(|out| encode_field(&column(of.clone()), rules, field, out))
}

/// What was appended, which must be nothing when nothing was to be.
fn kept(
    encode: impl FnOnce(&mut Vec<u8>) -> Result<bool, FieldError>,
) -> Result<Option<Value>, FieldError> {
    let mut out = b"before".to_vec();
    let present = encode(&mut out);
    let (before, value) = out.split_at(6);
    assert_eq!(before, b"before");
    assert!(matches!(present, Ok(true)) || value.is_empty(), "something was left behind");
    Ok(if present? { Some(Value::decode(value).unwrap()) } else { None })
}

fn read(of: &ColumnType, text: &[u8]) -> Result<Option<Value>, String> {
    encode(of, &RULES, Field { text, quoted: false }).map_err(|error| error.to_string())
}

fn good(of: &str, field: &str) -> Value {
    let read = read(&of.parse().unwrap(), field.as_bytes());
    read.unwrap_or_else(|error| panic!("{error}")).unwrap()
}

fn bad(of: &str, field: &str) -> String {
    read(&of.parse().unwrap(), field.as_bytes()).unwrap_err()
}

#[test]
fn any_values_are_literals() {
    let any = ColumnType::of(Scalar::Any);
    assert_eq!(good("any", " [1, ['a', null]] ").to_string(), "[1, ['a', null]]");
    assert_eq!(good("any", "'it\\'s'"), "it's".into());
    for nothing in ["null", "", "  "] {
        assert_eq!(read(&any, nothing.as_bytes()), Ok(None), "{nothing:?}");
    }
    let text = bad("any", "abc");
    assert!(text.starts_with("\"abc\" is not a literal: \"abc\" was not expected"), "{text}");
    let typed = |value: Value| kept(|out| encode_value(&any, &RULES, &value, out));
    let nested = Value::List(vec![Value::Null, Value::List(Vec::new())]);
    assert_eq!(typed(nested.clone()), Ok(Some(nested)));
    assert_eq!(typed("[1]".into()), Ok(Some(Value::List(vec![1.into()]))));
    assert_eq!(typed(Value::Null), Ok(None));
}

#[test]
fn values_of_every_type_are_read() {
    for (of, text, value) in [
        ("long", "-9223372036854775808", "-9223372036854775808"),
        ("int", " +42 ", "42"),
        ("double", "-1.5e3", "-1500.0"),
        ("float", "-Infinity", "-Infinity"),
        ("float", "NaN", "NaN"),
        ("boolean", "TRUE", "true"),
        ("bool", "false", "false"),
        ("string", " naïve ", "' naïve '"),
        ("char", "ï", "'ï'"),
        ("char", " ", "' '"),
        ("bytes", "0x00fF", "X'00ff'"),
        ("bytes", "0x", "X''"),
        ("byte[]", "1; -2;127;-128", "X'01fe7f80'"),
        ("byte[]", "0x00fF", "X'00ff'"),
        ("date", "1970-01-02", "date('1970-01-02')"),
        ("localtime", "12:30", "localtime('12:30:00')"),
        ("time", " 12:30+01:00 ", "time('12:30:00+01:00')"),
        ("time", "12:30", "time('12:30:00Z')"),
        ("time{timezone:+02:00}", "12:30", "time('12:30:00+02:00')"),
        ("localdatetime", "2024-01-01T10:00", "localdatetime('2024-01-01T10:00:00')"),
        ("datetime", "2024-01-01T10:00", "datetime('2024-01-01T10:00:00Z')"),
        (
            "datetime{timezone:Europe/Stockholm}",
            "2018-05-10T10:30",
            "datetime('2018-05-10T10:30:00+02:00[Europe/Stockholm]')",
        ),
        (
            "datetime{timezone:Europe/Stockholm}",
            "2018-05-10T10:30[Europe/Berlin]",
            "datetime('2018-05-10T10:30:00+02:00[Europe/Berlin]')",
        ),
        ("duration", "P14DT16H12M", "duration('P14DT16H12M')"),
        ("point", "{x:1, y:2}", "point({x: 1.0, y: 2.0, crs: 'cartesian'})"),
        ("point{crs:WGS-84}", "{y:51.5, x:-0.5}", "point({x: -0.5, y: 51.5, crs: 'wgs-84'})"),
        ("vector{coordinateType:byte,dimensions:2}", "1; -2", "vector([1, -2], 2, INTEGER8)"),
        ("int[]", "1; 2;-3", "[1, 2, -3]"),
        ("int[]", "7", "[7]"),
        ("string[]", "a;\"b;c\";\"\"", "['a', 'b;c', '']"),
        ("string[]", "a;;b;", "['a', '', 'b', '']"),
        ("string[]", "\"say \"\"hi\"\"\";a\"b; \"c", "['say \"hi\"', 'a\"b', ' \"c']"),
        ("string[]", "\"\"\"\"", "['\"']"),
        ("int[]", " \"1\" ;2", "[1, 2]"),
        ("date[]", "2024-01-01;2024-01-02", "[date('2024-01-01'), date('2024-01-02')]"),
        ("bytes[]", "0x;0x01", "[X'', X'01']"),
        (
            "vector{coordinateType:float,dimensions:2}[]",
            "\"1;2\";\"3;4\"",
            "[vector([1.0, 2.0], 2, FLOAT32), vector([3.0, 4.0], 2, FLOAT32)]",
        ),
    ] {
        assert_eq!(good(of, text).to_string(), value, "{of} {text}");
    }
    let long = "x".repeat(300);
    let strings = Value::List(vec!["a".into(), long.as_str().into()]);
    assert_eq!(good("string[]", &format!("a;{long}")), strings);
}

#[test]
fn empty_fields_are_told_apart() {
    let types = ["long", "double", "boolean", "date", "char", "bytes", "point", "duration"];
    let read = |of: &str, text: &str, quoted, rules: &FieldRules| {
        encode(&of.parse().unwrap(), rules, Field { text: text.as_bytes(), quoted }).unwrap()
    };
    let empty_string = Some(Value::from(""));
    let ignoring = FieldRules { ignore_empty_strings: true, ..RULES };
    let trimming = FieldRules { trim_strings: true, ..RULES };
    for of in types {
        for quoted in [false, true] {
            assert_eq!(read(of, "", quoted, &RULES), None, "{of}");
        }
        let array = format!("{of}[]");
        assert_eq!(read(&array, "", false, &RULES), None);
        assert_eq!(read(&array, "", true, &RULES), Some(Value::List(vec![])), "{of}");
        assert_eq!(read(&array, "", true, &ignoring), None);
    }
    assert_eq!(read("long", "  ", false, &RULES), None);
    assert_eq!(read("string", "", false, &RULES), None);
    assert_eq!(read("string", "", true, &RULES), empty_string);
    assert_eq!(read("string", "", true, &ignoring), None);
    assert_eq!(read("byte[]", "", true, &RULES), Some(Value::Bytes(vec![])));
    assert_eq!(read("string", " ", false, &RULES), Some(" ".into()));
    assert_eq!(read("string", " ", false, &trimming), None);
    assert_eq!(read("string", " ", true, &trimming), Some(" ".into()));
    assert_eq!(read("string", "\ta ", false, &trimming), Some("a".into()));
    assert_eq!(read("string", "\ta ", true, &trimming), Some("\ta ".into()));
    let items = Value::List(vec!["a".into(), " b".into()]);
    assert_eq!(read("string[]", " a ; \" b\" ", true, &trimming), Some(items));
    assert_eq!(read("string[]", " ", false, &trimming), None);
}

/// Type, text, and what is said of it.
const WRONG: &[(&str, &str, &str)] = &[
    ("int", "12x", "\"12x\" is not an int: character 3 is 'x'"),
    ("int", "-", "\"-\" is not an int: it has no digits"),
    ("int", "1-", "\"1-\" is not an int: character 2 is '-'"),
    (
        "byte",
        "128",
        "\"128\" is not a byte: it must lie between -128 and 127; the type long holds more",
    ),
    (
        "short",
        "-32769",
        "\"-32769\" is not a short: it must lie between -32768 and 32767; the type long holds \
             more",
    ),
    (
        "long",
        "9223372036854775808",
        "\"9223372036854775808\" is not a long: it must lie between -9223372036854775808 and \
             9223372036854775807",
    ),
    ("int[]", "1;;2", "\"\" is not an int: it has no digits"),
    (
        "byte[]",
        "1;200",
        "\"200\" is not a byte: it must lie between -128 and 127; the type long holds more",
    ),
    ("double", "1,5", "\"1,5\" is not a float: write it like 1.5, -2e10, NaN or Infinity"),
    ("double", "1e999", "\"1e999\" is not a float: it is too large for 64 bits"),
    ("boolean", "yes", "\"yes\" is not a boolean: write true or false"),
    ("char", "ab", "\"ab\" is not a char: it has 2 characters; use the type string"),
    ("bytes", "ff", "\"ff\" is not bytes: write it as hexadecimal digits after 0x"),
    ("bytes", "0xf", "\"0xf\" is not bytes: it has an odd number of hexadecimal digits"),
    ("bytes", "0xgg", "\"0xgg\" is not bytes: after 0x only hexadecimal digits may come"),
    (
        "date",
        "2024-01-01T00:00",
        "\"2024-01-01T00:00\" is not a date: it has a time as well; use the type datetime; \
             write it like 2024-02-29",
    ),
    (
        "localtime",
        "12:30Z",
        "\"12:30Z\" is not a localtime: it has an offset as well; use the type time; write it \
             like 12:30:00",
    ),
    (
        "time",
        "noon",
        "\"noon\" is not a time: a time is written like 12:30 or 12:30:00.5; write it like \
             12:30:00+01:00",
    ),
    (
        "localdatetime",
        "2024-01-01T00:00Z",
        "\"2024-01-01T00:00Z\" is not a localdatetime: it has an offset as well; use the type \
             datetime; write it like 2024-02-29T12:30:00",
    ),
    (
        "datetime",
        "2024-01-01T00:00[Mars/Sea]",
        "\"2024-01-01T00:00[Mars/Sea]\" is not a datetime: Mars/Sea is no zone of the time-zone \
             database; write the offset, as in +01:00; write it like 2024-02-29T12:30:00+01:00",
    ),
    ("duration", "1D", "\"1D\" is not a duration: a duration is written like P1Y2M3DT4H5M6.7S"),
    (
        "point",
        "1 2",
        "\"1 2\" is not a point: it does not stand in braces; write it like {x: 1.5, y: 2}",
    ),
    (
        "vector{coordinateType:byte,dimensions:2}",
        "1;2;3",
        "\"1;2;3\" is not a vector: it has 3 coordinates, where the column says 2",
    ),
    (
        "vector{coordinateType:byte,dimensions:2}",
        "1;x",
        "\"1;x\" is not a vector: its \"x\" is not of type byte",
    ),
    (
        "string[]",
        "\"a\"b;c",
        "\"\\\"a\\\"b;c\" is not a string: after an item's closing quote comes \"b;c\"; put the \
             whole item in quotes and double those inside",
    ),
    (
        "string[]",
        "a;\"b",
        "\"a;\\\"b\" is not a string: an item's quote is not closed; double the quotes inside \
             one",
    ),
];

#[test]
fn wrong_fields_are_named_with_the_reason() {
    for &(of, text, message) in WRONG {
        assert_eq!(bad(of, text), message, "{of} {text}");
    }
    assert!(bad("date", "2023-02-30").ends_with("; write it like 2024-02-29"));
    let latin = read(&ColumnType::STRING, b"na\xefve").unwrap_err();
    assert!(latin.contains("byte 3 is not UTF-8"), "{latin}");
    let error = bad("int", &"ï".repeat(5_000));
    assert!(error.len() < 200 && error.contains('…'), "{error}");
}

#[test]
fn types_are_guessed() {
    let best = |texts: &[&str]| {
        let mut types = TypeSet::ANY;
        for text in texts {
            let guessed = guess(Field { text: text.as_bytes(), quoted: false });
            assert!(guessed.contains(Scalar::String));
            types.narrow(guessed);
        }
        types.best().name()
    };
    for (texts, name) in [
        (&[][..], "string"),
        (&["", " "], "string"),
        (&["1", "", "-20", "0"], "long"),
        (&["9223372036854775807", "-9223372036854775808"], "long"),
        (&["9223372036854775808"], "string"),
        (&["1", "1.5"], "double"),
        (&["9007199254740993", "1.5"], "string"),
        (&["1e5", "-0.5", "NaN", "-Infinity", "-0"], "double"),
        (&["1e999"], "string"),
        (&["007"], "string"),
        (&["00.5"], "string"),
        (&["+1"], "string"),
        (&["1."], "string"),
        (&[".5"], "string"),
        (&["-"], "string"),
        (&["1", "x"], "string"),
        (&["true", "False"], "boolean"),
        (&["true", "1"], "string"),
        (&["2024-01-31"], "date"),
        (&["2024-02-31"], "string"),
        (&["20240131"], "long"),
        (&["2024-01-31T10:00:00", "2024-01-31 10:00"], "localdatetime"),
        (&["2024-01-31T10:00:00Z", "2024-01-31T10:00+01:00"], "datetime"),
        (&["2024-01-31T10:00[Europe/London]"], "datetime"),
        (&["2024-01-31T10:00:00Z", "2024-01-31T10:00"], "string"),
        (&["2024-01-31", "2024-01-31T10:00"], "string"),
        (&["12:30", "23:59:59.5"], "localtime"),
        (&["12:30Z"], "time"),
        (&["1:30"], "string"),
        (&["P1D"], "string"),
        (&["{x:1, y:2}"], "point"),
        (&["{}"], "string"),
        (&["naïve"], "string"),
    ] {
        assert_eq!(best(texts), name, "{texts:?}");
    }
    assert_eq!(guess(Field { text: b"\xff", quoted: false }).best(), Scalar::String);
    assert_eq!(guess(Field { text: b"", quoted: true }), TypeSet::ANY);
}

fn typed(of: &str, value: impl Into<Value>) -> Result<Option<Value>, String> {
    let value = value.into();
    kept(|out| encode_value(&of.parse().unwrap(), &RULES, &value, out))
        .map_err(|error| error.to_string())
}

#[test]
fn typed_values_fit_their_column_or_not() {
    assert_eq!(typed("string", Value::Null), Ok(None));
    assert_eq!(typed("string", ""), Ok(Some("".into())));
    assert_eq!(typed("date", ""), Ok(None));
    assert_eq!(typed("double", 3_i64), Ok(Some(3.0.into())));
    assert_eq!(typed("double", i64::MIN).map(|value| value.is_some()), Ok(true));
    assert_eq!(typed("long", "42"), Ok(Some(42_i64.into())));
    assert_eq!(typed("byte[]", vec![1_u8]), Ok(Some(vec![1_u8].into())));
    assert_eq!(typed("byte[]", vec![Value::from(-1_i64)]), Ok(Some(vec![255_u8].into())));
    assert_eq!(typed("int[]", "1;2"), typed("int[]", vec![1_i64.into(), Value::from(2_i64)]));
    assert_eq!(typed("int[]", Vec::<Value>::new()), Ok(Some(Value::List(vec![]))));
    let date = "2024-01-31".parse::<crate::value::Date>().unwrap();
    assert_eq!(
        typed("date[]", vec![Value::from("2024-01-31")]),
        typed("date[]", vec![Value::from(date)])
    );
    let local = "2024-01-31T10:00".parse::<crate::value::LocalDateTime>().unwrap();
    let zoned = typed("datetime{timezone:+01:00}", local).unwrap().unwrap();
    assert_eq!(zoned.to_string(), "datetime('2024-01-31T10:00:00+01:00')");
    let vector = "vector{coordinateType:float,dimensions:2}";
    let numbers = vec![Value::from(1_i64), Value::from(0.5)];
    assert_eq!(typed(vector, numbers), typed(vector, "1;0.5"));
    for (of, value, message) in [
        (
            "string",
            Value::from(42_i64),
            "\"42\" is not a string: its type is Integer, that of the column string; nothing is \
             converted",
        ),
        ("long", 1.0.into(), "\"1.0\" is not a long: its type is Float, that of the column long"),
        ("byte", 128_i64.into(), "\"128\" is not a byte: it must lie between -128 and 127"),
        (
            "double",
            9_007_199_254_740_993_i64.into(),
            "\"9007199254740993\" is not a float: a float cannot hold it exactly; use long",
        ),
        (
            "int[]",
            1_i64.into(),
            "\"1\" is not an int: its type is Integer, that of the column int[]",
        ),
        ("int[]", Value::List(vec![Value::Null]), "an array has no place for nothing"),
        ("int[]", Value::List(vec![Value::List(vec![])]), "its type is List"),
        ("int", Value::List(vec![]), "\"[]\" is not an int: its type is List"),
        ("byte[]", vec![Value::from(200_i64)].into(), "it must lie between -128 and 127"),
        ("date", "soon".into(), "\"soon\" is not a date: "),
        ("char", "ab".into(), "it has 2 characters"),
        (vector, vec![Value::from(1_i64)].into(), "it has 1 coordinates, where the column says 2"),
        (vector, vec![Value::from("a"), "b".into()].into(), "its 'a' is not of the type"),
        (
            vector,
            Vector::parse("1;2", b';', "byte".parse().unwrap()).unwrap().into(),
            "it holds byte, where the column says float",
        ),
    ] {
        let error = typed(of, value).unwrap_err();
        assert!(error.contains(message), "{of}: {error}");
    }
}

/// The type of a column that holds such values.
fn type_for(value: &Value) -> ColumnType {
    let scalar = match value {
        Value::Boolean(_) => Scalar::Boolean,
        Value::Integer(_) => Scalar::Integer { bytes: 8 },
        Value::Float(_) => Scalar::Float,
        Value::Bytes(_) => Scalar::Bytes,
        Value::Date(_) => Scalar::Date,
        Value::LocalTime(_) => Scalar::LocalTime,
        Value::Time(_) => Scalar::Time,
        Value::LocalDateTime(_) => Scalar::LocalDateTime,
        Value::DateTime(_) => Scalar::DateTime,
        Value::Duration(_) => Scalar::Duration,
        Value::Point(_) => Scalar::Point,
        Value::Vector(vector) => {
            let (coordinate_type, dimensions) = (vector.coordinate_type(), vector.dimensions());
            let options = TypeOptions::Vector { coordinate_type, dimensions };
            return ColumnType { scalar: Scalar::Vector, array: false, options };
        }
        _ => Scalar::String,
    };
    ColumnType::of(scalar)
}

/// A scalar as texts have them: all NaNs are one.
fn any_field_value() -> impl Strategy<Value = Value> {
    any_scalar().prop_map(|value| match value {
        Value::Float(number) if number.is_nan() => f64::NAN.into(),
        value => value,
    })
}

fn any_rules() -> impl Strategy<Value = FieldRules> {
    let select = |bytes: &'static [u8]| prop::sample::select(bytes);
    (select(b"\"'"), select(b";|,-:1a"), select(b";|,"), any::<bool>()).prop_map(
        |(quote, array_delimiter, vector_delimiter, trim_strings)| FieldRules {
            quote,
            array_delimiter,
            vector_delimiter,
            trim_strings,
            ignore_empty_strings: false,
        },
    )
}

proptest! {
    #[test]
    fn fields_are_read_back(value in any_field_value(), rules in any_rules(), quoted: bool) {
        let mut text = String::new();
        let needed = value.write_field(&rules.into(), &mut text).unwrap();
        let field = Field { text: text.as_bytes(), quoted: quoted || needed };
        prop_assert_eq!(encode(&type_for(&value), &rules, field), Ok(Some(value.clone())));
        let of = type_for(&value);
        prop_assert_eq!(kept(|out| encode_value(&of, &rules, &value, out)), Ok(Some(value)));
    }

    #[test]
    fn arrays_are_read_back(
        value in any_field_value(),
        others in vec(any_field_value(), 0..60),
        rules in any_rules(),
        quoted: bool,
    ) {
        let of = ColumnType { array: true, ..type_for(&value) };
        let mut items: Vec<Value> =
            others.into_iter().filter(|other| type_for(other) == type_for(&value)).collect();
        for _ in 0..2 {
            let list = Value::List(items.clone());
            let mut text = String::new();
            let needed = list.write_field(&rules.into(), &mut text).unwrap();
            let field = Field { text: text.as_bytes(), quoted: quoted || needed };
            prop_assert_eq!(encode(&of, &rules, field), Ok(Some(list.clone())));
            prop_assert_eq!(kept(|out| encode_value(&of, &rules, &list, out)), Ok(Some(list)));
            items.push(value.clone());
        }
    }

    #[test]
    fn integers_have_their_range(value: i64) {
        let text = value.to_string();
        for (name, fits) in [
            ("byte", i8::try_from(value).is_ok()),
            ("short", i16::try_from(value).is_ok()),
            ("int", i32::try_from(value).is_ok()),
            ("long", true),
        ] {
            prop_assert_eq!(read(&name.parse().unwrap(), text.as_bytes()).is_ok(), fits);
            prop_assert_eq!(typed(name, value).is_ok(), fits);
        }
    }

    #[test]
    fn a_guess_can_be_read(value in any_field_value()) {
        let mut text = String::new();
        value.write_field(&RULES.into(), &mut text).unwrap();
        let field = Field { text: text.as_bytes(), quoted: true };
        let best = guess(field).best();
        let read = encode(&ColumnType::of(best), &RULES, field);
        prop_assert!(read.is_ok(), "{:?}", read);
        if !matches!(value, Value::String(_) | Value::Bytes(_) | Value::Duration(_)
            | Value::Vector(_))
            && ColumnType::of(best) == type_for(&value)
        {
            prop_assert_eq!(read, Ok(Some(value)));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        field in vec(
            prop_oneof![any::<u8>(), prop::sample::select(&b"0123456789-+:;.TZPx{},\"[]"[..])],
            0..30,
        ),
        rules in any_rules(),
        quoted: bool,
    ) {
        let field = Field { text: &field, quoted };
        for name in [
            "int", "float", "boolean", "string", "char", "bytes", "date", "time", "localtime",
            "datetime", "localdatetime", "duration", "point", "byte",
            "vector{coordinateType:int,dimensions:1}",
        ] {
            for array in [false, true] {
                let of = ColumnType { array, ..name.parse().unwrap() };
                drop(encode(&of, &rules, field));
            }
        }
        prop_assert!(guess(field).contains(Scalar::String));
    }
}
