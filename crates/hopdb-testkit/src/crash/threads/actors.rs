//! What each thread of the threaded simulation does: commit, read, or keep the store busy.
//!
//! A thread ends at the crash, at a poisoned store, and at whatever is wrong, which it notes in the history.
//! Each does a fixed number of rounds: one that waited for another would never let that one go on under a scheduler
//! that prefers it.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use hopdb_storage::io::sim::SimFs;
use hopdb_storage::sync::yield_now;
use hopdb_storage::{CommitTs, Durability, Error, ReadTxn, Store};

use super::history::History;
use crate::crash::Trouble;
use crate::crash::model::{Tables, apply, difference};
use crate::crash::workload::{Taste, transaction};

/// What all threads share.
#[derive(Clone)]
pub(super) struct Stage {
    pub(super) fs: SimFs,
    pub(super) store: Store,
    pub(super) history: History,
    pub(super) taste: Taste,
    /// Whether calls of the disk may fail before the crash.
    pub(super) faulty: bool,
}

/// Whether a thread has anything left to do.
enum Next {
    GoesOn,
    Ends,
}

impl Stage {
    /// Commits, and sometimes rolls back.
    pub(super) fn write(&self, mut random: Rng, transactions: usize) {
        for _ in 0..transactions {
            let done = self.transact(&mut random);
            if matches!(self.judge("a writer", done), Next::Ends) {
                return;
            }
        }
    }

    fn transact(&self, random: &mut Rng) -> Result<(), Trouble> {
        let mut changes = transaction(random, self.taste);
        changes.truncate(60);
        let mut txn = self.store.write()?;
        let base = self.history.newest();
        if txn.base_ts() != base.ts {
            let what = format!("a writer goes on from {}, not from {}", txn.base_ts(), base.ts);
            return Err(Trouble::Wrong(what));
        }
        let mut state = Tables::clone(&base.state);
        apply(&mut txn, &mut state, &changes)?;
        if random.u8(0..4) == 0
            && let Some(what) = difference(&txn, &state)?
        {
            return Err(Trouble::Wrong(format!("the transaction sees {what}")));
        }
        if random.u8(0..10) == 0 {
            return Ok(());
        }
        let durability = durability(random);
        txn.set_durability(durability);
        self.history.attempt(&Arc::new(state));
        let ts = txn.commit_then(|ts| self.history.published(ts, durability))?;
        if durability == Durability::Sync {
            self.history.is_durable(ts);
            let visible = self.store.visible_ts();
            if visible < ts {
                return Err(Trouble::Wrong(format!("commit {ts} returned, {visible} is visible")));
            }
        }
        Ok(())
    }

    /// Takes snapshots, holds some of them for a while, and looks into each again and again.
    pub(super) fn read(&self, mut random: Rng, rounds: usize) {
        let mut held: Vec<ReadTxn> = Vec::new();
        let mut last = CommitTs(0);
        for _ in 0..rounds {
            let must_see = self.history.visible().max(last);
            let snapshot = self.store.read();
            last = snapshot.commit_ts();
            self.history.is_seen(last);
            if last < must_see {
                self.history.wrong(format!("a snapshot sees {last}, after {must_see} was seen"));
                return;
            }
            held.push(snapshot);
            let snapshot = &held[random.usize(0..held.len())];
            let done = self.look(snapshot, random.u8(0..6) == 0);
            if matches!(self.judge("a reader", done), Next::Ends) {
                return;
            }
            while held.len() > random.usize(0..3) {
                held.swap_remove(random.usize(0..held.len()));
            }
            yield_now();
        }
    }

    /// Holds a snapshot against the state of its commit.
    fn look(&self, snapshot: &ReadTxn, check: bool) -> Result<(), Trouble> {
        let ts = snapshot.commit_ts();
        let Some(state) = self.history.at(ts) else {
            return Err(Trouble::Wrong(format!("a snapshot sees {ts}, which nobody published")));
        };
        if let Some(what) = difference(snapshot, &state)? {
            return Err(Trouble::Wrong(format!("the snapshot of {ts} sees {what}")));
        }
        if !check || self.faulty {
            return Ok(());
        }
        let report = snapshot.check()?;
        match report.problems.first() {
            // From the crash on, pages cannot be read.
            Some(problem) if !self.fs.crashed() => {
                Err(Trouble::Wrong(format!("the check of {ts} found: {problem}")))
            }
            _ => Ok(()),
        }
    }

    /// Calls what users and the engine's own threads call beside the writers.
    pub(super) fn maintain(&self, mut random: Rng, rounds: usize) {
        for _ in 0..rounds {
            let newest = self.history.newest().ts;
            let (name, done) = match random.u8(0..4) {
                0 => ("flush", self.store.flush()),
                1 => ("clear_cache", self.store.clear_cache()),
                _ => ("checkpoint", self.store.checkpoint()),
            };
            if done.is_ok() {
                self.history.is_durable(newest);
            }
            if matches!(self.judge(name, done.map_err(Trouble::from)), Next::Ends) {
                return;
            }
            for _ in 0..random.u8(0..4) {
                yield_now();
            }
        }
    }

    /// Holds an error against what the disk's faults and the crash may look like.
    fn judge(&self, who: &str, done: Result<(), Trouble>) -> Next {
        let Err(trouble) = done else { return Next::GoesOn };
        match trouble {
            Trouble::Store(Error::Io { .. } | Error::Poisoned(_)) if self.fs.crashed() => {
                Next::Ends
            }
            Trouble::Store(Error::Poisoned(_)) if self.faulty => Next::Ends,
            Trouble::Store(Error::Io { .. }) if self.faulty => Next::GoesOn,
            other => {
                self.history.wrong(format!("{who} fails with: {other}"));
                Next::Ends
            }
        }
    }
}

fn durability(random: &mut Rng) -> Durability {
    match random.u8(0..4) {
        0 => Durability::None,
        1 => Durability::Async { max_delay: Duration::from_micros(random.u64(0..30)) },
        _ => Durability::Sync,
    }
}
