//! The write-ahead log: records, appended in memory, written and synced by one thread for all who wait, and
//! read back at recovery; and the images of pages on their way to their places.
//!
//! **Words.** *LSN*: position in the log since the database was made; it never goes back. *Base*: the redo point, LSN of
//! the first record that recovery needs. *Salt*: a number drawn when the log file is made, so that what lies there by
//! chance never passes for a record. *Image area*: where pages are written and synced before they are written in place.
//! *Poison*: after a failed write or sync nobody knows what is on disk, so the handle stops writing for good.
//! *Leader*: the thread that writes and syncs what has been appended so far; the others wait for it.
//! Layout: `docs/file-format.md`, "Log".
//!
//! **Invariants.**
//! 1. The records of a batch follow one another without a gap, and batches too; where they lie says [`space`].
//! 2. `durable <= end`; every record below `durable` was synced by a call that returned success. `pending` holds the
//!    bytes of the records that no leader has taken.
//! 3. Space is reserved before records are appended, so that a full disk fails a batch and no other; with it the room
//!    for a jump, and for the record that takes back a batch a part of which went out.
//! 4. Nobody becomes the leader after the poison.
//! 5. The latch is not held while the file is written, synced, made longer or cut.
//! 6. Records above the base are never overwritten, but by the same bytes.

mod batch;
mod blocks;
mod file;
mod images;
mod leader;
mod poison;
mod reader;
mod space;

use std::path::{Path, PathBuf};

use crate::codec::num::{put_u32, put_u64, to_u32, to_usize};
use crate::error::{Error, Result};
use crate::io::{File, reserve_ahead};
use crate::mutants::Mutant;
use crate::page::Lsn;
use crate::sync::{Arc, AtomicU64, Condvar, Mutex, MutexGuard, Ordering};

pub(crate) use batch::Batch;
use blocks::Blocks;
pub(crate) use file::LogSizes;
use leader::Waiting;
pub(crate) use poison::Poison;
pub(crate) use reader::{Position, Record, Remnants};
pub(crate) use space::Extent;
use space::{JUMP_LEN, Place, Space, next_block};

/// LSN of a new database's first record: above 0, the LSN of pages that no record made.
pub(crate) const FIRST_LSN: Lsn = Lsn(4096);
/// Bytes of a record before its payload.
const RECORD_HEADER: usize = 40;
/// Most bytes of the memory for appended records that is kept for the next ones.
const BUFFER_KEPT: usize = 4 << 20;

/// What a record says. Payloads: `docs/file-format.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum RecordKind {
    PageDelta = 1,
    PageImage = 2,
    BornPages = 3,
    FreedPages = 4,
    Commit = 5,
    /// The next record lies elsewhere in the file. Takes no LSN of its own.
    Jump = 6,
    /// The records since the last commit do not count.
    Rollback = 7,
}

impl RecordKind {
    fn from_byte(byte: u8) -> Option<Self> {
        use RecordKind::{BornPages, Commit, FreedPages, Jump, PageDelta, PageImage, Rollback};
        [PageDelta, PageImage, BornPages, FreedPages, Commit, Jump, Rollback]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }
}

/// Bytes among those pending that follow one another in the file.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Where they begin among those pending.
    start: usize,
    /// Byte of the file for the first.
    at: u64,
}

#[derive(Debug)]
struct State {
    base: Lsn,
    end: Lsn,
    durable: Lsn,
    /// Where the last batch ends that is whole, and up to where whole ones are durable: a part of a batch may be synced
    /// when it goes on, and counts for nothing then.
    whole: Lsn,
    durable_whole: Lsn,
    space: Space,
    /// Bytes of the file that writes cannot run out of space in: whole blocks.
    reserved: u64,
    /// Whether somebody changes the file's length.
    resizing: bool,
    /// Whether it could not be made longer ahead; until space is freed.
    stuck: bool,
    /// Whether records were written that no sync has followed.
    unsynced: bool,
    /// Records appended that no leader has taken.
    pending: Vec<u8>,
    pieces: Vec<Piece>,
    /// Memory for the next batch.
    spare: Vec<u8>,
    /// Whether a leader is under way.
    leading: bool,
    waiting: Waiting,
    /// Whether the last records are of a transaction that will not go on.
    unfinished: bool,
}

