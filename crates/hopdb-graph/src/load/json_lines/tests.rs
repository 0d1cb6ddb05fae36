//! What files of JSON lines give: columns, rows, and the words for what is wrong.
#![expect(clippy::disallowed_methods, reason = "tests make files")]

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// A file of the temporary folder with these bytes, read to its end.
fn read_named(name: &str, bytes: &[u8]) -> Result<(Vec<String>, Vec<TableRow>), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let without_folder =
        |error: LoadError| error.to_string().replace(&format!("{}/", folder.path().display()), "");
    let mut table = JsonLines.open(&path).map_err(without_folder)?.expect("known by its name");
    let columns = table.columns().iter().map(|column| column.name.clone()).collect();
    let mut rows = Vec::new();
    while let Some(more) = table.next_rows().map_err(without_folder)? {
        rows.extend(more);
    }
    Ok((columns, rows))
}

fn read(text: impl AsRef<[u8]>) -> Result<(Vec<String>, Vec<TableRow>), String> {
    read_named("a.jsonl", text.as_ref())
}

/// The reason why the second row is bad, the first being good.
fn refused(line: &str) -> String {
    let (_, rows) = read(format!("{{\"a\": 1}}\n{line}\n")).unwrap();
    assert_eq!((rows.len(), rows[1].line, rows[1].values.len()), (2, 2, 0), "{line}");
    assert_eq!(rows[1].source.as_deref(), Some(line));
    rows[1].bad.clone().expect("a bad row")
}

#[test]
fn rows_have_the_values_of_all_keys_in_the_order_first_seen() {
    let (columns, rows) = read(
        "\u{feff}{\"id:ID(Person)\": 7, \"name\": \"Ada \\u00e9\\n\", \":LABEL\": [\"A\", null]}\r\n\
         \n  \t\r\n\
         {\"x\": -0.5e1, \"name\": null, \"late\": true}\n\
         {\"late\": false, \"x\": 9007199254740993, \"id:ID(Person)\": \"\"}",
    )
    .unwrap();
    assert_eq!(columns, ["id:ID(Person)", "name", ":LABEL", "x", "late"]);
    let (null, list) = (Value::Null, |items: Vec<Value>| Value::List(items));
    let expected = [
        (
            1,
            vec![
                7.into(),
                "Ada é\n".into(),
                list(vec!["A".into(), null.clone()]),
                null.clone(),
                null.clone(),
            ],
        ),
        (4, vec![null.clone(), null.clone(), null.clone(), (-5.0).into(), true.into()]),
        (5, vec!["".into(), null.clone(), null, 9_007_199_254_740_993_i64.into(), false.into()]),
    ];
    for (row, (line, values)) in rows.iter().zip(&expected) {
        assert_eq!((row.line, &row.values, &row.bad), (*line, values, &None));
    }
    assert_eq!(rows.len(), expected.len());
    assert_eq!(rows[1].source.as_deref(), Some("{\"x\": -0.5e1, \"name\": null, \"late\": true}"));
}

#[test]
fn numbers_are_what_they_are_written_as() {
    let one = |text: &str| read(format!("{{\"a\": {text}}}")).unwrap().1[0].values[0].clone();
    assert_eq!(one("9223372036854775807"), i64::MAX.into());
    assert_eq!(one("-9223372036854775808"), i64::MIN.into());
    assert_eq!(one("-0"), 0.into());
    assert_eq!(one("-0.0"), (-0.0).into());
    assert_eq!(one("1e2"), 100.0.into());
    assert_eq!(one("9223372036854775808.0"), 9_223_372_036_854_775_808.0.into());
    assert_eq!(one("0.1"), 0.1.into());
}

