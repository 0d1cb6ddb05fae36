//! Which commits are being read.

use std::collections::BTreeMap;

use crate::page::CommitTs;
use crate::sync::Mutex;

#[derive(Debug)]
struct State {
    visible: CommitTs,
    /// Pages of the file as of the visible commit.
    pages: u64,
    active: BTreeMap<CommitTs, usize>,
}

/// The active snapshots and the visible commit.
#[derive(Debug)]
pub(crate) struct Snapshots(Mutex<State>);

impl Snapshots {
    /// No snapshot; `visible` is the newest commit, and the file has `pages` pages.
    pub(crate) fn new(visible: CommitTs, pages: u64) -> Self {
        Self(Mutex::new(State { visible, pages, active: BTreeMap::new() }))
    }

    /// Moves on to a newer commit, whose pages are published.
    pub(crate) fn set_visible(&self, ts: CommitTs, pages: u64) {
        let mut state = self.0.lock();
        assert!(ts > state.visible, "commits are published in order");
        (state.visible, state.pages) = (ts, pages);
    }

    /// Takes the commit that recovery reached as the newest; no snapshot has begun yet.
    pub(crate) fn recovered(&self, ts: CommitTs, pages: u64) {
        let mut state = self.0.lock();
        (state.visible, state.pages) = (ts, pages);
    }

    /// Begins a snapshot of the visible commit; gives the pages of the file as of it, too.
    pub(crate) fn begin(&self) -> (CommitTs, u64) {
        let mut state = self.0.lock();
        let ts = state.visible;
        *state.active.entry(ts).or_default() += 1;
        (ts, state.pages)
    }

    /// Ends a snapshot that began at `ts`.
    pub(crate) fn end(&self, ts: CommitTs) {
        let mut state = self.0.lock();
        let count = state.active.get_mut(&ts).expect("a snapshot ends once");
        *count -= 1;
        if *count == 0 {
            state.active.remove(&ts);
        }
    }

    /// Whether an active snapshot s has `begin <= s < end`.
    pub(crate) fn needs(&self, begin: CommitTs, end: CommitTs) -> bool {
        if begin >= end {
            return false;
        }
        let state = self.0.lock();
        (begin..end).contains(&state.visible) || state.active.range(begin..end).next().is_some()
    }
}
