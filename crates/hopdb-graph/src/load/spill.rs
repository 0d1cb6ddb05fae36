//! Sorted runs on disk, for what does not fit into the memory of a load.
//!
//! The runs of a sorter lie one behind the other in a file without a name in the folder of the database: it is gone
//! with its handle, whatever happens, and takes one handle however many runs there are. Runs are written once, front
//! to back, and read any number of times, front to back.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hopdb_storage::io::{File, FileSystem};

use crate::error::Result;

/// Bytes that a run's writer gathers before it writes.
const WRITE_BYTES: usize = 256 << 10;

/// Bytes of the buffer that each of so many runs is read through, of `bytes` for all: below the least, reading is slow;
/// above the most, it gets no faster.
pub(super) fn read_buffer_bytes(bytes: usize, runs: usize) -> usize {
    (bytes / runs).clamp(16 << 10, 256 << 10)
}

/// Where runs go.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    fs: Arc<dyn FileSystem>,
    folder: PathBuf,
    bytes: Arc<AtomicU64>,
}

impl Scratch {
    pub(super) fn new(fs: Arc<dyn FileSystem>, folder: &Path) -> Self {
        Self { fs, folder: folder.to_path_buf(), bytes: Arc::default() }
    }

    /// Bytes written to runs.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn failed(&self, action: &str) -> impl FnOnce(std::io::Error) -> crate::error::GraphError {
        let error = (format!("{action} a temporary file in"), self.folder.clone());
        move |source| hopdb_storage::Error::Io { action: error.0, path: error.1, source }.into()
    }
}

/// The file of a sorter's runs, made with the first.
#[derive(Debug)]
pub(super) struct RunFile {
    scratch: Scratch,
    file: Option<Arc<dyn File>>,
    /// Where the next run begins.
    end: u64,
}

impl RunFile {
    pub(super) fn new(scratch: &Scratch) -> Self {
        Self { scratch: scratch.clone(), file: None, end: 0 }
    }

    /// Begins a run behind all others.
    pub(super) fn begin(&mut self) -> Result<RunWriter<'_>> {
        let scratch = &self.scratch;
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => {
                let file = scratch.fs.create_unnamed(&scratch.folder);
                let file = file.map_err(scratch.failed("make"))?;
                self.file = Some(Arc::clone(&file));
                file
            }
        };
        let run = Run { scratch: scratch.clone(), file, start: self.end, bytes: 0 };
        Ok(RunWriter { end: &mut self.end, run, buffer: Vec::with_capacity(WRITE_BYTES) })
    }
}

/// Writes a run.
#[derive(Debug)]
pub(super) struct RunWriter<'f> {
    /// Of the file.
    end: &'f mut u64,
    run: Run,
    buffer: Vec<u8>,
}

impl RunWriter<'_> {
    /// Appends bytes.
    #[inline]
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= WRITE_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let written = self.run.file.write_at(&self.buffer, *self.end);
        written.map_err(self.run.scratch.failed("write"))?;
        *self.end += self.buffer.len() as u64;
        self.run.bytes += self.buffer.len() as u64;
        // A number for the report: nothing is ordered by it.
        self.run.scratch.bytes.fetch_add(self.buffer.len() as u64, Ordering::Relaxed);
        self.buffer.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Run> {
        self.flush()?;
        Ok(self.run)
    }
}

/// A written run.
#[derive(Debug)]
pub(super) struct Run {
    scratch: Scratch,
    file: Arc<dyn File>,
    /// Where it begins in the file.
    start: u64,
    bytes: u64,
}

impl Run {
    /// Reads the run from its beginning, through a buffer of about `buffer_bytes`.
    pub(super) fn reader(&self, buffer_bytes: usize) -> RunReader<'_> {
        RunReader { run: self, offset: 0, buffer: Vec::new(), at: 0, buffer_bytes }
    }
}

/// Reads a run front to back.
#[derive(Debug)]
pub(super) struct RunReader<'r> {
    run: &'r Run,
    /// Where the bytes behind the buffer are in the run.
    offset: u64,
    buffer: Vec<u8>,
    at: usize,
    buffer_bytes: usize,
}

impl RunReader<'_> {
    /// The next `count` bytes; `None` at the end of the run.
    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Result<Option<&[u8]>> {
        if self.buffer.len() - self.at < count {
            self.fill(count)?;
        }
        if self.buffer.len() - self.at < count {
            return Ok(None);
        }
        self.at += count;
        Ok(Some(&self.buffer[self.at - count..self.at]))
    }

    fn fill(&mut self, count: usize) -> Result<()> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let have = self.buffer.len();
        let left = usize::try_from(self.run.bytes - self.offset).unwrap_or(usize::MAX);
        let more = self.buffer_bytes.max(count).min(left);
        self.buffer.resize(have + more, 0);
        let read = self.run.file.read_at(&mut self.buffer[have..], self.run.start + self.offset);
        let read = read.map_err(self.run.scratch.failed("read"))?;
        self.buffer.truncate(have + read);
        self.offset += read as u64;
        Ok(())
    }
}
