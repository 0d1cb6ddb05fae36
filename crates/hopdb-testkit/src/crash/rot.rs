//! Rot: flipped bits and writes that land in the wrong place. They must be told when they are read or
//! checked, never given out as data.
//!
//! Two cannot be told, by this engine or any that keeps no second copy: damage to the last batch of the log
//! looks like a batch that a crash tore, and a page write that went astray leaves the page's older version
//! behind, valid in itself, when it landed where nothing is read. They are counted, and must look like
//! nothing worse.

use hopdb_storage::io::sim::{OperationKind, SimFs};

use super::cuts::Survivors;
use super::model::{Tables, difference};
use super::run::{NAME, Run, disk, open};
use super::workload::Script;
use super::{Config, Examiner, Outcome, Trouble};

/// What an open, a read of everything and a check made of a damaged disk.
enum Sight {
    /// An error, or a problem in the report.
    Told,
    /// Exactly this state, and nothing to complain about.
    Same,
    /// Something else without a word: the first difference.
    Wrong(String),
}

/// Damages the script's database in several ways.
pub(super) fn run(seed: u64, script: &Script, config: &Config, outcome: &mut Outcome) {
    let mut examiner = Examiner::new(seed, 4, outcome);
    // Damage is held against what is on the disk, and so that must be known.
    let script = &script.with_waiting_commits();
    let fs = disk(seed);
    let mut run = Run::new(seed, fs.clone(), script);
    let mut before = Tables::new();
    let played = run.start(script).and_then(|()| {
        script.actions.iter().try_for_each(|action| {
            let state = run.state();
            run.act(action)?;
            if run.state() != state {
                before = state;
            }
            Ok(())
        })
    });
    if let Err(trouble) = played {
        return examiner.fail("run before rot", trouble);
    }
    let state = run.state();
    let open_disk = fs.after_crash_all_kept();
    let closed = run.finish();
    if let Err(trouble) = closed {
        return examiner.fail("close before rot", trouble);
    }
    let closed_disk = fs.after_crash_all_kept();
    for _ in 0..config.rot_max {
        for (disk, kind) in [(&closed_disk, "closed"), (&open_disk, "open")] {
            let names = disk.paths();
            let name = &names[examiner.random.usize(0..names.len())];
            let len = disk.file_bytes(name).map_or(0, |bytes| bytes.len() as u64);
            let at = examiner.random.u64(0..len);
            let damaged = disk.after_crash_all_kept();
            damaged.corrupt(name, at, 1 << examiner.random.u8(0..8));
            examiner.outcome.rot += 1;
            let scene = format!("{kind}, flipped a bit of byte {at} of {}", name.display());
            let in_log = !name.ends_with(NAME.rsplit('/').next().unwrap_or(NAME));
            match look(&damaged, script, &state) {
                Sight::Told | Sight::Same => {}
                Sight::Wrong(_) if in_log && is_state(&damaged, script, &before) => {
                    examiner.outcome.unseen += 1;
                }
                Sight::Wrong(what) => examiner.fail(scene, what),
            }
        }
    }
    for _ in 0..config.rot_max.div_ceil(4) {
        misdirect(script, &mut examiner);
    }
}

/// Plays the script with one write of the page file going astray.
fn misdirect(script: &Script, examiner: &mut Examiner<'_>) {
    let seed = examiner.seed;
    let fs = disk(seed);
    fs.set_trace(true);
    let mut run = Run::new(seed, fs.clone(), script);
    if let Err(trouble) = run.start(script) {
        return examiner.fail("run before a misdirected write", trouble);
    }
    let page = script.options.page_size as i64;
    // The third write from now that is not to the log; which it is, the trace tells later.
    let step = fs.steps() + examiner.random.u64(1..40);
    let delta = page * examiner.random.i64(-8..8);
    if delta == 0 {
        return;
    }
    fs.misdirect_at(step, delta);
    examiner.outcome.rot += 1;
    let scene = format!("the write of step {step} lands {delta} bytes off");
    for action in &script.actions {
        match run.act(action) {
            Ok(()) => {}
            Err(Trouble::Store(_)) => return,
            Err(Trouble::Wrong(what)) => {
                // A read of the older version: only where the write was one of a page in place.
                return note(&fs, step, (&scene, what), examiner);
            }
        }
    }
    let state = run.state();
    run.forget_snapshots();
    drop(run);
    match look(&fs, script, &state) {
        Sight::Told | Sight::Same => {}
        Sight::Wrong(what) => note(&fs, step, (&scene, what), examiner),
    }
}

/// A lost write of pages cannot be told; anything else must be.
fn note(fs: &SimFs, step: u64, (scene, what): (&str, String), examiner: &mut Examiner<'_>) {
    let trace = fs.trace();
    let operation = trace.iter().find(|operation| operation.step == step);
    let lost_pages = operation.is_some_and(|operation| {
        operation.kind == OperationKind::Write
            && operation.path.ends_with("x.hop")
            && operation.len > 128
    });
    if lost_pages {
        examiner.outcome.unseen += 1;
    } else {
        examiner.fail(scene, what);
    }
}

fn look(disk: &SimFs, script: &Script, state: &Tables) -> Sight {
    let Ok(store) = open(disk, &script.options) else { return Sight::Told };
    if store.clear_cache().is_err() {
        return Sight::Told;
    }
    let snapshot = store.read();
    let found = difference(&snapshot, state);
    let sound = snapshot.check().is_ok_and(|report| report.problems.is_empty());
    match found {
        Err(_) => Sight::Told,
        Ok(None) => Sight::Same,
        Ok(Some(_)) if !sound => Sight::Told,
        Ok(Some(what)) => Sight::Wrong(what),
    }
}

fn is_state(disk: &SimFs, script: &Script, state: &Tables) -> bool {
    let survivors = Survivors {
        options: &script.options,
        acknowledged: Some(state.clone()),
        earlier: Vec::new(),
        attempted: None,
        recovery_cuts_max: 0,
    };
    survivors.recover(disk).is_ok()
}
