//! `recovery-64m`, `recovery-64m-1g`: opening a store of 1 GiB whose process was killed with 64 MiB of records in its
//! log, and a first look-up; by the default options, and with a cache of a GiB.
//!
//! The process that is killed has just begun a new log by a checkpoint, and commits updates of random rows until it
//! has written 64 MiB of records, or almost as many as the store takes before its next checkpoint: it tries that
//! before. Each repetition opens copies of the files, in turn with all their pages in the system's memory and with none;
//! `disk_bytes` tells what the disk read meanwhile. Afterwards the newest updates are asked for.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use ::hopdb::Durability;
use hopdb_bench::Report;
use hopdb_bench::record::Better;
use serde::{Deserialize, Serialize};

use super::child::SUBCOMMAND;
use super::engines::Store;
use super::hopdb::HopDb;
use super::rows::{Stream, Updates};
use super::{Settings, Told, check_rows, disk, float};
use crate::Outcome;

const TABLE_BYTES: u64 = 1 << 30;
const QUICK_TABLE_BYTES: u64 = 128 << 20;
/// Bytes of a table by each of its rows, as a load in the order of keys leaves it, roughly.
const ROW_BYTES: u64 = 190;
const LOG_BYTES: u64 = 64 << 20;
/// So many commits between two looks at the counters.
const STEP: u64 = 200;

/// What the process did before it was killed.
#[derive(Debug, Deserialize, Serialize)]
struct Crash {
    /// Updates in all, of which the newest made the log.
    updates: u64,
    /// Commits since the checkpoint.
    commits: u64,
    /// Bytes that they wrote.
    log_bytes: u64,
    file_bytes: u64,
}

/// One opening.
struct Opened {
    seconds: f64,
    commits: u64,
    pages: u64,
    disk_bytes: u64,
}

/// How a store is opened, and what is in it.
struct Case {
    workload: &'static str,
    rows: u64,
    cache_bytes: Option<usize>,
}

/// Runs those of the two workloads that are wanted.
pub(super) fn measure(settings: &Settings, folder: &Path, report: &mut Report) -> Outcome<()> {
    let table_bytes = if settings.quick { QUICK_TABLE_BYTES } else { TABLE_BYTES };
    let rows = table_bytes / ROW_BYTES;
    let cases = [("recovery-64m", None), ("recovery-64m-1g", Some(1 << 30))];
    for (workload, cache_bytes) in cases.into_iter().filter(|(name, _)| settings.measures(name)) {
        let case = Case { workload, rows, cache_bytes };
        let own = tempfile::tempdir_in(folder)?;
        let database = own.path().join("crashed");
        let crash = crash(&database, &case)?;
        eprintln!("{workload}: {crash:?}");
        let mut opened = [Vec::new(), Vec::new()];
        for round in 0..settings.rounds() {
            for (warm, opened) in [true, false].into_iter().zip(&mut opened) {
                let copy = own.path().join(format!("copy-{round}-{warm}"));
                opened.push(open(&database, &copy, (&case, &crash), warm)?);
            }
        }
        tell(report, &case, &crash, &opened);
    }
    Ok(())
}

/// Has a process fill a table and commit, and kills it.
fn crash(database: &Path, case: &Case) -> Outcome<Crash> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([SUBCOMMAND, "killed"]).arg(database).arg(case.rows.to_string());
    if let Some(bytes) = case.cache_bytes {
        command.arg("--cache-bytes").arg(bytes.to_string());
    }
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    let told = process.stdout.take().map(|output| BufReader::new(output).read_line(&mut line));
    process.kill()?;
    process.wait()?;
    told.ok_or("no output")??;
    Ok(serde_json::from_str(&line)
        .map_err(|error| format!("{command:?} said {line:?}: {error}"))?)
}

fn updates(rows: u64) -> Updates {
    Updates { stream: Stream::new("recovery", 0, 0), loaded: rows, thread: 0, threads: 1 }
}

