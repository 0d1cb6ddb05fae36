//! The buffer pool: page versions in memory, found by page id, bounded in number.
//!
//! **Words.** *Frame*: memory that holds one page version. *Pin*: a [`PageRef`]; while one lives, its frame
//! stays. *Head*: the newest committed version of a page. *Older version*: one that a head replaced and
//! some snapshot may still read. *Dirty*: committed, but not yet in its place in the file.
//!
//! **Invariants.**
//! 1. A frame's bytes never change after it was published (I1): a `PageRef` is a shared reference.
//! 2. Only heads that are unpinned and clean are evicted; a pin is taken under the latch of the page's shard,
//!    and eviction looks and takes under the same latch (I2).
//! 3. One thread reads a missing page, the others wait for that page; no latch is held across the read.
//! 4. A page in the dirty set has a dirty head, and the other way round; both change under the shard's latch.
//! 5. Resident heads <= the budget, but for what one commit publishes at once, which goes right after (I14).
//!
//! **States of a head.** absent -> loading -> resident (clean) -> absent; publish: any -> resident (dirty, or
//! clean when born); write-back: dirty -> clean; retire (page freed): resident -> absent.
//!
//! Latch order: slots, shard, then the dirty set or a list of older versions.

mod entry;
mod frame;
pub(crate) mod policy;
mod publish;
mod slots;
mod versions;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::page::{self, CommitTs, PageId};
use crate::pager::Pager;
use crate::scratch::Scratch;
use crate::sync::{Arc, AtomicU64, AtomicUsize, Condvar, Mutex, Ordering, yield_now};
use entry::{Entry, Head, Kept};
pub(crate) use frame::PageRef;
use policy::Probe;
pub(crate) use publish::{Gone, Publish};
use slots::Slots;
use versions::Versions;

const SHARDS: usize = 64;
/// Dirty pages that a full pool writes back at once.
const WRITE_BACK_BATCH: usize = 64;
/// Fruitless searches for a frame before the pool counts as exhausted.
const SEARCHES: usize = 1000;
/// Fewest frames of a pool.
pub(crate) const FRAMES_MIN: usize = 4;

/// Where trees get their pages from: a snapshot, or a transaction with its changes.
pub trait PageSource {
    /// The version of a page that belongs to this source.
    fn page(&self, id: PageId) -> Result<PageRef>;
    /// Names the damage of a page.
    fn corrupt(&self, id: PageId, reason: String) -> Error;
}

#[derive(Debug, Default)]
struct ShardState {
    entries: FxHashMap<PageId, Entry>,
    hits: u64,
}

#[derive(Debug, Default)]
struct Shard {
    state: Mutex<ShardState>,
    loaded: Condvar,
}

/// What the pool holds and did since the handle was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolCounts {
    /// Frames that the budget allows.
    pub frames_max: usize,
    /// Pages resident now.
    pub resident: usize,
    /// Pages that wait to be written in place.
    pub dirty: usize,
    /// Older versions kept in memory for snapshots.
    pub retained: usize,
    /// Pages that the write transaction has in memory.
    pub private: usize,
    /// Pages of both kinds in scratch files, where memory had no room for them.
    pub spilled: usize,
    /// Pages found resident.
    pub hits: u64,
    /// Pages that had to be read.
    pub misses: u64,
    /// Pages given up for others.
    pub evictions: u64,
}

/// The buffer pool.
#[derive(Debug)]
pub(crate) struct Pool {
    pager: Arc<Pager>,
    shards: Box<[Shard]>,
    frames_max: AtomicUsize,
    resident: AtomicUsize,
    /// Reads and write-backs under way: they hold frames that are soon free.
    in_passing: AtomicUsize,
    slots: Mutex<Slots>,
    dirty: Mutex<BTreeSet<PageId>>,
    versions: Versions,
    /// Private pages of the write transaction: in memory, and in its scratch file.
    private: [AtomicUsize; 2],
    misses: AtomicU64,
    evictions: AtomicU64,
}

