//! The crash simulation, in the small: every seed that a failure names can be replayed with
//! `cargo xtask sim --seeds 1 --seed S`, which also runs many more.

use hopdb_testkit::crash::{Config, Outcome, run_seed};

fn assert_none_failed(seeds: std::ops::Range<u64>, config: &Config) -> Outcome {
    let mut outcome = Outcome::default();
    for seed in seeds {
        outcome.add(run_seed(seed, config));
    }
    let failures: Vec<String> = outcome.failures.iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    outcome
}

#[test]
fn creation_survives_a_crash_and_a_fault_at_every_step() {
    let outcome = assert_none_failed(0..8, &Config { actions: 0, ..Config::EVERY_STEP });
    assert!(outcome.crashes > 400 && outcome.faults > 300, "{outcome:?}");
}

#[test]
fn a_short_script_survives_a_crash_at_every_step() {
    let config = Config { actions: 8, recovery_cuts_max: 4, faults_max: 10, ..Config::EVERY_STEP };
    let outcome = assert_none_failed(1000..1002, &config);
    assert!(outcome.crashes > 500, "{outcome:?}");
}

#[test]
fn many_scripts_survive_some_crashes_and_faults() {
    let outcome = assert_none_failed(0..5, &Config::QUICK);
    assert!(outcome.crashes > 500 && outcome.faults > 80 && outcome.rot > 80, "{outcome:?}");
}

/// The same, for the processor beside.
#[test]
fn many_more_scripts_survive_some_crashes_and_faults() {
    let outcome = assert_none_failed(5..10, &Config::QUICK);
    assert!(outcome.crashes > 500 && outcome.faults > 80 && outcome.rot > 80, "{outcome:?}");
}

/// Without a crash, over many scripts: what only the order of reads, snapshots and commits can break.
#[test]
fn many_scripts_agree_with_the_model() {
    assert_none_failed(5150..5190, &Config::WITHOUT_CRASHES);
}
