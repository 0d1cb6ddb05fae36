//! The threaded crash simulation for a range of seeds: what `cargo xtask sim` builds and runs beside its own part.
//!
//! `hopdb-sim-threads FIRST COUNT`: runs the seeds of the threaded kind among `COUNT` from `FIRST` on, prints each
//! failure, and in the last line the counts of crashes, faults and failures.

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
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let [first, count] = arguments[..] else {
        eprintln!("usage: hopdb-sim-threads FIRST COUNT");
        return ExitCode::from(2);
    };
    let total = run(first, count);
    println!("{} {} {}", total.crashes, total.faults, total.failures.len());
    if total.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(first: u64, count: u64) -> Outcome {
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
                    let outcome = run_threads(seed, &ThreadsConfig::THOROUGH).outcome;
                    outcome.failures.iter().for_each(|failure| println!("{failure}"));
                    total.lock().expect("nothing panics here").add(outcome);
                }
            });
        }
    });
    total.into_inner().expect("nothing panics here")
}
