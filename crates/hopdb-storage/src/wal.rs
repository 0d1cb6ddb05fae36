//! The write-ahead log: records, appended in memory, written and synced by one thread for all who wait, and
//! read back at recovery.
//!
//! **Words.** *LSN*: position in the log since the database was made; the record with LSN `l` lies at byte
//! `4096 + l - base` of the file. *Base*: the redo point, LSN of the first record. *Salt*: a number that a
//! checkpoint draws anew, so that what an earlier round left in the file never passes for a record.
//! *Poison*: after a failed write or sync nobody knows what is on disk, so the handle stops writing for good.
//! *Leader*: the thread that writes and syncs what has been appended so far; the others wait for it, and what they
//! append meanwhile goes with the next one. Nobody waits for company.
//! Layout: `docs/file-format.md`, "Log".
//!
//! **Invariants.**
//! 1. Records of one batch follow one another without a gap, and batches too.
//! 2. `durable <= end`; every record below `durable` was synced by a call that returned success. `pending` holds the
//!    bytes of the records that no leader has taken.
//! 3. Space for a batch is reserved before it is appended, so that a full disk fails a batch whole and no other.
//! 4. No record is written after the poison.
//! 5. There is one leader at a time, and the latch is not held while it writes and syncs.

mod content;

use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::codec::num::{get_u32, get_u64, put_u32, put_u64, to_u32, to_usize};
use crate::error::{Error, Result};
use crate::io::{File, FileSystem, OpenMode, reserve_ahead};
use crate::page::Lsn;
use crate::sync::{Arc, AtomicU64, Condvar, Mutex, MutexGuard, Ordering};

pub(crate) use content::{Entry, LogContent};

/// Bytes before the first record.
pub(crate) const START: u64 = 4096;
/// LSN of a new database's first record: above 0, the LSN of pages that no record made.
pub(crate) const FIRST_LSN: Lsn = Lsn(4096);
/// Bytes of a record before its payload.
const RECORD_HEADER: usize = 40;
/// Steps in which the file grows.
const RESERVE_STEP: u64 = 1 << 20;
/// Most bytes of the memory for appended records that is kept for the next ones.
const BUFFER_KEPT: usize = 4 << 20;
/// A log longer than this is cut back by the checkpoint that ends its round.
pub(crate) const KEPT_BYTES: u64 = 64 << 20;

const MAGIC: [u8; 8] = *b"\x89HopWA\r\n";
const HEADER_LEN: usize = 40;

/// What a record says. Payloads: `docs/file-format.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum RecordKind {
    PageDelta = 1,
    PageImage = 2,
    BornPages = 3,
    FreedPages = 4,
    Commit = 5,
    CheckpointImage = 6,
}

impl RecordKind {
    fn from_byte(byte: u8) -> Option<Self> {
        use RecordKind::{BornPages, CheckpointImage, Commit, FreedPages, PageDelta, PageImage};
        [PageDelta, PageImage, BornPages, FreedPages, Commit, CheckpointImage]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }
}

/// Why a handle no longer writes, once it does not.
#[derive(Debug, Default)]
pub(crate) struct Poison(Mutex<Option<String>>);

impl Poison {
    /// Fails when a write or a sync failed before.
    pub(crate) fn check(&self) -> Result<()> {
        match &*self.0.lock() {
            Some(reason) => Err(Error::Poisoned(reason.clone())),
            None => Ok(()),
        }
    }

    /// Stops writing for good because the store was closed.
    pub(crate) fn close(&self) {
        self.0.lock().get_or_insert_with(|| "the store was closed".into());
    }

    /// Stops writing for good because of `error`, and hands it back.
    pub(crate) fn set(&self, error: Error) -> Error {
        self.0.lock().get_or_insert_with(|| match &error {
            Error::Io { source, .. } => format!("{error}: {source}"),
            other => other.to_string(),
        });
        error
    }
}

