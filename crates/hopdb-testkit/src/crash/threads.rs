//! Crashes while several threads are at work: writers that commit in every way, readers that hold snapshots, and
//! calls of `flush`, `clear_cache` and `checkpoint` between them, under a scheduler that a seed drives.
//!
//! For each seed there are several schedules. The first one goes to its end and tells how many steps a run has; each
//! of the others is cut at a step drawn, with every thread wherever it is then, some after a fault. What must hold:
//! - a snapshot shows the state of one commit, whole, and goes on showing it;
//! - what a snapshot shows is durable, as far as it waited for the disk;
//! - after the crash there is a commit from the last acknowledged one on, whole, and the store goes on;
//! - nobody waits for ever: a deadlock, and a run without end, are failures.
//!
//! The seed and the settings give the same run, I/O for I/O. Everything here runs under the scheduler, opening what
//! the crash left included.

mod actors;
mod history;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fastrand::Rng;
use hopdb_storage::Options;
use hopdb_storage::io::sim::{Operation, SimFs};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::thread::spawn;
use shuttle::{FailurePersistence, MaxSteps, Runner};

use self::actors::Stage;
use self::history::History;
use super::cuts::Survivors;
use super::faults::FAULTS;
use super::model::{Tables, Value, apply};
use super::run::{create, disk, open, verify};
use super::workload::{Change, Taste, transaction};
use super::{Examiner, Outcome, Trouble};

/// Bytes of a thread's stack.
const STACK_BYTES: usize = 1 << 20;
/// Choices of the scheduler in one run after which it counts as endless.
const CHOICES_MAX: usize = 20_000_000;

/// How much is done for a seed.
#[derive(Clone, Copy, Debug)]
pub struct ThreadsConfig {
    /// Schedules, the first of which is not cut.
    pub schedules: usize,
    /// Outcomes drawn for each cut, besides "all lost" and "all kept".
    pub outcomes: u64,
    /// Steps of a recovery at which that is cut again.
    pub recovery_cuts_max: usize,
}

impl ThreadsConfig {
    /// For a test, and for `cargo xtask sim --quick`.
    pub const QUICK: Self = Self { schedules: 6, outcomes: 1, recovery_cuts_max: 1 };
    /// For `cargo xtask sim`.
    pub const THOROUGH: Self = Self { schedules: 25, outcomes: 2, recovery_cuts_max: 2 };
}

/// What came of a seed, and what its runs asked of the disk.
#[derive(Clone, Debug, Default)]
pub struct Threaded {
    /// Crashes, faults and failures.
    pub outcome: Outcome,
    /// The operations of each schedule until its end.
    pub traces: Vec<Vec<Operation>>,
}

/// How the threads of a seed are set up: the same in each of its schedules.
#[derive(Clone, Debug)]
struct Cast {
    options: Options,
    taste: Taste,
    writers: usize,
    transactions: usize,
    readers: usize,
    maintainers: usize,
    rounds: usize,
    /// Large commits before the threads start, so that the log begins again in front while they are at work.
    aging: u8,
    /// Turns that others get during an operation of the disk.
    latency: u32,
    /// Whether checkpoints have a thread of their own.
    background: bool,
}

impl Cast {
    fn draw(random: &mut Rng) -> Self {
        let (writers, readers) = (random.usize(2..5), random.usize(1..4));
        let maintainers = random.usize(1..3);
        // A cursor holds two frames, and whoever makes room a few more for a moment.
        let frames = 3 * (writers + readers + maintainers) + [0, 4, 50][random.usize(0..3)];
        let page_size = 4096;
        Self {
            options: Options { cache_bytes: frames * page_size, page_size, read_only: false },
            taste: Taste {
                large_in: if random.bool() { 8 } else { 40 },
                keys: if random.bool() { 12 } else { 200 },
            },
            writers,
            transactions: random.usize(2..7),
            readers,
            maintainers,
            rounds: random.usize(2..9),
            aging: [0, 3, 4, 5][random.usize(0..4)],
            latency: [0, 3, 1000][random.usize(0..3)],
            background: random.bool(),
        }
    }
}

/// A transaction whose pages fill much of the log of a small cache.
fn large(tag: u8) -> Vec<Change> {
    let table = "large".to_string();
    let value = Value { len: 14_000, tag: tag.into() };
    vec![Change::CreateTable(table.clone()), Change::Put(table, vec![tag % 2], value)]
}

/// What the schedules of a seed hand on to one another.
struct Progress {
    threaded: Threaded,
    /// Draws cuts and faults, and what each thread does.
    random: Rng,
    /// Steps of the schedule that was not cut.
    steps: u64,
}

/// All schedules of a seed.
struct Simulation {
    seed: u64,
    config: ThreadsConfig,
    cast: Cast,
    /// Under a latch of the system's, held for moments, never while the scheduler may switch.
    progress: Mutex<Progress>,
}

/// Runs the threads of a seed under all its schedules.
#[must_use]
pub fn run_threads(seed: u64, config: &ThreadsConfig) -> Threaded {
    let mut random = Rng::with_seed(seed);
    let cast = Cast::draw(&mut random);
    let (by_priority, depth) = (random.bool(), random.usize(2..6));
    let progress = Mutex::new(Progress { threaded: Threaded::default(), random, steps: 0 });
    let simulation = Arc::new(Simulation { seed, config: *config, cast, progress });
    let shared = Arc::clone(&simulation);
    let done = catch_unwind(AssertUnwindSafe(|| {
        if by_priority {
            play(PctScheduler::new_from_seed(seed, depth, config.schedules), shared);
        } else {
            play(RandomScheduler::new_from_seed(seed, config.schedules), shared);
        }
    }));
    let mut threaded = std::mem::take(&mut simulation.progress().threaded);
    if let Err(panic) = done {
        let what = panic.downcast_ref::<String>().map(String::as_str);
        let what = what.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        let scene = format!("threads, schedule {}", threaded.traces.len());
        threaded.outcome.fail(seed, scene, what);
    }
    threaded
}

