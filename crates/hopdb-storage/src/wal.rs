//! The write-ahead log: records, appended and synced under one latch, and read back at recovery.
//!
//! **Words.** *LSN*: position in the log since the database was made; the record with LSN `l` lies at byte
//! `4096 + l - base` of the file. *Base*: the redo point, LSN of the first record. *Salt*: a number that a
//! checkpoint draws anew, so that what an earlier round left in the file never passes for a record.
//! *Poison*: after a failed write or sync nobody knows what is on disk, so the handle stops writing for good.
//! Layout: `docs/file-format.md`, "Log".
//!
//! **Invariants.**
//! 1. Records of one batch follow one another without a gap, and batches too.
//! 2. `durable <= end`; every record below `durable` was synced by a call that returned success.
//! 3. Space for a batch is reserved before its first byte is written, so that a full disk fails a batch whole.
//! 4. No record is written after the poison.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::codec::num::{get_u32, get_u64, put_u32, put_u64, to_u32, to_usize};
use crate::error::{Error, Result};
use crate::io::{File, FileSystem, OpenMode};
use crate::page::Lsn;
use crate::sync::{Arc, Mutex, MutexGuard};

/// Bytes before the first record.
pub(crate) const START: u64 = 4096;
/// LSN of a new database's first record: above 0, the LSN of pages that no record made.
pub(crate) const FIRST_LSN: Lsn = Lsn(4096);
/// Bytes of a record before its payload.
const RECORD_HEADER: usize = 40;
/// Steps in which the file grows.
const RESERVE_STEP: u64 = 1 << 20;
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
}

/// The log file.
#[derive(Debug)]
pub(crate) struct Wal {
    path: PathBuf,
    file: Arc<dyn File>,
    poison: Arc<Poison>,
    state: Mutex<State>,
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
        let state =
            State { base: FIRST_LSN, end: FIRST_LSN, durable: FIRST_LSN, salt: 0, reserved: 0 };
        Self { path: path.to_path_buf(), file, poison, state: Mutex::new(state) }
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

    /// Begins a batch; the latch is held until the batch is gone.
    pub(crate) fn batch(&self) -> Batch<'_> {
        let state = self.state.lock();
        Batch { wal: self, bytes: Vec::new(), state }
    }

    /// Starts a new round of the file: records begin at `base` and carry `salt`.
    /// Only after a header that says so is durable.
    pub(crate) fn restart(&self, base: Lsn, salt: u64) -> Result<()> {
        let mut state = self.state.lock();
        *state = State { base, end: base, durable: base, salt, reserved: state.reserved };
        if state.reserved > START + KEPT_BYTES {
            self.file
                .set_len(START + KEPT_BYTES)
                .map_err(|e| self.poison.set(Error::io("shorten", &self.path, e)))?;
            state.reserved = START + KEPT_BYTES;
        }
        Ok(())
    }

    /// Reserves the file up to `end`, and a step ahead when the disk has the space; gives how far.
    fn reserve(&self, end: u64) -> Result<u64> {
        let mut len = end.next_multiple_of(RESERVE_STEP);
        let mut done = self.file.reserve(len);
        if done.as_ref().is_err_and(|error| error.kind() == ErrorKind::StorageFull) {
            len = end;
            done = self.file.reserve(len);
        }
        done.map_err(|e| Error::io("reserve space in", &self.path, e))?;
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
        *self.state.lock() = State { base, end, durable: end, salt, reserved: keep };
        Ok(())
    }
}

/// Records that become durable together. Dropped unwritten, it leaves no trace.
pub(crate) struct Batch<'a> {
    wal: &'a Wal,
    state: MutexGuard<'a, State>,
    bytes: Vec<u8>,
}