impl Pool {
    /// A pool of `cache_bytes` over the pages of `pager`.
    pub(crate) fn new(pager: Arc<Pager>, cache_bytes: usize) -> Self {
        let frames_max = (cache_bytes / pager.page_size()).max(FRAMES_MIN);
        let scratch = Scratch::new(pager.path(), pager.page_size());
        Self {
            pager,
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            frames_max: AtomicUsize::new(frames_max),
            resident: AtomicUsize::new(0),
            in_passing: AtomicUsize::new(0),
            slots: Mutex::default(),
            dirty: Mutex::default(),
            versions: Versions::new(scratch),
            private: Default::default(),
            misses: AtomicU64::new(0),
            evictions: AtomicU64::new(0),
        }
    }

    pub(crate) fn counts(&self) -> PoolCounts {
        // One latch after the other: in one expression they would be held together.
        let dirty = self.dirty.lock().len();
        let retained = self.versions.in_memory();
        let spilled = self.versions.scratch.used();
        PoolCounts {
            frames_max: self.frames_max(),
            resident: self.resident.load(Ordering::Relaxed),
            dirty,
            retained,
            private: self.private[0].load(Ordering::Relaxed),
            spilled: spilled + self.private[1].load(Ordering::Relaxed),
            hits: self.shards.iter().map(|shard| shard.state.lock().hits).sum(),
            misses: self.misses.load(Ordering::Relaxed),
            evictions: self.evictions.load(Ordering::Relaxed),
        }
    }

    /// Heads that somebody holds now. Looks at every resident page, shard by shard.
    pub(crate) fn pinned(&self) -> usize {
        let pinned = |entry: &&Entry| match &entry.head {
            Head::Resident { frame, .. } => frame.pins() > 0,
            Head::Absent | Head::Loading => false,
        };
        self.shards
            .iter()
            .map(|shard| shard.state.lock().entries.values().filter(pinned).count())
            .sum()
    }

    /// Notes how many private pages the write transaction has in memory and in its scratch file.
    pub(crate) fn set_private(&self, in_memory: usize, spilled: usize) {
        self.private[0].store(in_memory, Ordering::Relaxed);
        self.private[1].store(spilled, Ordering::Relaxed);
    }

    /// Frames that the budget allows.
    pub(crate) fn frames_max(&self) -> usize {
        self.frames_max.load(Ordering::Relaxed)
    }

    /// Pages that wait to be written in place.
    pub(crate) fn dirty(&self) -> usize {
        self.dirty.lock().len()
    }

    /// How many of them there may be.
    pub(crate) fn dirty_max(&self) -> usize {
        self.frames_max() / 4 * 3
    }

    /// Whether there are so many that they should be written.
    pub(crate) fn wants_checkpoint(&self) -> bool {
        self.dirty() > self.frames_max() / 4
    }

    /// Whether there are so many that no more may come.
    pub(crate) fn is_clogged(&self) -> bool {
        self.dirty() > self.dirty_max()
    }

    fn shard(&self, id: PageId) -> &Shard {
        &self.shards[Pager::index(id) % SHARDS]
    }

    /// The version of a page that the snapshot at `ts` sees (I4), pinned.
    pub(crate) fn fetch(&self, id: PageId, ts: CommitTs) -> Result<PageRef> {
        let shard = self.shard(id);
        let mut state = shard.state.lock();
        loop {
            let ShardState { entries, hits } = &mut *state;
            let entry = entries.entry(id).or_default();
            match &entry.head {
                Head::Resident { frame, .. } if page::begin(frame) <= ts => {
                    *hits += 1;
                    frame.touch();
                    return Ok(frame.clone());
                }
                _ => {}
            }
            match entry.older_for(ts) {
                Some(Kept::Memory(frame)) => {
                    *hits += 1;
                    return Ok(frame.clone());
                }
                // It stays where it is as long as the snapshot that asks.
                Some(Kept::Scratch(slot)) => {
                    let slot = *slot;
                    drop(state);
                    return self.versions.scratch.read(slot).map(PageRef::new);
                }
                None => {}
            }
            match &entry.head {
                Head::Loading => state = shard.loaded.wait(state),
                Head::Resident { .. } => return Err(missing(id, ts)),
                Head::Absent => {
                    entry.head = Head::Loading;
                    drop(state);
                    return self.load(id, ts);
                }
            }
        }
    }