#[derive(Debug)]
struct State {
    base: Lsn,
    end: Lsn,
    durable: Lsn,
    salt: u64,
    /// Bytes of the file that writes cannot run out of space in.
    reserved: u64,
    /// Records appended that no leader has taken.
    pending: Vec<u8>,
    /// Whether a leader is under way.
    leading: bool,
}

impl State {
    /// A log that begins at `base`, nothing of which is pending.
    fn new(base: Lsn, salt: u64, reserved: u64) -> Self {
        let pending = Vec::new();
        Self { base, end: base, durable: base, salt, reserved, pending, leading: false }
    }
}

/// The log file.
#[derive(Debug)]
pub(crate) struct Wal {
    path: PathBuf,
    file: Arc<dyn File>,
    poison: Arc<Poison>,
    state: Mutex<State>,
    /// A leader is done.
    led: Condvar,
    syncs: AtomicU64,
}

impl Wal {
    /// Makes an empty log file and its name durable; a file of that name is left-over and goes.
    pub(crate) fn create(
        fs: &dyn FileSystem,
        path: &Path,
        file_id: u128,
        poison: Arc<Poison>,
    ) -> Result<Self> {
        let err = |action, source| Error::io(action, path, source);
        if fs.exists(path).map_err(|e| err("look for", e))? {
            fs.remove(path).map_err(|e| err("remove the left-over", e))?;
        }
        let file = fs.open(path, OpenMode::CreateNew).map_err(|e| err("create", e))?;
        let mut header = vec![0; to_usize(START)];
        header[..8].copy_from_slice(&MAGIC);
        header[16..32].copy_from_slice(&file_id.to_le_bytes());
        let sum = xxh3_64(&header[..32]);
        put_u64(&mut header, 32, sum);
        file.write_at(&header, 0).map_err(|e| err("write the header of", e))?;
        file.sync().map_err(|e| err("sync", e))?;
        fs.sync_dir(path.parent().unwrap_or(Path::new("")))
            .map_err(|e| err("make durable the name of", e))?;
        let wal = Self::over(path, file, poison);
        wal.state.lock().reserved = START;
        Ok(wal)
    }

    /// Opens an existing log of the database `file_id`.
    pub(crate) fn open(
        fs: &dyn FileSystem,
        path: &Path,
        file_id: u128,
        poison: Arc<Poison>,
    ) -> Result<Self> {
        let file = fs.open(path, OpenMode::ReadWrite).map_err(|e| Error::io("open", path, e))?;
        let mut header = [0; HEADER_LEN];
        let got = file.read_at(&mut header, 0).map_err(|e| Error::io("read", path, e))?;
        let bad = |reason: &str| Error::CorruptLog {
            path: path.to_path_buf(),
            lsn: 0,
            reason: reason.into(),
        };
        if got < HEADER_LEN || header[..8] != MAGIC {
            return Err(bad("it is not a HopDB log"));
        }
        if get_u32(&header, 8) != 0 {
            return Err(Error::Unsupported {
                path: path.to_path_buf(),
                found: format!("log version {}", get_u32(&header, 8)),
                supported: "log version 0".into(),
            });
        }
        if get_u64(&header, 32) != xxh3_64(&header[..32]) {
            return Err(bad("the checksum of its header does not match"));
        }
        if header[16..32] != file_id.to_le_bytes() {
            return Err(bad("it belongs to another database"));
        }
        Ok(Self::over(path, file, poison))
    }

    /// The salt in the first record of the file at `path`: of the newest round that was written to, 0 when there
    /// is no record.
    pub(crate) fn newest_salt(fs: &dyn FileSystem, path: &Path) -> Result<u64> {
        let file = fs.open(path, OpenMode::ReadOnly).map_err(|e| Error::io("open", path, e))?;
        let mut record = [0; RECORD_HEADER];
        file.read_at(&mut record, START).map_err(|e| Error::io("read", path, e))?;
        Ok(get_u64(&record, 16))
    }

