//! Rows of an export as Parquet files: each written by a thread of its own, which takes rows as they come.

use std::io;
use std::mem;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use hopdb::Value;
use hopdb::export::{FileColumn, RowFormat, RowWriter};
use hopdb::load::TableColumn;
use hopdb_columnar::{WriteError, fits, write_parquet};

/// Each file holds up to a row group, of 64 MiB, in memory.
const FILES_MAX: usize = 16;
const ROWS_PER_SEND: usize = 256;
const SENDS_AHEAD: usize = 2;

/// Parquet, as a load of a hop with the feature `columnar` takes it.
#[derive(Debug)]
pub(super) struct Parquet;

impl RowFormat for Parquet {
    fn extension(&self) -> &'static str {
        "parquet"
    }

    fn files_max(&self) -> usize {
        FILES_MAX
    }

    fn fits(&self, type_text: &str, value: &Value) -> bool {
        fits(Some(type_text), value)
    }

    fn create(&self, path: &Path, columns: &[FileColumn]) -> io::Result<Box<dyn RowWriter>> {
        let columns: Vec<TableColumn> = columns.iter().map(table_column).collect();
        let (sender, receiver) = sync_channel(SENDS_AHEAD);
        let path = path.to_owned();
        let thread =
            thread::Builder::new().spawn(move || write_parquet(&path, &columns, rows(receiver)))?;
        let sender = Some(sender);
        Ok(Box::new(ParquetWriter { sender, rows: Vec::new(), thread: Some(thread) }))
    }
}

/// Values that come as text are strings to the format: the header's field then says the type.
fn table_column(column: &FileColumn) -> TableColumn {
    match &column.plain_name {
        Some(name) if !column.as_text => {
            TableColumn { name: name.clone(), type_text: Some(column.type_text.clone()) }
        }
        _ => TableColumn {
            name: column.field.clone(),
            type_text: (!column.as_text).then(|| column.type_text.clone()),
        },
    }
}

/// The export ended before the file did.
#[derive(Debug, thiserror::Error)]
#[error("the export did not end")]
struct Abandoned;

type Rows = Result<Vec<Vec<Value>>, Abandoned>;
type Written = Result<u64, WriteError<Abandoned>>;

fn rows(receiver: Receiver<Rows>) -> impl Iterator<Item = Result<Vec<Value>, Abandoned>> {
    receiver.into_iter().flat_map(|sent| match sent {
        Ok(rows) => rows.into_iter().map(Ok).collect::<Vec<_>>(),
        Err(abandoned) => vec![Err(abandoned)],
    })
}

struct ParquetWriter {
    /// None when the thread is to end.
    sender: Option<SyncSender<Rows>>,
    rows: Vec<Vec<Value>>,
    /// None when it has ended.
    thread: Option<JoinHandle<Written>>,
}

impl ParquetWriter {
    fn send(&mut self) -> io::Result<()> {
        let rows = mem::take(&mut self.rows);
        let sent = self.sender.as_ref().is_some_and(|sender| sender.send(Ok(rows)).is_ok());
        // It has ended already, and says why.
        if sent { Ok(()) } else { self.end() }
    }

    /// Waits for the thread, which has what it needs.
    fn end(&mut self) -> io::Result<()> {
        self.sender = None;
        let Some(thread) = self.thread.take() else { return Ok(()) };
        match thread.join() {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(WriteError::File { source, .. })) => Err(told(source)),
            Ok(Err(error)) => Err(io::Error::other(error)),
            Err(_) => Err(io::Error::other("its writer panicked")),
        }
    }
}

/// The system's error where there is one behind the format's: it says whether the disk is full.
fn told(source: Box<dyn std::error::Error + Send + Sync>) -> io::Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&*source);
    while let Some(error) = cause {
        if let Some(system) = error.downcast_ref::<io::Error>() {
            return io::Error::new(system.kind(), source.to_string());
        }
        cause = error.source();
    }
    io::Error::other(source)
}

impl RowWriter for ParquetWriter {
    fn write(&mut self, row: &mut [Value]) -> io::Result<()> {
        self.rows.push(row.iter_mut().map(|value| mem::replace(value, Value::Null)).collect());
        if self.rows.len() < ROWS_PER_SEND { Ok(()) } else { self.send() }
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.send()?;
        self.end()
    }
}

impl Drop for ParquetWriter {
    /// Without an end the file is removed.
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take() {
            drop(sender.send(Err(Abandoned)));
        }
        drop(self.end());
    }
}
