//! Groups of files held in memory, against what they must give.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::atomic::Ordering;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

#[derive(Default)]
struct Memory(BTreeMap<PathBuf, Vec<u8>>);

impl Memory {
    fn with(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.insert(path.into(), bytes.into());
        self
    }

    fn read(&self, paths: &[&str], dialect: Dialect) -> Result<Vec<OwnedRow>, LoadError> {
        let files: Vec<_> = paths.iter().map(PathBuf::from).collect();
        let mut reader = RowReader::open(self, &files, dialect, Arc::default())?;
        let header: OwnedFields = reader.header_fields().map(text).collect();
        let mut rows = vec![("header".to_owned(), 0, header)];
        while let Some(row) = reader.next_row()? {
            let file = row.file().display().to_string();
            rows.push((file, row.line(), row.fields().map(text).collect()));
        }
        Ok(rows)
    }

    fn refused(&self, paths: &[&str]) -> String {
        self.read(paths, Dialect::default()).unwrap_err().to_string()
    }
}

impl Source for Memory {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        let bytes = self.0.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(io::Cursor::new(bytes.clone())))
    }

    fn len(&self, path: &Path) -> Option<u64> {
        self.0.get(path).map(|bytes| bytes.len() as u64)
    }
}

type OwnedFields = Vec<String>;
type OwnedRow = (String, u64, OwnedFields);

fn text(field: &[u8]) -> String {
    String::from_utf8(field.to_vec()).unwrap()
}

