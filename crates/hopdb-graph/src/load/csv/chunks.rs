//! Text cut into chunks of whole rows, for threads that parse them.
//!
//! Must not parse: it finds where rows end, and no more, so that one thread keeps several busy.
//!
//! Invariants:
//! 1. The buffer begins where a row begins.
//! 2. The buffer up to `scanned` has no row end, and the cutter stands there.
//! 3. The buffer holds no more than `row_bytes_max` bytes: a row that needs more is given up.

use std::io::{self, Read};

use memchr::memchr_iter;

use super::Dialect;
use super::cutter::Cutter;

const CHUNK_BYTES: usize = 256 * 1024;
const ROW_BYTES_MAX: usize = 256 * 1024 * 1024;
/// What is kept of a row that is given up.
const BEGINNING_BYTES: usize = 4 * 1024;
/// Read at once for a first record.
const LOOK_BYTES: usize = 16 * 1024;

/// Whole rows of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The rows with their line ends, which the last row of a file may lack. When `unclosed` or
    /// `too_long` is set, one row alone, of which no more than the first 4 KiB are kept.
    pub text: Vec<u8>,
    /// The line of the file on which `text` begins, from 1.
    pub first_line: u64,
    /// A quote opened in this row is not closed before the end of the file, or as far as it was
    /// read when `too_long` is set too. Only in the last chunk, and only where fields may have many
    /// lines.
    pub unclosed: bool,
    /// The row is longer than may be held in memory. Nothing is read after it.
    pub too_long: bool,
}

/// Reads text in chunks of whole rows.
#[derive(Debug)]
pub struct Chunks<R> {
    reader: R,
    dialect: Dialect,
    cutter: Cutter,
    chunk_bytes: usize,
    row_bytes_max: usize,
    buffer: Vec<u8>,
    /// How much of the buffer is known to have no row end.
    scanned: usize,
    /// The line on which the buffer begins, from 1.
    line: u64,
    /// Whether the reader has no more.
    ended: bool,
}

impl<R: Read> Chunks<R> {
    /// Chunks of about 256 KiB, larger where a row is; rows of up to 256 MiB with their line ends. `reader` gives
    /// unpacked text without a byte order mark, and need not be buffered.
    pub fn new(reader: R, dialect: Dialect) -> Self {
        Self::with_sizes(reader, dialect, CHUNK_BYTES, ROW_BYTES_MAX)
    }

    /// The same with other sizes. `chunk_bytes` is one at least, `row_bytes_max` not below it.
    pub fn with_sizes(
        reader: R,
        dialect: Dialect,
        chunk_bytes: usize,
        row_bytes_max: usize,
    ) -> Self {
        let chunk_bytes = chunk_bytes.max(1);
        Self {
            reader,
            dialect,
            cutter: Cutter::new(dialect),
            chunk_bytes,
            row_bytes_max: row_bytes_max.max(chunk_bytes),
            buffer: Vec::new(),
            scanned: 0,
            line: 1,
            ended: false,
        }
    }

    /// The next row that is not blank, alone; none at the end. Reads little more than that row:
    /// a cheap look at a header. [`Chunks::next_chunk`] goes on behind it.
    ///
    /// # Errors
    /// The reader's.
    pub fn first_record(&mut self) -> io::Result<Option<Chunk>> {
        loop {
            if self.scanned == 0 && !self.reach_row()? {
                return Ok(None);
            }
            if let Some(end) = self.cutter.first_row_end(&self.buffer[self.scanned..]) {
                self.scanned += end;
                return Ok(Some(self.cut(self.scanned)));
            }
            self.scanned = self.buffer.len();
            if self.is_given_up() {
                return Ok(self.last());
            }
            self.fill(self.scanned + self.look_bytes())?;
        }
    }

    /// Takes back what [`Chunks::first_record`] gave last, to be read again.
    pub(in crate::load) fn put_back(&mut self, first: Chunk) {
        let mut text = first.text;
        text.append(&mut self.buffer);
        self.buffer = text;
        self.line = first.first_line;
        self.scanned = 0;
        self.cutter = Cutter::new(self.dialect);
    }

    /// The next rows; none at the end.
    ///
    /// # Errors
    /// The reader's.
    pub fn next_chunk(&mut self) -> io::Result<Option<Chunk>> {
        loop {
            let more = if self.scanned < self.chunk_bytes { 0 } else { self.scanned };
            self.fill(more + self.chunk_bytes)?;
            let end = self.cutter.last_row_end(&self.buffer[self.scanned..]);
            let end = end.map(|end| self.scanned + end);
            self.scanned = self.buffer.len();
            if let Some(end) = end {
                return Ok(Some(self.cut(end)));
            }
            if self.is_given_up() {
                return Ok(self.last());
            }
        }
    }

    /// Whether the buffer, which has no row end, is all there will be of it.
    fn is_given_up(&self) -> bool {
        self.ended || self.buffer.len() >= self.row_bytes_max
    }

    /// Reads until the buffer holds `bytes`, or as much as it may, or the end is reached.
    fn fill(&mut self, bytes: usize) -> io::Result<()> {
        let missing = bytes.min(self.row_bytes_max).saturating_sub(self.buffer.len());
        if self.ended || missing == 0 {
            return Ok(());
        }
        self.buffer.reserve(missing);
        let read = self.reader.by_ref().take(missing as u64).read_to_end(&mut self.buffer)?;
        self.ended = read < missing;
        Ok(())
    }

    /// Hands the buffer on up to `end`, a row end.
    fn cut(&mut self, end: usize) -> Chunk {
        let mut rest = Vec::with_capacity(self.chunk_bytes.max(self.buffer.len() - end));
        rest.extend_from_slice(&self.buffer[end..]);
        self.buffer.truncate(end);
        self.scanned -= end;
        let text = std::mem::replace(&mut self.buffer, rest);
        let first_line = self.line;
        self.line += newlines(&text);
        Chunk { text, first_line, unclosed: false, too_long: false }
    }

    /// Hands on what has no row end, and ends.
    fn last(&mut self) -> Option<Chunk> {
        let mut text = std::mem::take(&mut self.buffer);
        self.scanned = 0;
        let too_long = !self.ended;
        let unclosed = self.cutter.inside_quotes() && self.dialect.multiline();
        if too_long || unclosed {
            text.truncate(BEGINNING_BYTES);
            text.shrink_to_fit();
        }
        self.ended = true;
        let chunk = Chunk { text, first_line: self.line, unclosed, too_long };
        Some(chunk).filter(|chunk| !chunk.text.is_empty())
    }

    /// Drops the blank lines that the buffer, not scanned yet, begins with; whether a row follows.
    fn reach_row(&mut self) -> io::Result<bool> {
        loop {
            let (bytes, lines) = blank_lines(&self.buffer);
            self.buffer.drain(..bytes);
            self.line += lines;
            if !matches!(self.buffer[..], [] | [b'\r']) {
                return Ok(true);
            }
            if self.ended {
                self.buffer.clear();
                return Ok(false);
            }
            self.fill(self.buffer.len() + self.look_bytes())?;
        }
    }

    fn look_bytes(&self) -> usize {
        self.chunk_bytes.min(LOOK_BYTES)
    }
}

/// The length of the blank lines that `text` begins with, and their number.
pub(super) fn blank_lines(text: &[u8]) -> (usize, u64) {
    let (mut bytes, mut lines) = (0, 0);
    loop {
        bytes += match &text[bytes..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return (bytes, lines),
        };
        lines += 1;
    }
}

pub(super) fn newlines(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}
