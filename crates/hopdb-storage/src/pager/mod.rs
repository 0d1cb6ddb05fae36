//! Pages in the file: positional reads and writes, verified and counted, and the way a page may be
//! overwritten.
//!
//! **Words.** *Born page*: allocated by a transaction and written to the file before its commit record,
//! which nobody refers to until then. *In place*: over an older version that a crash may still need.
//!
//! **Invariants.**
//! 1. A page is verified before anybody sees it (I16).
//! 2. A page is written in place only after the log up to the end of its commit, and its image, are durable (I8), unless
//!    the file has no log because it has no name yet: a crash then leaves nothing behind.
//! 3. The image of a page stays until the page is synced in its place: the slots of the image area are used again only
//!    after a sync of the file.
//! 4. Writes in place exclude one another. An id is born only when no write in place of its earlier life is under way
//!    ([`Pager::is_in_flight`]), so the last write of a page wins (I17).
//! 5. No latch is held across a read.

pub(crate) mod header;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::codec::num::to_usize;
use crate::error::{Error, Result};
use crate::io::{File, FileSystem, reserve_ahead};
use crate::mutants::Mutant;
use crate::page::{self, CommitTs, Lsn, PageId};
use crate::sync::{Arc, AtomicU64, Mutex, Ordering};
use crate::wal::{LogSizes, Poison, Wal};
use header::Header;

/// Pages that are sealed, imaged and written together at most.
const BATCH_PAGES: usize = 256;
/// Steps in which a file that is written to grows.
const RESERVE_STEP: u64 = 64 << 10;

/// Page and sync counts since the handle was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoCounts {
    /// Pages read from the file.
    pub pages_read: u64,
    /// Pages written to the file.
    pub pages_written: u64,
    /// Syncs of the file.
    pub data_syncs: u64,
    /// Syncs and durable writes of the log: mostly one for all commits that waited together, and one for each batch of
    /// images.
    pub log_syncs: u64,
}

/// A commit from which recovery can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RedoPoint {
    pub(crate) ts: CommitTs,
    /// Pages of the file as of it.
    pub(crate) pages: u64,
    /// Where its records end.
    pub(crate) lsn: Lsn,
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
    log_sizes: LogSizes,
    /// Held while pages are written in place: slots of the image area whose pages are not synced there.
    in_place: Mutex<usize>,
    syncing: Mutex<()>,
    /// Pages that are being written in place, ascending.
    in_flight: Mutex<Vec<PageId>>,
    /// Bytes of the file that writes cannot run out of space in.
    reserved: Mutex<u64>,
    counters: Counters,
}

