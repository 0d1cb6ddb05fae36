//! Chunks and records against the `csv` crate, against a machine that goes byte by byte, and
//! against a table of awkward texts.

use std::io::{self, Read};

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const CHUNK_BYTES: [usize; 6] = [1, 2, 3, 7, 64, 256 * 1024];
const ROW_BYTES_MAX: usize = 1 << 20;

/// Hands out text in pieces: of `piece` bytes, or split once after `piece` bytes.
struct Pieces<'t> {
    text: &'t [u8],
    piece: usize,
    once: bool,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.piece.min(buffer.len()).min(self.text.len());
        let (piece, rest) = self.text.split_at(count);
        buffer[..count].copy_from_slice(piece);
        self.text = rest;
        if self.once {
            self.piece = match self.piece - count {
                0 => usize::MAX,
                left => left,
            };
        }
        Ok(count)
    }
}

/// What is known of a record: line, fields, which of them are quoted, source, how it is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owned {
    line: u64,
    fields: Vec<Vec<u8>>,
    quoted: Vec<bool>,
    source: Vec<u8>,
    broken: Option<Broken>,
}

fn records(text: &[u8], first_line: u64, dialect: Dialect) -> Vec<Owned> {
    let mut reader = Records::new(text, first_line, dialect);
    let mut record = Record::new();
    let mut all = Vec::new();
    while reader.next(&mut record) {
        all.push(Owned {
            line: record.line(),
            fields: (0..record.len()).map(|index| record.text(index).to_vec()).collect(),
            quoted: (0..record.len()).map(|index| record.is_quoted(index)).collect(),
            source: record.source().to_vec(),
            broken: record.broken(),
        });
    }
    assert!(!reader.next(&mut record), "a record after the end");
    all
}

fn fields(records: &[Owned]) -> Vec<Vec<Vec<u8>>> {
    records.iter().map(|record| record.fields.clone()).collect()
}

/// All chunks, after the first record when `look` is set.
fn chunks(reader: impl Read, dialect: Dialect, chunk_bytes: usize, look: bool) -> Vec<Chunk> {
    let mut chunks = Chunks::with_sizes(reader, dialect, chunk_bytes, ROW_BYTES_MAX);
    let mut all = Vec::new();
    if look {
        all.extend(chunks.first_record().unwrap());
    }
    while let Some(chunk) = chunks.next_chunk().unwrap() {
        all.push(chunk);
    }
    assert_eq!(chunks.next_chunk().unwrap(), None, "a chunk after the end");
    assert_eq!(chunks.first_record().unwrap(), None, "a record after the end");
    all
}

/// The text's fields as the `csv` crate reads them. Lone carriage returns end rows there.
fn oracle(text: &[u8], dialect: Dialect) -> Vec<Vec<Vec<u8>>> {
    let mut reader = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(dialect.delimiter())
        .quote(dialect.quote())
        .escape(dialect.escape())
        .from_reader(text);
    let rows = reader.byte_records();
    rows.map(|row| row.unwrap().iter().map(<[u8]>::to_vec).collect()).collect()
}

/// The offsets behind the row ends of a text, and whether a quote is left open at its end.
fn row_ends(text: &[u8], dialect: Dialect) -> (Vec<usize>, bool) {
    let mut ends = Vec::new();
    let (mut at_start, mut inside, mut at) = (true, false, 0);
    while at < text.len() {
        let byte = text[at];
        at += 1;
        if byte == b'\n' && (!inside || !dialect.multiline()) {
            ends.push(at);
            (at_start, inside) = (true, false);
        } else if inside {
            let doubled = byte == dialect.quote() && text.get(at) == Some(&byte);
            let escaped = Some(byte) == dialect.escape() && at < text.len();
            let plain = escaped && (dialect.multiline() || text[at] != b'\n');
            at += usize::from(doubled || plain);
            inside = doubled || byte != dialect.quote();
        } else {
            inside = at_start && byte == dialect.quote();
            at_start = byte == dialect.delimiter();
        }
    }
    (ends, inside)
}

