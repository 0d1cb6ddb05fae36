//! The way in for writers, one at a time, and what one leaves for the next.

use rustc_hash::FxHashSet;

use crate::page::{CommitTs, PageId};
use crate::sync::{AtomicBool, Condvar, Mutex, Ordering, spin_until};

/// A page freed by a commit, whose id is not yet given out again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quarantined {
    pub(crate) id: PageId,
    pub(crate) birth: CommitTs,
    pub(crate) freed: CommitTs,
}

/// What the writer knows of the newest commit. Whoever has it is the writer.
#[derive(Debug)]
pub(crate) struct WriterState {
    /// Newest commit.
    pub(crate) commit_ts: CommitTs,
    /// Pages, free ones included.
    pub(crate) page_count: u64,
    /// No page below this id is free, but for those in quarantine.
    pub(crate) search_from: u64,
    pub(crate) quarantine: Vec<Quarantined>,
    pub(crate) quarantined: FxHashSet<PageId>,
}

impl WriterState {
    pub(crate) fn new(commit_ts: CommitTs, page_count: u64) -> Self {
        Self {
            commit_ts,
            page_count,
            search_from: 0,
            quarantine: Vec::new(),
            quarantined: FxHashSet::default(),
        }
    }

    /// Lets go the ids that `frees` says are free.
    pub(crate) fn release(&mut self, frees: impl Fn(&Quarantined) -> bool) {
        let Self { quarantine, quarantined, search_from, .. } = self;
        quarantine.retain(|page| {
            let stays = !frees(page);
            if !stays {
                quarantined.remove(&page.id);
                *search_from = page.id.0.min(*search_from);
            }
            stays
        });
    }
}

/// What the gate keeps.
#[derive(Debug)]
struct Inside {
    /// Out while there is a writer.
    state: Option<WriterState>,
    /// Threads that wait for it.
    waiting: usize,
}

/// Lets one writer in at a time.
#[derive(Debug)]
pub(crate) struct Gate {
    inside: Mutex<Inside>,
    left: Condvar,
    /// Whether there is a writer, or was a moment ago.
    taken: AtomicBool,
}

impl Gate {
    pub(crate) fn new(state: WriterState) -> Self {
        let inside = Inside { state: Some(state), waiting: 0 };
        Self { inside: Mutex::new(inside), left: Condvar::new(), taken: AtomicBool::new(false) }
    }

    /// Waits until no other writer is in. Small transactions last no longer than it takes to put a thread to sleep and
    /// wake it: so at first without sleep.
    pub(crate) fn enter(&self) -> WriterState {
        spin_until(|| !self.taken.load(Ordering::Relaxed));
        let mut inside = self.inside.lock();
        loop {
            if let Some(state) = inside.state.take() {
                self.taken.store(true, Ordering::Relaxed);
                return state;
            }
            inside.waiting += 1;
            inside = self.left.wait(inside);
            inside.waiting -= 1;
        }
    }

    /// Lets the next writer in.
    pub(crate) fn leave(&self, state: WriterState) {
        let mut inside = self.inside.lock();
        let before = inside.state.replace(state);
        assert!(before.is_none(), "there is one writer");
        self.taken.store(false, Ordering::Relaxed);
        let wake = inside.waiting > 0;
        drop(inside);
        if wake {
            self.left.notify_one();
        }
    }
}
