//! Sees to it that connections are looked after while a thread of the runtime is kept.
//!
//! The runtime's threads wait for sockets and timers in turn: one of them does, the others sleep until there is
//! something to run. The one that wakes with a request runs it, and if that takes long nobody waits for sockets
//! any more, however many threads sleep. So whatever may keep a thread is watched: when it has kept one for
//! [`TICK`] or more, another thread is woken, finds nothing to run, and waits for sockets.
//!
//! Invariants:
//! 1. Work that lasts is seen between one and two ticks after its begin, and again every second tick.
//! 2. The watcher sleeps only when nothing is watched; whatever begins then wakes it.
//! 3. What is watched costs two additions; nothing waits for the watcher.
//!
//! How work that lasts is told from much short work: it is counted in one of two counters, that of the tick in which it
//! began. When a tick begins, its counter holds only what began two ticks ago or earlier and still runs.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

use tokio::runtime::Handle;

/// How often is looked.
const TICK: Duration = Duration::from_millis(2);

/// Ticks without anything to watch until the watcher sleeps: waking it costs more than a tick.
const IDLE_TICKS_MAX: u32 = 50;

/// Counts what runs.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Which of the counters is for what begins now.
    tick: AtomicUsize,
    running: [AtomicUsize; 2],
    sleeps: AtomicBool,
    ended: AtomicBool,
    watcher: OnceLock<Thread>,
}

/// Counts one less when the work ends, whether well or not.
struct Running<'w>(&'w AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Watch {
    /// Runs what may keep its thread.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let counter = &self.running[self.tick.load(Ordering::Relaxed) % 2];
        counter.fetch_add(1, Ordering::SeqCst);
        let _running = Running(counter);
        // Either this sees that the watcher sleeps, or the watcher sees that something runs.
        if self.sleeps.load(Ordering::SeqCst) && self.sleeps.swap(false, Ordering::SeqCst) {
            self.wake();
        }
        work()
    }

    fn wake(&self) {
        if let Some(watcher) = self.watcher.get() {
            watcher.unpark();
        }
    }

    fn is_idle(&self) -> bool {
        self.running.iter().all(|counter| counter.load(Ordering::SeqCst) == 0)
    }

    fn watch(&self, runtime: &Handle) {
        let mut idle_ticks = 0;
        while !self.ended.load(Ordering::SeqCst) {
            let next = self.tick.load(Ordering::Relaxed) + 1;
            if self.running[next % 2].load(Ordering::SeqCst) > 0 {
                drop(runtime.spawn(async {}));
            }
            self.tick.store(next, Ordering::Relaxed);
            idle_ticks = if self.is_idle() { idle_ticks + 1 } else { 0 };
            if idle_ticks > IDLE_TICKS_MAX {
                idle_ticks = 0;
                self.sleep();
            }
            std::thread::park_timeout(TICK);
        }
    }

    /// Sleeps until something runs.
    fn sleep(&self) {
        self.sleeps.store(true, Ordering::SeqCst);
        while self.is_idle()
            && self.sleeps.load(Ordering::SeqCst)
            && !self.ended.load(Ordering::SeqCst)
        {
            std::thread::park();
        }
        self.sleeps.store(false, Ordering::SeqCst);
    }
}

/// The thread that watches; it ends with this.
#[derive(Debug)]
pub(crate) struct Watcher {
    watch: Arc<Watch>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Watches over the threads of a runtime.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(watch: &Arc<Watch>, runtime: Handle) -> std::io::Result<Self> {
        let watching = Arc::clone(watch);
        let thread = std::thread::Builder::new().name("hopdb-watcher".into()).spawn(move || {
            let own = watching.watcher.get_or_init(std::thread::current);
            debug_assert_eq!(own.id(), std::thread::current().id(), "one watcher alone");
            watching.watch(&runtime);
        })?;
        Ok(Self { watch: Arc::clone(watch), thread: Some(thread) })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.watch.ended.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It does nothing that can fail.
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn timers_go_on_while_a_thread_is_kept() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let watch = Arc::new(Watch::default());
        let _watcher = Watcher::start(&watch, runtime.handle().clone()).unwrap();
        for _ in 0..5 {
            let (woken, wait) = mpsc::channel();
            let (done, told) = mpsc::channel();
            runtime.spawn(async move {
                tokio::time::sleep(Duration::from_millis(30)).await;
                woken.send(()).unwrap();
            });
            let watch = Arc::clone(&watch);
            // The thread that waited for timers is kept before the other timer is over.
            runtime.spawn(async move {
                tokio::time::sleep(Duration::from_millis(10)).await;
                done.send(watch.during(|| wait.recv_timeout(Duration::from_secs(30)))).unwrap();
            });
            assert_eq!(told.recv().unwrap(), Ok(()));
        }
    }
}
