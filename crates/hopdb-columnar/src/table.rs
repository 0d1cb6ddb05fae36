//! Opening Parquet and Arrow files and cutting them into rows.
//!
//! A file is known by its first bytes, or else by its name; what is no regular file is not read
//! from to find out, as a pipe would lose those bytes. A batch has at most some thousand rows and
//! some megabytes; below it, the decoder holds a batch of an Arrow file whole, and of a row group of
//! a Parquet file the page of each column that it is at.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::ArrowError;
use hopdb::load::{LoadError, Table, TableColumn, TableFormat, TableRow};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};

use crate::cells::cells;
use crate::columns::Columns;

const ROWS_PER_BATCH: usize = 4_096;
/// Ends a batch early whose rows are wide, by what they take in Arrow.
const BATCH_BYTES: usize = 8 << 20;

const PARQUET_MAGIC: &[u8] = b"PAR1";
const PARQUET_ENCRYPTED_MAGIC: &[u8] = b"PARE";
const ARROW_MAGIC: &[u8] = b"ARROW1";
const FEATHER_1_MAGIC: &[u8] = b"FEA1";

/// Parquet files, and Arrow files and streams (Feather version 2 is the former).
///
/// Known by their first bytes, streams by their names alone: `.parquet`, `.arrow`, `.feather`,
/// `.arrows`. See the crate's documentation for types.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columnar;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Parquet,
    ArrowFile,
    ArrowStream,
}

impl TableFormat for Columnar {
    fn open(&self, path: &Path) -> Result<Option<Box<dyn Table>>, LoadError> {
        let Some(format) = format(path)? else { return Ok(None) };
        let rows = match format {
            Format::Parquet => parquet(path),
            Format::ArrowFile => arrow_file(path),
            Format::ArrowStream => arrow_stream(path),
        };
        rows.map(|rows| Some(Box::new(rows) as Box<dyn Table>))
    }
}

/// What the name says.
fn named(path: &Path) -> Option<Format> {
    let ending = path.extension()?.to_string_lossy().to_ascii_lowercase();
    match ending.as_str() {
        "parquet" => Some(Format::Parquet),
        "arrow" | "feather" => Some(Format::ArrowFile),
        "arrows" => Some(Format::ArrowStream),
        _ => None,
    }
}

fn format(path: &Path) -> Result<Option<Format>, LoadError> {
    let error = |reason: &str| Err(LoadError::file(path, reason));
    let named = named(path);
    let start = match first_bytes(path) {
        Ok(start) => start,
        // Whoever reads the file in the end says what is wrong with it.
        Err(_) if named.is_none() => return Ok(None),
        Err(reason) => return error(&reason),
    };
    let Some(named) = named else {
        return Ok(match start.as_slice() {
            start if start.starts_with(PARQUET_MAGIC) => Some(Format::Parquet),
            start if start.starts_with(ARROW_MAGIC) => Some(Format::ArrowFile),
            _ => None,
        });
    };
    match start.as_slice() {
        [] => error("it is empty; leave it out, or check how it was made"),
        start if start.starts_with(PARQUET_MAGIC) => Ok(Some(Format::Parquet)),
        start if start.starts_with(ARROW_MAGIC) => Ok(Some(Format::ArrowFile)),
        start if start.starts_with(PARQUET_ENCRYPTED_MAGIC) => {
            error("its footer is encrypted; write it without encryption")
        }
        start if start.starts_with(FEATHER_1_MAGIC) => {
            error("it is Feather version 1; write it as version 2 or as Parquet")
        }
        _ if named == Format::Parquet => {
            error("it does not begin with PAR1, so it is no Parquet file; is its name right?")
        }
        _ => Ok(Some(Format::ArrowStream)),
    }
}

/// The bytes that tell formats apart, or why there are none.
fn first_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let metadata = fs::metadata(path).map_err(|error| cannot_open(&error))?;
    if metadata.is_dir() {
        return Err("it is a directory; name the files in it".into());
    }
    if !metadata.is_file() {
        return Err("it is not a file but a pipe or a device, and such files are not read in one \
                    go; write it to a file first"
            .into());
    }
    let mut start = Vec::new();
    let file = File::open(path).map_err(|error| cannot_open(&error))?;
    file.take(ARROW_MAGIC.len() as u64).read_to_end(&mut start).map_err(|e| cannot_open(&e))?;
    Ok(start)
}

fn cannot_open(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file; is the path right?".into(),
        _ => format!("cannot open it: {error}"),
    }
}

/// What a decoder gives, or why there is nothing.
///
/// The decoders check most of what they read; but what is damaged can still run into one of their
/// assertions, and a bad file must not end the process. A decoder that panicked is not used again.
fn guarded<T, E: Display>(decode: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("its bytes make no sense".into()),
    }
}

/// Opens a decoder on the start of `path`.
fn decoder<T, E: Display>(
    path: &Path,
    decoder: impl FnOnce(File) -> Result<T, E>,
) -> Result<T, LoadError> {
    let file = File::open(path).map_err(|error| LoadError::file(path, cannot_open(&error)))?;
    guarded(|| decoder(file)).map_err(|reason| unreadable(path, &reason))
}

