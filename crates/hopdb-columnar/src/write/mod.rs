//! Rows of values as a Parquet file.
//!
//! Invariants: the file is new, whole and synced when the call returns its number of rows, and gone
//! when it returns an error; what is read back is what was written, or the call fails.

mod kind;

use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use hopdb::Value;
use hopdb::load::TableColumn;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use self::kind::Kind;

const ROWS_PER_BATCH: usize = 4_096;
/// Ends a batch early whose values are large.
const BATCH_BYTES: usize = 8 << 20;
const ROW_GROUP_ROWS: usize = 1 << 17;
const ROW_GROUP_BYTES: usize = 64 << 20;
/// Larger values, whose texts might outgrow an array, are refused.
const VALUE_BYTES_MAX: usize = 256 << 20;

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError<E: Error + 'static> {
    /// The caller's rows ended with an error.
    #[error(transparent)]
    Rows(E),
    /// A row does not fit the columns.
    #[error("row {row}: {reason}")]
    Row {
        /// Its number, from 1.
        row: u64,
        /// What does not fit, and a way out.
        reason: String,
    },
    /// The file could not be written.
    #[error("{}: it cannot be written", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// Writes a new Parquet file at `path`, compressed with Zstandard, and gives its number of rows.
///
/// Each column has the type that its `type_text` says: integers as `Int64`, `float` and `double` as
/// `Float64`, `boolean`, `string`, `bytes`, `date`, `localtime`, `localdatetime` as microseconds, `datetime`
/// as microseconds in UTC, and lists (`long[]`) of these. Values must be of that type ([`fits`]) or null. All other types, and columns
/// without one, are written as strings: a value's text is what its field in CSV would be (`P1D`),
/// that of a list what Cypher writes. So that a load knows the type again, it then stands in
/// the column's name (`home:point`), unless the name has a colon already.
///
/// # Errors
/// There is a file at `path` already, or it cannot be written; a row that does not fit; the first
/// error of `rows`. The file is removed again.
pub fn write_parquet<E: Error + 'static>(
    path: impl AsRef<Path>,
    columns: &[TableColumn],
    rows: impl Iterator<Item = Result<Vec<Value>, E>>,
) -> Result<u64, WriteError<E>> {
    let path = path.as_ref();
    let file = File::create_new(path).map_err(|error| file_error(path, error))?;
    let written = write_rows(path, file, columns, rows);
    if written.is_err() {
        // The error that is told is the one that led here.
        drop(fs::remove_file(path));
    }
    written
}

/// Whether a column of this type can hold the value so that it is read back the same.
///
/// False for a value of another type, and for a `datetime` that is not in UTC, has a named zone or is finer than
/// microseconds: whoever has such values writes the column without a type. Null fits everywhere.
#[must_use]
pub fn fits(type_text: Option<&str>, value: &Value) -> bool {
    Kind::of(type_text).fits(value)
}

fn file_error<E: Error>(
    path: &Path,
    error: impl Into<Box<dyn Error + Send + Sync>>,
) -> WriteError<E> {
    WriteError::File { path: path.to_owned(), source: error.into() }
}

fn write_rows<E: Error>(
    path: &Path,
    file: File,
    columns: &[TableColumn],
    rows: impl Iterator<Item = Result<Vec<Value>, E>>,
) -> Result<u64, WriteError<E>> {
    let mut batch = Batch::new(columns);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
        .build();
    let mut writer = ArrowWriter::try_new(file, Arc::clone(&batch.schema), Some(properties))
        .map_err(|error| file_error(path, error))?;
    let mut count = 0;
    for row in rows {
        count += 1;
        let row = row.map_err(WriteError::Rows)?;
        batch.push(row).map_err(|reason| WriteError::Row { row: count, reason })?;
        if batch.is_full() {
            batch.write(&mut writer).map_err(|error| file_error(path, error))?;
        }
    }
    batch.write(&mut writer).map_err(|error| file_error(path, error))?;
    let file = writer.into_inner().map_err(|error| file_error(path, error))?;
    sync(path, &file).map_err(|error| file_error(path, error))?;
    Ok(count)
}

/// Makes the file durable, and on Unix its name.
fn sync(path: &Path, file: &File) -> io::Result<()> {
    file.sync_all()?;
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

/// Rows that are not written yet, by column.
struct Batch {
    schema: SchemaRef,
    kinds: Vec<Kind>,
    columns: Vec<Vec<Value>>,
    rows: usize,
    bytes: usize,
}

impl Batch {
    fn new(columns: &[TableColumn]) -> Self {
        let kinds: Vec<Kind> =
            columns.iter().map(|column| Kind::of(column.type_text.as_deref())).collect();
        let fields: Vec<Field> = columns
            .iter()
            .zip(&kinds)
            .map(|(column, kind)| Field::new(kind.name(column), kind.data_type(), true))
            .collect();
        let columns = vec![Vec::new(); kinds.len()];
        Self { schema: Arc::new(Schema::new(fields)), kinds, columns, rows: 0, bytes: 0 }
    }

    fn push(&mut self, row: Vec<Value>) -> Result<(), String> {
        if row.len() != self.kinds.len() {
            return Err(format!("it has {} values for {} columns", row.len(), self.kinds.len()));
        }
        for (index, value) in row.into_iter().enumerate() {
            let kind = self.kinds[index];
            if !kind.fits(&value) {
                return Err(format!(
                    "the column {:?} holds {}, which is no {}; write the column without a type",
                    self.schema.field(index).name(),
                    shown(&value),
                    kind.shown()
                ));
            }
            let size = size(&value);
            if size > VALUE_BYTES_MAX {
                return Err(format!(
                    "the column {:?} holds a value of {size} bytes; leave it out, as at most \
                     {VALUE_BYTES_MAX} can be written",
                    self.schema.field(index).name()
                ));
            }
            self.bytes += size;
            self.columns[index].push(value);
        }
        self.rows += 1;
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.rows >= ROWS_PER_BATCH || self.bytes >= BATCH_BYTES
    }

    /// Hands all rows on; none are left.
    fn write(&mut self, writer: &mut ArrowWriter<File>) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let columns = self.columns.iter_mut().zip(&self.kinds);
        let arrays = columns.map(|(values, kind)| kind.array(&std::mem::take(values))).collect();
        (self.rows, self.bytes) = (0, 0);
        writer.write(&RecordBatch::try_new(Arc::clone(&self.schema), arrays)?)
    }
}

fn size(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::String(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::List(items) => items.iter().map(size).sum(),
            _ => 0,
        }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
