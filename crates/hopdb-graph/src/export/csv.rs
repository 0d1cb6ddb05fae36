//! Rows as CSV, plain or gzip.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::folder::new_file;
use super::format::{FileColumn, RowFormat, RowWriter};
use crate::load::csv::{Dialect, write_field};
use crate::value::Value;
use crate::value::field_text::Separators;

const FILES_MAX: usize = 100;
const BUFFER_BYTES: usize = 64 << 10;
/// A longer row is not read again.
const ROW_BYTES_MAX: usize = 256 << 20;

/// CSV with commas, as a load takes it without options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Csv {
    /// Whether files are packed.
    pub gzip: bool,
}

impl RowFormat for Csv {
    fn extension(&self) -> &'static str {
        if self.gzip { "csv.gz" } else { "csv" }
    }

    fn files_max(&self) -> usize {
        FILES_MAX
    }

    fn fits(&self, _: &str, _: &Value) -> bool {
        true
    }

    fn create(&self, path: &Path, columns: &[FileColumn]) -> io::Result<Box<dyn RowWriter>> {
        let file = new_file(path)?;
        let out = match self.gzip {
            true => {
                let packed = GzEncoder::new(file, Compression::default());
                Out::Packed(Box::new(BufWriter::with_capacity(BUFFER_BYTES, packed)))
            }
            false => Out::Plain(BufWriter::with_capacity(BUFFER_BYTES, file)),
        };
        let mut writer = CsvWriter {
            out,
            dialect: Dialect::default(),
            separators: Dialect::default().field_rules().into(),
            line: Vec::new(),
            text: String::new(),
        };
        writer.write_line(columns.iter(), |column, text| {
            text.push_str(&column.field);
            false
        })?;
        Ok(Box::new(writer))
    }
}

enum Out {
    Plain(BufWriter<File>),
    Packed(Box<BufWriter<GzEncoder<File>>>),
}

struct CsvWriter {
    out: Out,
    dialect: Dialect,
    separators: Separators,
    line: Vec<u8>,
    text: String,
}

impl CsvWriter {
    /// Writes a line of items, each as the text that `put` appends; true for one that must be quoted.
    fn write_line<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        put: impl Fn(T, &mut String) -> bool,
    ) -> io::Result<()> {
        self.line.clear();
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.line.push(self.dialect.delimiter());
            }
            self.text.clear();
            let must_quote = put(item, &mut self.text);
            write_field(&mut self.line, self.text.as_bytes(), self.dialect, must_quote);
        }
        self.line.push(b'\n');
        if self.line.len() > ROW_BYTES_MAX {
            let row = String::from_utf8_lossy(&self.line[..40]);
            let reason = format!(
                "the row that begins with {row:?} is longer than the 256 MiB that a load reads; \
                 export as Parquet, or leave the value out"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        match &mut self.out {
            Out::Plain(out) => out.write_all(&self.line),
            Out::Packed(out) => out.write_all(&self.line),
        }
    }
}

impl RowWriter for CsvWriter {
    fn write(&mut self, row: &mut [Value]) -> io::Result<()> {
        let separators = self.separators;
        self.write_line(row.iter(), |value, text| {
            let written = value.write_field(&separators, text);
            written.expect("other lists come as text")
        })
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let file = match self.out {
            Out::Plain(out) => out.into_inner()?,
            Out::Packed(out) => out.into_inner()?.finish()?,
        };
        file.sync_all()
    }
}
