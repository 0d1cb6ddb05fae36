//! `cargo xtask sim`: the crash simulation of the storage engine, for as many seeds as there is patience.
//!
//! Each seed is independent and deterministic; threads only share the next seed to take. One seed in so many is of the
//! threaded kind: those run in a program of their own, since they need the engine on top of another scheduler.

use std::path::Path;
use std::process::{Command, Stdio};

use clap::Args;
use hopdb_testkit::crash::every::{Tiny, run_every};
use hopdb_testkit::crash::{Config, Failure, Outcome, is_threaded, run_seed, run_seeds};

/// Failures printed in full.
const FAILURES_SHOWN: usize = 20;
/// Steps at which the recovery from each disk is cut, where every disk is gone through.
const RECOVERY_CUTS_MAX: usize = 6;

/// What to simulate.
#[derive(Args)]
pub(crate) struct SimArgs {
    /// How many seeds. One in four stands for threads under a scheduler, the others for a script of one thread
    #[arg(long, default_value_t = 20)]
    seeds: u64,
    /// The first seed
    #[arg(long)]
    seed: Option<u64>,
    /// Actions of each script of one thread
    #[arg(long)]
    actions: Option<usize>,
    /// Cut at every step and inject every fault, instead of at some drawn from the seed; and go through every disk that
    /// each crash of a tiny script may leave
    #[arg(long)]
    every_step: bool,
    /// Only run the scripts beside their models: many more of them in the same time
    #[arg(long, conflicts_with = "every_step")]
    without_crashes: bool,
    /// Draw fewer cuts and faults for each seed
    #[arg(long, conflicts_with_all = ["every_step", "without_crashes"])]
    quick: bool,
}

impl SimArgs {
    fn config(&self) -> Config {
        let config = match (self.every_step, self.without_crashes, self.quick) {
            (true, _, _) => Config::EVERY_STEP,
            (_, true, _) => Config::WITHOUT_CRASHES,
            (_, _, true) => Config::QUICK,
            _ => Config::THOROUGH,
        };
        Config { actions: self.actions.unwrap_or(config.actions), ..config }
    }

    /// What makes another run do the same for a seed.
    fn settings(&self, config: &Config) -> String {
        let switch = |on: bool, name: &'static str| if on { name } else { "" };
        let switches = [
            switch(self.every_step, " --every-step"),
            switch(self.without_crashes, " --without-crashes"),
            switch(self.quick, " --quick"),
        ];
        format!("--actions {}{}", config.actions, switches.concat())
    }

    fn seeds(&self) -> std::ops::Range<u64> {
        let first = self.seed.unwrap_or(0);
        first..first.saturating_add(self.seeds)
    }
}

/// Runs the seeds; `false` when one failed.
pub(crate) fn run(root: &Path, args: &SimArgs) -> Result<bool, String> {
    let config = args.config();
    let mut total = run_scripts(args, &config);
    let threaded = args.seeds().any(is_threaded) && !args.without_crashes;
    if threaded {
        total.add(run_threads(root, args)?);
    }
    let Outcome { crashes, faults, rot, unseen, failures } = &total;
    if let Some(failure) = failures.first() {
        let (seed, settings) = (failure.seed, args.settings(&config));
        println!("replay: cargo xtask sim --seed {seed} --seeds 1 {settings}");
    }
    println!(
        "{} seeds, {crashes} crashes, {} failures; {faults} faults, {rot} damages ({unseen} of the kind that cannot \
         be told), {} seeds with threads",
        args.seeds,
        failures.len(),
        if threaded { args.seeds().filter(|seed| is_threaded(*seed)).count() } else { 0 },
    );
    Ok(failures.is_empty())
}

/// Runs the seeds of one thread each.
fn run_scripts(args: &SimArgs, config: &Config) -> Outcome {
    run_seeds(args.seeds(), |seed| {
        if is_threaded(seed) && !args.without_crashes {
            return Outcome::default();
        }
        let mut outcome = run_seed(seed, config);
        if args.every_step {
            outcome.add(run_every(seed, &Tiny::of_seed(seed), RECOVERY_CUTS_MAX).outcome);
        }
        for failure in outcome.failures.iter().take(FAILURES_SHOWN) {
            println!("{failure}");
        }
        outcome
    })
}

/// Builds the program for the threaded seeds and runs it: each failure on a line, and the counts on the last.
fn run_threads(root: &Path, args: &SimArgs) -> Result<Outcome, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let seeds = args.seeds();
    let mut command = Command::new(cargo);
    command
        .args(["run", "--quiet", "--package", "hopdb-testkit", "--bin", "hopdb-sim-threads"])
        .args(["--no-default-features", "--features", "shuttle"])
        .args(if cfg!(debug_assertions) { &[][..] } else { &["--release"] })
        .args(["--", &seeds.start.to_string(), &args.seeds.to_string()])
        .args(if args.quick { &["--quick"][..] } else { &[] })
        .current_dir(root)
        .stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let wrong = || format!("the threaded simulation ended with {}", output.status);
    let mut lines: Vec<&str> = text.lines().collect();
    let counts = lines.pop().ok_or_else(wrong)?;
    let counts: Vec<u64> = counts.split(' ').filter_map(|count| count.parse().ok()).collect();
    let [crashes, faults] = counts[..] else { return Err(wrong()) };
    let mut outcome = Outcome { crashes, faults, ..Outcome::default() };
    lines.iter().take(FAILURES_SHOWN).for_each(|line| println!("{line}"));
    outcome.failures =
        lines.iter().map(|line| read_failure(line)).collect::<Option<_>>().ok_or_else(wrong)?;
    Ok(outcome)
}

/// A failure as the other program prints it.
fn read_failure(line: &str) -> Option<Failure> {
    let (seed, rest) = line.strip_prefix("seed ")?.split_once(", ")?;
    let (scene, what) = rest.split_once(": ")?;
    Some(Failure { seed: seed.parse().ok()?, scene: scene.into(), what: what.into() })
}
