//! `cargo xtask kill`: ends the real `hop` with SIGKILL in the middle of its work, again and again, and judges what is
//! left: of a load the whole database or nothing at all; of a load into a database that is there, that with all of the
//! load or with nothing of it; of commits all that were acknowledged, whether the kill comes while they are made, while
//! the database is opened after another kill, or while it is closed.
//!
//! The moments are random: what matters is that they fall everywhere. The process dies, the machine does not: power
//! cuts are the business of `cargo xtask sim`.

mod commits;

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use clap::Args;

use crate::hop::{Friends, Hop};
use commits::Commits;

const GRAPH: Friends = Friends { people: 6_000, friends: 10 };

/// What to run.
#[derive(Args)]
pub(crate) struct KillArgs {
    /// How many kills: a sixth each during loads, loads into a database that is there, openings and closes, and the
    /// rest during commits
    #[arg(long, value_name = "N", default_value_t = 60)]
    runs: u64,
    /// Seed of the moments; they still depend on the machine
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// Makes all runs; whether nothing was lost.
pub(crate) fn run(root: &Path, args: &KillArgs) -> Result<bool, String> {
    let hop = Hop::build(root, "kill")?;
    let mut random = fastrand::Rng::with_seed(args.seed);
    hop.must(&GRAPH.generate())?;
    std::fs::create_dir(hop.path("load"))
        .map_err(|error| format!("cannot make a folder: {error}"))?;
    let mut loads = Loads::prepare(&hop)?;
    let mut commits = Commits::prepare(&hop)?;
    let mut failures = 0;
    for number in 0..args.runs {
        let failure = match number % 6 {
            0 => loads.kill_load(&mut random)?,
            1 => loads.kill_addition(&mut random)?,
            2 => commits.kill_opening(&mut random)?,
            3 => commits.kill_close(&mut random)?,
            _ => commits.kill_commits(&mut random)?,
        };
        if let Some(failure) = failure {
            failures += 1;
            println!("run {number}: {failure}");
        }
    }
    println!("{} runs, {failures} failures", args.runs);
    println!("{}; {}", loads.summary(), commits.summary());
    hop.end(failures)
}

/// Kills during loads.
struct Loads<'a> {
    hop: &'a Hop,
    load: Counts,
    addition: Counts,
}

/// Kills of one kind of load.
#[derive(Default)]
struct Counts {
    /// How long it takes when nobody kills it.
    time: Duration,
    gone: u64,
    whole: u64,
}

impl<'a> Loads<'a> {
    fn prepare(hop: &'a Hop) -> Result<Self, String> {
        let timed = |args: &str| {
            let started = Instant::now();
            hop.must(args).map(|_| Counts { time: started.elapsed(), ..Counts::default() })
        };
        let load = timed(&Friends::load("base.hop"))?;
        hop.copy("base.hop", "added.hop")?;
        let addition = timed(&Friends::addition("added.hop"))?;
        Ok(Self { hop, load, addition })
    }

    fn summary(&self) -> String {
        let Self { load, addition, .. } = self;
        format!(
            "{} loads left nothing, {} were whole; {} additions left nothing, {} were whole",
            load.gone, load.whole, addition.gone, addition.whole
        )
    }

    /// Kills a load into a database that is there; what is wrong afterwards.
    fn kill_addition(&mut self, random: &mut fastrand::Rng) -> Result<Option<String>, String> {
        let moment = moment(self.addition.time, random);
        self.hop.copy("base.hop", "added.hop")?;
        kill(self.hop, &Friends::addition("added.hop"), Stdio::null(), moment)?;
        let output = self.hop.run("check added.hop --json")?;
        let report = String::from_utf8_lossy(&output.stdout);
        match output.status.success() {
            true if GRAPH.are_in(&report, 1) => self.addition.gone += 1,
            true if GRAPH.are_in(&report, 2) => self.addition.whole += 1,
            _ => return Ok(Some(format!("after {moment:?} of an addition: {report}"))),
        }
        self.hop.remove(&["added.hop", "added.hop-wal"])?;
        Ok(None)
    }

    /// Kills a load; what is wrong afterwards.
    fn kill_load(&mut self, random: &mut fastrand::Rng) -> Result<Option<String>, String> {
        let moment = moment(self.load.time, random);
        kill(self.hop, &Friends::load("load/p.hop"), Stdio::null(), moment)?;
        let names = self.hop.names("load")?;
        match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => {
                self.load.gone += 1;
                return Ok(None);
            }
            ["p.hop"] => self.load.whole += 1,
            _ => return Ok(Some(format!("after {moment:?} a load left {}", names.join(", ")))),
        }
        let output = self.hop.run("check load/p.hop --json")?;
        let report = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || !GRAPH.are_in(&report, 1) {
            return Ok(Some(format!("a load that was over left a bad file: {report}")));
        }
        self.hop.remove(&["load/p.hop"])?;
        Ok(None)
    }
}

/// A moment within the time that something takes; now and then it is over before.
fn moment(time: Duration, random: &mut fastrand::Rng) -> Duration {
    let longest = u64::try_from(time.as_micros()).unwrap_or(u64::MAX) / 2 * 3;
    Duration::from_micros(random.u64(..=longest))
}

/// Starts `hop`, and kills it at a moment.
fn kill(hop: &Hop, args: &str, out: Stdio, moment: Duration) -> Result<(), String> {
    let mut process = hop
        .command(args)
        .stdout(out)
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start hop: {error}"))?;
    // Not to wait for anything: the moment is what is being tried.
    std::thread::sleep(moment);
    process.kill().map_err(|error| format!("cannot kill hop: {error}"))?;
    process.wait().map(drop).map_err(|error| format!("cannot wait for hop: {error}"))
}
