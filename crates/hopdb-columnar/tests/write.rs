//! What is written as Parquet, against what is read back.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test with files")]

use std::convert::Infallible;
use std::fs;
use std::path::Path;

use hopdb::load::{Table, TableColumn, TableFormat};
use hopdb::{Date, DateTime, Duration, LocalDateTime, LocalTime, Value};
use hopdb_columnar::{Columnar, WriteError, fits, write_parquet};
use proptest::collection::vec;
use proptest::prelude::*;

fn column(name: &str, type_text: Option<&str>) -> TableColumn {
    TableColumn { name: name.into(), type_text: type_text.map(ToOwned::to_owned) }
}

fn write(
    path: &Path,
    columns: &[TableColumn],
    rows: &[Vec<Value>],
) -> Result<u64, WriteError<Infallible>> {
    write_parquet(path, columns, rows.iter().cloned().map(Ok))
}

fn open(path: &Path) -> Box<dyn Table> {
    Columnar.open(path).unwrap().unwrap()
}

fn rows(path: &Path) -> Vec<Vec<Value>> {
    let mut table = open(path);
    let mut rows = Vec::new();
    while let Some(more) = table.next_rows().unwrap() {
        rows.extend(more.into_iter().map(|row| {
            assert_eq!(row.bad, None);
            row.values
        }));
    }
    rows
}

fn scalar(type_text: &str) -> BoxedStrategy<Value> {
    match type_text {
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "long" => any::<i64>().prop_map(Value::from).boxed(),
        "double" => any::<u64>().prop_map(|bits| f64::from_bits(bits).into()).boxed(),
        "string" => any::<String>().prop_map(Value::from).boxed(),
        "bytes" => vec(any::<u8>(), 0..20).prop_map(Value::from).boxed(),
        "date" => (-4_371_587_i64..=2_932_896)
            .prop_map(|days| Date::from_days(days).unwrap().into())
            .boxed(),
        "localtime" => (0_u64..86_400_000_000_000)
            .prop_map(|nanos| LocalTime::from_nanos(nanos).unwrap().into())
            .boxed(),
        "localdatetime" => (-377_000_000_000_i64..253_000_000_000, 0_u32..1_000_000)
            .prop_map(|(seconds, micros)| {
                LocalDateTime::new(seconds, micros * 1_000).unwrap().into()
            })
            .boxed(),
        _ => (-377_000_000_000_i64..253_000_000_000, 0_u32..1_000_000)
            .prop_map(|(seconds, micros)| DateTime::new(seconds, micros * 1_000, 0).unwrap().into())
            .boxed(),
    }
}

fn value(type_text: &str) -> BoxedStrategy<Value> {
    let Some(item) = type_text.strip_suffix("[]") else {
        return prop_oneof![1 => Just(Value::Null), 4 => scalar(type_text)].boxed();
    };
    let items = vec(prop_oneof![1 => Just(Value::Null), 4 => scalar(item)], 0..5);
    prop_oneof![1 => Just(Value::Null), 4 => items.prop_map(Value::List)].boxed()
}

const TYPES: [&str; 16] = [
    "boolean",
    "long",
    "double",
    "string",
    "bytes",
    "date",
    "datetime",
    "localtime",
    "localdatetime[]",
    "boolean[]",
    "long[]",
    "double[]",
    "string[]",
    "bytes[]",
    "date[]",
    "datetime[]",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_written_is_read(written in vec(TYPES.map(value), 0..20)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let columns = TYPES.map(|type_text| column(type_text.trim_end_matches("[]"), Some(type_text)));
        let written: Vec<Vec<Value>> = written.into_iter().map(Vec::from).collect();
        prop_assert_eq!(write(&path, &columns, &written).unwrap(), written.len() as u64);
        let table = open(&path);
        prop_assert_eq!(table.columns(), &columns);
        prop_assert_eq!(rows(&path), written);
    }
}

#[test]
fn many_rows_go_in_batches() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let columns = [column("id:ID(Person)", Some("string")), column("n", Some("int"))];
    let written: Vec<Vec<Value>> =
        (0..150_000_i64).map(|n| vec![n.to_string().into(), n.into()]).collect();
    assert_eq!(write(&path, &columns, &written).unwrap(), 150_000);
    assert_eq!(rows(&path), written);
    assert_eq!(open(&path).columns()[0], columns[0]);
}

