//! Loads on a simulated disk that fails or crashes at every step.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hopdb_graph::load::{LoadReport, Progress, load_with};
use hopdb_graph::{Graph, GraphError};
use hopdb_storage::io::sim::{Fault, SimFs};
use hopdb_storage::{Options, Store};
use hopdb_testkit::graph_model::GraphModel;

use super::files::{Load, assert_like};

const PATH: &str = "/data/x.hop";

/// A graph of some dozen pages, a value longer than a page among them.
fn small() -> (Load, GraphModel) {
    let mut model = GraphModel::default();
    let mut nodes = String::from("k\n");
    for id in 0..60 {
        let k = if id == 3 { "long".repeat(3_000) } else { format!("value {id}") };
        nodes += &format!("{k}\n");
        model.create_node(&["A"], &[("k", k.into())]).unwrap();
    }
    model.create_index("A", "k", true).unwrap();
    (Load::default().file("n.csv", nodes).nodes(&["A"], &["n.csv"]).index("A", "k", true), model)
}

fn run(fs: &SimFs, files: &Load) -> Result<LoadReport, GraphError> {
    let fs = Arc::new(fs.clone());
    let progress = Progress::default();
    load_with(fs, Path::new(PATH), &Options::default(), (&files.plan, files, &progress))
}

fn open(fs: &SimFs) -> Graph {
    let fs = Arc::new(fs.clone());
    Graph::over(Store::open_with(fs, Path::new(PATH), &Options::default()).unwrap()).unwrap()
}

/// Steps of a load to which nothing happens.
fn steps(files: &Load) -> u64 {
    let fs = SimFs::new(0);
    run(&fs, files).unwrap();
    assert_eq!(fs.paths(), [PathBuf::from(PATH)]);
    assert!(fs.steps() > 5, "too few steps to test with");
    fs.steps()
}

#[test]
fn a_fault_at_any_step_is_an_error_and_leaves_nothing() {
    let (files, model) = small();
    let steps = steps(&files);
    for fault in [Fault::NoSpace, Fault::Eio, Fault::ShortWrite, Fault::FailedSync] {
        for step in 1..=steps {
            let fs = SimFs::new(step);
            fs.fail_at(step, fault);
            let error = run(&fs, &files).unwrap_err();
            assert!(matches!(error, GraphError::Storage(_)), "step {step}, {fault:?}: {error}");
            if step == steps && !fs.paths().is_empty() {
                // Only its name was not made durable: then it may stay, but whole.
                assert_like(&open(&fs), &model);
            } else {
                assert!(fs.paths().is_empty(), "step {step}, {fault:?}: {error}");
            }
        }
    }
}

#[test]
fn a_disk_too_small_is_an_error_and_leaves_nothing() {
    let (files, model) = small();
    let fs = SimFs::new(0);
    let needed = run(&fs, &files).unwrap().file_bytes;
    for capacity in (0..needed).step_by(4_096) {
        let fs = SimFs::new(capacity);
        fs.set_capacity(capacity);
        let error = run(&fs, &files).unwrap_err();
        assert!(matches!(error, GraphError::Storage(_)), "{capacity} bytes: {error}");
        assert!(fs.paths().is_empty(), "{capacity} bytes");
    }
    let fs = SimFs::new(0);
    fs.set_capacity(needed);
    run(&fs, &files).unwrap();
    fs.set_capacity(u64::MAX);
    assert_like(&open(&fs), &model);
}

#[test]
fn a_crash_at_any_step_leaves_no_file_or_a_whole_one() {
    let (files, model) = small();
    let steps = steps(&files);
    let (mut none, mut whole) = (0, 0);
    for step in 1..=steps {
        let fs = SimFs::new(step);
        fs.crash_at_step(step);
        let error = run(&fs, &files).unwrap_err();
        assert!(fs.crashed(), "step {step}: {error}");
        let seeded = (0..4).map(|seed| fs.after_crash(seed * 1_000 + step));
        for left in seeded.chain([fs.after_crash_all_lost(), fs.after_crash_all_kept()]) {
            if left.paths().is_empty() {
                none += 1;
            } else {
                assert_eq!(left.paths(), [PathBuf::from(PATH)], "step {step}");
                assert_like(&open(&left), &model);
                whole += 1;
            }
        }
    }
    assert!(none > steps && whole > 0, "{none} without, {whole} with a file");
    // Once the load has returned, nothing can take the file away.
    let fs = SimFs::new(0);
    run(&fs, &files).unwrap();
    assert_like(&open(&fs.after_crash_all_lost()), &model);
}
