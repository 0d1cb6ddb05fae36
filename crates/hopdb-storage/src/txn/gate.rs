//! The way in for writers, one at a time, and what one leaves for the next.

use rustc_hash::FxHashSet;

use crate::page::{CommitTs, PageId};
use crate::sync::{Condvar, Mutex};

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

/// Lets one writer in at a time.
#[derive(Debug)]
pub(crate) struct Gate {
    state: Mutex<Option<WriterState>>,
    left: Condvar,
}

impl Gate {
    pub(crate) fn new(state: WriterState) -> Self {
        Self { state: Mutex::new(Some(state)), left: Condvar::new() }
    }

    /// Waits until no other writer is in.
    pub(crate) fn enter(&self) -> WriterState {
        let mut state = self.state.lock();
        loop {
            if let Some(state) = state.take() {
                return state;
            }
            state = self.left.wait(state);
        }
    }

    /// Lets the next writer in.
    pub(crate) fn leave(&self, state: WriterState) {
        let before = self.state.lock().replace(state);
        assert!(before.is_none(), "there is one writer");
        self.left.notify_one();
    }
}
