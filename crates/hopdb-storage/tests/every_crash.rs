//! Every crash of tiny scripts: each cut, and each disk that it may leave. `cargo xtask sim --every-step` does it for
//! more of them, and cuts the recoveries, too.

#![expect(clippy::print_stdout, reason = "it says how many disks there were")]

use hopdb_testkit::crash::every::{Tiny, run_every};

/// Runs the script on disks with and without durable writes, prints how many disks there were, and holds that against
/// the least there should be.
fn assert_none_failed(name: &str, tiny: &Tiny, recovery_cuts_max: usize, disks_min: usize) {
    for seed in [1, 4] {
        let every = run_every(seed, tiny, recovery_cuts_max);
        let disks: usize = every.disks.values().sum();
        let (cuts, crashes) = (every.disks.len(), every.outcome.crashes);
        println!("{name}, seed {seed}: {cuts} cuts, {disks} disks, {crashes} crashes");
        let failures: Vec<String> =
            every.outcome.failures.iter().map(ToString::to_string).collect();
        assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
        assert!(disks >= disks_min, "{name}: only {disks} disks");
    }
}

#[test]
fn a_short_life_survives_every_crash() {
    assert_none_failed("life", &Tiny::life(), 1, 250);
}

#[test]
fn a_load_survives_every_crash() {
    assert_none_failed("load", &Tiny::load(), 1, 55);
}

#[test]
fn checkpoints_survive_every_crash() {
    assert_none_failed("checkpoints", &Tiny::checkpoints(), 1, 120);
}

#[test]
fn a_log_that_begins_again_survives_every_crash() {
    assert_none_failed("recycling", &Tiny::recycling(), 1, 150);
}

#[test]
fn steps_of_checkpoints_survive_every_crash() {
    assert_none_failed("steps", &Tiny::steps(), 1, 100);
}

#[test]
fn pages_freed_during_a_checkpoint_survive_every_crash() {
    assert_none_failed("freed", &Tiny::freed(), 1, 100);
}

#[test]
fn what_is_done_again_after_a_crash_survives_another() {
    assert_none_failed("again", &Tiny::again(), 1, 100);
}

#[test]
fn more_pages_than_images_survive_every_crash() {
    assert_none_failed("wide", &Tiny::wide(), 3, 200);
}
