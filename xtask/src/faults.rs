//! `cargo xtask faults`: the real `hop` while the operating system refuses its calls, one after another, and on a
//! disk that is full.
//!
//! strace lets the N-th call of a kind fail, for every N until none is left to fail; then that one and all after it.
//! What must hold each time:
//! - `hop` ends with a message that names the file and the cause, never with a panic or a signal; or the fault is one
//!   that it can do without;
//! - after a write or a sync that failed, nothing more is acknowledged;
//! - afterwards the database opens, is whole, has all that was acknowledged, and takes new commits. A load leaves a
//!   whole database or nothing.
//!
//! strace counts the calls of each thread by themselves: the work is done by one.

mod full_disk;
mod scenes;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use crate::hop::Hop;
use scenes::{SCENES, Scene};

/// What to try.
#[derive(Args)]
pub(crate) struct FaultsArgs {
    /// Only these calls, such as fdatasync,pwrite64
    #[arg(long, value_name = "CALL", value_delimiter = ',')]
    calls: Vec<String>,
    /// Only these scenes: load, add, commit, recover, later (commits that do not wait), full (the full disk)
    #[arg(long, value_name = "SCENE", value_delimiter = ',')]
    scenes: Vec<String>,
    /// Every call, instead of every one at first and some of those that follow
    #[arg(long, conflicts_with = "quick")]
    every: bool,
    /// Few calls of each kind
    #[arg(long)]
    quick: bool,
    /// The part of the full disk, in this folder on a small disk, with this `hop`
    #[arg(long, hide = true, num_args = 2, value_names = ["FOLDER", "HOP"])]
    full_disk: Vec<PathBuf>,
}

/// A call that fails, and how.
#[derive(Clone, Copy)]
struct Fault {
    call: &'static str,
    error: Cause,
    /// Whether the work can be done all the same.
    harmless: bool,
}

/// An error of the system: its name, and its text.
#[derive(Clone, Copy)]
struct Cause {
    name: &'static str,
    text: &'static str,
}

const EIO: Cause = Cause { name: "EIO", text: "Input/output error" };
const ENOSPC: Cause = Cause { name: "ENOSPC", text: "No space left on device" };
const EOPNOTSUPP: Cause = Cause { name: "EOPNOTSUPP", text: "Operation not supported" };
const EACCES: Cause = Cause { name: "EACCES", text: "Permission denied" };

const fn fault(call: &'static str, error: Cause) -> Fault {
    Fault { call, error, harmless: false }
}

const FAULTS: [Fault; 17] = [
    fault("fdatasync", EIO),
    fault("fsync", EIO),
    fault("pwrite64", EIO),
    fault("pwrite64", ENOSPC),
    fault("pwritev", EIO),
    fault("pwritev", ENOSPC),
    fault("pread64", EIO),
    fault("preadv", EIO),
    fault("fallocate", ENOSPC),
    Fault { harmless: true, ..fault("fallocate", EOPNOTSUPP) },
    fault("ftruncate", EIO),
    fault("openat", EIO),
    fault("openat", EACCES),
    fault("linkat", EIO),
    fault("unlink", EIO),
    fault("flock", EIO),
    fault("statx", EIO),
];

/// A fault at a call of a run.
#[derive(Clone, Copy)]
struct Strike {
    fault: Fault,
    /// Which call of its kind, from 1.
    number: u64,
    /// Whether all later ones fail, too.
    and_later: bool,
    /// Whose calls count; all there are when it is `None`.
    file: Option<&'static str>,
}

impl Strike {
    fn expression(&self) -> String {
        let Self { fault, number, and_later, .. } = self;
        let later = if *and_later { "+" } else { "" };
        format!("{}:error={}:when={number}{later}", fault.call, fault.error.name)
    }
}

/// How a run under a fault ended.
struct Ran {
    code: Option<i32>,
    message: String,
    /// What strace saw of the calls that are of interest.
    trace: String,
}

/// Makes all runs; whether all was well.
pub(crate) fn run(root: &Path, args: &FaultsArgs) -> Result<bool, String> {
    if let [folder, hop] = &args.full_disk[..] {
        return full_disk::within(&Hop::within(hop.clone(), folder.clone()));
    }
    let hop = Hop::build(root, "faults")?;
    scenes::prepare(&hop)?;
    let mut failures = 0;
    if has_strace() {
        for scene in SCENES.iter().filter(|scene| chosen(&args.scenes, scene.name())) {
            for fault in FAULTS.iter().filter(|fault| chosen(&args.calls, fault.call)) {
                failures += strike_all(&hop, *scene, *fault, args)?;
            }
        }
    } else {
        println!("skipped: faults of system calls need strace, which is not there");
    }
    if args.calls.is_empty() && chosen(&args.scenes, "full") {
        failures += full_disk::run(&hop)?;
    }
    println!("{failures} failures");
    hop.end(failures)
}

