//! `cargo xtask sim`: the crash simulation of the storage engine, for as many seeds as there is patience.
//!
//! Each seed is independent and deterministic; threads only share the next seed to take.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use hopdb_testkit::crash::{Config, Outcome, run_seed};

/// Failures printed in full.
const FAILURES_SHOWN: usize = 20;

/// What to simulate.
#[derive(Args)]
pub(crate) struct SimArgs {
    /// How many seeds.
    #[arg(long, default_value_t = 20)]
    seeds: u64,
    /// The first seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Actions of each script.
    #[arg(long)]
    actions: Option<usize>,
    /// Cut at every step and inject every fault, instead of at some drawn from the seed.
    #[arg(long)]
    every_step: bool,
    /// Only run the scripts beside their models: many more of them in the same time.
    #[arg(long, conflicts_with = "every_step")]
    without_crashes: bool,
}

/// Runs the seeds; `false` when one failed.
pub(crate) fn run(args: &SimArgs) -> Result<bool, String> {
    let mut config = match (args.every_step, args.without_crashes) {
        (true, _) => Config::EVERY_STEP,
        (_, true) => Config::WITHOUT_CRASHES,
        _ => Config::THOROUGH,
    };
    config.actions = args.actions.unwrap_or(config.actions);
    let first = args.seed.unwrap_or(0);
    let next = AtomicU64::new(first);
    let total = Mutex::new(Outcome::default());
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first.saturating_add(args.seeds) {
                        return;
                    }
                    let outcome = run_seed(seed, &config);
                    for failure in outcome.failures.iter().take(FAILURES_SHOWN) {
                        println!("{failure}");
                    }
                    match total.lock() {
                        Ok(mut total) => total.add(outcome),
                        Err(_) => return,
                    }
                }
            });
        }
    });
    let total = total.into_inner().map_err(|_| "a simulation panicked".to_string())?;
    println!(
        "{} seeds, {} crashes, {} faults, {} damages ({} of the kind that cannot be told), {} failures",
        args.seeds,
        total.crashes,
        total.faults,
        total.rot,
        total.unseen,
        total.failures.len()
    );
    if let Some(failure) = total.failures.first() {
        let every_step = if args.every_step { " --every-step" } else { "" };
        println!(
            "replay: cargo xtask sim --seed {} --seeds 1 --actions {}{every_step}",
            failure.seed, config.actions
        );
    }
    Ok(total.failures.is_empty())
}