impl Batch<'_> {
    /// LSN that the next record pushed will have.
    pub(crate) fn next_lsn(&self) -> Lsn {
        Lsn(self.state.end.0 + self.bytes.len() as u64)
    }

    /// Adds a record whose payload is `parts` joined.
    pub(crate) fn push(&mut self, kind: RecordKind, parts: &[&[u8]]) -> Lsn {
        let lsn = self.next_lsn();
        let start = self.bytes.len();
        self.bytes.resize(start + RECORD_HEADER, 0);
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        let record = &mut self.bytes[start..];
        let payload_len = to_u32(record.len() - RECORD_HEADER);
        put_u32(record, 4, payload_len);
        put_u64(record, 8, lsn.0);
        put_u64(record, 16, self.state.salt);
        put_u64(record, 24, self.state.durable.0);
        record[32] = kind as u8;
        let sum = crc32c::crc32c(&record[4..]);
        put_u32(record, 0, sum);
        let padded = self.bytes.len().next_multiple_of(8);
        self.bytes.resize(padded, 0);
        lsn
    }

    /// Writes and syncs the records. A full disk is found before anything is written.
    pub(crate) fn write(mut self) -> Result<()> {
        let wal = self.wal;
        wal.poison.check()?;
        let at = START + self.state.end.0 - self.state.base.0;
        let end = at + self.bytes.len() as u64;
        if end > self.state.reserved {
            self.state.reserved = wal.reserve(end)?;
        }
        wal.file
            .write_at(&self.bytes, at)
            .map_err(|e| wal.poison.set(Error::io("write", &wal.path, e)))?;
        wal.file.sync().map_err(|e| wal.poison.set(Error::io("sync", &wal.path, e)))?;
        self.state.end = self.next_lsn();
        self.state.durable = self.state.end;
        Ok(())
    }
}

/// One record of a log that was read back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) lsn: Lsn,
    pub(crate) kind: RecordKind,
    at: usize,
    len: usize,
}

/// A log that was read back.
pub(crate) struct LogContent {
    bytes: Vec<u8>,
    base: Lsn,
    /// Valid records in order.
    pub(crate) records: Vec<Entry>,
    /// LSN behind the last valid record.
    pub(crate) end: Lsn,
}

impl LogContent {
    /// The payload of a record.
    pub(crate) fn payload(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.at..entry.at + entry.len]
    }

    /// LSN behind a record.
    pub(crate) fn next(entry: &Entry) -> Lsn {
        Lsn(entry.lsn.0 + (RECORD_HEADER + entry.len).next_multiple_of(8) as u64)
    }

    /// Bytes of this round behind `end`: of records without a commit, and of one that is torn. What an earlier
    /// round left there does not count.
    pub(crate) fn bytes_behind(&self, end: Lsn, salt: u64) -> u64 {
        let whole = self.end.0 - end.0;
        let torn = &self.bytes[to_usize(self.end.0 - self.base.0).min(self.bytes.len())..];
        if torn.len() < RECORD_HEADER || get_u64(torn, 16) != salt {
            return whole;
        }
        let record = (RECORD_HEADER + get_u32(torn, 4) as usize).min(torn.len());
        whole + record as u64
    }

    /// LSN below which everything was synced, as the last valid record knows.
    fn known_durable(&self) -> Lsn {
        let durable = |entry: &Entry| get_u64(&self.bytes, entry.at - RECORD_HEADER + 24);
        self.records.last().map_or(self.base, |last| Lsn(durable(last).max(self.base.0)))
    }

    fn bytes_between(&self, from: Lsn, to: Lsn) -> &[u8] {
        &self.bytes[to_usize(from.0 - self.base.0)..to_usize(to.0 - self.base.0)]
    }

    /// The kind of the valid record at `lsn`, and where its payload lies.
    fn valid_at(&self, lsn: Lsn, salt: u64) -> Option<(u8, usize, usize)> {
        let start = to_usize(lsn.0 - self.base.0);
        let record = self.bytes.get(start..)?;
        let header = record.get(..RECORD_HEADER)?;
        if get_u64(header, 8) != lsn.0 || get_u64(header, 16) != salt {
            return None;
        }
        let len = get_u32(header, 4) as usize;
        let body = record.get(4..RECORD_HEADER.checked_add(len)?)?;
        if get_u32(header, 0) != crc32c::crc32c(body) {
            return None;
        }
        Some((header[32], start + RECORD_HEADER, len))
    }

    /// The largest durable LSN above the end that a valid record behind the end knows of.
    fn durable_after_hole(&self, salt: u64) -> Option<u64> {
        let mut at = self.end;
        let last = self.base.0 + self.bytes.len() as u64;
        let mut found = None;
        while at.0 < last {
            if let Some((_, payload, _)) = self.valid_at(at, salt) {
                let durable = get_u64(&self.bytes, payload - RECORD_HEADER + 24);
                found = found.max((durable > self.end.0).then_some(durable));
            }
            at = Lsn(at.0 + 8);
        }
        found
    }
}