fn line_at(text: &[u8], offset: usize) -> u64 {
    1 + text[..offset].iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Chunks must be whole rows of the text, and give its records.
fn check_chunks(text: &[u8], dialect: Dialect, chunks: &[Chunk], expected: &[Owned]) {
    let (ends, unclosed) = row_ends(text, dialect);
    let mut offset = 0;
    let mut found = Vec::new();
    for (index, chunk) in chunks.iter().enumerate() {
        if index == 0 {
            // A look at the first record drops blank lines.
            while !text[offset..].starts_with(&chunk.text) {
                offset += 1;
            }
        }
        assert!(text[offset..].starts_with(&chunk.text), "other text in chunk {index}");
        assert_eq!(chunk.first_line, line_at(text, offset));
        offset += chunk.text.len();
        let last = index + 1 == chunks.len();
        assert!(ends.contains(&offset) || last && offset == text.len(), "cut inside a row");
        assert_eq!(chunk.unclosed, last && unclosed && dialect.multiline());
        assert!(!chunk.too_long && !chunk.text.is_empty());
        found.extend(records(&chunk.text, chunk.first_line, dialect));
    }
    let rest = &text[offset..];
    assert!(rest.is_empty() || chunks.is_empty() && expected.is_empty(), "lost {rest:?}");
    assert_eq!(found, expected);
}

/// Records as such: sources in order, on the right lines, broken where they must be.
fn check_records(text: &[u8], dialect: Dialect, records: &[Owned]) {
    let (ends, unclosed) = row_ends(text, dialect);
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let rows = starts.zip(ends.iter().copied().chain([text.len()]));
    let rows =
        rows.filter(|&(start, end)| !matches!(&text[start..end], b"" | b"\n" | b"\r\n" | b"\r"));
    let rows: Vec<_> = rows.collect();
    assert_eq!(records.len(), rows.len());
    for (record, &(start, end)) in records.iter().zip(&rows) {
        assert_eq!(record.line, line_at(text, start));
        let row = &text[start..end];
        assert!(row.starts_with(&record.source));
        assert!(matches!(&row[record.source.len()..], b"" | b"\n" | b"\r\n" | b"\r"));
        let (_, open) = row_ends(row.strip_suffix(b"\n").unwrap_or(row), dialect);
        match record.broken {
            Some(Broken::Unclosed) => {
                assert!(dialect.multiline() && unclosed && end == text.len());
            }
            Some(Broken::NewlineInQuotes) => assert!(!dialect.multiline() && open),
            None => assert!(!open),
        }
    }
}

fn check(text: &[u8], dialect: Dialect) -> Vec<Owned> {
    let expected = records(text, 1, dialect);
    check_records(text, dialect, &expected);
    for chunk_bytes in CHUNK_BYTES {
        for look in [false, true] {
            let found = chunks(text, dialect, chunk_bytes, look);
            check_chunks(text, dialect, &found, &expected);
        }
    }
    expected
}

fn check_splits(text: &[u8], dialect: Dialect, expected: &[Owned]) {
    for piece in 1..=text.len() {
        for (once, chunk_bytes) in [(true, 7), (false, 7), (true, 64), (false, 64)] {
            let pieces = Pieces { text, piece, once };
            let found = chunks(pieces, dialect, chunk_bytes, piece % 2 == 0);
            check_chunks(text, dialect, &found, expected);
        }
    }
}

fn dialects() -> impl Strategy<Value = Dialect> {
    let delimiters = prop::sample::select(vec![",", "tab", ";", "|", "\0"]);
    let quotes = prop::sample::select(vec!["\"", "'"]);
    let escapes = prop::sample::select(vec![None, Some("\\"), Some("!")]);
    (delimiters, quotes, escapes).prop_map(|(delimiter, quote, escape)| {
        let dialect = Dialect::with_delimiter(delimiter).unwrap().with_quote(quote).unwrap();
        escape.map_or(dialect, |escape| dialect.with_escape(escape).unwrap())
    })
}

/// Mostly what matters to the dialect; a carriage return only before a newline.
fn text_in(dialect: Dialect) -> impl Strategy<Value = Vec<u8>> {
    let special =
        vec![dialect.delimiter(), dialect.quote(), dialect.escape().unwrap_or(b'e'), b'\n'];
    let piece = prop_oneof![
        6 => prop::sample::select(special).prop_map(|byte| vec![byte]),
        1 => Just(b"\r\n".to_vec()),
        2 => prop::sample::select(vec!["a", "bc", "→", "é", " ", "0123456789"])
            .prop_map(|text| text.as_bytes().to_vec()),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn dialect_and_text() -> impl Strategy<Value = (Dialect, Vec<u8>)> {
    dialects().prop_flat_map(|dialect| (Just(dialect), text_in(dialect)))
}

proptest! {
    #[test]
    fn records_are_those_of_the_csv_crate((dialect, text) in dialect_and_text()) {
        let found = check(&text, dialect);
        prop_assert_eq!(fields(&found), oracle(&text, dialect));
        check_splits(&text, dialect, &found);
    }

    #[test]
    fn without_quoted_newlines_every_line_is_read_alone((dialect, text) in dialect_and_text()) {
        let dialect = dialect.with_multiline(false);
        let found = check(&text, dialect);
        // Even a carriage return in open quotes belongs to the line end then.
        let lines = text.split_inclusive(|&byte| byte == b'\n').flat_map(|line| {
            let bare = line.strip_suffix(b"\n").unwrap_or(line);
            oracle(bare.strip_suffix(b"\r").unwrap_or(bare), dialect)
        });
        prop_assert_eq!(fields(&found), lines.collect::<Vec<_>>());
        check_splits(&text, dialect, &found);
    }

    #[test]
    fn any_bytes_are_read(
        dialect in dialects(),
        multiline: bool,
        text in vec(prop_oneof![any::<u8>(), prop::sample::select(&b",\"'\\\n\r"[..])], 0..200),
    ) {
        let found = check(&text, dialect.with_multiline(multiline));
        prop_assert!(found.iter().all(|record| !record.fields.is_empty()));
        prop_assert!(found.is_sorted_by_key(|record| record.line));
    }

    #[test]
    fn what_was_written_is_read(
        dialect in dialects(),
        rows in vec(vec(vec(prop::sample::select(&b"a,;|\"'\\!\t\n\r\0 "[..]), 0..8), 1..4), 0..6),
        quote_empty: bool,
        crlf: bool,
    ) {
        let mut text = Vec::new();
        for row in &rows {
            for (index, field) in row.iter().enumerate() {
                if index > 0 {
                    text.push(dialect.delimiter());
                }
                write_field(&mut text, field, dialect, quote_empty || row.len() == 1);
            }
            text.extend_from_slice(if crlf { b"\r\n" } else { b"\n" });
        }
        let found = check(&text, dialect);
        prop_assert_eq!(fields(&found), rows.clone());
        let empty_is_quoted = |record: &Owned| {
            record.fields.iter().zip(&record.quoted).all(|(field, quoted)| !field.is_empty() || *quoted)
        };
        prop_assert!(!quote_empty || found.iter().all(empty_is_quoted));
    }
}

/// Records on one line each: the line, a colon, fields in brackets, quoted ones in guillemets, and
/// how it is broken.
fn shown(text: &[u8], dialect: Dialect) -> String {
    let records = check(text, dialect);
    check_splits(text, dialect, &records);
    let record = |record: &Owned| {
        let fields = record.fields.iter().zip(&record.quoted).map(|(field, quoted)| {
            let text = field.escape_ascii();
            if *quoted { format!("«{text}»") } else { format!("[{text}]") }
        });
        let broken = record.broken.map(|broken| format!(" {broken:?}")).unwrap_or_default();
        format!("{}:{}{broken}", record.line, fields.collect::<String>())
    };
    records.iter().map(record).collect::<Vec<_>>().join(" / ")
}

#[test]
fn awkward_texts_are_read() {
    for (text, expected) in [
        ("", ""),
        ("\n\r\n\n\r", ""),
        ("a,b", "1:[a][b]"),
        ("a,b\n", "1:[a][b]"),
        ("a,b\r\n1,2\r\n", "1:[a][b] / 2:[1][2]"),
        ("a,b\n1,2\r", "1:[a][b] / 2:[1][2]"),
        ("\n\r\na\n\n\nb\n", "3:[a] / 6:[b]"),
        (",\n", "1:[][]"),
        ("a,", "1:[a][]"),
        ("\"\"\n\"\",\n,\"\"", "1:«» / 2:«»[] / 3:[]«»"),
        (" \n", "1:[ ]"),
        ("\"a\"\"b\",\"\"\"\"\n", r#"1:«a\"b»«\"»"#),
        ("\"\"\"a\"\"\"\n", r#"1:«\"a\"»"#),
        ("\"a,\nb\"\nc", r"1:«a,\nb» / 3:[c]"),
        ("\"\n\n\",\"\n\"\nc\n", r"1:«\n\n»«\n» / 5:[c]"),
        ("a\"b\"c,\"\n", r#"1:[a\"b\"c]«\n» Unclosed"#),
        ("a \"b, c\"\n", r#"1:[a \"b][ c\"]"#),
        ("\"a\"b\"c\"\nd", r#"1:«ab\"c\"» / 2:[d]"#),
        ("\"a\" ,\"b\"x\r\n", "1:«a »«bx»"),
        ("\"a\"\r\nb\r\n", "1:«a» / 2:[b]"),
        ("\"a\"\r", "1:«a»"),
        ("\"a\r\"\nb,\"c\r\"\r\n", r"1:«a\r» / 2:[b]«c\r»"),
        ("\"\r\"\n", r"1:«\r»"),
        ("a\r\r\n\r\r\n", r"1:[a\r] / 2:[\r]"),
        ("a\rb,\r,c\n", r"1:[a\rb][\r][c]"),
        ("\"a\"\rb\n", r"1:«a\rb»"),
        ("a\n\"b\nc\n", r"1:[a] / 2:«b\nc\n» Unclosed"),
        ("a\n\"b\"\"", r#"1:[a] / 2:«b\"» Unclosed"#),
        ("\"", "1:«» Unclosed"),
        ("\"\r", r"1:«\r» Unclosed"),
        ("\"\"", "1:«»"),
        ("\0,\"\0\"\n\0\0\n", r"1:[\x00]«\x00» / 2:[\x00\x00]"),
        ("ä,\"→\"\n", r"1:[\xc3\xa4]«\xe2\x86\x92»"),
        ("12345678,\"a\",12345678,\"b\"\n1,\"2\",3", "1:[12345678]«a»[12345678]«b» / 2:[1]«2»[3]"),
    ] {
        assert_eq!(shown(text.as_bytes(), Dialect::default()), expected, "{text:?}");
    }
}

#[test]
fn other_bytes_separate_and_escape() {
    let tab = Dialect::with_delimiter("tab").unwrap().with_quote("'").unwrap();
    assert_eq!(shown(b"a\t'x\ty'\t\"\n,\t\n", tab), r#"1:[a]«x\ty»[\"] / 2:[,][]"#);
    let escaping = Dialect::default().with_escape("\\").unwrap();
    for (text, expected) in [
        (r#""a\"b",\"#, r#"1:«a\"b»[\\]"#),
        (r#""\\","\n""""#, r#"1:«\\»«n\"»"#),
        ("\"\\\n\"\nb", r"1:«\n» / 3:[b]"),
        (r#""a"\",b"#, r#"1:«a\\\"»[b]"#),
        (r#"a,"b\""#, r#"1:[a]«b\"» Unclosed"#),
        (r#"a,"b\"#, r"1:[a]«b» Unclosed"),
    ] {
        assert_eq!(shown(text.as_bytes(), escaping), expected, "{text:?}");
    }
}

#[test]
fn a_newline_in_quotes_ends_the_row_where_fields_are_one_line() {
    let dialect = Dialect::default().with_escape("\\").unwrap().with_multiline(false);
    for (text, expected) in [
        ("a,\"b\nc,d\n", "1:[a]«b» NewlineInQuotes / 2:[c][d]"),
        ("\"b\r\n\"\nd", "1:«b» NewlineInQuotes / 2:«» NewlineInQuotes / 3:[d]"),
        ("\"b\\\nd,\"\"\"\n", r#"1:«b» NewlineInQuotes / 2:[d]«\"» NewlineInQuotes"#),
        ("\"b\\\r\nd", r"1:«b» NewlineInQuotes / 2:[d]"),
        ("\"b\"c\n\"d", "1:«bc» / 2:«d» NewlineInQuotes"),
    ] {
        assert_eq!(shown(text.as_bytes(), dialect), expected, "{text:?}");
    }
}

#[test]
fn wide_and_long_records_are_read() {
    let wide = (0..2_000).map(|column| format!("c{column}")).collect::<Vec<_>>();
    let text = format!("{}\n\"{}\"\n", wide.join(","), wide.join("\",\""));
    let found = check(text.as_bytes(), Dialect::default());
    let bytes: Vec<Vec<u8>> = wide.iter().map(|name| name.clone().into_bytes()).collect();
    assert_eq!(fields(&found), [bytes.clone(), bytes]);

    let long = "x\ny".repeat(7 << 18);
    let text = format!("a,b\n1,\"{long}\"\n2,3\n");
    let mut chunks = Chunks::new(text.as_bytes(), Dialect::default());
    let mut found = Vec::new();
    while let Some(chunk) = chunks.next_chunk().unwrap() {
        found.extend(records(&chunk.text, chunk.first_line, Dialect::default()));
    }
    assert_eq!(found.len(), 3);
    assert_eq!(found[1].fields[1], long.as_bytes());
    assert_eq!(found[2].line, 3 + (7 << 18));
}

#[test]
fn a_row_that_is_too_long_ends_reading_with_its_beginning() {
    let dialect = Dialect::default();
    let row_bytes = 10_000;
    let fits = format!("a\n{},b\nc\n", "x".repeat(row_bytes - 3));
    let longer = format!("a\n{},b\nc\n", "x".repeat(row_bytes - 2));
    for chunk_bytes in [1, 100, 9_999, row_bytes] {
        let all = |text: &str| {
            let mut chunks = Chunks::with_sizes(text.as_bytes(), dialect, chunk_bytes, row_bytes);
            std::iter::from_fn(|| chunks.next_chunk().unwrap()).collect::<Vec<_>>()
        };
        check_chunks(fits.as_bytes(), dialect, &all(&fits), &records(fits.as_bytes(), 1, dialect));
        let found = all(&longer);
        assert_eq!(found[0].text, b"a\n");
        assert_eq!(found.len(), 2);
        assert_eq!((found[1].text.len(), found[1].first_line), (4_096, 2));
        assert!(found[1].too_long && !found[1].unclosed);
    }
    let mut chunks = Chunks::with_sizes(&longer.as_bytes()[2..], dialect, 10, row_bytes);
    assert!(chunks.first_record().unwrap().unwrap().too_long);
    assert_eq!(chunks.next_chunk().unwrap(), None);
}

#[test]
fn of_an_unclosed_row_the_beginning_is_kept() {
    let text = format!("a,b\nc,{},\"{}", "x".repeat(5_000), "y\n".repeat(5_000));
    let mut chunks = Chunks::new(text.as_bytes(), Dialect::default());
    assert_eq!(chunks.first_record().unwrap().unwrap().text, b"a,b\n");
    let chunk = chunks.next_chunk().unwrap().unwrap();
    assert!(chunk.unclosed && !chunk.too_long);
    assert_eq!((chunk.text.len(), chunk.first_line), (4_096, 2));
    assert_eq!(chunks.next_chunk().unwrap(), None);
}

#[test]
fn the_first_record_is_looked_at_without_reading_on() {
    let body = "1,2\n".repeat(100_000);
    let text = format!("\r\n\n\"a\nb\",c\r\n{body}");
    let mut source = text.as_bytes();
    let mut chunks = Chunks::new(&mut source, Dialect::default());
    let first = chunks.first_record().unwrap().unwrap();
    assert_eq!((first.text.as_slice(), first.first_line), (&b"\"a\nb\",c\r\n"[..], 3));
    let second = chunks.first_record().unwrap().unwrap();
    assert_eq!((second.text.as_slice(), second.first_line), (&b"1,2\n"[..], 5));
    let chunk = chunks.next_chunk().unwrap().unwrap();
    assert_eq!(chunk.first_line, 6);
    assert!(chunk.text.len() > 200_000, "a chunk of {} bytes", chunk.text.len());

    let mut source = text.as_bytes();
    Chunks::new(&mut source, Dialect::default()).first_record().unwrap();
    assert!(text.len() - source.len() <= 16 * 1024);
    for blank in ["", "\n\n", "\r\n\r", "\r"] {
        let mut chunks = Chunks::new(blank.as_bytes(), Dialect::default());
        assert_eq!(chunks.first_record().unwrap(), None, "{blank:?}");
        assert_eq!(chunks.next_chunk().unwrap(), None, "{blank:?}");
    }
}

#[test]
fn an_error_of_the_reader_is_handed_on() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
    let mut chunks = Chunks::new(b"a\nb".chain(Broken), Dialect::default());
    assert_eq!(chunks.first_record().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    assert_eq!(chunks.next_chunk().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn a_record_reads_empty_past_its_last_field() {
    let mut record = Record::new();
    assert!(record.is_empty() && record.text(0).is_empty());
    assert!(Records::new(b"a,\"b\"", 7, Dialect::default()).next(&mut record));
    assert_eq!((record.len(), record.line(), record.text(2)), (2, 7, &b""[..]));
    assert!(record.is_quoted(1) && !record.is_quoted(0) && !record.is_quoted(2));
}