#[test]
fn bad_rows_say_why() {
    for (line, reason) in [
        ("{\"a\": 1,}", "column 9: trailing comma"),
        ("{\"é\": ?}", "column 7: expected value"),
        ("{\"a\": 1} x", "column 10: trailing characters"),
        ("{\"a\": 01}", "column 8: invalid number"),
        ("{\"a\": NaN}", "column 7: expected value"),
        (
            "{\"a\":",
            "column 5: EOF while parsing a value; `jq -c .` writes each object on one line",
        ),
        ("{\"a\": \"é\\ud800\"}", "column 15: unexpected end of hex escape"),
        ("[1]", "the line is a list; it must be an object like {\"name\": \"Ada\"}"),
        (" \"a\"", "the line is a string; it must be an object like {\"name\": \"Ada\"}"),
        ("12", "the line is a number; it must be an object like {\"name\": \"Ada\"}"),
        ("null", "the line is null; it must be an object like {\"name\": \"Ada\"}"),
        ("{\"a\": 1, \"b\": 2, \"a\": 1}", "the key \"a\" comes twice; keep one of them"),
        (
            "{\"a\": 9223372036854775808}",
            "the key \"a\" holds 9223372036854775808, but an integer must lie between \
             -9223372036854775808 and 9223372036854775807; write it as a string",
        ),
        (
            "{\"b\": [1, 123456789012345678901234567890123456789012345]}",
            "the key \"b\" holds 1234567890123456789012345678901234567890…, but an integer must \
             lie between -9223372036854775808 and 9223372036854775807; write it as a string",
        ),
        (
            "{\"a\": 1e400}",
            "the key \"a\" holds 1e400, which is too large for 64 bits; write it as a string",
        ),
        (
            "{\"home\": {\"city\": \"x\"}}",
            "the key \"home\" holds an object; give each of its fields a key of its own, or end \
             the key in :IGNORE",
        ),
        ("{\"a\": [[]]}", "the key \"a\" holds a list in a list; write it flat, or as a string"),
        (
            "{\"a\": [1, {}]}",
            "the key \"a\" holds an object in a list; write the list's items as nodes or as \
             strings",
        ),
    ] {
        assert_eq!(refused(line), reason, "{line}");
    }
}

#[test]
fn reading_goes_on_behind_lines_that_are_no_text() {
    let (columns, rows) = read(b"{\"a\": \"\xe9\"}\n{\"a\": 2}\n").unwrap();
    assert_eq!(columns, ["a"]);
    assert_eq!(
        rows[0],
        TableRow {
            line: 1,
            values: Vec::new(),
            source: None,
            bad: Some("byte 8 is not UTF-8; convert the file, for example with iconv".into()),
        }
    );
    assert_eq!((rows[1].line, &rows[1].values), (2, &vec![2.into()]));
}

#[test]
fn lines_that_are_too_long_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, "12345678\n123456789\r\n1\n123456789").unwrap();
    let mut lines = Lines::open(&path).unwrap().with_bytes_max(8);
    let long = "the line is longer than 8 bytes; is each object on a line of its own?";
    let expected = [Ok("12345678"), Err(long), Ok("1"), Err(long)];
    for (number, expected) in (1..).zip(expected) {
        let line = lines.next_line().unwrap().unwrap();
        assert_eq!(line.number, number);
        assert_eq!(line.content.as_deref().map_err(String::as_str), expected);
    }
    assert!(lines.next_line().unwrap().is_none());
}

#[test]
fn ignored_keys_are_not_looked_at() {
    let (columns, rows) =
        read("{\"a:IGNORE\": {\"x\": 1}, \"b\": 1, \"c: ignore\": 1e999}").unwrap();
    assert_eq!(columns, ["b"]);
    assert_eq!((&rows[0].values, &rows[0].bad), (&vec![1.into()], &None));
    let twice = read("{\"b\": 1}\n{\"a:IGNORE\": 1, \"a:IGNORE\": 1}").unwrap().1;
    assert!(twice[1].bad.as_ref().unwrap().contains("comes twice"));
}

#[test]
fn files_that_are_no_json_lines_say_what_to_do() {
    for (text, message) in [
        (
            "\n[\n{\"a\": 1},\n{\"a\": 2}\n]\n",
            "a.jsonl:2: it begins with a JSON array; write one object per line, as `jq -c '.[]'` \
             does",
        ),
        (
            "{\n  \"a\": 1\n}\n",
            "a.jsonl:1: column 1: EOF while parsing an object; `jq -c .` writes each object on one \
             line",
        ),
        ("", "a.jsonl: it is empty; leave it out, or check how it was made"),
        ("\n \n", "a.jsonl: no line of it has a key; leave the file out"),
        ("{}\n{}\n", "a.jsonl: no line of it has a key; leave the file out"),
        ("id,name\n1,Ada\n", "a.jsonl:1: column 1: expected value"),
    ] {
        assert_eq!(read(text).unwrap_err(), message);
    }
    let mut many = String::new();
    (0..=KEYS_MAX).for_each(|key| writeln!(many, "{{\"k{key}\": 1}}").unwrap());
    assert_eq!(
        read(many).unwrap_err(),
        "a.jsonl:10001: up to here its objects have more than 10000 different keys; keys are names \
         of columns: write what varies as values"
    );
}

