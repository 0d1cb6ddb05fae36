//! Faults: an operation of the disk fails, or the disk is full, and the program goes on.
//!
//! A store that still takes a transaction after an error must hold exactly what was acknowledged. One that
//! refuses for good must still show it, and reopening must bring back what was acknowledged, or the commit
//! that failed, whole.

use hopdb_storage::Error;
use hopdb_storage::io::sim::{Fault, OperationKind, SimFs};

use super::cuts::Survivors;
use super::run::{Run, Whole, disk};
use super::workload::Script;
use super::{Config, Examiner, Outcome, Trouble};

pub(super) const FAULTS: [Fault; 4] =
    [Fault::Eio, Fault::NoSpace, Fault::ShortWrite, Fault::FailedSync];

/// What a store does after an error.
enum After {
    /// It goes on, and nothing but the failed call is lost.
    GoesOn,
    /// It refuses to write.
    Refuses,
}

/// Lets single steps fail.
pub(super) fn run(
    seed: u64,
    script: &Script,
    whole: &Whole,
    config: &Config,
    outcome: &mut Outcome,
) {
    let mut examiner = Examiner::new(seed, 2, outcome);
    for fault in FAULTS {
        for step in examiner.some_steps(whole.steps, config.faults_max) {
            let kind = whole.trace.iter().find(|operation| operation.step == step);
            let kind = kind.map_or(OperationKind::Read, |operation| operation.kind);
            let fs = disk(seed);
            fs.fail_at(step, fault);
            examiner.outcome.faults += 1;
            let scene = format!("{fault:?} at step {step} ({kind:?})");
            let mut run = Run::new(seed, fs, script);
            match play(&mut run, script) {
                Err(what) => examiner.fail(&scene, what),
                Ok(After::GoesOn) => {
                    if run.store.is_some() {
                        let survivors = Survivors {
                            options: &script.options,
                            acknowledged: run.acknowledged.clone(),
                            earlier: run.earlier.clone(),
                            attempted: None,
                            recovery_cuts_max: 1,
                        };
                        let disk = run.fs.after_crash_all_lost();
                        let scene = format!("{scene}, gone on, all lost");
                        survivors.examine(&disk, &scene, &mut examiner);
                    }
                    // The fault may strike in here, too.
                    let Err(trouble) = run.finish() else { continue };
                    match expected("close", trouble) {
                        Ok(()) => outlive(run, script, &scene, &mut examiner),
                        Err(what) => examiner.fail(&scene, what),
                    }
                }
                Ok(After::Refuses) if !may_poison(kind) => {
                    examiner.fail(&scene, "the store refuses to write, though nothing is in doubt");
                }
                Ok(After::Refuses) => {
                    outlive(run, script, &scene, &mut examiner);
                }
            }
        }
    }
}

/// Only writes, syncs and the shortening of the log can leave the disk in doubt.
fn may_poison(kind: OperationKind) -> bool {
    use OperationKind::{SetLen, Sync, Write, WriteDurable};
    matches!(kind, Write | WriteDurable | Sync | SetLen)
}

/// Runs on a disk that is too small, then on one that has grown.
pub(super) fn run_full_disk(
    seed: u64,
    script: &Script,
    whole: &Whole,
    config: &Config,
    outcome: &mut Outcome,
) {
    let mut examiner = Examiner::new(seed, 3, outcome);
    for _ in 0..config.faults_max.min(40) {
        let bytes = examiner.random.u64(0..whole.bytes);
        let scene = format!("a disk of {bytes} bytes");
        examiner.outcome.faults += 1;
        let fs = disk(seed);
        fs.set_capacity(bytes);
        let mut run = Run::new(seed, fs.clone(), script);
        let mut play = || {
            match play(&mut run, script)? {
                After::GoesOn => {}
                After::Refuses => return Err("a full disk is no reason to refuse".to_string()),
            }
            fs.set_capacity(u64::MAX);
            revive(&mut run, script)?;
            run.go_on(&mut examiner.random)
                .map_err(|trouble| format!("with space again: {trouble}"))
        };
        if let Err(what) = play() {
            examiner.fail(&scene, what);
        }
    }
}

