//! What is to go wrong and when, and the record of what was asked: steps, reads, trace, counts.
//!
//! Decides the fate of each operation; never touches a file. Once crashed, nothing succeeds any more.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// What goes wrong at one step. A fault that does not fit the operation acts as [`Fault::Eio`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Fails with `EIO` and has no effect; at a file's sync it is a [`Fault::FailedSync`].
    Eio,
    /// Fails with `StorageFull` and has no effect; at a file's sync its writes are lost as well.
    NoSpace,
    /// The write puts down a prefix that ends at a sector boundary, possibly nothing, then fails with `WriteZero`.
    ShortWrite,
    /// The sync fails with `EIO`. The file's unsynced changes stay readable, but no later sync makes them
    /// durable: each may vanish at the crash. Of a durable write, the bytes.
    FailedSync,
}

impl Fault {
    pub(super) fn error(self) -> io::Error {
        match self {
            Self::Eio | Self::FailedSync => Errno::IO.into(),
            Self::NoSpace => Errno::NOSPC.into(),
            Self::ShortWrite => io::Error::new(io::ErrorKind::WriteZero, "simulated short write"),
        }
    }
}

/// A kind of operation in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationKind {
    /// `File::read_at`.
    Read,
    /// `File::write_at`.
    Write,
    /// `File::set_len`.
    SetLen,
    /// `File::reserve`.
    Reserve,
    /// `File::sync`.
    Sync,
    /// `File::write_durable`.
    WriteDurable,
    /// `FileSystem::open` with `CreateNew`.
    Create,
    /// `FileSystem::create_unnamed`.
    CreateUnnamed,
    /// `File::link`.
    Link,
    /// `FileSystem::rename`.
    Rename,
    /// `FileSystem::remove`.
    Remove,
    /// `FileSystem::sync_dir`.
    SyncDir,
}

/// One operation as it was asked for, whether or not it succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Number of the step; for a read, of the last step before it.
    pub step: u64,
    /// What was asked.
    pub kind: OperationKind,
    /// The file or directory. For a file without a name `<dir>/(unnamed <n>)`, for a rename the new name.
    pub path: PathBuf,
    /// Byte offset of a read or write, else 0.
    pub offset: u64,
    /// Bytes asked for by a read or write; the length given to `set_len` or `reserve`; else 0.
    pub len: u64,
}

/// How often a file was written and synced. Calls count, also failed ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls of `write_at` and `write_durable`.
    pub writes: u64,
    /// Calls of `sync` and `write_durable`.
    pub syncs: u64,
}

/// An operation about to begin.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) kind: OperationKind,
    pub(super) path: &'a Path,
    pub(super) offset: u64,
    pub(super) len: u64,
}

impl<'a> Request<'a> {
    /// An operation for which offset and length mean nothing.
    pub(super) fn new(kind: OperationKind, path: &'a Path) -> Self {
        Self { kind, path, offset: 0, len: 0 }
    }
}

/// How a step is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// As it should.
    Normal,
    /// The write lands this many bytes off.
    Misdirected(i64),
    /// It fails.
    Failing(Fault),
    /// The power goes during it.
    Crashing,
}

/// The error of everything from the crash on.
pub(super) fn crash_error() -> io::Error {
    io::Error::other("simulated crash")
}

/// Injected events by step, and the record.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: u64,
    pub(super) reads: u64,
    pub(super) crash_at: Option<u64>,
    pub(super) crashed: bool,
    pub(super) faults: BTreeMap<u64, Fault>,
    pub(super) failing_reads: BTreeSet<u64>,
    pub(super) misdirected: BTreeMap<u64, i64>,
    pub(super) trace: Option<Vec<Operation>>,
    pub(super) counts: BTreeMap<PathBuf, Counts>,
    /// Whether there are threads for work in the background.
    pub(super) threads: bool,
    /// Most turns that others get during an operation.
    pub(super) latency: u32,
    /// Draws how short a short write is, and how many turns others get.
    pub(super) rng: fastrand::Rng,
}

impl Plan {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            steps: 0,
            reads: 0,
            crash_at: None,
            crashed: false,
            faults: BTreeMap::new(),
            failing_reads: BTreeSet::new(),
            misdirected: BTreeMap::new(),
            trace: None,
            counts: BTreeMap::new(),
            threads: false,
            latency: 0,
            rng: fastrand::Rng::with_seed(seed),
        }
    }

    /// How many turns others get during an operation: mostly few.
    pub(super) fn turns(&mut self) -> u32 {
        match self.latency {
            0 => 0,
            most => {
                let most = self.rng.u32(0..=most);
                self.rng.u32(0..=most)
            }
        }
    }

    /// Fails after the crash.
    pub(super) fn alive(&self) -> io::Result<()> {
        if self.crashed { Err(crash_error()) } else { Ok(()) }
    }

    /// Counts a step and gives its fate; a crash wins over a fault, a fault over a misdirection.
    pub(super) fn begin(&mut self, request: Request<'_>) -> io::Result<Fate> {
        self.alive()?;
        self.steps += 1;
        self.record(request);
        self.count(request);
        if self.crash_at.is_some_and(|step| step <= self.steps) {
            self.crashed = true;
            return Ok(Fate::Crashing);
        }
        if let Some(fault) = self.faults.get(&self.steps) {
            return Ok(Fate::Failing(*fault));
        }
        let misdirected = self.misdirected.get(&self.steps);
        Ok(misdirected.map_or(Fate::Normal, |delta| Fate::Misdirected(*delta)))
    }

    /// Counts a read, and fails it when it is to fail.
    pub(super) fn begin_read(&mut self, request: Request<'_>) -> io::Result<()> {
        self.alive()?;
        self.reads += 1;
        self.record(request);
        if self.failing_reads.contains(&self.reads) { Err(Fault::Eio.error()) } else { Ok(()) }
    }

    fn record(&mut self, request: Request<'_>) {
        if let Some(trace) = &mut self.trace {
            let Request { kind, path, offset, len } = request;
            trace.push(Operation { step: self.steps, kind, path: path.to_owned(), offset, len });
        }
    }

    fn count(&mut self, request: Request<'_>) {
        let (writes, syncs) = match request.kind {
            OperationKind::Write => (1, 0),
            OperationKind::Sync => (0, 1),
            OperationKind::WriteDurable => (1, 1),
            _ => return,
        };
        if !self.counts.contains_key(request.path) {
            self.counts.insert(request.path.to_owned(), Counts::default());
        }
        if let Some(counts) = self.counts.get_mut(request.path) {
            counts.writes += writes;
            counts.syncs += syncs;
        }
    }
}
