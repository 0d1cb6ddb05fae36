//! What several threads did to one store, in the order of its commits: the oracle of the threaded simulation.
//!
//! Every commit is noted while its writer keeps the others out, so the history is in commit order and each state in
//! it is the one before with one transaction's changes. The latch is the system's and held for moments, never while
//! the scheduler may switch.

use std::sync::{Arc, Mutex, MutexGuard};

use hopdb_storage::{CommitTs, Durability};

use crate::crash::model::Tables;

/// A commit that is published.
#[derive(Clone, Debug)]
pub(super) struct Commit {
    pub(super) ts: CommitTs,
    /// Whether readers see it only after it is durable.
    waits: bool,
    pub(super) state: Arc<Tables>,
}

#[derive(Debug)]
struct State {
    /// All commits from the first on, ascending without a gap.
    commits: Vec<Commit>,
    /// What the transaction would make of it whose commit is running or failed.
    attempted: Option<Arc<Tables>>,
    /// The newest commit that must survive.
    durable: CommitTs,
    /// The newest commit that snapshots must show.
    visible: CommitTs,
    wrong: Vec<String>,
}

/// Shared by all threads of a run.
#[derive(Clone, Debug)]
pub(super) struct History(Arc<Mutex<State>>);

impl History {
    /// Begins with a durable commit.
    pub(super) fn new(ts: CommitTs, state: Tables) -> Self {
        let first = Commit { ts, waits: true, state: Arc::new(state) };
        Self(Arc::new(Mutex::new(State {
            commits: vec![first],
            attempted: None,
            durable: ts,
            visible: ts,
            wrong: Vec::new(),
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nothing panics while it holds the history")
    }

    /// Notes a failure.
    pub(super) fn wrong(&self, what: String) {
        self.state().wrong.push(what);
    }

    /// The failures noted.
    pub(super) fn take_wrong(&self) -> Vec<String> {
        std::mem::take(&mut self.state().wrong)
    }

    /// The newest commit: what a writer goes on from.
    pub(super) fn newest(&self) -> Commit {
        self.state().newest().clone()
    }

    /// What the commit `ts` holds, if there is such a commit, or there may be in a moment.
    pub(super) fn at(&self, ts: CommitTs) -> Option<Arc<Tables>> {
        let history = self.state();
        if ts.0 == history.newest().ts.0 + 1 {
            return history.attempted.clone();
        }
        history
            .commits
            .iter()
            .find(|commit| commit.ts == ts)
            .map(|commit| Arc::clone(&commit.state))
    }

    /// A writer is about to commit `state`.
    pub(super) fn attempt(&self, state: &Arc<Tables>) {
        self.state().attempted = Some(Arc::clone(state));
    }

    /// Its commit is published.
    pub(super) fn published(&self, ts: CommitTs, durability: Durability) {
        let mut history = self.state();
        let expected = CommitTs(history.newest().ts.0 + 1);
        let Some(state) = history.attempted.take() else {
            return history.wrong.push(format!("commit {ts} was published, though nobody commits"));
        };
        if ts != expected {
            history.wrong.push(format!("commit {ts} was published instead of {expected}"));
        }
        let waits = durability == Durability::Sync;
        history.commits.push(Commit { ts, waits, state });
    }

    /// A commit has returned, or a call that makes all up to it durable.
    pub(super) fn is_durable(&self, ts: CommitTs) {
        let mut history = self.state();
        history.durable = history.durable.max(ts);
        history.visible = history.visible.max(ts);
    }

    /// A snapshot that begins from now on must see this commit, or a later one.
    pub(super) fn visible(&self) -> CommitTs {
        self.state().visible
    }

    /// A snapshot sees `ts`: what waits for the disk among the commits up to it must be durable then.
    pub(super) fn is_seen(&self, ts: CommitTs) {
        let mut history = self.state();
        history.visible = history.visible.max(ts);
        let waited = history.commits.iter().rev().find(|commit| commit.waits && commit.ts <= ts);
        if let Some(waited) = waited.map(|commit| commit.ts) {
            history.durable = history.durable.max(waited);
        }
    }

    /// What may be there after a crash: the states from the one on that must survive, ascending; and what a commit
    /// may have made of the last that had not come to be published.
    pub(super) fn survivors(&self) -> (Vec<Tables>, Option<Tables>) {
        let history = self.state();
        let states = history.commits.iter().filter(|commit| commit.ts >= history.durable);
        let states = states.map(|commit| Tables::clone(&commit.state)).collect();
        (states, history.attempted.as_deref().cloned())
    }
}

impl State {
    fn newest(&self) -> &Commit {
        self.commits.last().expect("there is a first commit")
    }
}
