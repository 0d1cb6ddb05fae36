//! Flushes of each engine in each workload, counted by `strace` in a run that is not timed.
//!
//! A flush is a call of `fdatasync`, `fsync`, `sync_file_range`, `syncfs`, `sync`, `msync` with `MS_SYNC`, or a write on
//! a descriptor opened with `O_DSYNC` or `O_SYNC`. The process that commits writes marks to its standard output, so
//! that what comes before and after its commits does not count; beside the marks it names such descriptors.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use hopdb_bench::Report;
use hopdb_bench::record::Better;

use super::child::SUBCOMMAND;
use super::engines::{self, ENGINES};
use super::throughput::{Shape, commit_all, load};
use super::{Settings, Told, float};
use crate::Outcome;

const BEGIN: &str = "commits begin";
const END: &str = "commits end, written through:";
/// Flags of a descriptor: `O_DSYNC`, which is in `O_SYNC` too.
const WRITTEN_THROUGH: u32 = 0o10_000;
const WRITES: [&str; 6] = ["write", "pwrite64", "writev", "pwritev", "pwritev2", "sendfile"];
const CALLS: &str = "trace=fdatasync,fsync,sync_file_range,syncfs,sync,msync,io_uring_setup,\
                     write,pwrite64,writev,pwritev,pwritev2,sendfile";
/// Rows before the commits.
const LOADED: u64 = 20_000;

/// Counts for all engines and workloads that are wanted. Where that does not work, a note says so.
pub(super) fn count(settings: &Settings, folder: &Path, report: &mut Report) -> Outcome<()> {
    let watched: Vec<Shape> = super::WORKLOADS
        .into_iter()
        .filter(|name| settings.measures(name))
        .filter_map(watched_shape)
        .collect();
    if watched.is_empty() {
        return Ok(());
    }
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        report.note("flushes are not counted: there is no program strace here".into());
        return Ok(());
    }
    for shape in watched {
        for name in ENGINES.into_iter().filter(|name| settings.with(name)) {
            eprintln!("{}, flushes: {name}", shape.workload);
            let own = tempfile::tempdir_in(folder)?;
            let counted = trace(name, shape.workload, own.path()).and_then(|text| flushes(&text));
            let flushes = match counted {
                Ok(flushes) => flushes,
                Err(error) => {
                    let what = format!("{}: flushes of {name} are not counted", shape.workload);
                    report.note(format!("{what}: {error}"));
                    continue;
                }
            };
            let about = engines::create(name, &own.path().join("another"))?.about();
            let commits = shape.threads * shape.commits;
            let how = format!("{LOADED} rows before; {commits} commits under strace, not timed");
            let mut told = Told::new(report, shape.workload, about, &how);
            let metric = ("flushes_per_commit", "flushes");
            told.add(metric, Better::Lower, &[float(flushes) / float(commits)]);
        }
    }
    Ok(())
}

/// Fewer commits than when they are timed: strace stops the process at each call.
fn watched_shape(workload: &str) -> Option<Shape> {
    let shape = Shape::of(workload, true)?;
    Some(Shape { commits: shape.commits / 2, ..shape })
}

/// What strace saw of an engine's commits.
fn trace(engine: &str, workload: &str, folder: &Path) -> Outcome<String> {
    let output = folder.join("calls");
    let mut command = Command::new("strace");
    command.args(["-f", "--seccomp-bpf", "-qq", "-e", CALLS, "-e", "signal=none", "-o"]);
    command.arg(&output).arg(std::env::current_exe()?);
    command.args([SUBCOMMAND, "watched", engine, workload]).arg(folder);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    if !status.success() {
        return Err(format!("{command:?} ended with {status}").into());
    }
    Ok(fs::read_to_string(output)?)
}

/// Commits between marks, in the process that is watched.
pub(super) fn watched(engine: &str, workload: &str, folder: &Path) -> Outcome<()> {
    let shape = watched_shape(workload).ok_or("not a workload to be watched")?;
    let store = engines::create(engine, &folder.join(engine))?;
    load(&*store, LOADED)?;
    let batches = shape.batches(0);
    println!("{BEGIN}");
    commit_all(&*store, &batches)?;
    println!("{END} {}", written_through()?.join(" "));
    Ok(())
}