fn unreadable(path: &Path, reason: &str) -> LoadError {
    LoadError::file(path, format!("it cannot be read: {reason}; was it copied whole?"))
}

fn parquet(path: &Path) -> Result<Rows, LoadError> {
    let builder = decoder(path, ParquetRecordBatchReaderBuilder::try_new)?;
    let Columns { positions, columns } = Columns::of(path, builder.schema())?;
    refuse_codecs(path, builder.metadata())?;
    let mask = ProjectionMask::roots(builder.parquet_schema(), positions);
    let rows_max = rows_of(builder.metadata());
    let reader = guarded(|| builder.with_projection(mask).with_batch_size(rows_max).build());
    let reader = reader.map_err(|reason| unreadable(path, &reason))?;
    Ok(Rows::new(path, columns, reader))
}

/// Codecs that are not built in are said at once, in words, rather than at the first row.
fn refuse_codecs(path: &Path, metadata: &ParquetMetaData) -> Result<(), LoadError> {
    let mut chunks = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    let refused = |chunk: &ColumnChunkMetaData| match chunk.compression() {
        Compression::BROTLI(_) => Some("Brotli"),
        Compression::LZO => Some("LZO"),
        _ => None,
    };
    chunks.find_map(refused).map_or(Ok(()), |codec| {
        let reason = format!(
            "it is compressed with {codec}, which is not supported; write it with zstd or snappy"
        );
        Err(LoadError::file(path, reason))
    })
}

/// How many rows the decoder may give at once.
fn rows_of(metadata: &ParquetMetaData) -> usize {
    let row_bytes = metadata.row_groups().iter().map(|group| {
        usize::try_from(group.total_byte_size() / group.num_rows().max(1)).unwrap_or_default()
    });
    rows_within(row_bytes.max().unwrap_or_default())
}

fn rows_within(row_bytes: usize) -> usize {
    (BATCH_BYTES / row_bytes.max(1)).clamp(1, ROWS_PER_BATCH)
}

fn arrow_file(path: &Path) -> Result<Rows, LoadError> {
    let open =
        |positions| decoder(path, |file| FileReader::try_new(BufReader::new(file), positions));
    let Columns { positions, columns } = Columns::of(path, &open(None)?.schema())?;
    Ok(Rows::new(path, columns, open(Some(positions))?))
}

fn arrow_stream(path: &Path) -> Result<Rows, LoadError> {
    let open =
        |positions| decoder(path, |file| StreamReader::try_new(BufReader::new(file), positions));
    let Columns { positions, columns } = Columns::of(path, &open(None)?.schema())?;
    Ok(Rows::new(path, columns, open(Some(positions))?))
}

type Batches = dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send;

/// An open file.
struct Rows {
    path: PathBuf,
    columns: Vec<TableColumn>,
    batches: Box<Batches>,
    /// What is left of the batch that the decoder gave last, and how many rows of it to take.
    left: Option<(RecordBatch, usize)>,
    rows_read: u64,
}

impl Rows {
    fn new(
        path: &Path,
        columns: Vec<TableColumn>,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
    ) -> Self {
        let batches = Box::new(batches);
        Self { path: path.to_owned(), columns, batches, left: None, rows_read: 0 }
    }

    /// The decoder's next batch; after an error there is none.
    fn decode(&mut self) -> Result<Option<RecordBatch>, LoadError> {
        guarded(|| self.batches.next().transpose()).map_err(|reason| {
            self.batches = Box::new(std::iter::empty());
            let reason = format!("cannot read on: {reason}; was the file copied whole?");
            LoadError::line(&self.path, self.rows_read + 1, reason)
        })
    }

    /// The next rows in Arrow's form, at least one.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, LoadError> {
        let (batch, rows_max) = match self.left.take() {
            Some(left) => left,
            None => loop {
                let Some(batch) = self.decode()? else { return Ok(None) };
                if batch.num_rows() > 0 {
                    let row_bytes = batch.get_array_memory_size() / batch.num_rows();
                    break (batch, rows_within(row_bytes));
                }
            },
        };
        if batch.num_rows() <= rows_max {
            return Ok(Some(batch));
        }
        let rest = batch.slice(rows_max, batch.num_rows() - rows_max);
        self.left = Some((rest, rows_max));
        Ok(Some(batch.slice(0, rows_max)))
    }
}

impl Table for Rows {
    fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    fn next_rows(&mut self) -> Result<Option<Vec<TableRow>>, LoadError> {
        let Some(batch) = self.next_batch()? else { return Ok(None) };
        let lines = (self.rows_read + 1..).take(batch.num_rows());
        let mut rows: Vec<TableRow> = lines
            .map(|line| {
                let values = Vec::with_capacity(self.columns.len());
                TableRow { line, values, source: None, bad: None }
            })
            .collect();
        for (column, array) in self.columns.iter().zip(batch.columns()) {
            for (row, cell) in rows.iter_mut().zip(cells(array)) {
                match cell {
                    _ if row.bad.is_some() => {}
                    Ok(value) => row.values.push(value),
                    Err(reason) => {
                        row.values = Vec::new();
                        row.bad = Some(format!("the column {:?} holds {reason}", column.name));
                    }
                }
            }
        }
        self.rows_read += batch.num_rows() as u64;
        Ok(Some(rows))
    }
}