/// Plays the script past errors of the disk, until the store refuses to write.
fn play(run: &mut Run, script: &Script) -> Result<After, String> {
    if let Err(trouble) = run.start(script) {
        expected("create", trouble)?;
        // Nothing was left, or the whole; then it can be tried again.
        run.attempted = None;
        if run.fs.paths().is_empty()
            && let Err(trouble) = run.start(script)
        {
            expected("create again", trouble)?;
            return Ok(After::GoesOn);
        }
        if run.store.is_none() {
            run.acknowledged = Some(super::model::Tables::new());
            return Ok(After::GoesOn);
        }
    }
    for action in &script.actions {
        let Err(trouble) = run.act(action) else { continue };
        let name = action.name();
        expected(name, trouble)?;
        if run.store.is_none() {
            if let Err(trouble) = run.reopen() {
                expected("open again", trouble)?;
                return Ok(After::GoesOn);
            }
            continue;
        }
        if matches!(probe(run, name)?, After::Refuses) {
            return Ok(After::Refuses);
        }
        run.attempted = None;
    }
    Ok(After::GoesOn)
}

/// Holds an error against what the disk's faults may look like.
fn expected(action: &str, trouble: Trouble) -> Result<(), String> {
    match trouble {
        Trouble::Store(Error::Io { .. } | Error::Poisoned(_)) => Ok(()),
        other => Err(format!("{action} fails with: {other}")),
    }
}

/// Whether the store still takes transactions, and what it shows.
fn probe(run: &mut Run, action: &str) -> Result<After, String> {
    let Some(store) = &run.store else { return Ok(After::GoesOn) };
    let after = match store.write() {
        Ok(_) | Err(Error::Io { .. }) => After::GoesOn,
        Err(Error::Poisoned(_)) => After::Refuses,
        Err(other) => return Err(format!("after {action} failed: {other}")),
    };
    match run.verify() {
        Ok(()) => Ok(after),
        // Making room for a page may need a write.
        Err(Trouble::Store(Error::Io { .. } | Error::Poisoned(_))) => Ok(after),
        Err(other) => Err(format!("after {action} failed: {other}")),
    }
}

/// Brings a run back whose store could not even be made or opened.
fn revive(run: &mut Run, script: &Script) -> Result<(), String> {
    if run.store.is_some() {
        return Ok(());
    }
    run.forget_snapshots();
    let done = if run.fs.paths().is_empty() { run.start(script) } else { run.reopen() };
    done.map_err(|trouble| format!("with space again: {trouble}"))
}

/// Crashes a store that refuses to write, and reopens it.
fn outlive(mut run: Run, script: &Script, scene: &str, examiner: &mut Examiner<'_>) {
    run.forget_snapshots();
    let survivors = Survivors {
        options: &script.options,
        acknowledged: run.acknowledged.take(),
        earlier: std::mem::take(&mut run.earlier),
        attempted: run.attempted.take(),
        recovery_cuts_max: 1,
    };
    let fs = run.fs.clone();
    drop(run);
    examine_all(&survivors, &fs, scene, examiner);
    // Without a crash: the process opens the database again. What a failed sync forgot can still be read, and
    // goes when the power does.
    fs.crash_at_step(fs.steps() + examiner.random.u64(1..30));
    let scene = format!("{scene}, reopened, cut at step {}", fs.steps());
    let (acknowledged, earlier, attempted) = match survivors.recover(&fs) {
        Ok((store, state)) => {
            let mut run = Run::resume(fs.clone(), &script.options, store, state);
            match run.go_on(&mut examiner.random) {
                Err(trouble) if !fs.crashed() => return examiner.fail(scene, trouble),
                _ => {}
            }
            run.forget_snapshots();
            (run.acknowledged.take(), std::mem::take(&mut run.earlier), run.attempted.take())
        }
        Err(_) if fs.crashed() => {
            (survivors.acknowledged.clone(), survivors.earlier.clone(), survivors.attempted.clone())
        }
        Err(trouble) => return examiner.fail(scene, trouble),
    };
    let survivors = Survivors { acknowledged, earlier, attempted, ..survivors };
    examine_all(&survivors, &fs, &scene, examiner);
}

/// Examines the extremes of what a crash now would leave, and an outcome between them.
fn examine_all(survivors: &Survivors<'_>, fs: &SimFs, scene: &str, examiner: &mut Examiner<'_>) {
    let disks = [
        (fs.after_crash(examiner.random.u64(..)), "drawn"),
        (fs.after_crash_all_lost(), "all lost"),
        (fs.after_crash_all_kept(), "all kept"),
    ];
    for (disk, name) in disks {
        survivors.examine(&disk, &format!("{scene}, {name}"), examiner);
    }
}
