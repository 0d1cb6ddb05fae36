//! Files made by the formats' own writers, against the rows expected of them.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test with files")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{
    BinaryViewBuilder, FixedSizeBinaryBuilder, FixedSizeListBuilder, Int64Builder,
    LargeListBuilder, ListBuilder, StringBuilder, StringDictionaryBuilder,
};
use arrow_array::types::{Float16Type, Int8Type, Int16Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal128Array,
    Decimal256Array, DurationMillisecondArray, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, IntervalMonthDayNanoArray, LargeBinaryArray, LargeStringArray,
    NullArray, PrimitiveArray, RecordBatch, StringArray, StringViewArray, StructArray,
    Time64NanosecondArray, TimestampMicrosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray, TimestampSecondArray, UInt8Array, UInt16Array, UInt32Array,
    UInt64Array,
};
use arrow_buffer::{IntervalMonthDayNano, i256};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use hopdb::load::{LoadError, Table, TableFormat, TableRow};
use hopdb::{Date, DateTime, Duration, LocalDateTime, LocalTime, Value};
use hopdb_columnar::Columnar;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use tempfile::TempDir;

const FORMATS: [&str; 3] = ["a.parquet", "a.arrow", "a.arrows"];

/// Columns of one batch, all of which may be null.
fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

/// A file of the format that the name says, in Parquet with a row group for each batch.
fn write(folder: &TempDir, name: &str, batches: &[RecordBatch]) -> PathBuf {
    let path = folder.path().join(name);
    let file = File::create(&path).unwrap();
    let schema = batches[0].schema();
    match name.rsplit_once('.').unwrap().1 {
        "parquet" => {
            let mut writer = ArrowWriter::try_new(file, schema, None).unwrap();
            for batch in batches {
                writer.write(batch).unwrap();
                writer.flush().unwrap();
            }
            writer.close().unwrap();
        }
        "arrow" => {
            let mut writer = FileWriter::try_new(file, &schema).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        _ => {
            let mut writer = StreamWriter::try_new(file, &schema).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
    }
    path
}

fn open(path: &Path) -> Box<dyn Table> {
    Columnar.open(path).unwrap().expect("a format of this crate")
}

fn error(path: &Path) -> LoadError {
    Columnar.open(path).map(|_| ()).unwrap_err()
}

fn all_rows(table: &mut dyn Table) -> Result<Vec<TableRow>, LoadError> {
    let mut rows = Vec::new();
    while let Some(more) = table.next_rows()? {
        assert!(!more.is_empty() && more.len() <= 4_096);
        rows.extend(more);
    }
    Ok(rows)
}

/// The types and rows of a file of each format, which must be the same.
fn read_in_all_formats(batches: &[RecordBatch]) -> (Vec<Option<String>>, Vec<TableRow>) {
    let folder = tempfile::tempdir().unwrap();
    let read = FORMATS.map(|name| {
        let mut table = open(&write(&folder, name, batches));
        let columns = table.columns();
        let types: Vec<Option<String>> =
            columns.iter().map(|column| column.type_text.clone()).collect();
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(
            names,
            batches[0].schema().fields().iter().map(|f| f.name()).collect::<Vec<_>>()
        );
        (types, all_rows(&mut *table).unwrap())
    });
    let [parquet, file, stream] = read;
    assert_eq!(parquet, file);
    assert_eq!(parquet, stream);
    parquet
}

/// What a column gives in each format: its type and its values.
fn column(array: impl Array + 'static) -> (Option<String>, Vec<Value>) {
    let (mut types, rows) = read_in_all_formats(&[batch(vec![("a", Arc::new(array))])]);
    for (row, line) in rows.iter().zip(1..) {
        assert_eq!((row.line, &row.source, &row.bad), (line, &None, &None));
    }
    (types.remove(0), rows.into_iter().map(|mut row| row.values.remove(0)).collect())
}

fn assert_column(
    array: impl Array + 'static,
    type_text: &str,
    values: impl IntoIterator<Item = Value>,
) {
    let shown = format!("{array:?}");
    let expected = (Some(type_text.to_owned()), values.into_iter().collect());
    assert_eq!(column(array), expected, "{shown}");
}

fn time(seconds: i64, nanos: u32, offset: i32) -> Value {
    DateTime::new(seconds, nanos, offset).unwrap().into()
}

fn list(items: impl IntoIterator<Item = Value>) -> Value {
    Value::List(items.into_iter().collect())
}

const NULL: Value = Value::Null;

#[test]
fn booleans_and_numbers() {
    assert_column(BooleanArray::from(vec![Some(true), None]), "boolean", [true.into(), NULL]);
    assert_column(Int8Array::from(vec![Some(-128), None]), "long", [(-128).into(), NULL]);
    assert_column(Int16Array::from(vec![i16::MIN]), "long", [(-32_768).into()]);
    assert_column(Int32Array::from(vec![i32::MIN]), "long", [i32::MIN.into()]);
    assert_column(Int64Array::from(vec![i64::MIN]), "long", [i64::MIN.into()]);
    assert_column(UInt8Array::from(vec![255]), "long", [255.into()]);
    assert_column(UInt16Array::from(vec![65_535]), "long", [65_535.into()]);
    assert_column(UInt32Array::from(vec![u32::MAX]), "long", [4_294_967_295_i64.into()]);
    assert_column(
        UInt64Array::from(vec![Some(i64::MAX.cast_unsigned()), None]),
        "long",
        [i64::MAX.into(), NULL],
    );
    let half = Float32Array::from(vec![1.5]);
    let halves: PrimitiveArray<Float16Type> = half.unary(half_of);
    assert_column(halves, "double", [1.5.into()]);
    assert_column(Float32Array::from(vec![0.1_f32]), "double", [f64::from(0.1_f32).into()]);
    assert_column(
        Float64Array::from(vec![Some(-0.0), Some(f64::NAN), None]),
        "double",
        [(-0.0).into(), f64::NAN.into(), NULL],
    );
    assert_eq!(column(NullArray::new(2)), (None, vec![NULL, NULL]));
}

fn half_of(value: f32) -> <Float16Type as arrow_array::ArrowPrimitiveType>::Native {
    <Float16Type as arrow_array::ArrowPrimitiveType>::Native::from_f32(value)
}

#[test]
fn decimals_are_never_rounded() {
    let decimals = |scale| {
        Decimal128Array::from(vec![Some(-1_250), None]).with_precision_and_scale(38, scale).unwrap()
    };
    assert_column(decimals(0), "long", [(-1_250).into(), NULL]);
    assert_column(decimals(2), "string", ["-12.50".into(), NULL]);
    let wide = Decimal256Array::from(vec![i256::from_i128(i128::MAX)])
        .with_precision_and_scale(76, 1)
        .unwrap();
    assert_column(wide, "string", ["17014118346046923173168730371588410572.7".into()]);
}

#[test]
fn texts_and_bytes() {
    let texts = [Some("é"), None, Some("")];
    let expected = || ["é".into(), NULL, "".into()];
    assert_column(StringArray::from(texts.to_vec()), "string", expected());
    assert_column(LargeStringArray::from(texts.to_vec()), "string", expected());
    assert_column(StringViewArray::from(texts.to_vec()), "string", expected());
    let bytes = [Some(b"\xff".as_slice()), None];
    let expected = || [vec![255_u8].into(), NULL];
    assert_column(BinaryArray::from(bytes.to_vec()), "bytes", expected());
    assert_column(LargeBinaryArray::from(bytes.to_vec()), "bytes", expected());
    let mut views = BinaryViewBuilder::new();
    views.append_value(b"\xff");
    views.append_null();
    assert_column(views.finish(), "bytes", expected());
    let mut fixed = FixedSizeBinaryBuilder::new(1);
    fixed.append_value(b"\xff").unwrap();
    fixed.append_null();
    assert_column(fixed.finish(), "bytes", expected());
}

#[test]
fn days_and_instants() {
    let day = |days| Value::Date(Date::from_days(days).unwrap());
    assert_column(Date32Array::from(vec![Some(-1), None]), "date", [day(-1), NULL]);
    assert_column(
        TimestampMillisecondArray::from(vec![Some(-1), None]).with_timezone("UTC"),
        "datetime",
        [time(-1, 999_000_000, 0), NULL],
    );
    assert_column(
        TimestampMicrosecondArray::from(vec![1_000_001]).with_timezone("Europe/Stockholm"),
        "datetime",
        [time(1, 1_000, 0)],
    );
    assert_column(
        TimestampNanosecondArray::from(vec![i64::MIN]).with_timezone("-05:30"),
        "datetime",
        [time(-9_223_372_037, 145_224_192, -19_800)],
    );
}

#[test]
fn types_that_parquet_has_not_come_through_arrow() {
    let folder = tempfile::tempdir().unwrap();
    let arrays: Vec<(&str, ArrayRef)> = vec![
        ("day", Arc::new(Date64Array::from(vec![86_400_000 * 2 + 5]))),
        ("second", Arc::new(TimestampSecondArray::from(vec![-7]).with_timezone("+01:00"))),
    ];
    let mut table = open(&write(&folder, "a.arrow", &[batch(arrays)]));
    let rows = all_rows(&mut *table).unwrap();
    assert_eq!(rows[0].values, [Date::from_days(2).unwrap().into(), time(-7, 0, 3_600)]);
}

#[test]
fn lists_and_dictionaries() {
    let mut dictionary = StringDictionaryBuilder::<Int8Type>::new();
    for text in [Some("b"), Some("a"), None, Some("b")] {
        dictionary.append_option(text);
    }
    let expected = ["b".into(), "a".into(), NULL, "b".into()];
    assert_column(dictionary.finish(), "string", expected);
    let mut nothing = StringDictionaryBuilder::<Int16Type>::new();
    nothing.append_null();
    assert_column(nothing.finish(), "string", [NULL]);

    let mut lists = ListBuilder::new(Int64Builder::new());
    lists.append_value([Some(1), None]);
    lists.append_null();
    lists.append_value([]);
    lists.append_value([Some(2)]);
    let lists = lists.finish();
    let expected = [list([1.into(), NULL]), NULL, list([]), list([2.into()])];
    assert_column(lists.slice(1, 3), "long[]", expected[1..].to_vec());
    assert_column(lists, "long[]", expected);

    let mut lists = LargeListBuilder::new(StringDictionaryBuilder::<Int8Type>::new());
    lists.append_value([Some("x"), Some("y"), Some("x")]);
    lists.append_null();
    assert_column(lists.finish(), "string[]", [list(["x".into(), "y".into(), "x".into()]), NULL]);
    let mut lists = FixedSizeListBuilder::new(StringBuilder::new(), 2);
    for texts in [["a", "b"], ["c", "d"]] {
        texts.iter().for_each(|text| lists.values().append_value(text));
        lists.append(true);
    }
    let lists = lists.finish();
    let expected = [list(["a".into(), "b".into()]), list(["c".into(), "d".into()])];
    assert_column(lists.slice(1, 1), "string[]", [expected[1].clone()]);
    assert_column(lists, "string[]", expected);
}

#[test]
fn rows_go_on_over_row_groups_and_batches() {
    let batches: Vec<RecordBatch> = [0..5_000_i64, 5_000..5_001, 5_001..14_000]
        .into_iter()
        .map(|range| {
            let texts: StringArray = range.clone().map(|n| Some(format!("n{n}"))).collect();
            let numbers = Int64Array::from_iter_values(range);
            batch(vec![("id:ID(Person)", Arc::new(numbers)), ("name", Arc::new(texts))])
        })
        .collect();
    let (types, rows) = read_in_all_formats(&batches);
    assert_eq!(types, [Some("long".into()), Some("string".into())]);
    assert_eq!(rows.len(), 14_000);
    for (row, number) in rows.iter().zip(0_i64..) {
        assert_eq!(row.line, number.cast_unsigned() + 1);
        assert_eq!(row.values, [number.into(), format!("n{number}").into()]);
    }
}

#[test]
fn wide_rows_come_few_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(1 << 20);
    let texts: StringArray = (0..20).map(|n| Some(format!("{n}{long}"))).collect();
    for name in FORMATS {
        let mut table = open(&write(&folder, name, &[batch(vec![("a", Arc::new(texts.clone()))])]));
        let first = table.next_rows().unwrap().unwrap();
        assert!((1..=8).contains(&first.len()), "{name}: {}", first.len());
        assert_eq!(all_rows(&mut *table).unwrap().len() + first.len(), 20);
    }
}

#[test]
fn what_cannot_be_stored_makes_bad_rows() {
    let numbers: ArrayRef = Arc::new(UInt64Array::from(vec![1, u64::MAX, 3]));
    let wide = Decimal128Array::from(vec![1, 2, i128::MAX]).with_precision_and_scale(38, 0);
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let (_, rows) = read_in_all_formats(&[batch(vec![
        ("t", texts),
        ("n", numbers),
        ("d", Arc::new(wide.unwrap())),
    ])]);
    let range = "but an integer must lie between -9223372036854775808 and 9223372036854775807; \
                 cast the column to string";
    let bad = |row: &TableRow| (row.values.len(), row.bad.clone());
    assert_eq!(rows[0].values, ["a".into(), 1.into(), 1.into()]);
    assert_eq!(
        bad(&rows[1]),
        (0, Some(format!("the column \"n\" holds 18446744073709551615, {range}")))
    );
    let most = i128::MAX;
    assert_eq!(bad(&rows[2]), (0, Some(format!("the column \"d\" holds {most}, {range}"))));
}

#[test]
fn local_times_and_durations() {
    let local = |seconds, nanos| Value::from(LocalDateTime::new(seconds, nanos).unwrap());
    assert_column(
        TimestampNanosecondArray::from(vec![Some(-1), None]),
        "localdatetime",
        [local(-1, 999_999_999), NULL],
    );
    let time = Value::from(LocalTime::from_nanos(86_399_999_999_999).unwrap());
    assert_column(
        Time64NanosecondArray::from(vec![Some(86_399_999_999_999), None]),
        "localtime",
        [time, NULL],
    );
    let folder = tempfile::tempdir().unwrap();
    let span = IntervalMonthDayNano::new(1, -2, -1);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("d", Arc::new(DurationMillisecondArray::from(vec![Some(-1), None]))),
        ("i", Arc::new(IntervalMonthDayNanoArray::from(vec![Some(span), None]))),
    ];
    let mut table = open(&write(&folder, "a.arrow", &[batch(columns)]));
    let duration = |months, days, seconds, nanos| {
        Value::from(Duration::new(months, days, seconds, nanos).unwrap())
    };
    let rows = all_rows(&mut *table).unwrap();
    assert_eq!(rows[0].values, [duration(0, 0, -1, 999_000_000), duration(1, -2, -1, 999_999_999)]);
    assert_eq!(rows[1].values, [NULL, NULL]);
}