fn play(scheduler: impl Scheduler + 'static, simulation: Arc<Simulation>) {
    let mut config = shuttle::Config::new();
    config.stack_size = STACK_BYTES;
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::FailAfter(CHOICES_MAX);
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(move || simulation.run());
}

impl Simulation {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One schedule.
    fn run(&self) {
        // The file's id is drawn from it.
        fastrand::seed(self.seed);
        let fs = disk(self.seed);
        fs.set_trace(true);
        fs.set_latency(self.cast.latency);
        fs.set_threads(self.cast.background);
        let number = self.progress().threaded.traces.len();
        let mut outcome = Outcome::default();
        match self.begin(&fs) {
            Err(trouble) => outcome.fail(self.seed, "threads, the beginning", trouble),
            Ok(mut stage) => {
                let scene = self.set_cut(&mut stage, number, &mut outcome);
                self.act(&stage);
                if number == 0 {
                    self.progress().steps = fs.steps();
                }
                self.end(stage, &scene, number, &mut outcome);
            }
        }
        let mut progress = self.progress();
        progress.threaded.outcome.add(outcome);
        progress.threaded.traces.push(fs.trace());
    }

    /// A store with a few commits, all of them durable.
    fn begin(&self, fs: &SimFs) -> Result<Stage, Trouble> {
        let taste = self.cast.taste;
        let store = create(fs, &self.cast.options)?;
        let mut state = Tables::new();
        let aging = (0..self.cast.aging).map(large);
        let first = transaction(&mut Rng::with_seed(self.seed), taste);
        for changes in aging.chain([first]) {
            let mut txn = store.write()?;
            apply(&mut txn, &mut state, &changes)?;
            txn.commit()?;
        }
        if self.cast.aging > 0 {
            store.checkpoint()?;
        }
        let history = History::new(store.visible_ts(), state);
        Ok(Stage { fs: fs.clone(), store, history, taste, faulty: false })
    }

    /// Draws where the schedule is cut and whether a fault comes before; gives what that is called.
    fn set_cut(&self, stage: &mut Stage, number: usize, outcome: &mut Outcome) -> String {
        let mut progress = self.progress();
        if number == 0 {
            return "threads, schedule 0".into();
        }
        let first = stage.fs.steps() + 1;
        let last = progress.steps.max(first);
        let step = progress.random.u64(first..=last);
        stage.fs.crash_at_step(step);
        let scene = format!("threads, schedule {number}, cut at step {step}");
        if progress.random.u8(0..4) > 0 {
            return scene;
        }
        let faulty = progress.random.u64(first..=step);
        let fault = FAULTS[progress.random.usize(0..FAULTS.len())];
        stage.fs.fail_at(faulty, fault);
        stage.faulty = true;
        outcome.faults += 1;
        format!("{scene}, {fault:?} at step {faulty}")
    }

    /// Starts all threads and waits for them.
    fn act(&self, stage: &Stage) {
        let Cast { writers, transactions, readers, maintainers, rounds, .. } = self.cast;
        let mut threads = Vec::new();
        let mut start = |count: usize, act: fn(&Stage, Rng, usize), rounds: usize| {
            for _ in 0..count {
                let (stage, random) = (stage.clone(), self.progress().random.fork());
                threads.push(spawn(move || act(&stage, random, rounds)));
            }
        };
        start(writers, Stage::write, transactions);
        start(readers, Stage::read, rounds);
        start(maintainers, Stage::maintain, rounds);
        for thread in threads {
            assert!(thread.join().is_ok(), "a panic ends the whole run");
        }
    }

    /// Looks at what the threads found, and at what is left of the disk.
    fn end(&self, stage: Stage, scene: &str, number: usize, outcome: &mut Outcome) {
        for wrong in stage.history.take_wrong() {
            outcome.fail(self.seed, scene, wrong);
        }
        if number == 0 {
            if let Err(trouble) = self.close(stage) {
                outcome.fail(self.seed, scene, trouble);
            }
            return;
        }
        let (mut states, attempted) = stage.history.survivors();
        let drawn = (0..self.config.outcomes)
            .map(|n| (stage.fs.after_crash(self.seed + n), format!("drawn {n}")));
        let mut disks: Vec<_> = drawn.collect();
        disks.push((stage.fs.after_crash_all_lost(), "all lost".into()));
        disks.push((stage.fs.after_crash_all_kept(), "all kept".into()));
        drop(stage);
        let survivors = Survivors {
            options: &self.cast.options,
            acknowledged: states.pop(),
            earlier: states,
            attempted,
            recovery_cuts_max: self.config.recovery_cuts_max,
        };
        let mut examiner = Examiner::new(self.seed, 4 + number as u64, outcome);
        for (disk, name) in disks {
            survivors.examine(&disk, &format!("{scene}, {name}"), &mut examiner);
        }
    }

    /// Closes the store without a crash, and opens it again.
    fn close(&self, stage: Stage) -> Result<(), Trouble> {
        let Stage { fs, store, history, .. } = stage;
        store.close()?;
        let store = open(&fs, &self.cast.options)?;
        verify(&store.read(), &history.newest().state)
    }
}
