//! `cargo xtask kill`: ends the real `hop` with SIGKILL in the middle of loads and of commits, again and again, and
//! judges what is left: of a load the whole database or nothing at all; of a load into a database that is there,
//! that with all of the load or with nothing of it; of commits all that were acknowledged.
//!
//! The moments are random: what matters is that they fall everywhere. The process dies, the machine does not: power
//! cuts are the business of `cargo xtask sim`.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use clap::Args;

const PEOPLE: u64 = 30_000;
const FRIENDS: u64 = 10;
/// The longest time that commits go on before the kill.
const COMMITS_MS_MAX: u64 = 300;

/// What to run.
#[derive(Args)]
pub(crate) struct KillArgs {
    /// How many kills: a third each during loads, loads into a database that is there, and commits
    #[arg(long, value_name = "N", default_value_t = 50)]
    runs: u64,
    /// Seed of the moments; they still depend on the machine
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// Makes all runs; whether nothing was lost.
pub(crate) fn run(root: &Path, args: &KillArgs) -> Result<bool, String> {
    let hop = build(root)?;
    let folder = std::env::temp_dir().join(format!("hop-kill-{}", std::process::id()));
    fs::create_dir(&folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let mut runs = Runs::prepare(hop, folder, args.seed)?;
    let mut failures = 0;
    for number in 0..args.runs {
        let failure = match number % 3 {
            0 => runs.kill_load()?,
            1 => runs.kill_addition()?,
            _ => runs.kill_commits()?,
        };
        if let Some(failure) = failure {
            failures += 1;
            println!("run {number}: {failure}");
        }
    }
    println!("{} runs, {failures} failures", args.runs);
    println!(
        "{} loads left nothing, {} were whole; {} additions left nothing, {} were whole; {} commits \
         acknowledged",
        runs.loads_gone,
        runs.loads_whole,
        runs.additions_gone,
        runs.additions_whole,
        runs.acknowledged
    );
    if failures > 0 {
        println!("files kept in {}", runs.folder.display());
        return Ok(false);
    }
    fs::remove_dir_all(&runs.folder).map_err(|error| format!("cannot clean up: {error}"))?;
    Ok(true)
}

/// Builds the release binary; its path, which is beside this program's own folder.
fn build(root: &Path) -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("where am I? {error}"))?;
    let target =
        own.parent().and_then(Path::parent).ok_or("this program is in no target folder")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--package", "hopdb-cli", "--target-dir"])
        .arg(target)
        .current_dir(root)
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if !status.success() {
        return Err("hop does not build".into());
    }
    Ok(target.join("release").join("hop"))
}

struct Runs {
    hop: PathBuf,
    folder: PathBuf,
    random: fastrand::Rng,
    /// How long a load takes that nobody kills.
    load_time: Duration,
    loads_gone: u64,
    loads_whole: u64,
    /// How long a load into the database that is there takes that nobody kills.
    addition_time: Duration,
    additions_gone: u64,
    additions_whole: u64,
    acknowledged: u64,
}

impl Runs {
    /// Makes the graph's files, and the database that commits go to.
    fn prepare(hop: PathBuf, folder: PathBuf, seed: u64) -> Result<Self, String> {
        let mut runs = Self {
            hop,
            folder,
            random: fastrand::Rng::with_seed(seed),
            load_time: Duration::ZERO,
            loads_gone: 0,
            loads_whole: 0,
            addition_time: Duration::ZERO,
            additions_gone: 0,
            additions_whole: 0,
            acknowledged: 0,
        };
        let graph = format!("generate friends --people {PEOPLE} --friends {FRIENDS} csv");
        runs.must(&graph)?;
        fs::create_dir(runs.folder.join("load"))
            .map_err(|error| format!("cannot make a folder: {error}"))?;
        let started = Instant::now();
        runs.must(&load("commits.hop"))?;
        runs.load_time = started.elapsed();
        runs.must(&load("base.hop"))?;
        fs::copy(runs.folder.join("base.hop"), runs.folder.join("added.hop"))
            .map_err(|error| format!("cannot copy a database: {error}"))?;
        let started = Instant::now();
        runs.must(&addition("added.hop"))?;
        runs.addition_time = started.elapsed();
        Ok(runs)
    }