/// Fills, commits, tells, and waits for its end.
pub(super) fn killed(database: &Path, rows: u64, cache_bytes: Option<usize>) -> Outcome<()> {
    let store = HopDb::create(database, cache_bytes)?;
    store.bulk((0..rows).map(|number| Stream::LOADED.row(number)))?;
    let updates = updates(rows);
    // Pages as a load leaves them take longer records once: the first try does not count.
    let (mut updated, mut tries, mut commits_max) = (0, 0, u64::MAX);
    let (commits, log_bytes) = loop {
        store.checkpoint()?;
        let began = (disk::bytes_written()?, pages_written(&store));
        let mut commits = 0;
        let log_bytes = loop {
            for number in updated..updated + STEP {
                store.put([updates.row(number)].into_iter(), Durability::None)?;
            }
            (updated, commits) = (updated + STEP, commits + STEP);
            let log_bytes = disk::bytes_written()? - began.0;
            if log_bytes >= LOG_BYTES || commits >= commits_max || pages_written(&store) > began.1 {
                break log_bytes;
            }
        };
        // Durable, and with it all before.
        store.put([updates.row(updated)].into_iter(), Durability::Sync)?;
        updated += 1;
        if pages_written(&store) == began.1 {
            break (commits + 1, log_bytes.max(disk::bytes_written()? - began.0));
        }
        tries += 1;
        if tries > 1 {
            commits_max = commits - commits / 20;
        }
    };
    let file_bytes = store.store().file_bytes()?;
    let crash = Crash { updates: updated, commits, log_bytes, file_bytes };
    println!("{}", serde_json::to_string(&crash)?);
    // Whoever reads this kills the process; its own end closes the store.
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn pages_written(store: &HopDb) -> u64 {
    store.store().counts().io.pages_written
}

/// Opens a copy, and checks what it holds.
fn open(
    database: &Path,
    copy: &Path,
    (case, crash): (&Case, &Crash),
    warm: bool,
) -> Outcome<Opened> {
    eprintln!("{}: {}", case.workload, copy.display());
    let log_of = |path: &Path| PathBuf::from(format!("{}-wal", path.display()));
    disk::copy(database, copy, warm)?;
    disk::copy(&log_of(database), &log_of(copy), warm)?;
    let newest = updates(case.rows).newest(crash.updates);
    let disk_bytes = disk::bytes_from_disk()?;
    let began = Instant::now();
    let store = HopDb::open(copy, case.cache_bytes)?;
    let first = store.get(&newest[0].0)?;
    let seconds = began.elapsed().as_secs_f64();
    let disk_bytes = disk::bytes_from_disk()? - disk_bytes;
    let report = store.store().recovery().ok_or("nothing was recovered")?;
    if first.as_ref() != Some(&newest[0].1) || report.commits < crash.commits {
        return Err(format!("not all of {crash:?} was recovered: {report:?}").into());
    }
    check_rows(&store, &newest)?;
    store.store().clone().close()?;
    std::fs::remove_file(copy)?;
    Ok(Opened { seconds, commits: report.commits, pages: report.pages, disk_bytes })
}

fn tell(report: &mut Report, case: &Case, crash: &Crash, opened: &[Vec<Opened>; 2]) {
    let mut about = HopDb::described();
    if case.cache_bytes.is_some() {
        about.settings = "defaults, but for 1 GiB of pages";
    }
    let run = format!(
        "{} rows, file of {} bytes; process killed; warm and cold: with and without the \
         files' pages in the system's memory",
        case.rows, crash.file_bytes
    );
    let mut told = Told::new(report, case.workload, about, &run);
    for (opened, seconds, disk_bytes) in [
        (&opened[0], "warm_seconds", "warm_disk_bytes"),
        (&opened[1], "cold_seconds", "cold_disk_bytes"),
    ] {
        let each = |value: fn(&Opened) -> f64| opened.iter().map(value).collect::<Vec<_>>();
        told.add((seconds, "s"), Better::Lower, &each(|one| one.seconds));
        told.add((disk_bytes, "bytes"), Better::Lower, &each(|one| float(one.disk_bytes)));
    }
    let all = || opened.iter().flatten();
    let (commits, pages) = (all().map(|one| float(one.commits)), all().map(|one| float(one.pages)));
    told.add(("commits", "commits"), Better::Higher, &commits.collect::<Vec<_>>());
    told.add(("pages", "pages"), Better::Higher, &pages.collect::<Vec<_>>());
    told.add(("log_bytes", "bytes"), Better::Higher, &[float(crash.log_bytes)]);
}
