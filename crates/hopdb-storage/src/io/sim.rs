//! A simulated disk in memory, for crash and fault tests: [`SimFs`].
//!
//! **Model.** A volatile cache over durable state. Reads see the cache. Per file there are durable bytes and
//! an ordered list of changes (writes, `set_len`, `reserve`) not yet synced; per directory durable names and
//! an ordered list of changes not yet synced. [`File::sync`] makes a file's bytes and length durable but not
//! its name, [`FileSystem::sync_dir`] makes the names but not the bytes.
//!
//! **Steps.** Every call that writes, sets a length, reserves, syncs, links, renames, removes, creates or
//! syncs a directory is one step, also when it fails; the first is number 1. Faults and crashes are set
//! by step. A call refused because its handle is read-only is none. Reads are counted apart.
//!
//! **Crash.** The operation hit by the crash fails, but counts as begun: it may survive like any pending
//! change. Of a file's pending changes each is kept, lost, or (writes) torn into sectors of 512 bytes, each
//! kept or not, in order and independently, so that later ones may survive earlier ones. A lost growth
//! leaves the file short unless a kept write grows it; gaps read as zeros. Of a directory's pending changes a
//! prefix survives. A file without a surviving name is gone. What was synced is never lost.
//!
//! **Sync.** Makes durable what was written before it began; a write that comes while it is under way stays pending.
//!
//! **Durable writes** are changes that a crash can take, or tear, only until they return; they do nothing for others.
//!
//! **Failed sync.** As on Linux, the changes it should have written count as clean afterwards: they stay
//! readable, later syncs pass over them, and each may be gone after the crash.
//!
//! **Space** is counted in blocks of 4 KiB that were written or reserved, of files that have a name or a
//! handle. A hole made by `set_len` takes none, so a write into it may fail where one into reserved space
//! cannot. A write that does not fit writes nothing.
//!
//! **Assumed of real disks.** A sector is written whole or not at all; a synced byte stays. Harsher than
//! real ones: two unsynced writes to one sector are decided apart, where a page cache would write them as
//! one; a name needs `sync_dir` even if the file system's journal would have taken it along with a sync.
//!
//! **Not modelled.** Pages dropped from the cache before a crash, so that a change lost by a failed sync would
//! be read back old; sectors torn inside; reads that return other bytes without an error (use
//! [`SimFs::corrupt`]); reordering of name changes; names lost by a failed `sync_dir` (they stay pending).
//! Directories exist without being made, and each is a device of its own: names do not move between them
//! (`CrossesDevices`). Paths are compared after dropping `.`; `..` and symbolic links mean nothing.
//!
//! Deterministic for a seed and an order of calls; threads that race make the order, and a write that races with a
//! read may show in half of it.

mod choices;
mod content;
#[cfg(test)]
mod contract;
mod crash;
mod disk;
mod file;
mod inode;
mod names;
mod plan;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::content::{SECTOR_LEN, pieces};
use self::crash::Chance;
use self::disk::Disk;
use self::file::SimFile;
use self::inode::{Change, HandleId};
use self::names::{FileId, normalize};
pub use self::plan::{Counts, Fault, Operation, OperationKind};
use self::plan::{Fate, Plan, Request, crash_error};
use super::{File, FileSystem, OpenMode};
use crate::sync::{self, Arc, Mutex, MutexGuard};

/// The simulated disk. Clones share it.
#[derive(Clone)]
pub struct SimFs {
    state: Arc<Mutex<State>>,
}

struct State {
    disk: Disk,
    plan: Plan,
    clock_us: u64,
}

impl fmt::Debug for SimFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimFs").finish_non_exhaustive()
    }
}

/// What is to happen.
impl SimFs {
    /// An empty disk without limit. `seed` draws what faults leave open; crashes have seeds of their own.
    pub fn new(seed: u64) -> Self {
        Self::with_disk(Disk::new(u64::MAX), seed)
    }

    /// Lets step `step`, or the next one if that has passed, and every call after it fail with
    /// `simulated crash`.
    pub fn crash_at_step(&self, step: u64) {
        self.state().plan.crash_at = Some(step);
    }

    /// Lets step `step` fail.
    pub fn fail_at(&self, step: u64, fault: Fault) {
        self.state().plan.faults.insert(step, fault);
    }

    /// Lets the read number `read`, as [`SimFs::reads`] counts, fail with `EIO`.
    pub fn fail_read_at(&self, read: u64) {
        self.state().plan.failing_reads.insert(read);
    }

    /// Lets step `step`, if it is a write, land `delta` bytes off (never before the start) and report success.
    pub fn misdirect_at(&self, step: u64, delta: i64) {
        self.state().plan.misdirected.insert(step, delta);
    }

