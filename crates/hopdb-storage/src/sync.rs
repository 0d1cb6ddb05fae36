//! The synchronisation primitives of the engine: nothing else in it blocks, shares memory or starts threads.
//!
//! Locks here are latches: short and physical. A latch whose holder panicked stays broken, because a
//! broken in-memory invariant must not reach the disk: every later use of it panics as well.
//!
//! Two implementations of the same names: `system` is what everybody runs; with the feature `shuttle`, which
//! simulations alone turn on, it is `scheduled`: a seeded scheduler decides at each use of a primitive which thread
//! goes on, and the same seed gives the same run. The primitives work inside such a run only, then.

#[cfg(feature = "shuttle")]
mod scheduled;
#[cfg(not(feature = "shuttle"))]
mod system;

#[cfg(feature = "shuttle")]
use scheduled as primitives;
#[cfg(not(feature = "shuttle"))]
use system as primitives;

pub use primitives::{
    AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, RwLock,
    spawn, spin_until, yield_now,
};
pub use std::sync::{Arc, Weak};

const POISONED: &str = "a thread panicked while it held this latch; reopen the database";