#[test]
fn ignored_columns_are_not_read() {
    let city: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let home = StructArray::from(vec![(Arc::new(Field::new("city", DataType::Utf8, true)), city)]);
    let home: ArrayRef = Arc::new(home);
    let last: ArrayRef = Arc::new(Int8Array::from(vec![7]));
    let folder = tempfile::tempdir().unwrap();
    for name in FORMATS {
        let columns = vec![("home:IGNORE", Arc::clone(&home)), ("last", Arc::clone(&last))];
        let mut table = open(&write(&folder, name, &[batch(columns)]));
        assert_eq!(table.columns().len(), 1);
        assert_eq!(all_rows(&mut *table).unwrap()[0].values, [7.into()]);
        let path = write(&folder, name, &[batch(vec![("home", Arc::clone(&home))])]);
        let error = error(&path);
        assert_eq!(error.column.unwrap().name, "home");
        assert!(error.reason.contains("rename the column to home:IGNORE"), "{}", error.reason);
        let mut nothing = open(&write(&folder, name, &[batch(vec![("a:IGNORE", last.clone())])]));
        let rows = all_rows(&mut *nothing).unwrap();
        assert_eq!((rows.len(), rows[0].values.len(), &rows[0].bad), (1, 0, &None));
    }
}

#[test]
fn files_are_known_by_their_first_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let rows = batch(vec![("a", Arc::new(Int8Array::from(vec![1])) as ArrayRef)]);
    for name in ["a.parquet", "a.arrow"] {
        let path = write(&folder, name, std::slice::from_ref(&rows));
        for other in ["b", "b.csv", "b.feather", "b.PARQUET"] {
            let other = folder.path().join(other);
            fs::copy(&path, &other).unwrap();
            assert_eq!(all_rows(&mut *open(&other)).unwrap().len(), 1);
        }
    }
    let path = folder.path().join("c.csv");
    assert!(Columnar.open(&path).unwrap().is_none(), "not there, and not ours");
    fs::write(&path, "").unwrap();
    assert!(Columnar.open(&path).unwrap().is_none());
    fs::write(&path, "id\n1\n").unwrap();
    assert!(Columnar.open(&path).unwrap().is_none());
    assert!(Columnar.open(folder.path()).unwrap().is_none());
}

