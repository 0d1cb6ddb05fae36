//! Below the rows: from a file to CSV records. Counting, unpacking, and knowing the end.
//!
//! The csv reader takes a quoted field without a closing quote for one that ends with the file, and
//! gives no line for a row that follows a carriage return. Both are helped here: lines end at
//! newlines only (the carriage return is cut off above), and [`END`] is read after the file's last
//! byte: it comes out as a record of its own, or inside a field that was never closed.

use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use csv::{ByteRecord, Terminator};
use flate2::bufread::MultiGzDecoder;

use super::Dialect;
use crate::error::LoadError;
use crate::load::source::Source;

pub(super) type Reader = csv::Reader<Box<dyn Read + Send>>;

const BUFFER_BYTES: usize = 256 * 1024;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Read after each file: a newline, and bytes that are not UTF-8 and no delimiter.
const END: &[u8] = b"\n\xff\xfe\xff\xfe\xfe\xff\xfe\xff\n";
/// The record that `END` gives outside quotes.
const END_RECORD: &[u8] = b"\xff\xfe\xff\xfe\xfe\xff\xfe\xff";

/// Opens a file as CSV records.
pub(super) fn open(
    source: &dyn Source,
    path: &Path,
    dialect: Dialect,
    bytes_read: &Arc<AtomicU64>,
) -> Result<Reader, LoadError> {
    let file = source.open(path).map_err(|error| LoadError::file(path, cannot_open(&error)))?;
    let counted = Counted { inner: file, bytes_read: Arc::clone(bytes_read) };
    let unpacked = unpack(counted, path)?;
    let ended: Box<dyn Read + Send> = Box::new(unpacked.chain(END));
    Ok(csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(dialect.delimiter())
        .quote(dialect.quote())
        .escape(dialect.escape())
        .double_quote(true)
        .terminator(Terminator::Any(b'\n'))
        .buffer_capacity(BUFFER_BYTES)
        .from_reader(ended))
}

/// Whether this is the record after the last.
pub(super) fn is_end(record: &ByteRecord) -> bool {
    record.len() == 1 && record.as_slice() == END_RECORD
}

/// Whether a field of this record, the last, has swallowed the end of the file.
pub(super) fn runs_into_end(record: &ByteRecord) -> bool {
    record.as_slice().ends_with(END)
}

/// A read error for a person.
pub(super) fn describe(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Io(error) => describe_io(error),
        _ => format!("cannot read on: {error}"),
    }
}

fn describe_io(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            "the compressed file ends too early; was it copied whole?".into()
        }
        _ => format!("cannot read on: {error}"),
    }
}

fn cannot_open(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file; is the path right?".into(),
        io::ErrorKind::IsADirectory => {
            "it is a directory; name the files in it, separated by commas".into()
        }
        _ => format!("cannot open it: {error}"),
    }
}

/// The file's text: unpacked, and without a byte order mark.
fn unpack(file: Counted, path: &Path) -> Result<Box<dyn Read + Send>, LoadError> {
    let cannot_read = |error: io::Error| LoadError::file(path, describe_io(&error));
    let (start, whole) = peek(Box::new(file), GZIP_MAGIC.len()).map_err(cannot_read)?;
    if start.is_empty() {
        return Err(LoadError::file(path, "it is empty; leave it out, or check how it was made"));
    }
    let packed = start == GZIP_MAGIC;
    if !packed && path.extension().is_some_and(|extension| extension == "gz") {
        return Err(LoadError::file(path, "its name ends in .gz, but it is not a gzip file"));
    }
    let text: Box<dyn Read + Send> = if packed {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER_BYTES, whole)))
    } else {
        // The csv reader has a buffer of its own.
        whole
    };
    let (start, mut text) = peek(text, BYTE_ORDER_MARK.len()).map_err(cannot_read)?;
    if start == BYTE_ORDER_MARK {
        text.read_exact(&mut [0; BYTE_ORDER_MARK.len()]).map_err(cannot_read)?;
    }
    Ok(text)
}

/// The first `count` bytes, fewer only at the end, and a reader that still begins with them.
fn peek(
    mut reader: Box<dyn Read + Send>,
    count: usize,
) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut start = Vec::with_capacity(count);
    reader.by_ref().take(count as u64).read_to_end(&mut start)?;
    let whole = Box::new(io::Cursor::new(start.clone()).chain(reader));
    Ok((start, whole))
}

/// Counts the bytes that pass, as the measure of progress.
struct Counted {
    inner: Box<dyn Read + Send>,
    bytes_read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        // A number for a progress bar: nothing is ordered by it.
        self.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
