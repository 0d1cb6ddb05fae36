//! One simulated file: what of its bytes is durable, what is only cached, and who has it open.
//!
//! Invariants:
//! - The `durable` bytes with all `pending` changes applied in order are the `cached` bytes (until a test
//!   corrupts them).
//! - The first pending change is never a durable one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::content::Content;
use crate::io::LockMode;
use crate::sync::Arc;

/// Number of an open handle.
pub(super) type HandleId = u64;

/// One change of a file's bytes or length.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Write { offset: u64, bytes: Arc<[u8]> },
    SetLen(u64),
    Reserve(u64),
}

impl Change {
    pub(super) fn apply(&self, content: &mut Content) {
        match self {
            Self::Write { offset, bytes } => content.write(bytes, *offset),
            Self::SetLen(len) => content.set_len(*len),
            Self::Reserve(len) => content.reserve(*len),
        }
    }
}

/// How far a change has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// In the cache; the next sync makes it durable.
    Dirty,
    /// A durable write that has not returned: no sync is about it.
    InFlight,
    /// In the cache, but a failed sync forgot it: no sync makes it durable any more.
    Forgotten,
    /// Durable, and listed only because a change that is not stands before it.
    Durable,
}

/// A change that is not part of the durable bytes yet.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// Number of the change, in the order of all changes of the disk.
    pub(super) number: u64,
    pub(super) change: Change,
    pub(super) progress: Progress,
}

/// A file, named or not.
#[derive(Debug, Default)]
pub(super) struct Inode {
    /// Its last name, for the trace.
    pub(super) label: PathBuf,
    /// The directory it was made in.
    pub(super) directory: PathBuf,
    pub(super) durable: Content,
    pub(super) cached: Content,
    pub(super) pending: Vec<Pending>,
    /// Ranges that cannot be read.
    pub(super) unreadable: Vec<Range<u64>>,
    locks: BTreeMap<HandleId, LockMode>,
    pub(super) handles: BTreeSet<HandleId>,
    /// Made without a name and not named yet.
    pub(super) unnamed: bool,
}

impl Inode {
    /// A file without bytes.
    pub(super) fn new(label: PathBuf, directory: &Path) -> Self {
        Self { label, directory: directory.to_owned(), ..Self::default() }
    }

    /// Makes `content` all there is, durable at once.
    pub(super) fn settle(&mut self, content: Content) {
        self.durable = content.clone();
        self.cached = content;
        self.pending.clear();
    }

    /// Applies a change to the cache.
    pub(super) fn change(&mut self, number: u64, change: Change) {
        change.apply(&mut self.cached);
        self.pending.push(Pending { number, change, progress: Progress::Dirty });
    }

    /// Begins a durable write.
    pub(super) fn launch(&mut self, number: u64) {
        self.set_progress(number, Progress::Dirty, Progress::InFlight);
    }

    /// Ends a durable write: what it changed is durable, or, where it failed, never will be for sure.
    pub(super) fn land(&mut self, number: u64, durable: bool) {
        let progress = if durable { Progress::Durable } else { Progress::Forgotten };
        self.set_progress(number, Progress::InFlight, progress);
        self.settle_durable();
    }

    fn set_progress(&mut self, number: u64, from: Progress, to: Progress) {
        let change = self.pending.iter_mut().find(|pending| pending.number == number);
        let change = change.expect("a change is pending until it is durable");
        assert_eq!(change.progress, from, "nobody else ends it");
        change.progress = to;
    }

    /// Makes the dirty changes durable that are among the first `changes` of the disk.
    pub(super) fn sync(&mut self, changes: u64) {
        self.finish_dirty(changes, Progress::Durable);
        self.settle_durable();
    }

    /// Takes durable changes that nothing stands before into the durable bytes.
    fn settle_durable(&mut self) {
        let is_durable = |pending: &&Pending| pending.progress == Progress::Durable;
        let settled = self.pending.iter().take_while(is_durable).count();
        for pending in self.pending.drain(..settled) {
            pending.change.apply(&mut self.durable);
        }
    }

    /// What a failed sync does: those dirty changes count as clean.
    pub(super) fn forget_dirty(&mut self, changes: u64) {
        self.finish_dirty(changes, Progress::Forgotten);
    }

    fn finish_dirty(&mut self, changes: u64, progress: Progress) {
        for pending in &mut self.pending {
            if pending.progress == Progress::Dirty && pending.number < changes {
                pending.progress = progress;
            }
        }
    }

    /// As `flock`: a change of mode first gives the old lock up, and a refused change does not restore it.
    pub(super) fn try_lock(&mut self, handle: HandleId, mode: LockMode) -> bool {
        self.locks.remove(&handle);
        let exclusive = mode == LockMode::Exclusive;
        let free = !self.locks.values().any(|held| exclusive || *held == LockMode::Exclusive);
        if free {
            self.locks.insert(handle, mode);
        }
        free
    }

    /// Ends a handle and its lock.
    pub(super) fn close(&mut self, handle: HandleId) {
        self.handles.remove(&handle);
        self.locks.remove(&handle);
    }
}