#[test]
fn files_that_are_none_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let reason = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        error(&path).reason
    };
    let empty = "it is empty; leave it out, or check how it was made";
    assert_eq!(reason("a.parquet", b""), empty);
    assert_eq!(reason("a.arrows", b""), empty);
    assert_eq!(
        reason("a.parquet", b"id,name\n"),
        "it does not begin with PAR1, so it is no Parquet file; is its name right?"
    );
    assert_eq!(
        reason("a.feather", b"FEA1...."),
        "it is Feather version 1; write it as version 2 or as Parquet"
    );
    assert_eq!(
        reason("a.parquet", b"PARE...."),
        "its footer is encrypted; write it without encryption"
    );
    assert!(reason("a.parquet", b"PAR1").ends_with("; was it copied whole?"));
    assert!(reason("a.arrow", b"no arrow at all").ends_with("; was it copied whole?"));
    let missing = error(&folder.path().join("none.parquet"));
    assert_eq!(missing.reason, "there is no such file; is the path right?");
    let directory = folder.path().join("parts.parquet");
    fs::create_dir(&directory).unwrap();
    assert_eq!(error(&directory).reason, "it is a directory; name the files in it");
    #[cfg(unix)]
    {
        let device = folder.path().join("pipe.arrows");
        std::os::unix::fs::symlink("/dev/null", &device).unwrap();
        assert_eq!(
            error(&device).reason,
            "it is not a file but a pipe or a device, and such files are not read in one go; write \
             it to a file first"
        );
    }
}