fn chosen(list: &[String], name: &str) -> bool {
    list.is_empty() || list.iter().any(|chosen| chosen == name)
}

fn has_strace() -> bool {
    let status = Command::new("strace").arg("-V").stdout(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// What came of the runs in which one kind of call failed.
#[derive(Default)]
struct Tally {
    struck: u64,
    /// Done all the same.
    borne: u64,
    failures: u64,
}

/// Lets calls of a kind fail, one in each run, until there is none left to fail; how often that ended badly.
fn strike_all(hop: &Hop, scene: Scene, fault: Fault, args: &FaultsArgs) -> Result<u64, String> {
    let mut tally = Tally::default();
    for file in scene.files() {
        for and_later in [false, true] {
            let mut number = 1;
            let strike = |number| Strike { fault, number, and_later, file: *file };
            while strike_one(hop, scene, &strike(number), &mut tally)? {
                number += step(number, args);
            }
        }
    }
    let Tally { struck, borne, failures } = tally;
    if struck > 0 {
        let Fault { call, error, .. } = fault;
        println!(
            "{:8} {call:10} {:11} {struck:5} runs, {borne:4} of them done all the same",
            scene.name(),
            error.name
        );
    }
    Ok(failures)
}

/// Makes one run; whether the fault struck.
fn strike_one(hop: &Hop, scene: Scene, strike: &Strike, tally: &mut Tally) -> Result<bool, String> {
    scene.set(hop)?;
    let ran = run_struck(hop, scene, strike)?;
    if !ran.trace.contains("(INJECTED)") {
        return Ok(false);
    }
    tally.struck += 1;
    tally.borne += u64::from(ran.code == Some(0));
    if let Err(what) = judge(hop, scene, strike, &ran) {
        tally.failures += 1;
        let file = strike.file.unwrap_or("any file");
        println!("{}, {} of {file}: {what}", scene.name(), strike.expression());
    }
    Ok(true)
}

/// How far on the next call is that is to fail.
fn step(number: u64, args: &FaultsArgs) -> u64 {
    match (args.every, args.quick) {
        (true, _) => 1,
        (_, true) => number,
        _ if number < 24 => 1,
        _ => number / 8,
    }
}

fn run_struck(hop: &Hop, scene: Scene, strike: &Strike) -> Result<Ran, String> {
    let out = std::fs::File::create(hop.path("new.txt"))
        .map_err(|error| format!("cannot note acknowledgements: {error}"))?;
    let mut command = Command::new("timeout");
    command.args(["60", "strace", "-f", "--seccomp-bpf", "-o", "trace.txt"]);
    // strace looks at the path as it is passed, and at the one of a descriptor.
    if let Some(file) = strike.file {
        for path in [file.into(), hop.path(file), hop.path("new.txt")] {
            command.arg("-P").arg(path);
        }
    }
    command.args([
        "-y",
        "-e",
        &format!("trace=write,fdatasync,pwrite64,openat,{}", strike.fault.call),
    ]);
    command.args(["-e", &format!("inject={}", strike.expression())]);
    command.arg(hop.program()).args(scene.args().split_whitespace());
    command.current_dir(&hop.folder).stdin(Stdio::null()).stdout(out);
    let output = command.output().map_err(|error| format!("cannot run strace: {error}"))?;
    let trace = hop.read("trace.txt")?;
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(Ran { code: output.status.code(), message, trace })
}

/// What is wrong with how a run ended, or with what it left.
fn judge(hop: &Hop, scene: Scene, strike: &Strike, ran: &Ran) -> Result<(), String> {
    let Fault { call, error, harmless } = strike.fault;
    let message = ran.message.trim_end();
    match ran.code {
        Some(0) => {}
        // A library that the system could not load.
        Some(127) if strike.file.is_none() => {}
        // 2 when it is a file to be loaded.
        Some(2 | 3) if !harmless => {
            let told = message.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
            let named = scene.names().iter().any(|name| told.contains(name));
            if !told.contains(error.text) || !named {
                return Err(format!("it does not name the file and the cause: {message}"));
            }
        }
        code => return Err(format!("it ended with {code:?}: {message}")),
    }
    if scene.acknowledges() && strike.file == Some("x.hop-wal") {
        acknowledged_after_sync(&ran.trace, call.contains("sync") || call.contains("write"))?;
    }
    scene.judge(hop, ran.code == Some(0))
}

/// Fails when a commit was acknowledged without a sync of the log that succeeded since the one before. Also when more
/// than one was behind a fault that its own thread met, where `is_final`: the one that was durable, but whose thread
/// then had a checkpoint to make.
fn acknowledged_after_sync(trace: &str, is_final: bool) -> Result<(), String> {
    let (mut synced, mut struck, mut behind) = (false, None, 0);
    let mut log = Log::default();
    for line in trace.lines() {
        let (thread, call) = line.trim_start().split_once(' ').unwrap_or((line, ""));
        if line.contains("(INJECTED)") {
            struck = struck.or(Some(thread));
        } else if log.is_synced_by(thread, call.trim_start()) {
            synced = true;
        } else if line.contains(" write(1<") {
            if !synced {
                return Err(format!("it acknowledged a commit that was not synced: {line}"));
            }
            synced = false;
            behind += u64::from(struck == Some(thread));
        }
    }
    if is_final && behind > 1 {
        return Err(format!("it acknowledged {behind} commits behind the fault"));
    }
    Ok(())
}

/// What a trace tells of the log's descriptors.
#[derive(Default)]
struct Log<'a> {
    /// The one that it was opened by. Writes by another one are durable when they return.
    opened_as: Option<&'a str>,
    /// Threads with such a write under way.
    writing: BTreeSet<&'a str>,
}

impl<'a> Log<'a> {
    /// Whether a call made durable what was written to the log: a sync, or a durable write.
    fn is_synced_by(&mut self, thread: &'a str, call: &'a str) -> bool {
        let (name, rest) = call.split_once('(').unwrap_or((call, ""));
        let failed = call.contains(" = -1 ");
        let (descriptor, path) = rest.split_once('<').unwrap_or_default();
        let is_log = path.split('>').next().is_some_and(|path| path.ends_with("-wal"));
        if name == "openat" && rest.contains("-wal\"") {
            let opened = rest.rsplit_once(" = ").and_then(|(_, opened)| opened.split_once('<'));
            self.opened_as = opened.map(|(descriptor, _)| descriptor).or(self.opened_as);
        }
        if call.contains("fdatasync") {
            return call.ends_with("= 0") && (is_log || call.contains("resumed"));
        }
        if name == "pwrite64" && is_log && self.opened_as != Some(descriptor) {
            let ended = !call.contains("<unfinished ...>");
            if !ended {
                self.writing.insert(thread);
            }
            return ended && !failed;
        }
        name.starts_with("<... pwrite64 resumed>") && self.writing.remove(thread) && !failed
    }
}

#[cfg(test)]
mod tests {
    use super::acknowledged_after_sync;

    #[test]
    fn durable_writes_are_syncs() {
        let opened = "7 openat(AT_FDCWD, \"x.hop-wal\", O_RDWR|O_CLOEXEC) = 4</x.hop-wal>\n";
        let acknowledged = "7 write(1</new.txt>, \"1\\n\", 2)  = 2\n";
        let judge = |lines: &[&str]| acknowledged_after_sync(&lines.concat(), true).is_ok();
        let write = "7 pwrite64(5</x.hop-wal>, \"<...>\", 4096, 8192) = 4096\n";
        assert!(judge(&[opened, write, acknowledged, write, acknowledged]));
        assert!(!judge(&[opened, write, acknowledged, acknowledged]));
        let cached = write.replace("(5", "(4");
        assert!(!judge(&[opened, &cached, acknowledged]));
        let begun = "7 pwrite64(5</x.hop-wal>, \"\"..., 4096, 8192 <unfinished ...>\n";
        assert!(!judge(&[opened, begun, acknowledged]));
        let done = "7 <... pwrite64 resumed>) = 4096\n";
        assert!(judge(&[opened, begun, done, acknowledged]));
        assert!(!judge(&[opened, begun, &done.replace('7', "8"), acknowledged]));
        let failed = "7 <... pwrite64 resumed>) = -1 EIO (Input/output error)\n";
        assert!(!judge(&[opened, begun, failed, acknowledged]));
    }

    #[test]
    fn acknowledgements_are_held_against_syncs() {
        let sync = "7 fdatasync(4</x.hop-wal>)   = 0\n";
        let acknowledged = "7 write(1</new.txt>, \"1\\n\", 2)  = 2\n";
        let fault = "7 fdatasync(3</x.hop>) = -1 EIO (Input/output error) (INJECTED)\n";
        let judge = |lines: &[&str]| acknowledged_after_sync(&lines.concat(), true).is_ok();
        assert!(judge(&[sync, acknowledged, sync, acknowledged]));
        assert!(!judge(&[sync, acknowledged, acknowledged]));
        assert!(judge(&[sync, fault, acknowledged]));
        assert!(!judge(&[fault, acknowledged]));
        assert!(!judge(&[sync, fault, acknowledged, sync, acknowledged]));
        let other = fault.replace('7', "8");
        assert!(judge(&[sync, &other, acknowledged, sync, acknowledged]));
    }
}
