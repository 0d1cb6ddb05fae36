//! Makes commits durable that did not wait for it, when their time has come.
//!
//! Invariants:
//! 1. A commit that was given a delay is durable, or the handle is poisoned, no later than one sync after the delay.
//! 2. The thread holds the engine only while it flushes: a store that is dropped is gone at once.
//! 3. There is a thread only once a commit asked for it; it ends with the store.

use std::sync::Weak;
use std::time::Duration;

use super::Engine;
use crate::page::Lsn;
use crate::sync::{Arc, Condvar, Mutex, spawn};

/// What is to be flushed, and when.
#[derive(Debug, Default)]
struct Plan {
    /// Time on the file system's clock, and up to where.
    due: Option<(Duration, Lsn)>,
    /// Whether the thread is there.
    running: bool,
    stopped: bool,
}

#[derive(Debug, Default)]
struct Shared {
    plan: Mutex<Plan>,
    changed: Condvar,
}

/// The thread, or that there is none yet.
#[derive(Debug, Default)]
pub(crate) struct Flusher(Arc<Shared>);

impl Flusher {
    /// Has everything below `lsn` flushed within `delay`.
    pub(crate) fn ask(engine: &Arc<Engine>, lsn: Lsn, delay: Duration) {
        let shared = &engine.flusher.0;
        let mut plan = shared.plan.lock();
        let due = engine.fs.now().saturating_add(delay);
        plan.due = match plan.due {
            Some((before, other)) => Some((before.min(due), other.max(lsn))),
            None => Some((due, lsn)),
        };
        if !plan.running {
            plan.running = true;
            let (engine, shared) = (Arc::downgrade(engine), Arc::clone(shared));
            spawn("hopdb-flush", move || run(&engine, &shared));
        }
        drop(plan);
        shared.changed.notify_one();
    }

    /// Ends the thread; what it had to do is for the caller.
    pub(crate) fn stop(&self) {
        self.0.plan.lock().stopped = true;
        self.0.changed.notify_one();
    }
}

fn run(engine: &Weak<Engine>, shared: &Shared) {
    let mut plan = shared.plan.lock();
    while !plan.stopped {
        let Some((due, lsn)) = plan.due else {
            plan = shared.changed.wait(plan);
            continue;
        };
        // A store that is gone was closed, and closing flushes.
        let Some(engine) = engine.upgrade() else { return };
        let now = engine.fs.now();
        if now < due {
            drop(engine);
            plan = shared.changed.wait_at_most(plan, due - now);
            continue;
        }
        plan.due = None;
        drop(plan);
        // A failure poisons the handle, which tells the next who asks.
        drop(engine.flush_log(lsn));
        drop(engine);
        plan = shared.plan.lock();
    }
}