/// All rows of a file, or the error that ends it.
fn read_bytes(path: &Path, bytes: &[u8]) -> Result<Vec<TableRow>, LoadError> {
    fs::write(path, bytes).unwrap();
    all_rows(&mut *Columnar.open(path)?.expect("known by its name"))
}

#[test]
fn cut_and_damaged_files_are_errors_or_rows() {
    let folder = tempfile::tempdir().unwrap();
    let texts: ArrayRef =
        Arc::new((0..300).map(|n| Some(format!("n{n}"))).collect::<StringArray>());
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..300));
    let mut lists = ListBuilder::new(Int64Builder::new());
    (0..300).for_each(|n| lists.append_value([Some(n)]));
    let columns = vec![("a", texts), ("b", numbers), ("c", Arc::new(lists.finish()) as ArrayRef)];
    let rows = batch(columns);
    for name in FORMATS {
        let path = write(&folder, name, &[rows.clone(), rows.clone()]);
        let whole = fs::read(&path).unwrap();
        let expected = read_bytes(&path, &whole).unwrap();
        assert_eq!(expected.len(), 600);
        for length in (1..whole.len()).step_by(whole.len() / 50) {
            // A stream may end at any batch; no rows are made up in either case.
            if let Ok(rows) = read_bytes(&path, &whole[..length]) {
                assert!(name == "a.arrows" && rows.len() < 600, "{name} cut at {length}");
                assert_eq!(rows, expected[..rows.len()]);
            }
        }
        for place in (0..whole.len()).step_by(whole.len() / 400) {
            let mut damaged = whole.clone();
            damaged[place] ^= 0x55;
            drop(read_bytes(&path, &damaged));
        }
    }
}

