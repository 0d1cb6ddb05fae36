//! Pages in the file: positional reads and writes, verified and counted, and the way a page may be
//! overwritten.
//!
//! **Words.** *Born page*: allocated by a transaction and written to the file before its commit record,
//! which nobody refers to until then. *In place*: over an older version that a crash may still need.
//!
//! **Invariants.**
//! 1. A page is verified before anybody sees it (I16).
//! 2. A page is written in place only after its image is durable in the log (I8), unless the file has no
//!    log because it has no name yet: a crash then leaves nothing behind.
//! 3. Writes in place and born writes exclude one another, so the last write of a page wins (I17).
//! 4. No latch is held across a read.

pub(crate) mod header;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::codec::num::to_usize;
use crate::error::{Error, Result};
use crate::io::{File, FileSystem, reserve_ahead};
use crate::page::{self, CommitTs, Lsn, PageId};
use crate::sync::{Arc, AtomicU64, Mutex, Ordering};
use crate::wal::{Poison, RecordKind, Wal};
use header::Header;

/// Pages that go to the file in one call at most.
const RUN_PAGES: usize = 64;
/// Steps in which a file that is written to grows.
const RESERVE_STEP: u64 = 64 << 10;
/// Pages whose images go to the log with one sync.
const IMAGE_BATCH: usize = 1024;

/// Page and sync counts since the handle was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoCounts {
    /// Pages read from the file.
    pub pages_read: u64,
    /// Pages written to the file.
    pub pages_written: u64,
    /// Syncs of the file.
    pub data_syncs: u64,
    /// Syncs of the log: one for all commits that waited for it.
    pub log_syncs: u64,
}

#[derive(Debug, Default)]
struct Counters {
    pages_read: AtomicU64,
    pages_written: AtomicU64,
    data_syncs: AtomicU64,
}

/// The page file and its log.
#[derive(Debug)]
pub(crate) struct Pager {
    path: PathBuf,
    file: Arc<dyn File>,
    page_size: usize,
    page_count: AtomicU64,
    poison: Arc<Poison>,
    wal: OnceLock<Wal>,
    header: Mutex<Header>,
    in_place: Mutex<()>,
    /// Bytes of the file that writes cannot run out of space in.
    reserved: Mutex<u64>,
    counters: Counters,
}