    /// The head of a page, not newer than `ts`, wherever it is: the pool keeps what it has. For the writer, as nobody
    /// else makes heads: one that is not here is in its place in the file.
    pub(crate) fn peek(&self, id: PageId, ts: CommitTs) -> Result<PageRef> {
        let resident = match self.shard(id).state.lock().entries.get(&id) {
            Some(Entry { head: Head::Resident { frame, .. }, .. }) => Some(frame.clone()),
            _ => None,
        };
        let frame = match resident {
            Some(frame) => frame,
            None => PageRef::new(self.pager.read(id)?),
        };
        if page::begin(&frame) <= ts { Ok(frame) } else { Err(missing(id, ts)) }
    }

    /// Reads a page whose entry this thread has set to loading.
    fn load(&self, id: PageId, ts: CommitTs) -> Result<PageRef> {
        self.misses.fetch_add(1, Ordering::Relaxed);
        let room = self.make_room();
        // A pool full of pages that cannot be written any more keeps no others; reads go on.
        let admitted = room.is_ok();
        let room =
            room.or_else(|error| self.pager.poison().check().map_or(Ok(()), |()| Err(error)));
        self.in_passing.fetch_add(1, Ordering::AcqRel);
        let read = room.and_then(|()| {
            self.pager.read(id).inspect_err(|_| {
                self.resident.fetch_sub(usize::from(admitted), Ordering::AcqRel);
            })
        });
        let frame = read.map(PageRef::new);
        let mut slots = self.slots.lock();
        let shard = self.shard(id);
        let mut state = shard.state.lock();
        let entry = state.entries.entry(id).or_default();
        match &frame {
            Ok(frame) if admitted => {
                let slot = slots.admit(id);
                entry.head = Head::Resident { frame: frame.clone(), slot, dirty: false };
            }
            _ if entry.older.is_empty() => drop(state.entries.remove(&id)),
            _ => entry.head = Head::Absent,
        }
        self.in_passing.fetch_sub(1, Ordering::AcqRel);
        shard.loaded.notify_all();
        let frame = frame?;
        if page::begin(&frame) <= ts { Ok(frame) } else { Err(missing(id, ts)) }
    }

