//! Crash simulation of the storage engine: a seeded workload on the simulated disk, cut at every step,
//! reopened, checked, held against a model, and gone on with.
//!
//! [`run_seed`] does all of it for one seed: crashes, crashes inside recovery, faults, a full disk, and rot.
//! The same seed and settings give the same run. What must hold:
//! - an acknowledged commit is there, whole, whatever happened after it;
//! - one that was not acknowledged is there whole or not at all;
//! - every page is reached once or free, so nothing leaks;
//! - the store goes on afterwards;
//! - wrong bytes on the disk are told, never given out.

mod cuts;
pub mod every;
mod faults;
pub mod model;
mod rot;
mod run;
#[cfg(feature = "shuttle")]
pub mod threads;
pub mod workload;

use std::fmt;
use std::num::NonZero;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use hopdb_storage::Error;

pub use workload::Script;

/// How much is done for a seed.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Actions of the script.
    pub actions: usize,
    /// Steps at which the run is cut; when it has more, some are drawn.
    pub cuts_max: usize,
    /// Outcomes drawn for each cut, besides "all lost" and "all kept".
    pub outcomes: u64,
    /// Steps of a recovery at which that is cut again.
    pub recovery_cuts_max: usize,
    /// Steps at which a fault strikes, for each kind of fault.
    pub faults_max: usize,
    /// Bytes flipped and writes misdirected.
    pub rot_max: usize,
}

impl Config {
    /// For `cargo test`.
    pub const QUICK: Self = Self {
        actions: 25,
        cuts_max: 10,
        outcomes: 1,
        recovery_cuts_max: 1,
        faults_max: 4,
        rot_max: 10,
    };
    /// For `cargo xtask sim`.
    pub const THOROUGH: Self = Self {
        actions: 60,
        cuts_max: 60,
        outcomes: 2,
        recovery_cuts_max: 4,
        faults_max: 25,
        rot_max: 40,
    };
    /// The script alone, beside its model.
    pub const WITHOUT_CRASHES: Self = Self {
        actions: 60,
        cuts_max: 0,
        outcomes: 0,
        recovery_cuts_max: 0,
        faults_max: 0,
        rot_max: 0,
    };
    /// Every step, for small scripts.
    pub const EVERY_STEP: Self = Self {
        actions: 12,
        cuts_max: usize::MAX,
        outcomes: 2,
        recovery_cuts_max: usize::MAX,
        faults_max: usize::MAX,
        rot_max: 40,
    };
}

/// What came of a seed.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Crashes survived, those inside recovery included.
    pub crashes: u64,
    /// Faults injected.
    pub faults: u64,
    /// Bytes flipped and writes misdirected.
    pub rot: u64,
    /// Misdirected writes that left an older page behind which nothing tells from a new one.
    pub unseen: u64,
    /// What went wrong.
    pub failures: Vec<Failure>,
}

/// Something that should not have happened.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed of the script.
    pub seed: u64,
    /// What was done to the run: `cut at step 17, all lost`.
    pub scene: String,
    /// What went wrong.
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}, {}: {}", self.seed, self.scene, self.what)
    }
}

/// Why a run stopped.
#[derive(Debug)]
pub enum Trouble {
    /// The store returned an error.
    Store(Error),
    /// The store did something else than the model.
    Wrong(String),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error @ Error::Io { source, .. }) => write!(f, "{error}: {source}"),
            Self::Store(error) => error.fmt(f),
            Self::Wrong(what) => what.fmt(f),
        }
    }
}

impl Outcome {
    fn fail(&mut self, seed: u64, scene: impl fmt::Display, what: impl fmt::Display) {
        self.failures.push(Failure { seed, scene: scene.to_string(), what: what.to_string() });
    }

    /// Adds another seed's counts and failures.
    pub fn add(&mut self, other: Self) {
        self.crashes += other.crashes;
        self.faults += other.faults;
        self.rot += other.rot;
        self.unseen += other.unseen;
        self.failures.extend(other.failures);
    }
}

/// Where what comes of a seed is put down, and its chance drawn.
struct Examiner<'a> {
    seed: u64,
    random: fastrand::Rng,
    outcome: &'a mut Outcome,
}

impl<'a> Examiner<'a> {
    /// `part` gives each part of a seed's simulation a chance of its own.
    fn new(seed: u64, part: u64, outcome: &'a mut Outcome) -> Self {
        Self { seed, random: fastrand::Rng::with_seed(seed ^ part << 32), outcome }
    }

    fn fail(&mut self, scene: impl fmt::Display, what: impl fmt::Display) {
        self.outcome.fail(self.seed, scene, what);
    }

    /// Up to `max` of the steps 1 to `steps`, ascending.
    fn some_steps(&mut self, steps: u64, max: usize) -> Vec<u64> {
        let all = 1..=steps;
        if usize::try_from(steps).is_ok_and(|steps| steps <= max) {
            return all.collect();
        }
        let mut chosen: Vec<u64> = (0..max).map(|_| self.random.u64(all.clone())).collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }
}

/// One seed in so many is of the threaded kind.
const THREADED_IN: u64 = 4;

/// Whether a seed stands for threads under a scheduler, or for a script of one thread.
#[must_use]
pub fn is_threaded(seed: u64) -> bool {
    seed % THREADED_IN == THREADED_IN - 1
}

/// Runs seeds on all processors, each by itself; gives the sum of what came of them.
///
/// # Panics
/// When one of the runs does.
#[expect(clippy::disallowed_methods, reason = "these threads are none of the engine's")]
pub fn run_seeds(seeds: Range<u64>, run: impl Fn(u64) -> Outcome + Sync) -> Outcome {
    let next = AtomicU64::new(seeds.start);
    let total = Mutex::new(Outcome::default());
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if !seeds.contains(&seed) {
                        return;
                    }
                    let outcome = run(seed);
                    total.lock().expect("no sum panics").add(outcome);
                }
            });
        }
    });
    total.into_inner().expect("no sum panics")
}

/// Runs the script of a seed whole, then cut, with faults, and with rot.
#[must_use]
pub fn run_seed(seed: u64, config: &Config) -> Outcome {
    let script = Script::draw(seed, config.actions);
    let mut outcome = Outcome::default();
    match run::whole(seed, &script) {
        Err(trouble) => outcome.fail(seed, "run without a crash", trouble),
        Ok(whole) => {
            cuts::run(seed, &script, &whole, config, &mut outcome);
            faults::run(seed, &script, &whole, config, &mut outcome);
            faults::run_full_disk(seed, &script, &whole, config, &mut outcome);
            rot::run(seed, &script, config, &mut outcome);
        }
    }
    outcome
}