/// The log file.
#[derive(Debug)]
pub(crate) struct Wal {
    path: PathBuf,
    file: Arc<dyn File>,
    poison: Arc<Poison>,
    salt: u64,
    sizes: LogSizes,
    state: Mutex<State>,
    /// The file's length is as it should be.
    resized: Condvar,
    syncing: Mutex<()>,
    /// For durable writes, where the file has them; the leader's.
    blocks: Option<Mutex<Blocks>>,
    syncs: AtomicU64,
}

impl Wal {
    /// The log file's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What its records carry.
    pub(crate) fn salt(&self) -> u64 {
        self.salt
    }

    /// LSN that the next record will have.
    pub(crate) fn end(&self) -> Lsn {
        self.state.lock().end
    }

    /// The redo point.
    pub(crate) fn base(&self) -> Lsn {
        self.state.lock().base
    }

    /// Most bytes of records since the redo point that the log should have.
    pub(crate) fn len_max(&self) -> u64 {
        self.sizes.kept
    }

    /// Syncs of the file since the handle was opened.
    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// Bytes of records that no leader has taken.
    pub(crate) fn pending_len(&self) -> usize {
        self.state.lock().pending.len()
    }

    /// Begins a batch. Only the writer does.
    pub(crate) fn batch(&self) -> Batch<'_> {
        Batch::new(self)
    }

    /// Takes whole records over: a leader will write them. A full disk is found here. The batch may go on.
    fn append(&self, records: &[u8], is_last: bool) -> Result<()> {
        self.poison.check()?;
        let (mut state, place) = self.room_for(records.len() as u64)?;
        self.put(&mut state, records, place);
        // A batch began with a rollback where there was need.
        state.unfinished = false;
        if is_last {
            state.whole = state.end;
        }
        Ok(())
    }

    /// A place for so many bytes of records; behind them a rollback may have to follow.
    fn room_for(&self, len: u64) -> Result<(MutexGuard<'_, State>, Place)> {
        let mut state = self.state.lock();
        loop {
            let place = state.space.plan(len, JUMP_LEN);
            let end = next_block(place.at + len + 2 * JUMP_LEN);
            if end <= state.reserved {
                return Ok((state, place));
            }
            let (now, grown) = self.resize(state, |from| self.reserve(from, end));
            state = now;
            match grown {
                Ok(()) => {}
                // A full disk is no reason to fail while there is room in front.
                Err(error) if error.is_full_disk() => {
                    let place = state.space.plan_in_front(len, JUMP_LEN).ok_or(error)?;
                    return Ok((state, place));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Reserves the next step of the file, and syncs it, before it is needed: a commit that must wait for that takes long.
    /// For a thread in the background. On a disk without room for a whole step it leaves what there is to those who need
    /// less, and does not try again before space of the log is freed.
    pub(crate) fn grow_ahead(&self) {
        let state = self.state.lock();
        let may = self.poison.check().is_ok() && !Mutant::SkipLogReserve.is_on();
        if !may || !self.wants_growth(&state) {
            return;
        }
        let (mut state, grown) = self.resize(state, |from| {
            let to = (from + 1).next_multiple_of(self.sizes.step);
            self.file.reserve(to).map_err(|e| self.cannot_reserve(e))?;
            self.fill(from, to).map(|()| to)
        });
        state.stuck = grown.is_err();
        drop(state);
        // Whoever needs the space finds out what is wrong, and the poison tells of a failed sync.
        drop(grown.and_then(|()| self.sync()));
    }

    /// Whether there is something to do for [`Wal::grow_ahead`].
    pub(crate) fn is_short(&self) -> bool {
        self.wants_growth(&self.state.lock())
    }

    fn wants_growth(&self, state: &State) -> bool {
        let needed = state.space.end() + self.sizes.step / 2;
        let wanted = needed > state.reserved && state.reserved < state.space.kept_to();
        wanted && !state.resizing && !state.stuck
    }

    /// Changes the length of the file from what it is now, alone and without the latch; what `change` gives is the
    /// length then.
    fn resize<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        change: impl FnOnce(u64) -> Result<u64>,
    ) -> (MutexGuard<'a, State>, Result<()>) {
        if state.resizing {
            // What another one has done may do.
            while state.resizing {
                state = self.resized.wait(state);
            }
            return (state, Ok(()));
        }
        state.resizing = true;
        let from = state.reserved;
        drop(state);
        let changed = change(from);
        let mut state = self.state.lock();
        state.resizing = false;
        self.resized.notify_all();
        let changed = changed.map(|len| state.reserved = len);
        (state, changed)
    }

    /// Takes the record over that takes back a part of a batch; its space is there.
    fn append_rollback(&self, record: &[u8]) {
        if self.poison.check().is_ok() {
            let mut state = self.state.lock();
            let place = state.space.plan(record.len() as u64, 0);
            self.put(&mut state, record, place);
            state.whole = state.end;
        }
    }

    fn put(&self, state: &mut State, records: &[u8], place: Place) {
        if let Some(jump_at) = place.jump_at {
            let target = place.at.to_le_bytes();
            let (kind, stamp) = (RecordKind::Jump, (self.salt, state.durable));
            state.put(&header_of((kind, state.end), stamp, &target), jump_at);
            state.put(&target, jump_at + RECORD_HEADER as u64);
        }
        state.space.take(place, state.end, records.len() as u64);
        state.put(records, place.at);
        state.end.0 += records.len() as u64;
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> Result<()> {
        self.file
            .write_at(bytes, at)
            .map_err(|e| self.poison.set(Error::io("write", &self.path, e)))
    }

    /// Byte of the file at which the record with this LSN lies, or will lie when it is the next.
    pub(crate) fn position(&self, lsn: Lsn) -> u64 {
        self.state.lock().space.position(lsn)
    }

    /// Frees the space below `base`, the new redo point. Only after a header that says so is durable.
    pub(crate) fn release(&self, base: Lsn) -> Result<()> {
        let mut state = self.state.lock();
        assert!(base <= state.durable, "the redo point is durable");
        let base = if Mutant::OverwriteLog.is_on() { state.durable } else { base };
        state.base = base;
        state.space.release(base);
        state.stuck = false;
        let keep = state.space.keep();
        // Whoever makes it longer now needs it.
        if state.reserved <= keep || state.resizing {
            return Ok(());
        }
        // Nobody takes space that goes.
        state.reserved = keep;
        let failed = |e| self.poison.set(Error::io("shorten", &self.path, e));
        self.resize(state, |keep| self.file.set_len(keep).map(|()| keep).map_err(failed)).1
    }

    /// Reserves the file from `reserved` up to `end`, and a step ahead when the disk has the space; gives how far.
    fn reserve(&self, reserved: u64, end: u64) -> Result<u64> {
        let end = next_block(end);
        if Mutant::SkipLogReserve.is_on() {
            return Ok(end);
        }
        let len =
            reserve_ahead(&*self.file, end, self.sizes.step).map_err(|e| self.cannot_reserve(e))?;
        self.fill(reserved.max(end), len).map(|()| len)
    }

    /// Writes what is reserved with zeros, as far as records will not be written there at once: the first write of
    /// reserved space changes the file's map of blocks, which the sync then has to write as well. Nothing is there that a
    /// failure could put in doubt.
    fn fill(&self, from: u64, to: u64) -> Result<()> {
        if from >= to {
            return Ok(());
        }
        let zeros = vec![0; to_usize(to - from)];
        self.file.write_at(&zeros, from).map_err(|e| self.cannot_reserve(e))
    }

    fn cannot_reserve(&self, error: std::io::Error) -> Error {
        Error::io("reserve space in", &self.path, error)
    }

    fn give_memory_back(&self, memory: Vec<u8>) {
        if memory.capacity() <= BUFFER_KEPT {
            self.state.lock().spare = memory;
        }
    }
}

impl State {
    /// Has these bytes written at `at` by the next leader.
    fn put(&mut self, bytes: &[u8], at: u64) {
        let start = self.pending.len();
        let follows = |piece: &Piece| piece.at + (start - piece.start) as u64 == at;
        if !self.pieces.last().is_some_and(follows) {
            self.pieces.push(Piece { start, at });
        }
        self.pending.extend_from_slice(bytes);
    }
}

/// The bytes of a record before its payload.
fn header_of(
    (kind, lsn): (RecordKind, Lsn),
    (salt, durable): (u64, Lsn),
    payload: &[u8],
) -> [u8; RECORD_HEADER] {
    let mut header = [0; RECORD_HEADER];
    put_u32(&mut header, 4, to_u32(payload.len()));
    put_u64(&mut header, 8, lsn.0);
    put_u64(&mut header, 16, salt);
    put_u64(&mut header, 24, durable.0);
    header[32] = kind as u8;
    let sum = crc32c::crc32c_append(crc32c::crc32c(&header[4..]), payload);
    put_u32(&mut header, 0, sum);
    header
}
