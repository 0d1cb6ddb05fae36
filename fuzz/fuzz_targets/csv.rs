//! CSV text of any bytes: records against the `csv` crate, chunks against the whole text.
//!
//! The first bytes choose the dialect, the size of chunks and the size of reads; the rest is text.
//! The `csv` crate takes a lone carriage return for a row's end, so texts with one are held only to
//! the second half.

#![no_main]

use std::io::Read;

use hopdb_graph::load::csv::{Broken, Chunks, Dialect, Record, Records};
use libfuzzer_sys::fuzz_target;

type Fields = Vec<Vec<u8>>;

/// Hands out a few bytes at a time.
struct Pieces<'t>(&'t [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(buffer.len());
        self.0.read(&mut buffer[..count])
    }
}

fn dialect(choice: u8) -> Dialect {
    let pick = |shift: u8| usize::from(choice >> shift & 3);
    let dialect = Dialect::with_delimiter([",", "tab", ";", "|"][pick(0)]).unwrap();
    let dialect = dialect.with_quote(["\"", "'", "\"", "'"][pick(2)]).unwrap();
    let dialect = match pick(4) {
        0 | 1 => dialect,
        2 => dialect.with_escape("\\").unwrap(),
        _ => dialect.with_escape("!").unwrap(),
    };
    dialect.with_multiline(pick(6) != 0)
}

fn records(
    text: &[u8],
    first_line: u64,
    dialect: Dialect,
) -> Vec<(u64, Fields, Vec<u8>, Option<Broken>)> {
    let mut records = Records::new(text, first_line, dialect);
    let mut record = Record::new();
    let mut all = Vec::new();
    while records.next(&mut record) {
        let fields = (0..record.len()).map(|index| record.text(index).to_vec()).collect();
        all.push((record.line(), fields, record.source().to_vec(), record.broken()));
    }
    all
}

fn oracle(text: &[u8], dialect: Dialect) -> Vec<Fields> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(dialect.delimiter())
        .quote(dialect.quote())
        .escape(dialect.escape())
        .from_reader(text);
    let rows = reader.byte_records();
    rows.map(|row| row.unwrap().iter().map(<[u8]>::to_vec).collect()).collect()
}

fn has_lone_return(text: &[u8]) -> bool {
    let next = text.iter().skip(1).map(Some).chain([None]);
    text.iter().zip(next).any(|(&byte, next)| byte == b'\r' && next != Some(&b'\n'))
}

fuzz_target!(|input: &[u8]| {
    let [choice, chunk_bytes, piece, text @ ..] = input else { return };
    let dialect = dialect(*choice);
    let expected = records(text, 1, dialect);
    if dialect.multiline() && !has_lone_return(text) {
        let fields: Vec<_> = expected.iter().map(|record| record.1.clone()).collect();
        assert_eq!(fields, oracle(text, dialect));
    }
    for look in [false, true] {
        let pieces = Pieces(text, usize::from(*piece).max(1));
        let mut chunks = Chunks::with_sizes(pieces, dialect, (*chunk_bytes).into(), 1 << 20);
        let mut found = Vec::new();
        let mut whole = Vec::new();
        let mut unclosed = false;
        let mut next = if look { chunks.first_record().unwrap() } else { None };
        if next.is_none() {
            next = chunks.next_chunk().unwrap();
        }
        while let Some(chunk) = next {
            assert!(!chunk.too_long && !unclosed);
            unclosed = chunk.unclosed;
            if unclosed && chunk.text.len() == 4_096 {
                return;
            }
            whole.extend_from_slice(&chunk.text);
            found.extend(records(&chunk.text, chunk.first_line, dialect));
            next = chunks.next_chunk().unwrap();
        }
        assert!(look || whole == text, "chunks are other text");
        assert_eq!(found, expected);
        let broken = expected.last().is_some_and(|record| record.3 == Some(Broken::Unclosed));
        assert_eq!(unclosed, broken);
    }
});