    /// Sets the size of the disk, in bytes; a part of a block is not used. Holds after a crash too.
    pub fn set_capacity(&self, bytes: u64) {
        self.state().disk.capacity = bytes;
    }

    /// Lets each read, write and sync of a file take time: up to so many times other threads may go on meanwhile.
    pub fn set_latency(&self, turns_max: u32) {
        self.state().plan.latency = turns_max;
    }

    /// Lets work in the background have threads of its own, as on a real disk, where a scheduler makes their order that
    /// of a seed.
    pub fn set_threads(&self, on: bool) {
        self.state().plan.threads = on;
    }

    /// Whether files have durable writes; they do unless told otherwise. Holds after a crash too.
    pub fn set_durable_writes(&self, on: bool) {
        self.state().disk.durable_writes = on;
    }

    /// Lets reads of the file now at `path` fail with `EIO` when they ask for a byte of `range`. Holds after
    /// a crash too. Panics if there is no such file.
    pub fn fail_reads(&self, path: impl AsRef<Path>, range: Range<u64>) {
        let found = self.with_file(path.as_ref(), |disk, file| {
            disk.file_mut(file).unreadable.push(range);
        });
        assert!(found.is_some(), "no file {}", path.as_ref().display());
    }

    /// Flips the bits of `xor` in the byte at `offset`, cached and durable; unsynced writes replay their own
    /// bytes after a crash. Panics if there is no such byte.
    pub fn corrupt(&self, path: impl AsRef<Path>, offset: u64, xor: u8) {
        let flipped = self.with_file(path.as_ref(), |disk, file| {
            let inode = disk.file_mut(file);
            inode.cached.flip(offset, xor);
            inode.durable.flip(offset, xor);
            offset < inode.cached.len()
        });
        assert_eq!(flipped, Some(true), "no byte {offset} in {}", path.as_ref().display());
    }

    /// Puts a file with these bytes at `path`, durable at once with its name and the names beside it; an
    /// existing file is overwritten. No step. Panics if `path` cannot name a file.
    pub fn write_file(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let put = self.state().disk.put_durable(path.as_ref(), bytes.as_ref());
        assert!(put.is_ok(), "{} cannot name a file: {put:?}", path.as_ref().display());
    }
}

/// What has happened.
impl SimFs {
    /// Number of the last step.
    pub fn steps(&self) -> u64 {
        self.state().plan.steps
    }

    /// Calls of `read_at`.
    pub fn reads(&self) -> u64 {
        self.state().plan.reads
    }

    /// Whether the crash has come.
    pub fn crashed(&self) -> bool {
        self.state().plan.crashed
    }

    /// Bytes of the file at `path` as a read would see them.
    pub fn file_bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        self.with_file(path.as_ref(), |disk, file| disk.file(file).cached.bytes())
    }

    /// Names of all files, sorted.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.state().disk.paths()
    }

    /// Starts an empty trace, or ends and drops it.
    pub fn set_trace(&self, on: bool) {
        self.state().plan.trace = on.then(Vec::new);
    }

    /// The operations since the trace was started; empty when there is none.
    pub fn trace(&self) -> Vec<Operation> {
        self.state().plan.trace.clone().unwrap_or_default()
    }

    /// Writes and syncs per file, under the name it had at the time ([`Operation::path`]).
    pub fn counts(&self) -> BTreeMap<PathBuf, Counts> {
        self.state().plan.counts.clone()
    }
}

/// What is left. The disk crashed or not, it stays as it is; the result is a new one, without plan, trace,
/// counts, handles or locks.
impl SimFs {
    /// The disk after a crash now, with chance drawn from `seed`.
    pub fn after_crash(&self, seed: u64) -> Self {
        self.survivors(Chance::Seeded(fastrand::Rng::with_seed(seed)), seed)
    }

    /// The disk after a crash now that loses all that was not durable.
    pub fn after_crash_all_lost(&self) -> Self {
        self.survivors(Chance::AllLost, 0)
    }

    /// The disk after a crash now that loses nothing, the operation it hit included.
    pub fn after_crash_all_kept(&self) -> Self {
        self.survivors(Chance::AllKept, 0)
    }

    /// Every disk that a crash now may leave, each once: all subsets of what is pending, the first so many of the names,
    /// and with one write torn, behind its first so many sectors or before its last ones.
    ///
    /// Where more than `changes_max` changes are pending, the older ones are all kept, or all lost. Beside a torn write
    /// the others are all kept, or all lost, or those before it kept.
    pub fn every_crash(&self, changes_max: usize) -> impl Iterator<Item = Self> + use<> {
        let choices = self.state().disk.choices(changes_max);
        let disk = self.clone();
        let mut seen = BTreeSet::new();
        choices.into_iter().filter_map(move |choice| {
            let left = disk.survivors(Chance::Chosen(choice), 0);
            let print = left.state().disk.fingerprint();
            seen.insert(print).then_some(left)
        })
    }

