//! Threads for work on the database, as many at a time as the limits say.
//!
//! Invariants:
//! 1. Work that waits or computes for long holds up no other request, and no connection, for more than some
//!    milliseconds: the runtime has more threads than there are places for work, and short work is watched, so that
//!    another thread takes over the sockets (see [`Watch`]).
//! 2. Work beside is stopped: when its client goes away, or its time is over, its [`Stop`] says so.
//!
//! Work that reads a few pages runs on the thread that has the request: handing it to another one and back took as long
//! as the work itself, and more than halved the requests a second of small reads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::failure::{Code, Failure};
use crate::watch::Watch;

/// Says whether anybody still waits for a piece of work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error when nobody waits any longer.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if !self.is_asked() {
            return Ok(());
        }
        Err(Failure::new(Code::Timeout, "nobody waits for this any longer"))
    }
}

/// Asks the work to stop when the one who waits is gone.
struct Waiting(Stop);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs work on threads.
#[derive(Debug)]
pub(crate) struct Workers {
    free: Arc<Semaphore>,
    wait: Duration,
    watch: Arc<Watch>,
}

impl Workers {
    pub(crate) fn new(threads: usize, wait: Duration, watch: Arc<Watch>) -> Self {
        Self { free: Arc::new(Semaphore::new(threads)), wait, watch }
    }

    /// Runs short `work` at once, on this thread.
    pub(crate) fn run_here<T>(
        &self,
        work: impl FnOnce(&Stop) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let _place = self.place()?;
        // What the work holds is dropped with it: nothing sees it half done.
        let work = || self.watch.during(|| work(&Stop::default()));
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(failed()))
    }

    fn place(&self) -> Result<OwnedSemaphorePermit, Failure> {
        Arc::clone(&self.free).try_acquire_owned().map_err(|_| {
            let message = "as many requests are at work as may be at a time";
            Failure::new(Code::Busy, message).hint("try again in a second")
        })
    }

    /// Runs `work` on a thread beside. Its place is taken until it ends, also when nobody waits any longer.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Stop) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let place = self.place()?;
        let stop = Stop::default();
        let _waiting = Waiting(stop.clone());
        let running = tokio::task::spawn_blocking(move || {
            let done = work(&stop);
            drop(place);
            done
        });
        match tokio::time::timeout(self.wait, running).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => Err(failed()),
            Err(_) => {
                let seconds = self.wait.as_secs_f64();
                let message = format!("the work took longer than {seconds:.0} s");
                Err(Failure::new(Code::Timeout, message).hint(
                    "ask for less at a time; see whether a change was made before you repeat it",
                ))
            }
        }
    }
}

fn failed() -> Failure {
    Failure::new(Code::Internal, "the work ended in a failure of its own")
        .hint("standard error of the server says more")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn workers(wait: Duration) -> Workers {
        Workers::new(1, wait, Arc::default())
    }

    #[tokio::test]
    async fn what_is_too_much_is_refused() {
        let workers = workers(Duration::from_secs(60));
        let (go_on, wait) = mpsc::channel::<()>();
        let (began, begins) = tokio::sync::oneshot::channel();
        let first = workers.run(move |_| {
            began.send(()).unwrap();
            wait.recv().unwrap();
            Ok(1)
        });
        let second = async {
            begins.await.unwrap();
            let refused = workers.run(|_| Ok(2)).await;
            go_on.send(()).unwrap();
            refused
        };
        let (first, second) = tokio::join!(first, second);
        assert_eq!(first, Ok(1));
        assert_eq!(second.unwrap_err().code, Code::Busy);
        assert_eq!(workers.run(|_| Ok(3)).await, Ok(3));
    }

    #[tokio::test]
    async fn work_is_asked_to_stop_when_its_time_is_over() {
        let workers = workers(Duration::from_millis(1));
        let (told, tells) = tokio::sync::oneshot::channel();
        let late = workers.run(move |stop| {
            while !stop.is_asked() {
                std::hint::spin_loop();
            }
            told.send(()).unwrap();
            Ok(())
        });
        assert_eq!(late.await.unwrap_err().code, Code::Timeout);
        tells.await.unwrap();
    }

    #[tokio::test]
    async fn work_is_asked_to_stop_when_nobody_waits() {
        let workers = workers(Duration::from_secs(60));
        let (began, begins) = tokio::sync::oneshot::channel();
        let (told, tells) = tokio::sync::oneshot::channel();
        let work = workers.run(move |stop| {
            began.send(()).unwrap();
            while !stop.is_asked() {
                std::hint::spin_loop();
            }
            told.send(()).unwrap();
            Ok(())
        });
        tokio::select! {
            biased;
            _ = work => panic!("it does not end by itself"),
            begun = begins => begun.unwrap(),
        }
        tells.await.unwrap();
    }

    #[tokio::test]
    async fn a_panic_is_an_error() {
        let workers = workers(Duration::from_secs(60));
        let failed = workers.run::<()>(|_| panic!("as the test wants it")).await;
        assert_eq!(failed.unwrap_err().code, Code::Internal);
        let failed = workers.run_here::<()>(|_| panic!("as the test wants it"));
        assert_eq!(failed.unwrap_err().code, Code::Internal);
        assert_eq!(workers.run_here(|_| Ok(3)), Ok(3));
    }
}