fn row(file: &str, line: u64, fields: &[&str]) -> OwnedRow {
    (file.to_owned(), line, fields.iter().map(|&field| field.to_owned()).collect())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_group_is_one_header_and_the_rows_of_all_files() {
    let files = Memory::default()
        .with("header.csv", "\u{feff}a,b\n")
        .with("1.csv", "1,2\n3,4")
        .with("2.csv.gz", gzip(b"5,6\n"))
        .with("3.csv", gzip(b"7,8"));
    let rows = files.read(&["header.csv", "1.csv", "2.csv.gz", "3.csv"], Dialect::default());
    assert_eq!(
        rows.unwrap(),
        [
            row("header", 0, &["a", "b"]),
            row("1.csv", 1, &["1", "2"]),
            row("1.csv", 2, &["3", "4"]),
            row("2.csv.gz", 1, &["5", "6"]),
            row("3.csv", 1, &["7", "8"]),
        ]
    );
}

#[test]
fn lines_count_right_after_quoted_newlines_blank_lines_and_carriage_returns() {
    let unix = "a,b\n1,\"x\n\ny\"\n\n\n2,\"say \"\"hi\"\"\"\n\"3\n\",\"\n\"\n4,\n";
    let expected = |newline: &str| {
        let lines = [
            row("header", 0, &["a", "b"]),
            row("f", 2, &["1", "x\n\ny"]),
            row("f", 7, &["2", "say \"hi\""]),
            row("f", 8, &["3\n", "\n"]),
            row("f", 11, &["4", ""]),
        ];
        lines.map(|(file, line, fields)| {
            (file, line, fields.iter().map(|field| field.replace('\n', newline)).collect())
        })
    };
    let files = Memory::default().with("f", unix);
    assert_eq!(files.read(&["f"], Dialect::default()).unwrap(), expected("\n"));
    let files = Memory::default().with("f", unix.replace('\n', "\r\n"));
    assert_eq!(files.read(&["f"], Dialect::default()).unwrap(), expected("\r\n"));
}

#[test]
fn other_delimiters_and_quotes_are_used() {
    let files = Memory::default().with("f", "a\tb\n'x\ty'\t\"\n");
    let dialect = Dialect::with_delimiter("tab").unwrap().with_quote("'").unwrap();
    assert_eq!(files.read(&["f"], dialect).unwrap()[1], row("f", 2, &["x\ty", "\""]));
}

#[test]
fn wrong_rows_are_named_with_their_line() {
    let files = Memory::default().with("f", "a,b\n1,\"\n\"\n1,2,3\n4,5\n").with("g", "a,b\n1;2\n");
    assert_eq!(files.refused(&["f"]), "f:4: expected 2 columns, found 3");
    assert_eq!(files.refused(&["g"]), "g:2: expected 2 columns, found 1; is the delimiter right?");
    assert_eq!(
        files.refused(&["g", "g"]),
        "g:2: expected 2 columns, found 1; is the delimiter right?"
    );
}

#[test]
fn reading_goes_on_after_a_wrong_row() {
    let files = Memory::default().with("f", "a,b\n1\n2,3\n");
    let mut reader =
        RowReader::open(&files, &["f".into()], Dialect::default(), Arc::default()).unwrap();
    assert!(reader.next_row().is_err());
    assert_eq!(reader.next_row().unwrap().unwrap().get(1), b"3");
    assert!(reader.next_row().unwrap().is_none());
    assert!(reader.next_row().unwrap().is_none());
}

#[test]
fn a_quote_without_an_end_is_found() {
    for rows in ["1,\"open\n2,3\n", "1,\"open", "\"1,2\n3,4\n5,6\n", "1,\"open\"\"\n"] {
        let files = Memory::default().with("f", format!("a,b\n0,0\n{rows}"));
        assert_eq!(files.refused(&["f"]), "f:3: a quote opened in this row is never closed");
    }
    let closed = Memory::default().with("f", "a,b\n1,\"x\n\"");
    assert_eq!(closed.read(&["f"], Dialect::default()).unwrap()[1], row("f", 2, &["1", "x\n"]));
}

#[test]
fn files_that_cannot_be_used_are_named_with_a_hint() {
    let mut cut = gzip(b"a,b\n1,2\n3,4\n");
    cut.truncate(cut.len() - 10);
    let files = Memory::default()
        .with("empty.csv", "")
        .with("blank.csv", "\n\r\n")
        .with("h.csv", "a,b\n")
        .with("plain.gz", "a,b\n")
        .with("cut.gz", cut);
    assert_eq!(files.refused(&["no.csv"]), "no.csv: there is no such file; is the path right?");
    assert!(files.refused(&["empty.csv"]).starts_with("empty.csv: it is empty"));
    assert!(files.refused(&["h.csv", "empty.csv"]).starts_with("empty.csv: it is empty"));
    assert!(files.refused(&["blank.csv"]).contains("it holds no header line"));
    assert!(files.refused(&["plain.gz"]).contains("not a gzip file"));
    assert!(files.refused(&["cut.gz"]).contains("was it copied whole"));
    assert!(files.refused(&["h.csv", "h.csv"]).starts_with("h.csv:1: this is the header again"));
    assert!(files.refused(&[]).contains("no file is named"));
    let folder = tempfile::tempdir().unwrap();
    let path = [folder.path().to_path_buf()];
    let opened = RowReader::open(
        &crate::load::source::FileSource,
        &path,
        Dialect::default(),
        Arc::default(),
    );
    assert!(opened.err().unwrap().to_string().contains("it is a directory"));
}

#[test]
fn progress_counts_the_raw_bytes() {
    let packed = gzip("a,b\n".repeat(10_000).as_bytes());
    let files = Memory::default().with("f", "a,b\n").with("g.gz", packed.clone());
    let bytes_read = Arc::<AtomicU64>::default();
    let paths = ["f".into(), "g.gz".into()];
    let dialect = Dialect::default();
    let mut reader = RowReader::open(&files, &paths, dialect, Arc::clone(&bytes_read)).unwrap();
    // The first row of the second file is the header again, on purpose.
    assert!(reader.next_row().is_err());
    while reader.next_row().unwrap().is_some() {}
    assert_eq!(bytes_read.load(Ordering::Relaxed), 4 + packed.len() as u64);
}

fn quoted(field: &str) -> String {
    format!("\"{}\"", field.replace('"', "\"\""))
}

proptest! {
    #[test]
    fn what_was_written_is_read(
        rows in vec(vec("[a-c\",;\n ]{0,8}", 3..=3), 0..12),
        crlf: bool,
        last_newline: bool,
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let mut file = format!("x,y,z{end}");
        let mut expected = vec![row("header", 0, &["x", "y", "z"])];
        let mut line = 2;
        for fields in &rows {
            let written: Vec<_> = fields.iter().map(|field| quoted(field)).collect();
            file += &(written.join(",") + end);
            expected.push(("f".to_owned(), line, fields.clone()));
            line += 1 + written.concat().matches('\n').count() as u64;
        }
        if !last_newline {
            file.truncate(file.len() - end.len());
        }
        let files = Memory::default().with("f", file);
        prop_assert_eq!(files.read(&["f"], Dialect::default()).unwrap(), expected);
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in vec(prop_oneof![any::<u8>(), prop::sample::select(&b"a,\"\n\r\n\""[..])], 0..80),
    ) {
        let files = Memory::default().with("f", bytes);
        if let Ok(mut reader) =
            RowReader::open(&files, &["f".into()], Dialect::default(), Arc::default())
        {
            for _ in 0..200 {
                match reader.next_row() {
                    Ok(None) => break,
                    Ok(Some(row)) => prop_assert!(row.line() > 0),
                    Err(error) => prop_assert!(error.line > 0),
                }
            }
            prop_assert!(matches!(reader.next_row(), Ok(None)));
        }
    }
}
