//! Makes commits durable that did not wait for it, when their time has come.
//!
//! Invariant: a commit that was given a delay is durable, or the handle is poisoned, no later than one sync after the
//! delay.

use std::time::Duration;

use super::Engine;
use super::worker::Worker;
use crate::page::Lsn;
use crate::sync::{Arc, Mutex};

/// What is to be flushed, and when.
#[derive(Debug, Default)]
pub(crate) struct Flusher {
    /// Time on the file system's clock, and up to where.
    due: Mutex<Option<(Duration, Lsn)>>,
    worker: Worker,
}

impl Flusher {
    /// Has everything below `lsn` flushed within `delay`.
    pub(crate) fn ask(engine: &Arc<Engine>, lsn: Lsn, delay: Duration) {
        let flusher = &engine.flusher;
        let due = engine.fs.now().saturating_add(delay);
        {
            let mut plan = flusher.due.lock();
            *plan = match *plan {
                Some((before, other)) => Some((before.min(due), other.max(lsn))),
                None => Some((due, lsn)),
            };
        }
        if !flusher.worker.wake(engine, due, ("hopdb-flush", flush)) {
            // A failure poisons the handle, which tells the next who asks.
            drop(engine.flush_log(lsn));
        }
    }

    /// Ends the thread; what it had to do is for the caller.
    pub(crate) fn stop(&self) {
        self.worker.stop();
    }
}

fn flush(engine: &Arc<Engine>) -> Option<Duration> {
    let now = engine.fs.now();
    let mut plan = engine.flusher.due.lock();
    let (due, lsn) = (*plan)?;
    if due > now {
        return Some(due - now);
    }
    *plan = None;
    drop(plan);
    // A failure poisons the handle, which tells the next who asks.
    drop(engine.flush_log(lsn));
    None
}