    fn over(path: &Path, file: Arc<dyn File>, poison: Arc<Poison>) -> Self {
        let state = Mutex::new(State::new(FIRST_LSN, 0, 0));
        let (led, syncs) = (Condvar::new(), AtomicU64::new(0));
        Self { path: path.to_path_buf(), file, poison, state, led, syncs }
    }

    /// The log file's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// LSN that the next record will have.
    pub(crate) fn end(&self) -> Lsn {
        self.state.lock().end
    }

    /// Bytes of records since the redo point.
    pub(crate) fn len(&self) -> u64 {
        let state = self.state.lock();
        state.end.0 - state.base.0
    }

    /// Syncs of leaders since the handle was opened.
    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// Bytes of records that no leader has taken.
    pub(crate) fn pending_len(&self) -> usize {
        self.state.lock().pending.len()
    }

    /// LSN below which everything is durable.
    pub(crate) fn durable(&self) -> Lsn {
        self.state.lock().durable
    }

    /// Begins a batch; the latch is held until the batch is gone.
    pub(crate) fn batch(&self) -> Batch<'_> {
        let state = self.state.lock();
        let start = state.pending.len();
        Batch { wal: self, state, start }
    }

    /// Makes everything below `lsn` durable: as the leader, or by waiting for one.
    pub(crate) fn flush(&self, lsn: Lsn) -> Result<()> {
        let mut state = self.state.lock();
        loop {
            if state.durable >= lsn {
                return Ok(());
            }
            self.poison.check()?;
            if !state.leading {
                break;
            }
            state = self.led.wait(state);
        }
        state.leading = true;
        let mut bytes = std::mem::take(&mut state.pending);
        let end = state.end;
        let at = START + (end.0 - state.base.0) - bytes.len() as u64;
        drop(state);
        let done = self.write_and_sync(&bytes, at);
        let mut state = self.state.lock();
        state.leading = false;
        if done.is_ok() {
            state.durable = end;
        }
        if state.pending.is_empty() && bytes.capacity() <= BUFFER_KEPT {
            // The memory serves the next batch.
            bytes.clear();
            state.pending = bytes;
        }
        drop(state);
        self.led.notify_all();
        done
    }

    fn write_and_sync(&self, bytes: &[u8], at: u64) -> Result<()> {
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.file
            .write_at(bytes, at)
            .map_err(|e| self.poison.set(Error::io("write", &self.path, e)))?;
        self.file.sync().map_err(|e| self.poison.set(Error::io("sync", &self.path, e)))
    }

    /// Starts a new round of the file: records begin at `base` and carry `salt`.
    /// Only after a header that says so is durable.
    pub(crate) fn restart(&self, base: Lsn, salt: u64) -> Result<()> {
        let mut state = self.state.lock();
        assert!(state.durable == state.end && !state.leading, "a round ends durable");
        *state = State::new(base, salt, state.reserved);
        if state.reserved > START + KEPT_BYTES {
            self.file
                .set_len(START + KEPT_BYTES)
                .map_err(|e| self.poison.set(Error::io("shorten", &self.path, e)))?;
            state.reserved = START + KEPT_BYTES;
        }
        Ok(())
    }

    /// Reserves the file from `reserved` up to `end`, and a step ahead when the disk has the space; gives how far.
    /// What is reserved is written with zeros, too: the first write of reserved space changes the file's map of
    /// blocks, which the sync then has to write as well.
    fn reserve(&self, reserved: u64, end: u64) -> Result<u64> {
        let len = reserve_ahead(&*self.file, end, RESERVE_STEP)
            .map_err(|e| Error::io("reserve space in", &self.path, e))?;
        if len > end {
            let zeros = vec![0; to_usize(len - end.max(reserved))];
            self.file
                .write_at(&zeros, end.max(reserved))
                .map_err(|e| self.poison.set(Error::io("write", &self.path, e)))?;
        }
        Ok(len)
    }

    /// Reads all records from `base` on, and says how the log ends.
    pub(crate) fn read(&self, base: Lsn, salt: u64) -> Result<LogContent> {
        let length = self.file.len().map_err(|e| Error::io("measure", &self.path, e))?;
        let mut bytes = vec![0; to_usize(length.saturating_sub(START))];
        let got =
            self.file.read_at(&mut bytes, START).map_err(|e| Error::io("read", &self.path, e))?;
        bytes.truncate(got);
        let mut content = LogContent { bytes, base, records: Vec::new(), end: base };
        while let Some((kind, at, len)) = content.valid_at(content.end, salt) {
            let kind = RecordKind::from_byte(kind).ok_or_else(|| Error::CorruptLog {
                path: self.path.clone(),
                lsn: content.end.0,
                reason: format!("a record of the unknown kind {kind}"),
            })?;
            let entry = Entry { lsn: content.end, kind, at, len };
            content.end = LogContent::next(&entry);
            content.records.push(entry);
        }
        match content.durable_after_hole(salt) {
            None => Ok(content),
            Some(durable) => Err(Error::CorruptLog {
                path: self.path.clone(),
                lsn: content.end.0,
                reason: format!("no valid record, though all below LSN {durable} was synced"),
            }),
        }
    }

    /// Cuts the file behind `end`, and goes on from there: a record of the torn tail must never follow a new
    /// one. What is not known to be durable is written again first: after a sync that failed, the system may
    /// show bytes that it has given up writing.
    pub(crate) fn cut(&self, content: &LogContent, end: Lsn, salt: u64) -> Result<()> {
        let base = content.base;
        let tail = content.bytes_between(content.known_durable().min(end), end);
        let keep = START + end.0 - base.0;
        self.file
            .write_at(tail, keep - tail.len() as u64)
            .map_err(|e| Error::io("write again the tail of", &self.path, e))?;
        self.file.set_len(keep).map_err(|e| Error::io("cut the torn tail of", &self.path, e))?;
        self.file.sync().map_err(|e| Error::io("sync", &self.path, e))?;
        *self.state.lock() = State { end, durable: end, ..State::new(base, salt, keep) };
        Ok(())
    }
}

