//! Threads under a seeded scheduler, for simulations. Only [`super`] uses this.
//!
//! All threads of a run are on one thread of the system, and another may go on wherever a latch is taken, an atomic
//! is used or a thread yields. Memory is sequentially consistent, whatever [`Ordering`] is asked for. Time does not
//! pass: a wait with a limit is one during which all others may run.

use std::ops::{Deref, DerefMut};

use shuttle::sync as scheduled;
use shuttle::sync::{RwLockReadGuard, RwLockWriteGuard};

pub use shuttle::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};

use super::POISONED;

/// A latch for exclusive access.
#[derive(Debug, Default)]
pub struct Mutex<T>(scheduled::Mutex<T>);

/// Holds a [`Mutex`].
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    latch: &'a Mutex<T>,
    held: scheduled::MutexGuard<'a, T>,
}

impl<T> Mutex<T> {
    /// Wraps `value`.
    pub const fn new(value: T) -> Self {
        Self(scheduled::Mutex::new(value))
    }

    /// Waits for the latch. Panics if a holder panicked.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard { latch: self, held: self.0.lock().expect(POISONED) }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.held
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.held
    }
}

/// A latch for shared or exclusive access.
#[derive(Debug, Default)]
pub struct RwLock<T>(scheduled::RwLock<T>);

impl<T> RwLock<T> {
    /// Wraps `value`.
    pub const fn new(value: T) -> Self {
        Self(scheduled::RwLock::new(value))
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
pub struct Condvar(scheduled::Condvar);

impl Condvar {
    /// A condition nobody waits for yet.
    pub const fn new() -> Self {
        Self(scheduled::Condvar::new())
    }

    /// Gives up `guard` until notified; may wake without cause.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let MutexGuard { latch, held } = guard;
        MutexGuard { latch, held: self.0.wait(held).expect(POISONED) }
    }

    /// Gives up `guard` while others run, then takes the latch again.
    pub fn wait_at_most<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _time: std::time::Duration,
    ) -> MutexGuard<'a, T> {
        let latch = guard.latch;
        drop(guard);
        yield_now();
        latch.lock()
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
/// None: the scheduler has threads enough.
pub fn spawn(name: &str, act: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    shuttle::thread::Builder::new().name(name.into()).spawn(act).map(drop)
}

/// Lets other threads run: between the retries of a short wait.
pub fn yield_now() {
    shuttle::thread::yield_now();
}

/// Waits a short while for what another thread is about to do.
pub fn spin_until(done: impl Fn() -> bool) {
    if !done() {
        yield_now();
    }
}
