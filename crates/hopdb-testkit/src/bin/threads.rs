//! The threaded crash simulation for a range of seeds: what `cargo xtask sim` builds and runs beside its own part.
//!
//! `hopdb-sim-threads FIRST COUNT [--quick]`: runs the seeds of the threaded kind among `COUNT` from `FIRST` on; prints
//! each failure on a line, and on the last one the numbers of crashes and faults.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a developer's program: it prints, reads its arguments and starts threads"
)]

use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use hopdb_testkit::crash::threads::{ThreadsConfig, run_threads};
use hopdb_testkit::crash::{Outcome, is_threaded};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let [first, count] = numbers[..] else {
        eprintln!("usage: hopdb-sim-threads FIRST COUNT [--quick]");
        return ExitCode::from(2);
    };
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let config = if quick { ThreadsConfig::QUICK } else { ThreadsConfig::THOROUGH };
    let total = run(first, count, &config);
    for failure in &total.failures {
        println!("{}", failure.to_string().replace('\n', " "));
    }
    println!("{} {}", total.crashes, total.faults);
    if total.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(first: u64, count: u64, config: &ThreadsConfig) -> Outcome {
    let next = AtomicU64::new(first);
    let total = Mutex::new(Outcome::default());
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first.saturating_add(count) {
                        return;
                    }
                    if !is_threaded(seed) {
                        continue;
                    }
                    let outcome = run_threads(seed, config).outcome;
                    total.lock().expect("nothing panics here").add(outcome);
                }
            });
        }
    });
    total.into_inner().expect("nothing panics here")
}