/// Records that become durable together. Dropped before [`Batch::append`], it leaves no trace.
pub(crate) struct Batch<'a> {
    wal: &'a Wal,
    state: MutexGuard<'a, State>,
    /// Where its records begin among those pending.
    start: usize,
}

impl Batch<'_> {
    /// LSN that the next record pushed will have.
    pub(crate) fn next_lsn(&self) -> Lsn {
        Lsn(self.state.end.0 + (self.state.pending.len() - self.start) as u64)
    }

    /// Adds a record whose payload is `parts` joined.
    pub(crate) fn push(&mut self, kind: RecordKind, parts: &[&[u8]]) -> Lsn {
        let lsn = self.next_lsn();
        let State { pending, salt, durable, .. } = &mut *self.state;
        let start = pending.len();
        pending.resize(start + RECORD_HEADER, 0);
        for part in parts {
            pending.extend_from_slice(part);
        }
        let record = &mut pending[start..];
        let payload_len = to_u32(record.len() - RECORD_HEADER);
        put_u32(record, 4, payload_len);
        put_u64(record, 8, lsn.0);
        put_u64(record, 16, *salt);
        put_u64(record, 24, durable.0);
        record[32] = kind as u8;
        let sum = crc32c::crc32c(&record[4..]);
        put_u32(record, 0, sum);
        let padded = pending.len().next_multiple_of(8);
        pending.resize(padded, 0);
        lsn
    }

    /// Hands the records over to the next leader; gives the LSN to wait for. A full disk is found here.
    pub(crate) fn append(mut self) -> Result<Lsn> {
        let wal = self.wal;
        wal.poison.check()?;
        let end = self.next_lsn();
        let file_end = START + end.0 - self.state.base.0;
        if file_end > self.state.reserved {
            self.state.reserved = wal.reserve(self.state.reserved, file_end)?;
        }
        self.state.end = end;
        self.start = self.state.pending.len();
        Ok(end)
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let start = self.start;
        self.state.pending.truncate(start);
    }
}
