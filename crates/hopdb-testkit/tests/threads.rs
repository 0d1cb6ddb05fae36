//! The threaded crash simulation, in the small: every seed that a failure names can be replayed with
//! `cargo xtask sim --seeds 1 --seed S`, which also runs many more.

use hopdb_testkit::crash::Outcome;
use hopdb_testkit::crash::threads::{ThreadsConfig, run_threads};

#[test]
fn threads_survive_crashes_under_many_schedules() {
    let mut total = Outcome::default();
    for seed in 0..12 {
        total.add(run_threads(seed, &ThreadsConfig::QUICK).outcome);
    }
    let failures: Vec<String> = total.failures.iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(total.crashes > 150 && total.faults > 5, "{total:?}");
}

#[test]
fn a_seed_replays_operation_for_operation() {
    for seed in [3, 4, 5] {
        let [first, second] = [(); 2].map(|()| run_threads(seed, &ThreadsConfig::QUICK).traces);
        assert!(first.len() == ThreadsConfig::QUICK.schedules && first == second, "seed {seed}");
        assert!(first.iter().all(|trace| trace.len() > 20), "seed {seed} does something");
        assert!(first.windows(2).any(|pair| pair[0] != pair[1]), "its schedules differ");
    }
}