/// One `int32` in Brotli, as another writer made it.
const BROTLI: &[u8] = b"PAR1\x15\x00\x15\x14\x15\x1c,\x15\x02\x15\x00\x15\x06\x15\x06\x1c\x00\x00\x00\
    \x1b\t\x00\x00$\x01\x02\x04B\xa0\x00\x18\x17\x00\x15\x04\x19,5\x00\x18\x06schema\x15\x02\x00\x15\x02%\
    \x02\x18\x01a\x00\x16\x02\x19\x1c\x19\x1c&\x00\x1c\x15\x02\x19%\x06\x00\x19\x18\x01a\x15\x08\x16\x02\x16:\
    \x16B&\x08I\x1c\x15\x00\x15\x00\x15\x02\x00<)\x06\x19&\x00\x02\x00\x00\x00\x16:\x16\x02&\x08\x16B\x00\
    (\x20parquet-cpp-arrow version 26.0.1\x19\x1c\x1c\x00\x00\x00z\x00\x00\x00PAR1";

#[test]
fn codecs_that_are_not_built_in_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    fs::write(&path, BROTLI).unwrap();
    assert_eq!(
        error(&path).reason,
        "it is compressed with Brotli, which is not supported; write it with zstd or snappy"
    );
}

#[test]
fn compressed_parquet_is_read() {
    use parquet::basic::{Compression, GzipLevel, ZstdLevel};
    let folder = tempfile::tempdir().unwrap();
    let rows = batch(vec![("a", Arc::new(Int64Array::from_iter_values(0..1_000)) as ArrayRef)]);
    for compression in [
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4_RAW,
        Compression::LZ4,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        let path = folder.path().join("a.parquet");
        let properties = WriterProperties::builder().set_compression(compression).build();
        let file = File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties)).unwrap();
        writer.write(&rows).unwrap();
        writer.close().unwrap();
        assert_eq!(all_rows(&mut *open(&path)).unwrap()[999].values, [999.into()]);
    }
}
