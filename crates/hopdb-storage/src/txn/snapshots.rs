//! Which commits are being read, and which are published, but not durable yet.
//!
//! Invariants: `visible` is the newest commit such that none up to it waits for the log; commits become visible and
//! durable in order. What any commit from the visible one on may show stays, since it may be the visible one soon.

use std::collections::{BTreeMap, VecDeque};

use crate::mutants::Mutant;
use crate::page::{CommitTs, Lsn};
use crate::pager::RedoPoint;
use crate::sync::Mutex;

/// A commit that is published.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Published {
    pub(crate) ts: CommitTs,
    /// Pages of the file as of it.
    pub(crate) pages: u64,
    /// Where its records end.
    pub(crate) lsn: Lsn,
    /// Whether it is not visible before it is durable.
    pub(crate) waits: bool,
}

#[derive(Debug)]
struct State {
    /// The newest commit that is published.
    newest: RedoPoint,
    visible: CommitTs,
    /// Pages of the file as of the visible commit.
    pages: u64,
    /// Commits above it, ascending; the first one waits.
    waiting: VecDeque<Published>,
    /// The newest commit that is durable, and where the log is.
    durable: (CommitTs, Lsn),
    /// Where the records of the commits above it end.
    volatile: VecDeque<(CommitTs, Lsn)>,
    active: BTreeMap<CommitTs, usize>,
}

/// The active snapshots and the visible commit.
#[derive(Debug)]
pub(crate) struct Snapshots(Mutex<State>);

impl Snapshots {
    /// No snapshot; `newest` is visible.
    pub(crate) fn new(newest: RedoPoint) -> Self {
        Self(Mutex::new(State::new(newest)))
    }

    /// Notes a commit whose pages are published. Whether another one is visible now.
    pub(crate) fn published(&self, commit: Published) -> bool {
        let mut state = self.0.lock();
        let last = state.waiting.back().map_or(state.visible, |waiting| waiting.ts);
        assert!(commit.ts > last, "commits are published in order");
        state.newest = RedoPoint { ts: commit.ts, pages: commit.pages, lsn: commit.lsn };
        state.waiting.push_back(commit);
        state.volatile.push_back((commit.ts, commit.lsn));
        state.advance()
    }

    /// Notes that the log is durable up to `lsn`. Whether another commit is visible now.
    pub(crate) fn set_durable(&self, lsn: Lsn) -> bool {
        let mut state = self.0.lock();
        state.durable.1 = state.durable.1.max(lsn);
        while state.volatile.front().is_some_and(|(_, end)| *end <= lsn)
            && let Some((ts, _)) = state.volatile.pop_front()
        {
            state.durable.0 = ts;
        }
        state.advance()
    }

    /// The commit at which snapshots begin.
    pub(crate) fn visible(&self) -> CommitTs {
        self.0.lock().visible
    }

    /// The newest commit that is published.
    pub(crate) fn newest(&self) -> RedoPoint {
        self.0.lock().newest
    }

    /// Notes that the records behind the newest commit, up to `lsn`, do not count. Only the writer does so.
    pub(crate) fn pass_over(&self, lsn: Lsn) {
        self.0.lock().newest.lsn = lsn;
    }

    /// Takes the commit that recovery reached as the newest; no snapshot has begun yet.
    pub(crate) fn recovered(&self, newest: RedoPoint) {
        *self.0.lock() = State::new(newest);
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

    /// Whether the id of a page born at `birth` and freed at `freed` may be given out again.
    pub(crate) fn frees(&self, birth: CommitTs, freed: CommitTs) -> bool {
        let durable = self.0.lock().durable.0;
        (durable >= freed || Mutant::FreeBeforeDurable.is_on())
            && (!self.needs(birth, freed) || Mutant::FreeTooEarly.is_on())
    }

    /// Whether a snapshot s with `begin <= s < end` is active, or can begin yet.
    pub(crate) fn needs(&self, begin: CommitTs, end: CommitTs) -> bool {
        if begin >= end {
            return false;
        }
        let state = self.0.lock();
        end > state.visible || state.active.range(begin..end).next().is_some()
    }
}

impl State {
    fn new(newest: RedoPoint) -> Self {
        Self {
            newest,
            visible: newest.ts,
            pages: newest.pages,
            waiting: VecDeque::new(),
            durable: (newest.ts, Lsn(0)),
            volatile: VecDeque::new(),
            active: BTreeMap::new(),
        }
    }

    /// Makes the commits visible that wait no longer; whether there were any.
    fn advance(&mut self) -> bool {
        let before = self.visible;
        let durable = self.durable.1;
        while self.waiting.front().is_some_and(|next| !next.waits || next.lsn <= durable)
            && let Some(next) = self.waiting.pop_front()
        {
            (self.visible, self.pages) = (next.ts, next.pages);
        }
        self.visible > before
    }
}
