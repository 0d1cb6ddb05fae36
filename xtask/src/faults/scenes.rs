//! What `hop` does while calls fail, and what must be left of it.
//!
//! Each scene starts from the same files, and judges what it finds by another run of `hop` without faults.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::hop::{Friends, Hop, said};

const GRAPH: Friends = Friends { people: 2_000, friends: 5 };
/// Commits of a scene, each of which waits for the disk.
const COMMITS: usize = 40;
/// Commits that do not wait: so many that checkpoints are made between them.
const LATER_COMMITS: usize = 1500;
/// Commits in the log that a scene begins with.
const COMMITS_BEFORE: usize = 200;

/// What is being done.
#[derive(Clone, Copy)]
pub(super) enum Scene {
    /// A load that makes a database.
    Load,
    /// A load into a database that is there.
    Add,
    /// Commits into a database that was closed, and the close.
    Commit,
    /// The same where the log must be replayed first.
    Recover,
    /// Commits that do not wait, so that it is the thread of the checkpoints which writes.
    Later,
}

pub(super) const SCENES: [Scene; 5] =
    [Scene::Load, Scene::Add, Scene::Commit, Scene::Recover, Scene::Later];

/// Makes the files that scenes start from.
pub(super) fn prepare(hop: &Hop) -> Result<(), String> {
    hop.must(&GRAPH.generate())?;
    fs::create_dir(hop.path("new")).map_err(|error| format!("cannot make a folder: {error}"))?;
    hop.must(&Friends::load("base.hop"))?;
    hop.copy("base.hop", "crashed.hop")?;
    // Killed once enough is acknowledged: what a crash leaves, with a log to replay.
    let mut process = hop
        .command("bench commit crashed.hop --count 1000000 --ack --by Person.id")
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start hop: {error}"))?;
    let out = process.stdout.take().ok_or("hop has no output")?;
    let ids: Vec<String> = BufReader::new(out)
        .lines()
        .take(COMMITS_BEFORE)
        .collect::<Result<_, _>>()
        .map_err(|error| format!("cannot read what hop says: {error}"))?;
    process.kill().map_err(|error| format!("cannot kill hop: {error}"))?;
    process.wait().map_err(|error| format!("cannot wait for hop: {error}"))?;
    hop.write("before.txt", &(ids.join("\n") + "\n"))
}

impl Scene {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Add => "add",
            Self::Commit => "commit",
            Self::Recover => "recover",
            Self::Later => "later",
        }
    }

    /// Whether it prints what is on disk, one commit after the other.
    pub(super) fn acknowledges(self) -> bool {
        matches!(self, Self::Commit | Self::Recover)
    }

    /// Files and folders whose calls may fail, one of them in each run; `None` stands for all there are.
    pub(super) fn files(self) -> &'static [Option<&'static str>] {
        match self {
            // The file has no name while it is written.
            Self::Load => &[None],
            _ => &[Some("x.hop"), Some("x.hop-wal"), Some(".")],
        }
    }

    /// What a message may name.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Load => &["new", "csv/"],
            _ => &["x.hop"],
        }
    }

    pub(super) fn args(self) -> String {
        match self {
            Self::Load => Friends::load("new/x.hop"),
            Self::Add => Friends::addition("x.hop"),
            // Few pages in memory, so that checkpoints happen between commits.
            Self::Commit | Self::Recover => {
                format!("bench commit x.hop --count {COMMITS} --ack --cache-bytes 128KiB")
            }
            Self::Later => format!(
                "bench commit x.hop --count {LATER_COMMITS} --ack --cache-bytes 128KiB \
                 --durability none"
            ),
        }
    }

    /// Puts the files in place.
    pub(super) fn set(self, hop: &Hop) -> Result<(), String> {
        hop.remove(&["x.hop", "x.hop-wal", "new/x.hop"])?;
        match self {
            Self::Load => Ok(()),
            Self::Add | Self::Commit | Self::Later => hop.copy("base.hop", "x.hop"),
            Self::Recover => {
                hop.copy("crashed.hop", "x.hop")?;
                hop.copy("crashed.hop-wal", "x.hop-wal")
            }
        }
    }

    /// What is wrong with what was left; `done` says that `hop` ended well.
    pub(super) fn judge(self, hop: &Hop, done: bool) -> Result<(), String> {
        match self {
            Self::Load => judge_load(hop, done),
            Self::Add => judge_addition(hop, done),
            Self::Commit => judge_commits(hop, String::new(), done.then_some(COMMITS)),
            Self::Recover => judge_commits(hop, hop.read("before.txt")?, done.then_some(COMMITS)),
            Self::Later => judge_commits(hop, String::new(), done.then_some(LATER_COMMITS)),
        }
    }
}

fn judge_load(hop: &Hop, done: bool) -> Result<(), String> {
    let names = hop.names("new")?;
    match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] if !done => Ok(()),
        ["x.hop"] => {
            let report = hop.must("check new/x.hop --json")?;
            if GRAPH.are_in(&report, 1) { Ok(()) } else { Err(format!("it loaded {report}")) }
        }
        _ => Err(format!("it left {}", names.join(", "))),
    }
}

fn judge_addition(hop: &Hop, done: bool) -> Result<(), String> {
    let report = hop.must("check x.hop --json")?;
    if GRAPH.are_in(&report, 2) || (!done && GRAPH.are_in(&report, 1)) {
        return go_on(hop);
    }
    Err(format!("it left {report}"))
}

/// `expected` is how many commits must have been acknowledged.
fn judge_commits(hop: &Hop, before: String, expected: Option<usize>) -> Result<(), String> {
    let new = hop.read("new.txt")?;
    let acknowledged = new.matches('\n').count();
    if let Some(expected) = expected.filter(|expected| *expected != acknowledged) {
        return Err(format!("it ended well with {acknowledged} of {expected} commits"));
    }
    hop.write("all.txt", &(before + &new))?;
    let output = hop.run("check x.hop --acknowledged all.txt")?;
    if !output.status.success() {
        return Err(format!("then, {acknowledged} acknowledged: {}", said(&output)));
    }
    go_on(hop)
}

/// The database takes commits again.
fn go_on(hop: &Hop) -> Result<(), String> {
    hop.must("bench commit x.hop --count 2 --by Person.id")?;
    hop.must("check x.hop").map(drop)
}