#[test]
fn formats_are_known_by_their_names() {
    for name in ["a.json", "b.JSONL", "c.d.ndjson", "e.jsonl.gz", "f.JSON.GZ"] {
        assert!(is_named_so(Path::new("/x.y").join(name).as_path()), "{name}");
    }
    for name in ["a.csv", "json", "a.gz", "a.jsonl.csv", "a.jsonl.zst", ".."] {
        assert!(!is_named_so(Path::new(name)), "{name}");
    }
    assert!(JsonLines.open(Path::new("there/is/none.csv")).unwrap().is_none());
    assert_eq!(
        JsonLines.open(Path::new("none.jsonl")).map(|_| ()).unwrap_err().to_string(),
        "none.jsonl: there is no such file; is the path right?"
    );
}

#[test]
fn packed_files_are_unpacked() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(b"{\"a\": 1}\n{\"b\": 2}\n").unwrap();
    let mut packed = packed.finish().unwrap();
    assert_eq!(read_named("a.json.gz", &packed).unwrap().0, ["a", "b"]);
    assert_eq!(read(&packed).unwrap().1.len(), 2);
    packed.truncate(packed.len() - 9);
    assert_eq!(
        read_named("a.jsonl.gz", &packed).unwrap_err(),
        "a.jsonl.gz:3: the compressed file ends too early; was it copied whole?"
    );
    assert_eq!(
        read_named("a.jsonl.gz", b"{}").unwrap_err(),
        "a.jsonl.gz: its name ends in .gz, but it is not a gzip file"
    );
}

#[cfg(unix)]
#[test]
fn a_device_cannot_be_read_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::os::unix::fs::symlink("/dev/null", &path).unwrap();
    let error = JsonLines.open(&path).map(|_| ()).unwrap_err();
    assert_eq!(
        error.reason,
        "it is not a file but a pipe or a device, and JSON lines are read twice; write them to a \
         file first"
    );
    let error = JsonLines.open(&folder.path().join(".")).map(|table| table.is_none());
    assert_eq!(error, Ok(true));
}

#[test]
fn batches_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, "{\"a\": 1}\n".repeat(2 * ROWS_PER_BATCH + 1)).unwrap();
    let mut table = JsonLines.open(&path).unwrap().unwrap();
    let mut counts = Vec::new();
    while let Some(rows) = table.next_rows().unwrap() {
        counts.push(rows.len());
    }
    assert_eq!(counts, [ROWS_PER_BATCH, ROWS_PER_BATCH, 1]);
    let long = format!("{{\"a\": \"{}\"}}\n", "x".repeat(BATCH_BYTES / 3));
    std::fs::write(&path, long.repeat(4)).unwrap();
    assert_eq!(JsonLines.open(&path).unwrap().unwrap().next_rows().unwrap().unwrap().len(), 3);
}

#[test]
fn a_file_that_grew_between_the_readings_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    // Longer than what is read ahead.
    let line = format!("{{\"a\": \"{}\"}}\n", "x".repeat(1 << 20));
    std::fs::write(&path, &line).unwrap();
    let mut table = JsonLines.open(&path).unwrap().unwrap();
    std::fs::write(&path, format!("{line}{{\"b\": 1}}\n")).unwrap();
    let error = table.next_rows().unwrap_err();
    assert_eq!(error.line, 2);
    assert!(error.reason.contains("was not there a moment ago"), "{error}");
}

/// Values that JSON can hold, with those of a list.
fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |float| float.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ]
}

fn json(value: &Value) -> String {
    match value {
        Value::String(text) => serde_json::to_string(text).unwrap(),
        Value::List(items) => {
            format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        names in proptest::collection::btree_set("[a-zé\"\\\\\n ]{0,4}", 1..5),
        rows in vec(vec(prop_oneof![scalar(), vec(scalar(), 0..4).prop_map(Value::List)], 5), 1..20),
    ) {
        let mut text = String::new();
        for row in &rows {
            let pairs = names.iter().zip(row).map(|(name, value)| {
                format!("{}: {}", serde_json::to_string(name).unwrap(), json(value))
            });
            writeln!(text, "{{{}}}", pairs.collect::<Vec<_>>().join(", ")).unwrap();
        }
        let (columns, found) = read(text).unwrap();
        prop_assert!(columns.iter().eq(&names));
        prop_assert_eq!(found.len(), rows.len());
        for (found, row) in found.iter().zip(&rows) {
            prop_assert_eq!(&found.bad, &None);
            prop_assert_eq!(&found.values[..], &row[..names.len()]);
        }
    }

    #[test]
    fn any_line_is_read_or_refused(line in "[{}\\[\\]\",:a0-9.eE+\\\\ud-]{0,30}") {
        if let Ok((columns, rows)) = read(format!("{{\"a\": 1}}\n{line}")) {
            for row in rows {
                prop_assert!(row.bad.is_some() != (row.values.len() == columns.len()));
            }
        }
    }
}
