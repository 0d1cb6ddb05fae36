//! The threaded crash simulation for a range of seeds: what `cargo xtask sim` builds and runs beside its own part.
//!
//! `hopdb-sim-threads FIRST COUNT [--quick]`: runs the seeds of the threaded kind among `COUNT` from `FIRST` on; prints
//! each failure on a line, and on the last one the numbers of crashes and faults.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer's program: it prints")]

use std::process::ExitCode;

use hopdb_testkit::crash::threads::{ThreadsConfig, run_threads};
use hopdb_testkit::crash::{Outcome, is_threaded, run_seeds};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let [first, count] = numbers[..] else {
        eprintln!("usage: hopdb-sim-threads FIRST COUNT [--quick]");
        return ExitCode::from(2);
    };
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let config = if quick { ThreadsConfig::QUICK } else { ThreadsConfig::THOROUGH };
    let total = run_seeds(first..first.saturating_add(count), |seed| {
        if is_threaded(seed) { run_threads(seed, &config).outcome } else { Outcome::default() }
    });
    for failure in &total.failures {
        println!("{}", failure.to_string().replace('\n', " "));
    }
    println!("{} {}", total.crashes, total.faults);
    if total.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