#[test]
fn other_types_are_text_with_their_type_in_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let columns =
        [column("when", Some("duration")), column("any", None), column("all", Some("point[]"))];
    let day = Date::from_days(0).unwrap();
    let offset = DateTime::new(0, 1, 3_600).unwrap();
    let written = [
        vec![
            Duration::new(1, 0, 1, 0).unwrap().into(),
            1.into(),
            Value::List(vec!["a".into(), Value::Null]),
        ],
        vec![day.into(), "it's".into(), Value::Null],
        vec![offset.into(), vec![1_u8, 255].into(), Value::List(vec![day.into()])],
        vec![Value::Null, Value::List(vec![1.into(), "a".into()]), Value::List(vec![])],
    ];
    write(&path, &columns, &written).unwrap();
    assert_eq!(
        open(&path).columns(),
        [
            column("when:duration", Some("string")),
            column("any", Some("string")),
            column("all:point[]", Some("string[]"))
        ]
    );
    assert_eq!(
        rows(&path),
        [
            vec!["P1MT1S".into(), "1".into(), Value::List(vec!["a".into(), Value::Null])],
            vec!["1970-01-01".into(), "it's".into(), Value::Null],
            vec![
                "1970-01-01T01:00:00.000000001+01:00".into(),
                "0x01ff".into(),
                Value::List(vec!["1970-01-01".into()])
            ],
            vec![Value::Null, "[1, 'a']".into(), Value::List(vec![])],
        ]
    );
}

#[test]
fn only_what_is_read_back_alike_fits() {
    let utc = |nanos| Value::from(DateTime::new(0, nanos, 0).unwrap());
    assert!(fits(Some("datetime"), &utc(1_000)));
    assert!(!fits(Some("datetime"), &utc(1_001)));
    assert!(!fits(Some("datetime"), &DateTime::new(0, 0, 60).unwrap().into()));
    let named = DateTime::new(0, 0, 0).unwrap().with_zone("Europe/Lisbon").unwrap();
    assert!(!fits(Some("datetime"), &named.into()));
    assert!(fits(Some("datetime"), &Value::Null));
    assert!(fits(Some("byte[]"), &vec![1_u8].into()));
    assert!(!fits(Some("double"), &1.into()));
    assert!(!fits(Some("long"), &Value::List(vec![1.into()])));
    assert!(!fits(Some("long[]"), &1.into()));
    assert!(!fits(Some("long[]"), &Value::List(vec![1.into(), 1.0.into()])));
    assert!(fits(Some("LONG []"), &Value::List(vec![1.into(), Value::Null])));
    assert!(fits(None, &Value::List(vec![1.into(), 1.0.into()])));
}

#[test]
fn what_cannot_be_written_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let columns = [column("when", Some("datetime"))];
    let offset: Value = DateTime::new(0, 0, 3_600).unwrap().into();
    let message = |rows: &[Vec<Value>]| {
        let error = write(&path, &columns, rows).unwrap_err();
        assert!(!path.exists());
        error.to_string()
    };
    assert_eq!(
        message(&[vec![Value::Null], vec![offset]]),
        "row 2: the column \"when\" holds datetime('1970-01-01T01:00:00+01:00'), which is no \
         datetime in UTC of whole microseconds; write the column without a type"
    );
    assert_eq!(message(&[vec![]]), "row 1: it has 0 values for 1 columns");
    let failing = [Ok(vec![Value::Null]), Err(std::fmt::Error)];
    let error = write_parquet(&path, &columns, failing.into_iter()).unwrap_err();
    assert!(matches!(error, WriteError::Rows(std::fmt::Error)));
    assert!(!path.exists());

    fs::write(&path, "mine").unwrap();
    let error = write(&path, &columns, &[]).unwrap_err();
    assert!(matches!(error, WriteError::File { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn no_rows_are_a_file_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let columns = [column("a", Some("long"))];
    assert_eq!(write(&path, &columns, &[]).unwrap(), 0);
    assert_eq!(open(&path).columns(), columns);
    assert!(open(&path).next_rows().unwrap().is_none());
}