/// Descriptors of this process whose writes are flushes.
fn written_through() -> Outcome<Vec<String>> {
    let mut descriptors = Vec::new();
    for entry in fs::read_dir("/proc/self/fdinfo")? {
        let entry = entry?;
        // The descriptor of the listing itself is gone by now.
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.map(|octal| u32::from_str_radix(octal.trim(), 8)).transpose()?;
        if flags.is_some_and(|flags| flags & WRITTEN_THROUGH != 0) {
            descriptors.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(descriptors)
}

/// The flushes between the marks in the output of strace.
fn flushes(text: &str) -> Outcome<u64> {
    let (_, behind) = text.split_once(BEGIN).ok_or("strace saw no begin of the commits")?;
    let (commits, behind) = behind.split_once(END).ok_or("strace saw no end of the commits")?;
    let (through, _) = behind.split_once("\\n").ok_or("strace saw half a mark")?;
    let through: Vec<&str> = through.split_whitespace().collect();
    if text.contains("io_uring_setup(") {
        return Err("a store flushes by io_uring, which strace does not see".into());
    }
    // The rest of the line of the mark itself is no call.
    let calls = commits.lines().skip(1).filter_map(call);
    Ok(calls.filter(|(name, arguments)| is_flush(name, arguments, &through)).count() as u64)
}

/// Name and arguments of the call that begins in a line `PID  name(arguments`.
fn call(line: &str) -> Option<(&str, &str)> {
    let (_, call) = line.split_once(char::is_whitespace)?;
    let (name, arguments) = call.trim_start().split_once('(')?;
    // `<... name resumed>` ends a call that began before.
    (!name.contains('<')).then_some((name, arguments))
}

fn is_flush(name: &str, arguments: &str, written_through: &[&str]) -> bool {
    match name {
        "fdatasync" | "fsync" | "sync_file_range" | "syncfs" | "sync" => true,
        "msync" => arguments.contains("MS_SYNC"),
        _ if arguments.contains("RWF_DSYNC") || arguments.contains("RWF_SYNC") => true,
        _ => {
            let descriptor = arguments.split(',').next().unwrap_or_default();
            WRITES.contains(&name) && written_through.contains(&descriptor)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = r#"100 fsync(3) = 0
100 write(1, "commits begin\n", 14) = 14
100 pwrite64(7, "\0\0"..., 4096, 0) = 4096
100 fdatasync(7 <unfinished ...>
101 pwrite64(8, "\0"..., 8, 0) = 8
100 <... fdatasync resumed>) = 0
102 msync(0x7f0000000000, 4096, MS_SYNC) = 0
102 msync(0x7f0000000000, 4096, MS_ASYNC) = 0
102 pwritev2(9, [{iov_base="x", iov_len=1}], 1, 0, RWF_DSYNC) = 1
100 write(1, "commits end, written through: 8 12\n", 35) = 35
100 fsync(3) = 0
"#;

    #[test]
    fn calls_between_the_marks_are_counted_once() {
        // fdatasync, the write to descriptor 8, one msync, one pwritev2.
        assert_eq!(flushes(TRACE).unwrap(), 4);
        assert_eq!(flushes(&TRACE.replace("through: 8 12", "through: ")).unwrap(), 3);
    }

    #[test]
    fn a_trace_that_does_not_tell_is_an_error() {
        assert!(flushes("100 fsync(3) = 0\n").is_err());
        assert!(flushes(&format!("100 io_uring_setup(8, 0x1) = 4\n{TRACE}")).is_err());
    }

    #[test]
    fn descriptors_opened_to_be_written_through_are_found() {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::OpenOptionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let plain = options.open(folder.path().join("plain")).unwrap();
        options.custom_flags(i32::try_from(WRITTEN_THROUGH).unwrap());
        let synced = options.open(folder.path().join("synced")).unwrap();
        let found = written_through().unwrap();
        assert!(found.contains(&synced.as_raw_fd().to_string()));
        assert!(!found.contains(&plain.as_raw_fd().to_string()));
    }
}