impl Pager {
    /// Takes over an open file whose newest header is `header`; its log, if it gets a new one, has these sizes.
    pub(crate) fn new(path: &Path, file: Arc<dyn File>, header: Header, log: LogSizes) -> Self {
        Self {
            path: path.to_path_buf(),
            file,
            page_size: header.page_size,
            page_count: AtomicU64::new(header.page_count),
            poison: Arc::default(),
            wal: OnceLock::new(),
            reserved: Mutex::new(header.page_count * header.page_size as u64),
            header: Mutex::new(header),
            log_sizes: log,
            in_place: Mutex::default(),
            syncing: Mutex::default(),
            in_flight: Mutex::default(),
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

    pub(crate) fn log_sizes(&self) -> LogSizes {
        self.log_sizes
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

    /// Says that these pages, ascending, will be read soon.
    pub(crate) fn will_need(&self, ids: impl Iterator<Item = PageId>) {
        let size = self.page_size as u64;
        let mut run: Option<(u64, u64)> = None;
        for id in ids {
            run = match run {
                Some((first, end)) if id.0 == end => Some((first, end + 1)),
                before => {
                    let announce = |(first, end): (u64, u64)| {
                        self.file.will_need(first * size, (end - first) * size);
                    };
                    before.into_iter().for_each(announce);
                    Some((id.0, id.0 + 1))
                }
            };
        }
        if let Some((first, end)) = run {
            self.file.will_need(first * size, (end - first) * size);
        }
    }

    /// Writes pages that no commit refers to yet, ascending by id. A failure fails the transaction alone.
    pub(crate) fn write_born(&self, pages: &[&[u8]]) -> Result<()> {
        self.poison.check()?;
        // Where space is reserved by writing zeros behind the end, pages must not be written there meanwhile.
        let _no_growth = self.reserved.lock();
        let mut sealed = Vec::with_capacity(BATCH_PAGES.min(pages.len()) * self.page_size);
        for batch in pages.chunks(BATCH_PAGES) {
            self.seal(batch, &mut sealed);
            self.write_runs(&sealed)?;
        }
        Ok(())
    }

    /// Writes committed versions over older ones: the log and their images first. `pages` is asked for when no other
    /// write in place is under way, so that it can leave out what was freed or changed meanwhile; it gives them
    /// ascending by id. They are durable in their places after [`Pager::sync_in_place`].
    pub(crate) fn write_in_place<P: AsRef<[u8]>>(
        &self,
        pages: impl FnOnce() -> Vec<P>,
    ) -> Result<Vec<P>> {
        self.poison.check()?;
        let mut used = self.in_place.lock();
        let pages = {
            let mut in_flight = self.in_flight.lock();
            let pages = pages();
            in_flight.extend(pages.iter().map(|bytes| page::id(bytes.as_ref())));
            pages
        };
        let bytes: Vec<&[u8]> = pages.iter().map(AsRef::as_ref).collect();
        let written = self.write_batches(&bytes, &mut used);
        self.in_flight.lock().clear();
        written.map(|()| pages)
    }

    /// Whether the page is being written in place.
    pub(crate) fn is_in_flight(&self, id: PageId) -> bool {
        self.in_flight.lock().binary_search(&id).is_ok()
    }

    fn write_batches(&self, pages: &[&[u8]], used: &mut usize) -> Result<()> {
        let slots = self.wal().map_or(usize::MAX, Wal::image_slots);
        let newest = pages.iter().map(|bytes| page::lsn(bytes)).max();
        if let (Some(wal), Some(newest)) = (self.wal(), newest)
            && !Mutant::WriteInPlaceBeforeLog.is_on()
        {
            wal.flush_batch_of(newest)?;
        }
        let mut sealed = Vec::new();
        for batch in pages.chunks(BATCH_PAGES.min(slots)) {
            self.seal(batch, &mut sealed);
            if let Some(wal) = self.wal().filter(|_| !Mutant::SkipImages.is_on()) {
                if *used + batch.len() > slots {
                    if !Mutant::ReuseImageSlots.is_on() {
                        self.sync()?;
                    }
                    *used = 0;
                }
                wal.write_images(*used, &sealed)?;
                *used += batch.len();
            }
            self.write_runs(&sealed).map_err(|e| self.poison.set(e))?;
        }
        Ok(())
    }

    /// Makes all writes in place before durable, and their images unneeded.
    pub(crate) fn sync_in_place(&self) -> Result<()> {
        let mut used = self.in_place.lock();
        if !Mutant::SkipPlaceSync.is_on() {
            self.sync()?;
        }
        *used = 0;
        Ok(())
    }

    /// Joins pages, with their checksums.
    fn seal(&self, pages: &[&[u8]], sealed: &mut Vec<u8>) {
        sealed.clear();
        for bytes in pages {
            sealed.extend_from_slice(bytes);
        }
        sealed.chunks_exact_mut(self.page_size).for_each(page::seal);
    }

    /// Writes joined pages, ascending by id, to their places.
    fn write_runs(&self, sealed: &[u8]) -> Result<()> {
        let mut pages = sealed.chunks_exact(self.page_size).enumerate().peekable();
        let mut start = 0;
        while let Some((index, bytes)) = pages.next() {
            let id = page::id(bytes);
            let follows = |(_, next): &(usize, &[u8])| page::id(next).0 == id.0 + 1;
            if pages.peek().is_some_and(follows) {
                continue;
            }
            let run = &sealed[start..(index + 1) * self.page_size];
            self.write_run(page::id(run), run)?;
            start = (index + 1) * self.page_size;
        }
        Ok(())
    }

    fn write_run(&self, first: PageId, run: &[u8]) -> Result<()> {
        self.file
            .write_at(run, first.0 * self.page_size as u64)
            .map_err(|e| Error::io(format!("write page {first} of"), &self.path, e))?;
        let pages = (run.len() / self.page_size) as u64;
        self.counters.pages_written.fetch_add(pages, Ordering::Relaxed);
        Ok(())
    }

    /// Makes all page writes before durable; a failure poisons the handle. One at a time, as with the log.
    pub(crate) fn sync(&self) -> Result<()> {
        let _one = self.syncing.lock();
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
        if !Mutant::SkipHeaderSync.is_on() {
            self.sync()?;
        }
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
        let header = self.header();
        let (id_salt, base) = ((header.file_id, header.next_salt()), header.base_lsn);
        let wal = Wal::create(fs, path, id_salt, (self.log_sizes, base), Arc::clone(&self.poison))?;
        self.write_header(|header| {
            header.clean = false;
            (header.salt, header.base_at) = (wal.salt(), wal.records_at());
        })?;
        self.set_wal(wal);
        Ok(())
    }

    /// Moves the redo point: every commit up to this one is in place and durable, and so is the log behind it as far as
    /// pages that they changed were freed since. The space of the log before it is free then.
    pub(crate) fn advance(&self, redo: RedoPoint, clean: bool) -> Result<()> {
        let base_at = self.wal().map(|wal| wal.position(redo.lsn));
        self.write_header(|header| {
            header.commit_ts = redo.ts;
            header.page_count = redo.pages;
            header.base_lsn = redo.lsn;
            header.base_at = base_at.unwrap_or(header.base_at);
            header.clean = clean;
        })?;
        match self.wal() {
            Some(wal) => wal.release(redo.lsn),
            None => Ok(()),
        }
    }

    /// Makes sure that the file has space for so many pages, and is as long: what the log promises can then be written.
    /// Not for a file without a log, whose pages are all written before anything promises them.
    pub(crate) fn reserve_pages(&self, pages: u64) -> Result<()> {
        let need = pages * self.page_size as u64;
        let mut reserved = self.reserved.lock();
        if self.wal().is_none() || need <= *reserved || Mutant::SkipPageReserve.is_on() {
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
