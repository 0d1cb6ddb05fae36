//! One mutant of the engine under the crash simulation: what `cargo xtask mutants` builds and runs.
//!
//! `hopdb-mutant NAME FIRST SEEDS`: turns the mutant on (`None` is the engine as it is) and runs seeds until one fails.
//! Prints the first failure and ends with 1, or with 0 when there is none. Built with the feature `shuttle` it runs the
//! threaded kind of simulation, otherwise those of one thread.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's program: it prints, and reads its arguments"
)]

use std::process::ExitCode;

use hopdb_storage::mutants::Mutant;
use hopdb_testkit::crash::{Failure, Outcome};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, numbers @ ..] = &arguments[..] else { return usage() };
    let numbers: Vec<u64> = numbers.iter().filter_map(|a| a.parse().ok()).collect();
    let [first, seeds] = numbers[..] else { return usage() };
    if name == "--list" {
        Mutant::ALL.iter().for_each(|(_, name)| println!("{name}"));
        return ExitCode::SUCCESS;
    }
    match Mutant::ALL.iter().find(|(_, other)| other == name) {
        Some((mutant, _)) => mutant.choose(),
        None if name == "None" => {}
        None => return usage(),
    }
    for seed in first..first.saturating_add(seeds) {
        if let Some(failure) = run(seed).failures.first() {
            print_failure(failure);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: hopdb-mutant NAME|None|--list FIRST SEEDS");
    ExitCode::from(2)
}

fn print_failure(failure: &Failure) {
    println!("{}", failure.to_string().replace('\n', " "));
}

#[cfg(feature = "shuttle")]
fn run(seed: u64) -> Outcome {
    use hopdb_testkit::crash::threads::{ThreadsConfig, run_threads};
    run_threads(seed, &ThreadsConfig::THOROUGH).outcome
}

#[cfg(not(feature = "shuttle"))]
fn run(seed: u64) -> Outcome {
    use hopdb_testkit::crash::every::{Tiny, run_every};
    use hopdb_testkit::crash::{Config, run_seed};
    let mut outcome = run_seed(seed, &Config::THOROUGH);
    if outcome.failures.is_empty() {
        outcome.add(run_every(seed, &Tiny::of_seed(seed), 2).outcome);
    }
    outcome
}