    /// Kills a load into a database that is there; what is wrong afterwards.
    fn kill_addition(&mut self) -> Result<Option<String>, String> {
        let longest = u64::try_from(self.addition_time.as_micros()).unwrap_or(u64::MAX) * 5 / 4;
        let moment = Duration::from_micros(self.random.u64(..=longest));
        fs::copy(self.folder.join("base.hop"), self.folder.join("added.hop"))
            .map_err(|error| format!("cannot copy a database: {error}"))?;
        self.kill(&addition("added.hop"), Stdio::null(), moment)?;
        let output = self.hop("check added.hop --json")?;
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        let has = |times: u64| {
            let relationships = times * PEOPLE * FRIENDS;
            let people = times * PEOPLE;
            report.contains(&format!("\"nodes\":{people},\"relationships\":{relationships},"))
        };
        match (output.status.success(), has(1), has(2)) {
            (true, true, _) => self.additions_gone += 1,
            (true, _, true) => self.additions_whole += 1,
            _ => return Ok(Some(format!("after {moment:?} of an addition: {report}"))),
        }
        Ok(None)
    }

    /// Kills a load; what is wrong afterwards.
    fn kill_load(&mut self) -> Result<Option<String>, String> {
        // Now and then the load is over before: then it must be whole.
        let longest = u64::try_from(self.load_time.as_micros()).unwrap_or(u64::MAX) * 5 / 4;
        let moment = Duration::from_micros(self.random.u64(..=longest));
        self.kill(&load("load/p.hop"), Stdio::null(), moment)?;
        let entries = fs::read_dir(self.folder.join("load")).map_err(|error| error.to_string())?;
        let names: Vec<String> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => {
                self.loads_gone += 1;
                Ok(None)
            }
            ["p.hop"] => {
                self.loads_whole += 1;
                self.judge_whole_load()
            }
            _ => Ok(Some(format!("after {moment:?} a load left {}", names.join(", ")))),
        }
    }

    fn judge_whole_load(&self) -> Result<Option<String>, String> {
        let output = self.hop("check load/p.hop --json")?;
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        let counts = format!("\"nodes\":{PEOPLE},\"relationships\":{},", PEOPLE * FRIENDS);
        if !output.status.success() || !report.contains(&counts) {
            return Ok(Some(format!("a load that was over left a bad file: {report}")));
        }
        fs::remove_file(self.folder.join("load/p.hop")).map_err(|error| error.to_string())?;
        Ok(None)
    }

    /// Kills commits; what is wrong afterwards. The database is the same in all runs, so each also recovers what
    /// the others left.
    fn kill_commits(&mut self) -> Result<Option<String>, String> {
        let threads = self.random.u64(1..=4);
        let commits = format!(
            "bench commit commits.hop --count 1000000 --ack --by Person.id --threads {threads}"
        );
        let moment = Duration::from_millis(self.random.u64(1..=COMMITS_MS_MAX));
        let io = |error: std::io::Error| format!("cannot note acknowledgements: {error}");
        let out = File::create(self.folder.join("new.txt")).map_err(io)?;
        self.kill(&commits, out.into(), moment)?;

        let text = fs::read_to_string(self.folder.join("new.txt")).map_err(io)?;
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        self.acknowledged += whole.lines().count() as u64;
        let mut all = File::options()
            .append(true)
            .create(true)
            .open(self.folder.join("all.txt"))
            .map_err(io)?;
        all.write_all(whole.as_bytes()).map_err(io)?;
        let output = self.hop("check commits.hop --acknowledged all.txt")?;
        if output.status.success() {
            return Ok(None);
        }
        let said = [output.stdout, output.stderr].concat();
        Ok(Some(format!("after {moment:?} of commits: {}", String::from_utf8_lossy(&said))))
    }

    /// Starts `hop`, and kills it at a moment.
    fn kill(&self, args: &str, out: Stdio, moment: Duration) -> Result<(), String> {
        let mut process = self
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

    fn must(&self, args: &str) -> Result<(), String> {
        let output = self.hop(args)?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("hop {args}: {}", String::from_utf8_lossy(&output.stderr)))
    }

    fn hop(&self, args: &str) -> Result<Output, String> {
        self.command(args).output().map_err(|error| format!("cannot run hop: {error}"))
    }

    fn command(&self, args: &str) -> Command {
        let mut command = Command::new(&self.hop);
        command.args(args.split_whitespace()).current_dir(&self.folder).stdin(Stdio::null());
        command
    }
}

/// The same graph once more, under a label of its own: its ids are taken otherwise.
fn addition(database: &str) -> String {
    format!(
        "load {database} --add --nodes=Other=csv/people.csv --relationships=FRIEND=csv/friends.csv"
    )
}

fn load(database: &str) -> String {
    format!(
        "load {database} --nodes=Person=csv/people.csv --relationships=FRIEND=csv/friends.csv \
         --unique Person.id"
    )
}
