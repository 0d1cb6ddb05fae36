//! Older versions of pages: kept in memory up to a budget, then in a scratch file, until no snapshot needs them.
//!
//! Invariants:
//! 1. A version that a snapshot needs is in its page's entry, in memory or in the scratch file (I5).
//! 2. Whoever publishes brings the versions in memory back under the budget, as many as there are frames, before it goes
//!    on; those that cannot be written stay, since publishing does not fail.
//! 3. No latch is held across a read or a write of the scratch file.

use std::collections::BTreeMap;

use super::entry::{Head, Kept};
use super::{PageRef, Pool};
use crate::io::FileSystem;
use crate::page::{CommitTs, PageId};
use crate::scratch::{Scratch, Slot};
use crate::sync::Mutex;

/// Versions that ended with one commit.
#[derive(Debug, Default)]
struct Group {
    /// No version in it began later: a snapshot between that and the end needs them all.
    newest_begin: CommitTs,
    pages: Vec<PageId>,
}

/// Versions by their end.
#[derive(Debug, Default)]
struct List {
    groups: BTreeMap<CommitTs, Group>,
    len: usize,
}

impl List {
    fn add(&mut self, id: PageId, begin: CommitTs, end: CommitTs) {
        let group = self.groups.entry(end).or_default();
        group.newest_begin = group.newest_begin.max(begin);
        group.pages.push(id);
        self.len += 1;
    }

    /// Takes a version out, one of those that ended first.
    fn pop(&mut self) -> Option<(PageId, CommitTs)> {
        let mut first = self.groups.first_entry()?;
        let end = *first.key();
        let id = first.get_mut().pages.pop()?;
        if first.get().pages.is_empty() {
            first.remove();
        }
        self.len -= 1;
        Some((id, end))
    }

    /// Takes the groups out that not every version of is needed of.
    fn take(&mut self, needed: impl Fn(CommitTs, CommitTs) -> bool) -> Vec<(CommitTs, Group)> {
        let in_doubt =
            |(end, group): (&CommitTs, &Group)| (!needed(group.newest_begin, *end)).then_some(*end);
        let ends: Vec<CommitTs> = self.groups.iter().filter_map(in_doubt).collect();
        let taken: Vec<_> = ends.iter().filter_map(|end| self.groups.remove_entry(end)).collect();
        self.len -= taken.iter().map(|(_, group)| group.pages.len()).sum::<usize>();
        taken
    }
}

/// Which older versions there are.
#[derive(Debug)]
pub(super) struct Versions {
    in_memory: Mutex<List>,
    spilled: Mutex<List>,
    pub(super) scratch: Scratch,
}

impl Versions {
    pub(super) fn new(scratch: Scratch) -> Self {
        Self { in_memory: Mutex::default(), spilled: Mutex::default(), scratch }
    }

    /// Notes a version `[begin, end)` that was put into its page's entry.
    pub(super) fn note(&self, id: PageId, begin: CommitTs, end: CommitTs) {
        self.in_memory.lock().add(id, begin, end);
    }

    /// Versions in memory.
    pub(super) fn in_memory(&self) -> usize {
        self.in_memory.lock().len
    }
}

impl Pool {
    /// Drops the older versions for whose interval `[begin, end)` no snapshot is `needed`.
    pub(crate) fn purge(&self, needed: impl Fn(CommitTs, CommitTs) -> bool) {
        let Versions { in_memory, spilled, scratch } = &self.versions;
        for list in [in_memory, spilled] {
            let in_doubt = list.lock().take(&needed);
            for (end, group) in in_doubt {
                for id in group.pages {
                    if let Some(begin) = self.keeps(id, end, &needed) {
                        list.lock().add(id, begin, end);
                    }
                }
            }
        }
        scratch.trim();
    }

    /// Drops the older version of a page that ends at `end`, unless it is needed: then gives when it began.
    fn keeps(
        &self,
        id: PageId,
        end: CommitTs,
        needed: impl Fn(CommitTs, CommitTs) -> bool,
    ) -> Option<CommitTs> {
        let mut state = self.shard(id).state.lock();
        let entry = state.entries.get_mut(&id)?;
        let at = entry.older.iter().position(|version| version.end == end)?;
        let begin = entry.older[at].begin;
        if needed(begin, end) {
            return Some(begin);
        }
        if let Kept::Scratch(slot) = entry.older.swap_remove(at).kept {
            self.versions.scratch.free(slot);
        }
        if entry.older.is_empty() && matches!(entry.head, Head::Absent) {
            state.entries.remove(&id);
        }
        None
    }

    /// Whether older versions are kept.
    pub(crate) fn has_retained(&self) -> bool {
        self.versions.in_memory() > 0 || self.versions.spilled.lock().len > 0
    }

    /// Writes the oldest versions above the budget to the scratch file.
    pub(crate) fn spill_versions(&self, fs: &dyn FileSystem) {
        let Versions { in_memory, spilled, scratch } = &self.versions;
        while let Some((id, end)) = self.excess_version() {
            let Some((frame, begin)) = self.older_in_memory(id, end) else { continue };
            let Ok(slot) = scratch.write(fs, &frame) else {
                in_memory.lock().add(id, begin, end);
                return;
            };
            if self.move_to_scratch(id, end, slot) {
                spilled.lock().add(id, begin, end);
            } else {
                scratch.free(slot);
            }
        }
    }

    /// Takes a version above the budget from the list.
    fn excess_version(&self) -> Option<(PageId, CommitTs)> {
        let mut kept = self.versions.in_memory.lock();
        if kept.len > self.frames_max() { kept.pop() } else { None }
    }

    fn older_in_memory(&self, id: PageId, end: CommitTs) -> Option<(PageRef, CommitTs)> {
        let state = self.shard(id).state.lock();
        let version = state.entries.get(&id)?.older.iter().find(|version| version.end == end)?;
        match &version.kept {
            Kept::Memory(frame) => Some((frame.clone(), version.begin)),
            Kept::Scratch(_) => None,
        }
    }

    /// Whether the version is still there.
    fn move_to_scratch(&self, id: PageId, end: CommitTs, slot: Slot) -> bool {
        let mut state = self.shard(id).state.lock();
        let Some(entry) = state.entries.get_mut(&id) else { return false };
        let Some(version) = entry.older.iter_mut().find(|version| version.end == end) else {
            return false;
        };
        version.kept = Kept::Scratch(slot);
        true
    }
}
