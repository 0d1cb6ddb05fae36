//! Threads for work in the background: one for each kind of work, there only once it is asked for.
//!
//! Invariants:
//! 1. The thread holds the engine only while it works: [`Worker::stop`] returns when it does not any more, and will not.
//! 2. Work is begun no earlier than it is due, and never by two threads.

use std::time::Duration;

use super::Engine;
use crate::sync::{Arc, Condvar, Mutex, Weak, spawn};

/// One piece of work; gives when the next is due, as time from now, or that there is none.
pub(crate) type Work = fn(&Arc<Engine>) -> Option<Duration>;

#[derive(Debug, Default)]
struct Plan {
    /// Time on the file system's clock at which there is something to do.
    due: Option<Duration>,
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
pub(crate) struct Worker(Arc<Shared>);

impl Worker {
    /// Has `work` done at the time `due`, or earlier where that was planned before. `false` when the system has no thread
    /// for it: then it is for the caller.
    pub(crate) fn wake(
        &self,
        engine: &Arc<Engine>,
        due: Duration,
        (name, work): (&'static str, Work),
    ) -> bool {
        let mut plan = self.0.plan.lock();
        if plan.stopped {
            return true;
        }
        plan.due = Some(plan.due.map_or(due, |before| before.min(due)));
        if !plan.running {
            let (engine, shared) = (Arc::downgrade(engine), Arc::clone(&self.0));
            plan.running = spawn(name, move || run(&engine, &shared, work)).is_ok();
        }
        let running = plan.running;
        drop(plan);
        self.0.changed.notify_all();
        running
    }

    /// Ends the thread, after the work it is at.
    pub(crate) fn stop(&self) {
        let mut plan = self.0.plan.lock();
        plan.stopped = true;
        self.0.changed.notify_all();
        while plan.running {
            plan = self.0.changed.wait(plan);
        }
    }
}

/// Says that the thread is gone, however it goes.
struct Running<'a>(&'a Shared);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.plan.lock().running = false;
        self.0.changed.notify_all();
    }
}

fn run(engine: &Weak<Engine>, shared: &Shared, work: Work) {
    let _running = Running(shared);
    let mut plan = shared.plan.lock();
    while !plan.stopped {
        let Some(due) = plan.due else {
            plan = shared.changed.wait(plan);
            continue;
        };
        // An engine that is gone was closed, and closing does all there is to do.
        let Some(engine) = engine.upgrade() else { break };
        let now = engine.fs.now();
        if now < due {
            drop(engine);
            plan = shared.changed.wait_at_most(plan, due - now);
            continue;
        }
        plan.due = None;
        drop(plan);
        let next = work(&engine).map(|pause| engine.fs.now().saturating_add(pause));
        drop(engine);
        plan = shared.plan.lock();
        plan.due = match (plan.due, next) {
            (Some(asked), Some(next)) => Some(asked.min(next)),
            (asked, next) => asked.or(next),
        };
    }
}
