//! Every crash of tiny scripts: each cut, and each disk that it may leave. `cargo xtask sim --every-step` does it for
//! more of them, and cuts the recoveries, too.

use hopdb_testkit::crash::every::{Tiny, run_every};

/// Runs the script, prints how many disks there were, and holds that against the least there should be.
fn assert_none_failed(name: &str, tiny: &Tiny, disks_min: usize) {
    let every = run_every(1, tiny, 0);
    let disks: usize = every.disks.values().sum();
    println!("{name}: {} cuts, {disks} disks", every.disks.len());
    let failures: Vec<String> = every.outcome.failures.iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(disks >= disks_min, "{name}: only {disks} disks");
}

#[test]
fn a_short_life_survives_every_crash() {
    assert_none_failed("life", &Tiny::life(), 1);
}

#[test]
fn a_load_survives_every_crash() {
    assert_none_failed("load", &Tiny::load(), 1);
}

#[test]
fn checkpoints_survive_every_crash() {
    assert_none_failed("checkpoints", &Tiny::checkpoints(), 1);
}

#[test]
fn a_log_that_begins_again_survives_every_crash() {
    assert_none_failed("recycling", &Tiny::recycling(), 1);
}

#[test]
fn steps_of_checkpoints_survive_every_crash() {
    assert_none_failed("steps", &Tiny::steps(), 1);
}