    /// Counts one more resident page, after giving up others when the budget is used up.
    fn make_room(&self) -> Result<()> {
        loop {
            let resident = self.resident.load(Ordering::Acquire);
            if resident >= self.frames_max() {
                self.evict()?;
            } else if self
                .resident
                .compare_exchange(resident, resident + 1, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
            {
                return Ok(());
            }
        }
    }

    /// Gives up one page: a clean one, or, when there is none, a dirty one after writing it.
    fn evict(&self) -> Result<()> {
        let mut pinned = 0;
        let mut searches = 0;
        while searches < SEARCHES {
            pinned = match self.try_evict() {
                Ok(()) => return Ok(()),
                Err(pinned) => pinned,
            };
            if self.resident.load(Ordering::Acquire) < self.frames_max() {
                return Ok(());
            }
            if self.write_back_some()? == 0 {
                yield_now();
            }
            // A read or a write takes longer than many searches, and ends with frames that may be given up.
            if self.in_passing.load(Ordering::Acquire) == 0 {
                searches += 1;
            }
        }
        Err(Error::PoolExhausted {
            frames: self.frames_max(),
            pinned,
            dirty: self.dirty.lock().len(),
        })
    }

    /// One search of the policy; when it takes nothing, the number of pinned frames it saw.
    fn try_evict(&self) -> std::result::Result<(), usize> {
        let mut pinned = BTreeSet::new();
        let taken = self.slots.lock().take_victim(|id, slot| {
            let probe = self.probe(id, slot, false);
            if probe == Probe::Busy {
                pinned.insert(slot);
            }
            probe
        });
        if !taken {
            return Err(pinned.len());
        }
        self.resident.fetch_sub(1, Ordering::AcqRel);
        self.evictions.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Looks at the head in `slot` and takes it out when nothing keeps it.
    fn probe(&self, id: PageId, slot: usize, even_touched: bool) -> Probe {
        let mut state = self.shard(id).state.lock();
        let Some(entry) = state.entries.get_mut(&id) else { return Probe::Busy };
        match &entry.head {
            Head::Resident { frame, slot: its_slot, dirty } if *its_slot == slot => {
                if *dirty || frame.pins() > 0 {
                    return Probe::Busy;
                }
                if frame.take_touched() && !even_touched {
                    return Probe::Touched;
                }
            }
            _ => return Probe::Busy,
        }
        entry.head = Head::Absent;
        if entry.older.is_empty() {
            state.entries.remove(&id);
        }
        Probe::Taken
    }

    /// Pages that wait to be written in place, ascending.
    pub(crate) fn dirty_pages(&self) -> Vec<PageId> {
        self.dirty.lock().iter().copied().collect()
    }

    /// Writes those of these pages in place that are dirty, and keeps them, clean; gives how many. `ids` ascend.
    pub(crate) fn write_back(&self, ids: &[PageId]) -> Result<usize> {
        if ids.is_empty() {
            return Ok(0);
        }
        self.in_passing.fetch_add(1, Ordering::AcqRel);
        let written = self.pager.write_in_place(|| self.dirty_heads(ids));
        let count = written.map(|written| {
            written.iter().for_each(|frame| self.mark_clean(frame));
            written.len()
        });
        self.in_passing.fetch_sub(1, Ordering::AcqRel);
        count
    }

    /// Writes back some dirty pages, lowest ids first; gives how many.
    fn write_back_some(&self) -> Result<usize> {
        let dirty: Vec<_> = self.dirty.lock().iter().copied().take(WRITE_BACK_BATCH).collect();
        self.write_back(&dirty)
    }

    /// Writes every page in place that is dirty, and keeps it, clean.
    pub(crate) fn write_back_all(&self) -> Result<()> {
        while self.write_back(&self.dirty_pages())? > 0 {}
        Ok(())
    }

    /// Brings the pool back under its budget, writing dirty pages where it must.
    pub(crate) fn relieve(&self) -> Result<()> {
        self.shrink();
        while self.resident.load(Ordering::Acquire) > self.frames_max() {
            if self.write_back_some()? == 0 {
                return Ok(());
            }
            self.shrink();
        }
        Ok(())
    }

    /// Notes that a version is in its place, unless another has become the head meanwhile.
    fn mark_clean(&self, frame: &PageRef) {
        let id = page::id(frame);
        let mut state = self.shard(id).state.lock();
        if let Some(Entry { head: Head::Resident { frame: head, dirty, .. }, .. }) =
            state.entries.get_mut(&id)
            && head.is(frame)
        {
            *dirty = false;
            self.dirty.lock().remove(&id);
        }
    }

    fn dirty_heads(&self, ids: &[PageId]) -> Vec<PageRef> {
        let head = |id: &PageId| match self.shard(*id).state.lock().entries.get(id)?.head {
            Head::Resident { ref frame, dirty: true, .. } => Some(frame.clone()),
            _ => None,
        };
        ids.iter().filter_map(head).collect()
    }

    /// Drops every clean page that nobody holds. Dirty and pinned ones stay.
    pub(crate) fn forget_clean(&self) {
        self.slots.lock().take_all(|id, slot| {
            let probe = self.probe(id, slot, true);
            if probe == Probe::Taken {
                self.resident.fetch_sub(1, Ordering::AcqRel);
            }
            probe
        });
    }

    /// Brings the pool back under its budget after a commit, as far as pins allow.
    pub(crate) fn shrink(&self) {
        while self.resident.load(Ordering::Acquire) > self.frames_max() && self.try_evict().is_ok()
        {
        }
    }
}

fn missing(id: PageId, ts: CommitTs) -> Error {
    Error::VersionMissing { page: id.0, snapshot: ts.0 }
}

#[cfg(test)]
mod tests;
