//! The crash simulation, in the small: every seed printed by a failure can be replayed with
//! `cargo xtask sim --seed S`, which also runs many more.

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
fn a_short_script_survives_a_crash_at_every_step() {
    let outcome = assert_none_failed(1000..1002, &Config::EVERY_STEP);
    assert!(outcome.crashes > 500, "{outcome:?}");
}

#[test]
fn many_scripts_survive_some_crashes_and_faults() {
    let outcome = assert_none_failed(0..20, &Config::QUICK);
    assert!(outcome.crashes > 500 && outcome.faults > 100 && outcome.rot > 100, "{outcome:?}");
}
