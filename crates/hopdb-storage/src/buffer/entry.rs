//! What the pool has of one page: its head, and the older versions that snapshots may still read.
//!
//! Invariant: the intervals `[begin, end)` of the older versions, and that of the head, do not overlap.

use super::frame::PageRef;
use crate::page::{self, CommitTs};

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

/// A version that another replaced at `end`.
#[derive(Debug)]
pub(super) struct OlderVersion {
    pub(super) frame: PageRef,
    pub(super) end: CommitTs,
}

/// All versions of a page in memory.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) head: Head,
    pub(super) older: Vec<OlderVersion>,
}

impl Entry {
    /// The older version that the snapshot at `ts` sees (I4).
    pub(super) fn older_for(&self, ts: CommitTs) -> Option<PageRef> {
        let visible =
            |version: &&OlderVersion| page::begin(&version.frame) <= ts && ts < version.end;
        self.older.iter().find(visible).map(|version| version.frame.clone())
    }
}