    fn survivors(&self, mut chance: Chance, seed: u64) -> Self {
        let disk = self.state().disk.survivors(&mut chance);
        Self::with_disk(disk, seed)
    }
}

impl SimFs {
    fn with_disk(disk: Disk, seed: u64) -> Self {
        let state = State { disk, plan: Plan::new(seed), clock_us: 0 };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// The latch. No handle may be dropped, and no panic raised, while it is held: both need it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Lets others go on while an operation is under way.
    fn take_time(&self) {
        let turns = self.state().plan.turns();
        for _ in 0..turns {
            sync::yield_now();
        }
    }

    fn with_file<T>(&self, path: &Path, act: impl FnOnce(&mut Disk, FileId) -> T) -> Option<T> {
        let mut state = self.state();
        let file = state.disk.find(path)?;
        Some(act(&mut state.disk, file))
    }

    fn share(&self, file: FileId, handle: HandleId, writable: bool) -> Arc<dyn File> {
        Arc::new(SimFile { fs: self.clone(), file, handle, writable })
    }
}

impl State {
    /// One step that changes names: faults leave it undone, a crash lets it happen and reports failure.
    fn name_step<T>(
        &mut self,
        kind: OperationKind,
        path: &Path,
        act: impl FnOnce(&mut Disk) -> io::Result<T>,
    ) -> io::Result<T> {
        match self.plan.begin(Request::new(kind, &normalize(path)))? {
            Fate::Normal | Fate::Misdirected(_) => act(&mut self.disk),
            Fate::Failing(fault) => Err(fault.error()),
            Fate::Crashing => {
                drop(act(&mut self.disk));
                Err(crash_error())
            }
        }
    }

    /// Begins a step on an open file.
    fn begin(
        &mut self,
        kind: OperationKind,
        file: FileId,
        offset: u64,
        len: u64,
    ) -> io::Result<Fate> {
        let path = &self.disk.file(file).label;
        self.plan.begin(Request { kind, path, offset, len })
    }

    /// One step that changes a file's length.
    fn length_step(&mut self, kind: OperationKind, file: FileId, change: Change) -> io::Result<()> {
        let (Change::SetLen(len) | Change::Reserve(len)) = change else {
            unreachable!("a write is not a change of length");
        };
        match self.begin(kind, file, 0, len)? {
            Fate::Normal | Fate::Misdirected(_) => self.disk.change(file, change).map(drop),
            Fate::Failing(fault) => Err(fault.error()),
            Fate::Crashing => {
                drop(self.disk.change(file, change));
                Err(crash_error())
            }
        }
    }

    /// How many bytes of a write a short write puts down: up to a sector boundary, never all.
    fn short_len(&mut self, offset: u64, len: usize) -> usize {
        let ends: Vec<_> = pieces(offset, len, SECTOR_LEN).map(|piece| piece.range.start).collect();
        self.plan.rng.choice(ends).unwrap_or(0)
    }
}

impl FileSystem for SimFs {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let mut state = self.state();
        state.plan.alive()?;
        let file = match mode {
            OpenMode::CreateNew => {
                state.name_step(OperationKind::Create, path, |disk| disk.create(path))?
            }
            OpenMode::ReadOnly | OpenMode::ReadWrite => state.disk.look_up(path)?,
        };
        let handle = state.disk.open_handle(file);
        Ok(self.share(file, handle, mode != OpenMode::ReadOnly))
    }

    fn create_unnamed(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        let mut state = self.state();
        let kind = OperationKind::CreateUnnamed;
        let file = state.name_step(kind, dir, |disk| Ok(disk.create_unnamed(dir)))?;
        let handle = state.disk.open_handle(file);
        Ok(self.share(file, handle, true))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.state().name_step(OperationKind::Remove, path, |disk| disk.remove(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.state().name_step(OperationKind::Rename, to, |disk| disk.rename(from, to))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        let state = self.state();
        state.plan.alive()?;
        Ok(state.disk.exists(path))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        // A crash during the sync leaves the names pending: a prefix of them survives.
        match state.plan.begin(Request::new(OperationKind::SyncDir, &normalize(dir)))? {
            Fate::Normal | Fate::Misdirected(_) => {
                state.disk.sync_dir(dir);
                Ok(())
            }
            Fate::Failing(fault) => Err(fault.error()),
            Fate::Crashing => Err(crash_error()),
        }
    }

    /// One microsecond later at each call.
    fn now(&self) -> Duration {
        let mut state = self.state();
        state.clock_us += 1;
        Duration::from_micros(state.clock_us)
    }

    fn has_threads(&self) -> bool {
        self.state().plan.threads
    }

    fn yield_now(&self) {
        sync::yield_now();
    }
}
