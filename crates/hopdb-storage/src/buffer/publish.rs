//! A commit's pages on their way to the readers: they become heads, and what they replace older versions.
//!
//! Invariants: publishing cannot fail; one thread publishes at a time; a page that somebody is loading is waited for.

use super::entry::{Entry, Head, OlderVersion};
use super::slots::Slots;
use super::{PageRef, Pool, ShardState};
use crate::page::{self, CommitTs, PageId};
use crate::sync::{MutexGuard, Ordering};

/// A page of a commit on its way to the readers.
pub(crate) struct Publish {
    pub(crate) frame: PageRef,
    /// The version it replaces, which may have left the pool; none for a born page, whose id had another
    /// life before at most.
    pub(crate) base: Option<PageRef>,
    /// Not in its place in the file yet.
    pub(crate) dirty: bool,
}

/// Pages whose heads a commit takes out.
#[derive(Default)]
pub(crate) struct Gone<'a> {
    /// No longer in use: older snapshots may still read them.
    pub(crate) freed: &'a [PageId],
    /// In use anew, and in their places in the file.
    pub(crate) written_through: &'a [PageId],
}

impl Pool {
    /// Makes a commit's pages the heads, and what they replace older versions that end at `ts`. Pages that
    /// were written through are not among them: they are read when somebody wants them.
    pub(crate) fn publish(&self, pages: Vec<Publish>, gone: &Gone<'_>, ts: CommitTs) {
        for page in pages {
            self.publish_page(page, ts);
        }
        for id in gone.freed {
            self.take_head(*id, Some(ts));
        }
        for id in gone.written_through {
            self.take_head(*id, None);
        }
    }

    /// The slots, and the shard of a page that nobody is loading.
    fn settled(&self, id: PageId) -> (MutexGuard<'_, Slots>, MutexGuard<'_, ShardState>) {
        let shard = self.shard(id);
        loop {
            let slots = self.slots.lock();
            let state = shard.state.lock();
            if !matches!(state.entries.get(&id), Some(Entry { head: Head::Loading, .. })) {
                return (slots, state);
            }
            // The loader needs the slots to finish.
            drop(slots);
            drop(shard.loaded.wait(state));
        }
    }

    fn publish_page(&self, Publish { frame, base, dirty }: Publish, ts: CommitTs) {
        let id = page::id(&frame);
        let (mut slots, mut state) = self.settled(id);
        let entry = state.entries.entry(id).or_default();
        let (replaced, slot) = match std::mem::take(&mut entry.head) {
            Head::Resident { frame, slot, .. } => (base.map(|_| frame), slot),
            _ => {
                self.resident.fetch_add(1, Ordering::AcqRel);
                (base, slots.admit(id))
            }
        };
        if let Some(frame) = replaced {
            self.versions.note(id, page::begin(&frame), ts);
            entry.older.push(OlderVersion::new(frame, ts));
        }
        entry.head = Head::Resident { frame, slot, dirty };
        if dirty {
            self.dirty.lock().insert(id);
        } else {
            self.dirty.lock().remove(&id);
        }
    }

    /// Takes a head out, so that it is never written in place any more. With `end` it becomes an older
    /// version that ends there; else it is from an earlier life of the id, and nobody may see it again.
    fn take_head(&self, id: PageId, end: Option<CommitTs>) {
        let (mut slots, mut state) = self.settled(id);
        let Some(entry) = state.entries.get_mut(&id) else { return };
        if let Head::Resident { frame, slot, .. } = std::mem::take(&mut entry.head) {
            if let Some(end) = end {
                self.versions.note(id, page::begin(&frame), end);
                entry.older.push(OlderVersion::new(frame, end));
            }
            slots.remove(slot);
            self.resident.fetch_sub(1, Ordering::AcqRel);
            self.dirty.lock().remove(&id);
        }
        if entry.older.is_empty() {
            state.entries.remove(&id);
        }
    }
}
