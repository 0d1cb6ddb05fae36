//! Every crash of a tiny script: a cut at each step, and at each cut every disk that it may leave.
//!
//! Where the seeded simulation draws, this enumerates, so that the hand-over between the log, the places of pages and
//! the header is gone through whole: log made, begun, recycled, checkpoint by checkpoint, and closed. A script is a
//! prelude, which is not cut, and a few actions that are.

use std::collections::BTreeMap;

use fastrand::Rng;
use hopdb_storage::Options;
use hopdb_storage::io::sim::SimFs;

use super::cuts::Survivors;
use super::model::{Entries, Value};
use super::run::{Run, disk};
use super::workload::{Action, Change, Script};
use super::{Examiner, Outcome, Trouble};

/// Changes whose every subset is gone through.
const CHANGES_MAX: usize = 10;
const TABLE: &str = "t";

/// A script, of which the first so many actions are not cut.
#[derive(Clone, Debug)]
pub struct Tiny {
    script: Script,
    prelude: usize,
    /// Whether making the database is cut.
    cuts_creation: bool,
    /// What is done once more after each crash, before another one.
    again: Option<Action>,
}

fn put(key: u8, value: (usize, u64)) -> Change {
    Change::Put(TABLE.into(), vec![key], Value { len: value.0, tag: value.1 })
}

fn tiny(frames: usize, prelude: Vec<Action>, actions: Vec<Action>) -> Tiny {
    let page_size = 4096;
    let options = Options { cache_bytes: frames * page_size, page_size, ..Options::default() };
    let count = prelude.len();
    let actions = prelude.into_iter().chain(actions).collect();
    let script = Script { options, loads: None, actions };
    Tiny { script, prelude: count, cuts_creation: false, again: None }
}

/// A table with one entry.
fn first() -> Action {
    Action::Commit(vec![Change::CreateTable(TABLE.into()), put(0, (10, 0))])
}

fn commit(tag: u64) -> Action {
    Action::Commit(vec![put(1, (10, tag))])
}

/// One whose pages fill much of the log of a small cache.
fn large(tag: u64) -> Action {
    Action::Commit(vec![put(2, (14_000, tag))])
}

impl Tiny {
    /// From nothing: creation, the log, a checkpoint, a reopening.
    #[must_use]
    pub fn life() -> Self {
        let actions =
            vec![first(), commit(1), Action::Checkpoint, commit(2), Action::Reopen, commit(3)];
        Self { cuts_creation: true, ..tiny(64, Vec::new(), actions) }
    }

    /// A load that gets its name when it is whole.
    #[must_use]
    pub fn load() -> Self {
        let entries: Entries =
            (0..3).map(|n| (vec![n], Value { len: 100, tag: n.into() })).collect();
        let mut tiny = tiny(64, Vec::new(), vec![commit(1)]);
        tiny.script.loads = Some(vec![vec![Change::Bulk(TABLE.into(), entries)]]);
        Self { cuts_creation: true, ..tiny }
    }

    /// Checkpoints one after the other, with commits between them that wait, and that do not.
    #[must_use]
    pub fn checkpoints() -> Self {
        let later = Action::CommitLater(vec![put(3, (10, 9))]);
        let actions =
            vec![commit(1), Action::Checkpoint, later, commit(2), Action::Checkpoint, commit(3)];
        tiny(64, vec![first()], actions)
    }

    /// The log is full and begins again in front, and its second round is read back.
    #[must_use]
    pub fn recycling() -> Self {
        let prelude =
            vec![first(), large(1), large(2), Action::Checkpoint, large(3), Action::Checkpoint];
        let actions = vec![commit(1), large(4), commit(2), Action::Checkpoint, commit(3)];
        tiny(64, prelude, actions)
    }

    /// A pool so small that commits themselves take steps of checkpoints.
    #[must_use]
    pub fn steps() -> Self {
        let actions =
            (0..3).map(|n| Action::Commit(vec![put(4 + n, (3000, n.into())), put(1, (9, 1))]));
        tiny(4, vec![first(), large(1)], actions.chain([Action::Reopen]).collect())
    }

    /// More pages than the log has room for images: a checkpoint, and a recovery, use that room again on the way.
    #[must_use]
    pub fn wide() -> Self {
        let fill =
            |n: u8| Change::Put(TABLE.into(), vec![n / 3, n % 3 + 1], Value { len: 900, tag: 0 });
        let fill = Action::Commit((0..30).map(fill).collect());
        let change = |tag| Action::Commit((0..10).map(|n| put(n, (10, tag))).collect());
        let prelude = vec![first(), change(1), fill, Action::Checkpoint];
        tiny(6, prelude, vec![change(2), Action::Checkpoint])
    }

    /// Pages that a checkpoint has yet to write are freed meanwhile, by a commit that does not wait: when the redo point
    /// moves, that commit must be durable.
    #[must_use]
    pub fn freed() -> Self {
        let other = "u";
        let fill = |tag| {
            let row = |n: u8| Change::Put(other.into(), vec![n], Value { len: 900, tag });
            let rows = (0..40).map(row);
            Action::Commit([Change::CreateTable(other.into())].into_iter().chain(rows).collect())
        };
        let drop = Action::CommitLater(vec![Change::DropTable(other.into())]);
        // Each commit takes a step; these change nothing.
        let step = Action::CommitLater(Vec::new());
        let prelude = vec![first(), fill(1), Action::Checkpoint];
        tiny(64, prelude, vec![fill(2), drop, step.clone(), step.clone(), step.clone(), step])
    }

