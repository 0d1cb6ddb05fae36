//! The operating system's threads and latches. Only [`super`] uses this.

use std::sync::{RwLockReadGuard, RwLockWriteGuard};

pub use std::sync::MutexGuard;
pub use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};

use super::POISONED;

/// A latch for exclusive access.
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Wraps `value`.
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Waits for the latch. Panics if a holder panicked.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect(POISONED)
    }
}

/// A latch for shared or exclusive access.
#[derive(Debug, Default)]
pub struct RwLock<T>(std::sync::RwLock<T>);

impl<T> RwLock<T> {
    /// Wraps `value`.
    pub const fn new(value: T) -> Self {
        Self(std::sync::RwLock::new(value))
    }

    /// Waits for shared access. Panics if a holder panicked.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().expect(POISONED)
    }

    /// Waits for exclusive access. Panics if a holder panicked.
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().expect(POISONED)
    }
}

/// A condition that waits on a [`Mutex`].
#[derive(Debug, Default)]
pub struct Condvar(std::sync::Condvar);

impl Condvar {
    /// A condition nobody waits for yet.
    pub const fn new() -> Self {
        Self(std::sync::Condvar::new())
    }

    /// Gives up `guard` until notified; may wake without cause.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).expect(POISONED)
    }

    /// Like [`Condvar::wait`], and wakes after `time` in any case.
    pub fn wait_at_most<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: std::time::Duration,
    ) -> MutexGuard<'a, T> {
        self.0.wait_timeout(guard, time).expect(POISONED).0
    }

    /// Wakes one of all who wait.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all who wait.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// Starts a thread of the engine's own.
///
/// # Errors
/// When the system has no more threads.
#[expect(clippy::disallowed_methods, reason = "the primitive itself")]
pub fn spawn(name: &str, act: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().name(name.into()).spawn(act).map(drop)
}

/// Lets other threads run: between the retries of a short wait.
#[expect(clippy::disallowed_methods, reason = "the primitive itself")]
pub fn yield_now() {
    std::thread::yield_now();
}

/// How often [`spin_until`] looks.
const SPINS: usize = 200;

/// Waits a short while, of some microseconds, for what another thread is about to do; keeps the processor.
pub fn spin_until(done: impl Fn() -> bool) {
    for _ in 0..SPINS {
        if done() {
            return;
        }
        std::hint::spin_loop();
    }
}
