//! Kills during commits, during openings that replay a log, and during closes.
//!
//! All of them go to one database, so that each also recovers what the others left. What `hop` has acknowledged is kept
//! in a file beside it; both begin anew from time to time, since looking at all of it takes ever longer.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{kill, moment};
use crate::hop::{Hop, said};

/// The longest time that commits go on before the kill.
const COMMITS_MS_MAX: u64 = 200;
/// Commits before a close that is killed: a multiple of what one sync is waited for.
const COMMITS_TO_CLOSE: usize = 400;
/// Acknowledged commits after which the database begins anew.
const ACKNOWLEDGED_MAX: usize = 5_000;
/// What commits wait for.
const DURABILITIES: [&str; 4] = ["sync", "sync,none", "async,sync", "none,async,none,none,sync"];
/// Pages in memory: with few of them, checkpoints are made all the time.
const CACHES: [&str; 3] = ["64KiB", "512KiB", "256MiB"];

/// The database, and what is known of it.
pub(super) struct Commits<'a> {
    hop: &'a Hop,
    /// How long an opening takes that has a log to replay.
    opening: Duration,
    /// How long a close takes.
    close: Duration,
    /// Lines of the file of what was acknowledged since the database began anew.
    noted: usize,
    acknowledged: usize,
    openings: u64,
    closes: u64,
}

impl<'a> Commits<'a> {
    /// Takes a new copy of the base, and measures what is to be killed.
    pub(super) fn prepare(hop: &'a Hop) -> Result<Self, String> {
        let (opening, close) = (Duration::ZERO, Duration::ZERO);
        let mut commits =
            Self { hop, opening, close, noted: 0, acknowledged: 0, openings: 0, closes: 0 };
        commits.begin_anew()?;
        commits.close = commits.close_at(None)?;
        commits.begin_anew()?;
        let longest = Duration::from_millis(COMMITS_MS_MAX);
        kill(hop, "bench commit commits.hop --count 1000000", Stdio::null(), longest)?;
        let started = Instant::now();
        hop.must("bench commit commits.hop --count 1")?;
        commits.opening = started.elapsed();
        commits.begin_anew()?;
        Ok(commits)
    }

    pub(super) fn summary(&self) -> String {
        format!(
            "{} openings and {} closes killed, {} commits acknowledged",
            self.openings, self.closes, self.acknowledged
        )
    }

    fn begin_anew(&mut self) -> Result<(), String> {
        self.hop.remove(&["commits.hop", "commits.hop-wal"])?;
        self.hop.copy("base.hop", "commits.hop")?;
        self.noted = 0;
        self.hop.write("all.txt", "")
    }

    /// Kills commits; what is wrong afterwards.
    pub(super) fn kill_commits(
        &mut self,
        random: &mut fastrand::Rng,
    ) -> Result<Option<String>, String> {
        let scene = self.commit_and_kill(random)?;
        self.judge(&scene)
    }

    /// Kills commits, then one or more of the openings that replay their log; what is wrong afterwards.
    pub(super) fn kill_opening(
        &mut self,
        random: &mut fastrand::Rng,
    ) -> Result<Option<String>, String> {
        let mut scene = self.commit_and_kill(random)?;
        for _ in 0..random.u8(1..=3) {
            let moment = moment(self.opening, random);
            self.kill("--count 1 --by Person.id", moment)?;
            self.openings += 1;
            scene = format!("{scene}, then {moment:?} of an opening");
        }
        self.judge(&scene)
    }

    /// Kills a close; what is wrong afterwards.
    pub(super) fn kill_close(
        &mut self,
        random: &mut fastrand::Rng,
    ) -> Result<Option<String>, String> {
        let moment = moment(self.close, random);
        self.close_at(Some(moment))?;
        self.closes += 1;
        self.judge(&format!("after {moment:?} of a close"))
    }

    fn commit_and_kill(&mut self, random: &mut fastrand::Rng) -> Result<String, String> {
        let threads = random.u64(1..=4);
        let durability = DURABILITIES[random.usize(..DURABILITIES.len())];
        let cache = CACHES[random.usize(..CACHES.len())];
        let args = format!(
            "--count 1000000 --by Person.id --threads {threads} --durability {durability} \
             --cache-bytes {cache} --seed {}",
            random.u32(..)
        );
        let moment = Duration::from_millis(random.u64(1..=COMMITS_MS_MAX));
        self.kill(&args, moment)?;
        Ok(format!("after {moment:?} of commits with {args}"))
    }

    /// Kills `hop bench commit` at a moment, and notes what it has acknowledged.
    fn kill(&mut self, args: &str, moment: Duration) -> Result<(), String> {
        let out = File::create(self.hop.path("new.txt"))
            .map_err(|error| format!("cannot note acknowledgements: {error}"))?;
        kill(self.hop, &format!("bench commit commits.hop --ack {args}"), out.into(), moment)?;
        self.note(&self.hop.read("new.txt")?)
    }

    /// Commits, and kills the process at a moment after the last commit was acknowledged, or lets it end; how long
    /// it lived after that.
    fn close_at(&mut self, moment: Option<Duration>) -> Result<Duration, String> {
        let io = |error: std::io::Error| format!("hop bench commit: {error}");
        let args = format!(
            "bench commit commits.hop --ack --count {COMMITS_TO_CLOSE} --durability none,none,none,sync"
        );
        let mut process = self
            .hop
            .command(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(io)?;
        let out = process.stdout.take().ok_or("hop has no output")?;
        let mut out = BufReader::new(out);
        let mut text = String::new();
        for _ in 0..COMMITS_TO_CLOSE {
            out.read_line(&mut text).map_err(io)?;
        }
        let acknowledged = Instant::now();
        if let Some(moment) = moment {
            // The moment is what is being tried.
            std::thread::sleep(moment);
            process.kill().map_err(io)?;
        }
        process.wait().map_err(io)?;
        let time = acknowledged.elapsed();
        self.note(&text)?;
        Ok(time)
    }

    /// Adds whole lines to what is known to be acknowledged.
    fn note(&mut self, new: &str) -> Result<(), String> {
        let whole = new.rfind('\n').map_or("", |end| &new[..=end]);
        let lines = whole.lines().count();
        self.noted += lines;
        self.acknowledged += lines;
        self.hop.write("all.txt", &(self.hop.read("all.txt")? + whole))
    }

    /// What is wrong with the database now.
    fn judge(&mut self, scene: &str) -> Result<Option<String>, String> {
        let output = self.hop.run("check commits.hop --acknowledged all.txt")?;
        if !output.status.success() {
            return Ok(Some(format!("{scene}: {}", said(&output))));
        }
        if self.noted > ACKNOWLEDGED_MAX {
            self.begin_anew()?;
        }
        Ok(None)
    }
}
