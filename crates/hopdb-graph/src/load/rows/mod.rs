//! The rows of a group of CSV files, with their places.
//!
//! A group is one header and any rows: the first file begins with the header and may go on with
//! rows; the files after it hold rows only. CSV as RFC 4180 has it: fields may be quoted, a quote
//! in a quoted field is doubled, a quoted field may hold newlines. Lines end with a newline or with
//! a carriage return and a newline. Blank lines are skipped. A file whose name ends in `.gz`, or
//! that begins like one, is unpacked.
//!
//! Invariants: every row has as many fields as the header; its line is that on which it begins,
//! also after quoted newlines. A carriage return at the very end of a line is dropped, even when
//! a quoted last field ends with it. Reading holds one row in memory, and buffers.

mod raw;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use csv::ByteRecord;

pub use super::csv::Dialect;
use super::header::{FileKind, Header, IdType};
use super::source::Source;
use crate::error::LoadError;

/// Reads a group of files row by row.
pub struct RowReader<'s> {
    source: &'s dyn Source,
    files: Vec<PathBuf>,
    dialect: Dialect,
    bytes_read: Arc<AtomicU64>,
    /// Index of the file being read.
    current: usize,
    rows: raw::Reader,
    /// Whether the next row is the first of its file.
    at_file_start: bool,
    header: ByteRecord,
    record: ByteRecord,
}

/// One row, valid until the next is read.
#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    file: &'r Path,
    record: &'r ByteRecord,
    /// The line after the row.
    line_after: u64,
}

impl<'s> RowReader<'s> {
    /// Opens the first of `files` and reads its first line. `bytes_read` is counted up by the raw
    /// (packed) bytes of all files as they are read.
    ///
    /// # Errors
    /// When the file cannot be read or is empty.
    pub fn open(
        source: &'s dyn Source,
        files: &[PathBuf],
        dialect: Dialect,
        bytes_read: Arc<AtomicU64>,
    ) -> Result<Self, LoadError> {
        let Some(first) = files.first() else {
            return Err(LoadError::file("", "no file is named"));
        };
        let rows = raw::open(source, first, dialect, &bytes_read)?;
        let mut reader = Self {
            source,
            files: files.to_vec(),
            dialect,
            bytes_read,
            current: 0,
            rows,
            at_file_start: true,
            header: ByteRecord::new(),
            record: ByteRecord::new(),
        };
        if !reader.read_record()? {
            let reason = "it holds no header line; name the file with the header first";
            return Err(LoadError::file(first, reason));
        }
        reader.header = reader.record.clone();
        reader.at_file_start = false;
        Ok(reader)
    }

    /// The fields of the header line.
    pub fn header_fields(&self) -> impl Iterator<Item = &[u8]> {
        fields(&self.header)
    }

    /// What the header line means in a file of this kind.
    ///
    /// # Errors
    /// As [`Header::parse`].
    pub fn header(&self, kind: FileKind) -> Result<Header, LoadError> {
        Header::parse(kind, &self.files[0], self.header_fields(), IdType::String)
    }

    /// The next row of the group.
    ///
    /// # Errors
    /// When a file cannot be read or is empty, or the row has the wrong number of fields or a quote
    /// without an end. Reading on after an error in a row gives the row after it.
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>, LoadError> {
        while !self.read_record()? {
            let Some(next) = self.files.get(self.current + 1) else { return Ok(None) };
            self.rows = raw::open(self.source, next, self.dialect, &self.bytes_read)?;
            self.current += 1;
            self.at_file_start = true;
        }
        let at_file_start = std::mem::replace(&mut self.at_file_start, false);
        self.check(at_file_start)?;
        Ok(Some(self.row()))
    }

    fn row(&self) -> Row<'_> {
        let line_after = self.rows.position().line();
        Row { file: &self.files[self.current], record: &self.record, line_after }
    }

    /// Reads the next record of the current file that is not blank; false at the file's end.
    fn read_record(&mut self) -> Result<bool, LoadError> {
        loop {
            let more = self.rows.read_byte_record(&mut self.record).map_err(|error| {
                let line = self.rows.position().line();
                LoadError::line(&self.files[self.current], line, raw::describe(&error))
            })?;
            if !more || raw::is_end(&self.record) {
                return Ok(false);
            }
            if raw::runs_into_end(&self.record) {
                let reason = "a quote opened in this row is never closed";
                let row = self.row();
                // Alone of all rows, this one has no newline behind it.
                return Err(LoadError::line(row.file, row.line() + 1, reason));
            }
            // The reader skips blank lines, but not those with a carriage return.
            if self.record.len() != 1 || self.record.as_slice() != b"\r" {
                return Ok(true);
            }
        }
    }

    fn check(&self, at_file_start: bool) -> Result<(), LoadError> {
        let row = self.row();
        if row.len() != self.header.len() {
            return Err(self.wrong_count(row));
        }
        if at_file_start && row.fields().eq(fields(&self.header)) {
            let reason = "this is the header again; only the first file of a group may have one";
            return Err(LoadError::line(row.file, row.line(), reason));
        }
        Ok(())
    }

    #[cold]
    fn wrong_count(&self, row: Row<'_>) -> LoadError {
        let hint = if row.len() == 1 { "; is the delimiter right?" } else { "" };
        let reason = format!("expected {} columns, found {}{hint}", self.header.len(), row.len());
        LoadError::line(row.file, row.line(), reason)
    }
}

impl<'r> Row<'r> {
    /// The file the row is in, as it was named.
    #[must_use]
    pub fn file(&self) -> &'r Path {
        self.file
    }

    /// The line on which the row begins, from 1. Counts the newlines in the row's fields: for
    /// messages rather than for every row.
    #[must_use]
    pub fn line(&self) -> u64 {
        let newlines = self.record.as_slice().iter().filter(|&&byte| byte == b'\n');
        // Every row ends with a newline: one is added where the file lacks it.
        (self.line_after - 1).saturating_sub(newlines.fold(0, |count, _| count + 1))
    }

    /// The number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.record.len()
    }

    /// Never: a row has one field at least.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.record.is_empty()
    }

    /// The field in column `index`, from 0; empty past the last column.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> &'r [u8] {
        field(self.record, index)
    }

    /// All fields.
    pub fn fields(&self) -> impl Iterator<Item = &'r [u8]> + use<'r> {
        fields(self.record)
    }

    /// An error about this row.
    #[must_use]
    pub fn error(&self, reason: impl Into<String>) -> LoadError {
        LoadError::line(self.file, self.line(), reason)
    }
}

#[inline]
fn field(record: &ByteRecord, index: usize) -> &[u8] {
    let field = record.get(index).unwrap_or_default();
    if index + 1 == record.len() { field.strip_suffix(b"\r").unwrap_or(field) } else { field }
}

fn fields(record: &ByteRecord) -> impl Iterator<Item = &[u8]> {
    (0..record.len()).map(|index| field(record, index))
}

#[cfg(test)]
mod tests;
