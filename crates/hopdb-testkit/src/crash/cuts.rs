//! Crashes: the run is cut at its steps, and recovery at its own.

use std::fmt::Display;

use hopdb_storage::io::sim::SimFs;
use hopdb_storage::{Options, Store};

use super::model::{Tables, difference};
use super::run::{NAME, Run, Whole, disk, open, verify};
use super::workload::Script;
use super::{Config, Examiner, Outcome, Trouble};

/// Cuts the run at each step, or at some.
pub(super) fn run(
    seed: u64,
    script: &Script,
    whole: &Whole,
    config: &Config,
    outcome: &mut Outcome,
) {
    let mut examiner = Examiner::new(seed, 1, outcome);
    for step in examiner.some_steps(whole.steps, config.cuts_max) {
        let fs = disk(seed);
        fs.crash_at_step(step);
        let mut run = Run::new(seed, fs.clone(), script);
        let stopped =
            run.start(script).and_then(|()| script.actions.iter().try_for_each(|a| run.act(a)));
        let stopped = stopped.and_then(|()| run.finish());
        // After the crash a check finds pages that it cannot read; before it, anything found is a failure.
        if !fs.crashed() {
            let what = stopped.err().map_or("it came to its end".into(), |t| t.to_string());
            examiner.fail(format_args!("cut at step {step}"), what);
            continue;
        }
        let acknowledged = run.acknowledged.take();
        let attempted = run.attempted.take();
        let earlier = std::mem::take(&mut run.earlier);
        drop(run);
        let survivors = Survivors {
            options: &script.options,
            acknowledged,
            earlier,
            attempted,
            recovery_cuts_max: config.recovery_cuts_max,
        };
        let drawn = (0..config.outcomes).map(|n| (fs.after_crash(seed + n), format!("drawn {n}")));
        let all =
            [(fs.after_crash_all_lost(), "all lost"), (fs.after_crash_all_kept(), "all kept")];
        let all = all.into_iter().map(|(fs, name)| (fs, name.to_string()));
        for (disk, name) in drawn.chain(all) {
            let scene = format!("cut at step {step}, {name}");
            survivors.examine(&disk, &scene, &mut examiner);
        }
    }
}

/// What may be on a disk after a crash.
pub(super) struct Survivors<'a> {
    pub(super) options: &'a Options,
    /// `None`: not even the store was acknowledged, and it need not be there.
    pub(super) acknowledged: Option<Tables>,
    /// What was acknowledged before, and may not be durable.
    pub(super) earlier: Vec<Tables>,
    /// What a commit that was not acknowledged may have made of it.
    pub(super) attempted: Option<Tables>,
    pub(super) recovery_cuts_max: usize,
}

impl Survivors<'_> {
    /// Opens what is left, holds it against the model, goes on with it; then cuts the recovery itself.
    pub(super) fn examine(&self, disk: &SimFs, scene: &dyn Display, examiner: &mut Examiner<'_>) {
        examiner.outcome.crashes += 1;
        if disk.file_bytes(NAME).is_none() {
            if self.acknowledged.is_some() {
                examiner.fail(scene, "the database is gone");
            } else if !disk.paths().is_empty() {
                examiner.fail(scene, format_args!("left {:?}", disk.paths()));
            }
            return;
        }
        let copy = disk.after_crash_all_kept();
        let (store, state) = match self.recover(&copy) {
            Ok(found) => found,
            Err(trouble) => return examiner.fail(scene, trouble),
        };
        let steps = copy.steps();
        let mut run = Run::resume(copy, self.options, store, state.clone());
        if let Err(trouble) = run.go_on(&mut examiner.random) {
            examiner.fail(format_args!("{scene}, gone on"), trouble);
        }
        let again = Survivors {
            options: self.options,
            acknowledged: Some(state),
            earlier: Vec::new(),
            attempted: None,
            recovery_cuts_max: self.recovery_cuts_max,
        };
        for step in examiner.some_steps(steps, self.recovery_cuts_max) {
            let scene = format!("{scene}, recovery cut at step {step}");
            again.cut_recovery(disk, &scene, step, examiner);
        }
    }

    /// Opens the disk, and finds which of the states it has.
    pub(super) fn recover(&self, disk: &SimFs) -> Result<(Store, Tables), Trouble> {
        let store = open(disk, self.options)?;
        let snapshot = store.read();
        let mut differences = Vec::new();
        let newest = [&self.attempted, &self.acknowledged].into_iter().flatten();
        for state in newest.chain(self.earlier.iter().rev()) {
            match difference(&snapshot, state)? {
                None => {
                    verify(&snapshot, state)?;
                    return Ok((store, state.clone()));
                }
                Some(what) => differences.push(what),
            }
        }
        Err(Trouble::Wrong(format!("none of the states: {}", differences.join("; "))))
    }

    /// Cuts the recovery at a step, and the one after that at some step, too.
    fn cut_recovery(
        &self,
        disk: &SimFs,
        scene: &dyn Display,
        step: u64,
        examiner: &mut Examiner<'_>,
    ) {
        let mut disk = disk.after_crash_all_kept();
        for step in [step, examiner.random.u64(1..=step)] {
            disk.crash_at_step(step);
            let opened = open(&disk, self.options);
            if !disk.crashed() {
                // The second recovery may be shorter than the first.
                if let Err(error) = opened {
                    examiner.fail(scene, Trouble::from(error));
                }
                return;
            }
            drop(opened);
            disk = disk.after_crash(examiner.random.u64(..));
            examiner.outcome.crashes += 1;
            if let Err(trouble) = self.recover(&disk.after_crash_all_kept()) {
                return examiner.fail(scene, trouble);
            }
        }
    }
}
