//! From a file to its lines: unpacked, checked to be UTF-8, and none of them longer than memory.
//!
//! Blank lines are left out, but counted. A line that is too long or not UTF-8 is handed on as the
//! reason why; reading goes on behind it.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::error::LoadError;
use crate::load::source::{FileSource, Source};
use crate::load::unpack::{BUFFER_BYTES, BYTE_ORDER_MARK, GZIP_MAGIC, describe};

/// Longer lines are not read.
const LINE_BYTES_MAX: usize = 256 << 20;

/// One line.
pub(super) struct Line {
    /// From 1.
    pub(super) number: u64,
    /// Its text without the line end, or why there is none.
    pub(super) content: Result<String, String>,
}

/// The lines of a file.
pub(super) struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    number: u64,
    bytes_max: usize,
}

impl Lines {
    /// Opens `path` from its start.
    pub(super) fn open(path: &Path) -> Result<Self, LoadError> {
        let error = |reason: String| LoadError::file(path, reason);
        let source = FileSource;
        let file = source.open(path).map_err(|e| error(cannot_open(&e)))?;
        if source.len(path).is_none() {
            let reason = "it is not a file but a pipe or a device, and JSON lines are read twice; \
                          write them to a file first";
            return Err(error(reason.into()));
        }
        let mut packed = BufReader::with_capacity(BUFFER_BYTES, file);
        let start = packed.fill_buf().map_err(|e| error(describe(&e)))?;
        if start.is_empty() {
            return Err(error("it is empty; leave it out, or check how it was made".into()));
        }
        let reader: Box<dyn BufRead + Send> = if start.starts_with(GZIP_MAGIC) {
            Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(packed)))
        } else if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz")) {
            return Err(error("its name ends in .gz, but it is not a gzip file".into()));
        } else {
            Box::new(packed)
        };
        Ok(Self { path: path.to_owned(), reader, number: 0, bytes_max: LINE_BYTES_MAX })
    }

    /// The same, with another bound on the length of a line.
    #[cfg(test)]
    pub(super) fn with_bytes_max(self, bytes_max: usize) -> Self {
        Self { bytes_max, ..self }
    }

    /// The next line that is not blank.
    pub(super) fn next_line(&mut self) -> Result<Option<Line>, LoadError> {
        loop {
            let mut bytes = Vec::new();
            let length = self
                .read_line(&mut bytes)
                .map_err(|error| LoadError::line(&self.path, self.number + 1, describe(&error)))?;
            if length == 0 {
                return Ok(None);
            }
            self.number += 1;
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            let content = if length > self.bytes_max {
                Err(format!(
                    "the line is longer than {} bytes; is each object on a line of its own?",
                    self.bytes_max
                ))
            } else {
                String::from_utf8(bytes).map_err(|error| not_utf8(error.utf8_error()))
            };
            return Ok(Some(Line { number: self.number, content }));
        }
    }

    /// Appends the next line to `bytes` without its end, at most the longest allowed and one byte
    /// of it, and gives its length with the end; 0 behind the last line.
    fn read_line(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let limit = self.bytes_max as u64 + 1;
        let mut length = self.reader.by_ref().take(limit).read_until(b'\n', bytes)?;
        if length > self.bytes_max && bytes.last() != Some(&b'\n') {
            length += self.reader.skip_until(b'\n')?;
        }
        if self.number == 0 && bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
            // The end is no part of what is bounded.
            length = length.min(self.bytes_max);
        }
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        Ok(length)
    }
}

fn not_utf8(error: std::str::Utf8Error) -> String {
    format!(
        "byte {} is not UTF-8; convert the file, for example with iconv",
        error.valid_up_to() + 1
    )
}

fn cannot_open(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file; is the path right?".into(),
        io::ErrorKind::IsADirectory => "it is a directory; name the files in it".into(),
        _ => format!("cannot open it: {error}"),
    }
}