    /// Commits of one size that go to the log together, and the first of them once more after the crash: what is left of
    /// the others, which fits behind it, must not follow it.
    #[must_use]
    pub fn again() -> Self {
        let row = |key: u8| vec![put(key, (700, key.into()))];
        let actions =
            vec![Action::CommitLater(row(4)), Action::CommitLater(row(5)), Action::Commit(row(6))];
        Self { again: Some(Action::Commit(row(4))), ..tiny(64, vec![first()], actions) }
    }

    /// Those above, one for each of the first seeds, then drawn ones: commits on one page or two, checkpoints and
    /// reopenings.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        match seed {
            0 => Self::life(),
            1 => Self::load(),
            2 => Self::checkpoints(),
            3 => Self::recycling(),
            4 => Self::steps(),
            5 => Self::wide(),
            6 => Self::freed(),
            7 => Self::again(),
            _ => Self::draw(seed),
        }
    }

    fn draw(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let frames = [4, 6, 64][random.usize(0..3)];
        let mut prelude = vec![first()];
        prelude.extend((0..random.u64(0..5)).map(large));
        let mut commits = random.usize(2..5);
        let mut actions = Vec::new();
        while commits > 0 {
            let tag = random.u64(..);
            actions.push(match random.u8(0..10) {
                0..3 => Action::Checkpoint,
                3 => Action::Reopen,
                4 => Action::Flush,
                5 => Action::ClearCache,
                kind => {
                    commits -= 1;
                    match kind {
                        6 => Action::CommitLater(vec![put(
                            random.u8(0..4),
                            (random.usize(0..60), tag),
                        )]),
                        7 => large(tag),
                        _ => commit(tag),
                    }
                }
            });
        }
        tiny(frames, prelude, actions)
    }
}

/// What came of a script: besides failures, how many disks there were at each of its cuts.
#[derive(Clone, Debug, Default)]
pub struct Every {
    /// Crashes and failures.
    pub outcome: Outcome,
    /// Disks by step.
    pub disks: BTreeMap<u64, usize>,
}

/// Cuts a script at every step, and goes through every disk that each cut may leave.
///
/// `seed` names it in failures, and draws what is done to the store afterwards; with `recovery_cuts_max` its recovery
/// is cut as well, at so many steps.
#[must_use]
pub fn run_every(seed: u64, tiny: &Tiny, recovery_cuts_max: usize) -> Every {
    let mut every = Every::default();
    let mut step = 0;
    loop {
        let fs = disk(seed);
        let mut run = Run::new(seed, fs.clone(), &tiny.script);
        let (prelude, actions) = tiny.script.actions.split_at(tiny.prelude);
        let begun = begin(&mut run, tiny, prelude, &mut step);
        let ended = begun.and_then(|()| {
            actions.iter().try_for_each(|action| run.act(action)).and_then(|()| run.finish())
        });
        let mut examiner = Examiner::new(seed, 5, &mut every.outcome);
        let scene = format!("every crash, cut at step {step}");
        if !fs.crashed() {
            // Behind the last step.
            if let Err(trouble) = ended {
                examiner.fail(scene, trouble);
            }
            return every;
        }
        let survivors = Survivors {
            options: &tiny.script.options,
            acknowledged: run.acknowledged.take(),
            earlier: std::mem::take(&mut run.earlier),
            attempted: run.attempted.take(),
            recovery_cuts_max,
        };
        drop(run);
        let mut count = 0;
        for disk in fs.every_crash(CHANGES_MAX) {
            let scene = format!("{scene}, disk {count}");
            survivors.examine(&disk, &scene, &mut examiner);
            if let Some(action) = &tiny.again
                && let Err(trouble) = do_again(&survivors, &disk, action)
            {
                examiner.fail(format_args!("{scene}, done again"), trouble);
            }
            count += 1;
        }
        every.disks.insert(step, count);
        step += 1;
    }
}

/// Opens what a crash left, does this, and crashes again.
fn do_again(survivors: &Survivors<'_>, disk: &SimFs, action: &Action) -> Result<(), Trouble> {
    let disk = disk.after_crash_all_kept();
    let (store, state) = survivors.recover(&disk)?;
    let mut run = Run::resume(disk, survivors.options, store, state);
    run.act(action)?;
    let survivors = Survivors {
        options: survivors.options,
        acknowledged: Some(run.state()),
        earlier: Vec::new(),
        attempted: None,
        recovery_cuts_max: 0,
    };
    survivors.recover(&run.fs.after_crash_all_lost()).map(drop)
}

/// Makes the database and plays the prelude; sets the crash, at the first step behind them when none is said.
fn begin(run: &mut Run, tiny: &Tiny, prelude: &[Action], step: &mut u64) -> Result<(), Trouble> {
    if tiny.cuts_creation {
        *step = (*step).max(1);
        run.fs.crash_at_step(*step);
    }
    run.start(&tiny.script)?;
    prelude.iter().try_for_each(|action| run.act(action))?;
    if !tiny.cuts_creation {
        *step = (*step).max(run.fs.steps() + 1);
        run.fs.crash_at_step(*step);
    }
    Ok(())
}