impl Pager {
    /// Takes over an open file whose newest header is `header`.
    pub(crate) fn new(path: &Path, file: Arc<dyn File>, header: Header) -> Self {
        Self {
            path: path.to_path_buf(),
            file,
            page_size: header.page_size,
            page_count: AtomicU64::new(header.page_count),
            poison: Arc::default(),
            wal: OnceLock::new(),
            reserved: Mutex::new(header.page_count * header.page_size as u64),
            header: Mutex::new(header),
            in_place: Mutex::new(()),
            counters: Counters::default(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &Arc<dyn File> {
        &self.file
    }

    pub(crate) fn page_size(&self) -> usize {
        self.page_size
    }

    /// Pages of the newest commit, free ones included.
    pub(crate) fn page_count(&self) -> u64 {
        self.page_count.load(Ordering::Acquire)
    }

    pub(crate) fn set_page_count(&self, count: u64) {
        self.page_count.store(count, Ordering::Release);
    }

    pub(crate) fn header(&self) -> Header {
        self.header.lock().clone()
    }

    pub(crate) fn poison(&self) -> &Arc<Poison> {
        &self.poison
    }

    /// The log, once there is one.
    pub(crate) fn wal(&self) -> Option<&Wal> {
        self.wal.get()
    }

    /// Gives the file its log. Once.
    pub(crate) fn set_wal(&self, wal: Wal) {
        assert!(self.wal.set(wal).is_ok(), "a file has one log");
    }

    pub(crate) fn counts(&self) -> IoCounts {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        IoCounts {
            pages_read: load(&self.counters.pages_read),
            pages_written: load(&self.counters.pages_written),
            data_syncs: load(&self.counters.data_syncs),
            log_syncs: self.wal().map_or(0, Wal::syncs),
        }
    }

    /// Names the damage of a page.
    pub(crate) fn corrupt(&self, id: PageId, reason: impl Into<String>) -> Error {
        Error::CorruptPage { path: self.path.clone(), page: id.0, reason: reason.into() }
    }

    /// Reads and verifies a page. One past the last page starts as zeros, and costs no read.
    pub(crate) fn read(&self, id: PageId) -> Result<Box<[u8]>> {
        let mut bytes = vec![0; self.page_size].into_boxed_slice();
        if id.0 < self.page_count() {
            self.read_into(id, &mut bytes)?;
        } else {
            page::init(&mut bytes, id, page::PageKind::Free, CommitTs(0));
        }
        Ok(bytes)
    }

    /// Reads a page that the running transaction wrote, which may lie behind the last committed one.
    pub(crate) fn read_born(&self, id: PageId) -> Result<Box<[u8]>> {
        let mut bytes = vec![0; self.page_size].into_boxed_slice();
        self.read_into(id, &mut bytes)?;
        Ok(bytes)
    }

    /// A page's bytes as they lie in the file, whatever they are; zeros where the file ends earlier. For showing
    /// alone: nothing may be believed of them.
    pub(crate) fn read_unverified(&self, id: PageId) -> Result<Box<[u8]>> {
        let mut bytes = vec![0; self.page_size].into_boxed_slice();
        self.read_bytes(id, &mut bytes)?;
        Ok(bytes)
    }

    fn read_bytes(&self, id: PageId, bytes: &mut [u8]) -> Result<usize> {
        let got = self
            .file
            .read_at(bytes, id.0 * self.page_size as u64)
            .map_err(|e| Error::io(format!("read page {id} of"), &self.path, e))?;
        self.counters.pages_read.fetch_add(1, Ordering::Relaxed);
        Ok(got)
    }

    fn read_into(&self, id: PageId, bytes: &mut [u8]) -> Result<()> {
        let offset = id.0 * self.page_size as u64;
        let got = self.read_bytes(id, bytes)?;
        if got < self.page_size {
            return Err(Error::Truncated {
                path: self.path.clone(),
                expected: offset + self.page_size as u64,
                actual: offset + got as u64,
            });
        }
        page::verify(bytes, id).map_err(|reason| self.corrupt(id, reason))
    }

    /// Writes pages that no commit refers to yet, ascending by id. A failure fails the transaction alone.
    pub(crate) fn write_born(&self, pages: &[&[u8]]) -> Result<()> {
        self.poison.check()?;
        let _turn = self.in_place.lock();
        self.write_runs(pages)
    }

    /// Writes committed versions over older ones: images to the log first. `pages` is asked for under the
    /// latch, so that it can leave out what was freed or changed meanwhile; it gives them ascending by id.
    pub(crate) fn write_in_place<P: AsRef<[u8]>>(
        &self,
        pages: impl FnOnce() -> Vec<P>,
    ) -> Result<Vec<P>> {
        self.poison.check()?;
        let _turn = self.in_place.lock();
        let pages = pages();
        for batch in pages.chunks(IMAGE_BATCH) {
            let batch: Vec<&[u8]> = batch.iter().map(AsRef::as_ref).collect();
            self.log_images(&batch)?;
            self.write_runs(&batch).map_err(|e| self.poison.set(e))?;
        }
        Ok(pages)
    }

    fn log_images(&self, pages: &[&[u8]]) -> Result<()> {
        let Some(wal) = self.wal() else { return Ok(()) };
        let mut batch = wal.batch();
        for bytes in pages {
            let id = page::id(bytes).0.to_le_bytes();
            batch.push(RecordKind::CheckpointImage, &[&id, bytes]);
        }
        let lsn = batch.append()?;
        wal.flush(lsn)
    }

    fn write_runs(&self, pages: &[&[u8]]) -> Result<()> {
        let mut run: Vec<u8> = Vec::with_capacity(RUN_PAGES.min(pages.len()) * self.page_size);
        let mut first = PageId(0);
        for bytes in pages {
            let id = page::id(bytes);
            let run_pages = run.len() / self.page_size;
            if run_pages == RUN_PAGES || run_pages > 0 && id.0 != first.0 + run_pages as u64 {
                self.write_run(first, &run)?;
                run.clear();
            }
            if run.is_empty() {
                first = id;
            }
            let start = run.len();
            run.extend_from_slice(bytes);
            page::seal(&mut run[start..]);
        }
        if run.is_empty() { Ok(()) } else { self.write_run(first, &run) }
    }

    fn write_run(&self, first: PageId, run: &[u8]) -> Result<()> {
        self.file
            .write_at(run, first.0 * self.page_size as u64)
            .map_err(|e| Error::io(format!("write page {first} of"), &self.path, e))?;
        let pages = (run.len() / self.page_size) as u64;
        self.counters.pages_written.fetch_add(pages, Ordering::Relaxed);
        Ok(())
    }

    /// Makes all page writes before durable; a failure poisons the handle.
    pub(crate) fn sync(&self) -> Result<()> {
        self.poison.check()?;
        self.counters.data_syncs.fetch_add(1, Ordering::Relaxed);
        self.file.sync().map_err(|e| self.poison.set(Error::io("sync", &self.path, e)))
    }

    /// Writes and syncs the next generation of the header. All pages it speaks of are durable.
    pub(crate) fn write_header(&self, change: impl FnOnce(&mut Header)) -> Result<Header> {
        self.poison.check()?;
        let mut current = self.header.lock();
        let mut next = current.clone();
        next.generation += 1;
        change(&mut next);
        self.file
            .write_at(&next.encode(), next.offset())
            .map_err(|e| self.poison.set(Error::io("write the header of", &self.path, e)))?;
        self.sync()?;
        *current = next.clone();
        Ok(next)
    }

    /// Writes and syncs the newest header again, as it is: after a sync that failed, the system may show a header
    /// that it has given up writing, and what an older one needs must not go before the newer is durable.
    pub(crate) fn renew_header(&self) -> Result<()> {
        let header = self.header.lock();
        self.file
            .write_at(&header.encode(), header.offset())
            .map_err(|e| self.poison.set(Error::io("write the header of", &self.path, e)))?;
        self.sync()
    }

    /// Makes the log of a file that has none, and marks the file open: from here on a crash needs the log.
    pub(crate) fn start_log(&self, fs: &dyn FileSystem, path: &Path) -> Result<()> {
        if self.wal().is_some() {
            return Ok(());
        }
        let poison = Arc::clone(&self.poison);
        let wal = Wal::create(fs, path, self.header().file_id, poison)?;
        let header = self.write_header(|header| header.clean = false)?;
        wal.restart(header.base_lsn, header.salt())?;
        self.set_wal(wal);
        Ok(())
    }

    /// Begins a new round of the log behind `base`: every commit below is in place and durable.
    pub(crate) fn advance(&self, commit_ts: CommitTs, clean: bool) -> Result<()> {
        let base = self.wal().map_or(self.header().base_lsn, Wal::end);
        let header = self.write_header(|header| {
            header.commit_ts = commit_ts;
            header.page_count = self.page_count();
            header.base_lsn = base;
            header.clean = clean;
        })?;
        match self.wal() {
            Some(wal) => wal.restart(base, header.salt()),
            None => Ok(()),
        }
    }

    /// Makes sure that the file has space for so many pages, and is as long: what the log promises can then be written.
    /// Not for a file without a log, whose pages are all written before anything promises them.
    pub(crate) fn reserve_pages(&self, pages: u64) -> Result<()> {
        let need = pages * self.page_size as u64;
        let mut reserved = self.reserved.lock();
        if self.wal().is_none() || need <= *reserved {
            return Ok(());
        }
        *reserved = reserve_ahead(&*self.file, need, RESERVE_STEP)
            .map_err(|e| Error::io("reserve space in", &self.path, e))?;
        Ok(())
    }

    /// Cuts the file to its page count: what a rolled back transaction wrote behind it goes.
    pub(crate) fn trim(&self) -> Result<()> {
        let want = self.page_count() * self.page_size as u64;
        let have = self.file.len().map_err(|e| Error::io("measure", &self.path, e))?;
        if have > want {
            self.file.set_len(want).map_err(|e| Error::io("shorten", &self.path, e))?;
        }
        Ok(())
    }

    /// Bytes of the file.
    pub(crate) fn file_bytes(&self) -> Result<u64> {
        self.file.len().map_err(|e| Error::io("measure", &self.path, e))
    }

    /// Fails when the file has fewer than `pages` pages.
    pub(crate) fn check_length(&self, pages: u64) -> Result<()> {
        let expected = pages.saturating_mul(self.page_size as u64);
        let actual = self.file_bytes()?;
        if actual < expected {
            return Err(Error::Truncated { path: self.path.clone(), expected, actual });
        }
        Ok(())
    }

    /// LSN of pages born now: above that of every record that could name them before, and below that of
    /// every record that will change them. A file without a log has no records, and its log will begin at
    /// the base LSN: its pages have LSN 0.
    pub(crate) fn born_lsn(&self) -> Lsn {
        self.wal().map_or(Lsn(0), Wal::end)
    }

    /// Number of pages in one range of the allocation map.
    pub(crate) fn range_pages(&self) -> u64 {
        8 * (self.page_size - page::HEADER_LEN) as u64
    }

    /// The page as an index of the file, for slices.
    pub(crate) fn index(id: PageId) -> usize {
        to_usize(id.0)
    }
}
