//! What there is of one page: its head, and the older versions that snapshots may still read.
//!
//! Invariant: the intervals `[begin, end)` of the older versions, and that of the head, do not overlap.

use super::frame::PageRef;
use crate::page::{self, CommitTs};
use crate::scratch::Slot;

/// The newest committed version of a page, as far as the pool has it.
#[derive(Debug, Default)]
pub(super) enum Head {
    #[default]
    Absent,
    Loading,
    Resident {
        frame: PageRef,
        slot: usize,
        dirty: bool,
    },
}

/// Where an older version is.
#[derive(Debug)]
pub(super) enum Kept {
    Memory(PageRef),
    Scratch(Slot),
}

/// A version that another replaced at `end`.
#[derive(Debug)]
pub(super) struct OlderVersion {
    pub(super) begin: CommitTs,
    pub(super) end: CommitTs,
    pub(super) kept: Kept,
}

impl OlderVersion {
    /// A version in memory.
    pub(super) fn new(frame: PageRef, end: CommitTs) -> Self {
        Self { begin: page::begin(&frame), end, kept: Kept::Memory(frame) }
    }
}

/// All versions of a page.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) head: Head,
    pub(super) older: Vec<OlderVersion>,
}

impl Entry {
    /// The older version that the snapshot at `ts` sees (I4).
    pub(super) fn older_for(&self, ts: CommitTs) -> Option<&Kept> {
        let visible = |version: &&OlderVersion| version.begin <= ts && ts < version.end;
        self.older.iter().find(visible).map(|version| &version.kept)
    }
}
