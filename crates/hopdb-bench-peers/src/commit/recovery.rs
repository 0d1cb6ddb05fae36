//! `recovery-64m`, `recovery-64m-1g`: opening a store of 1 GiB whose process was killed with 64 MiB of records in its
//! log, and a first look-up; by the default options, and with a cache of a GiB.
//!
//! The process that is killed makes a checkpoint and then commits updates of random rows, of so many that their pages
//! fit into its memory beside others: so only the length of the log brings the next checkpoint. Before it does, at half
//! of the log's length, comes the last commit, which writes the other half by changing whole pages one behind the other.
//! What recovery replays tells whether there was a checkpoint all the same; then the process is tried again.
//! Each repetition opens copies of the files, in turn with all their pages in the system's memory and with none;
//! the bytes that the disk read meanwhile are told beside. Afterwards the newest updates are asked for.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use ::hopdb::{Durability, RecoveryReport};
use hopdb_bench::Report;
use hopdb_bench::record::Better;
use serde::{Deserialize, Serialize};

use super::child::SUBCOMMAND;
use super::engines::Store;
use super::hopdb::HopDb;
use super::rows::{Row, Stream, Updates, VALUE_BYTES};
use super::{Settings, Told, check_rows, disk, float};
use crate::Outcome;

const TABLE_BYTES: u64 = 1 << 30;
const QUICK_TABLE_BYTES: u64 = 128 << 20;
/// Bytes of a table by each of its rows, as a load in the order of keys leaves it, roughly.
const ROW_BYTES: u64 = 190;
const LOG_BYTES: u64 = 64 << 20;
/// Of them, those of commits of one row each.
const SMALL_COMMITS_BYTES: u64 = 30 << 20;
const TRIES: usize = 5;
/// The value of each row that the last commit changes.
const LAST_VALUE: [u8; VALUE_BYTES] = [0xee; VALUE_BYTES];
/// Of the pages that fit into memory, a checkpoint comes when this share waits to be written: these are fewer.
const UPDATED_PART: (u64, u64) = (3, 16);
/// Commits whose bytes are measured.
const MEASURED: u64 = 500;

/// What the process did before it was killed.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Crash {
    /// Commits since the checkpoint.
    commits: u64,
    /// Commits before it.
    before: u64,
    /// Rows that were updated.
    rows: u64,
    /// Up to this key the last of them changed all rows.
    changed_to: Vec<u8>,
    file_bytes: u64,
}

impl Crash {
    fn newest(&self) -> Vec<Row> {
        let mut newest = updates(self.rows).newest(self.before + self.commits - 1);
        for (_, value) in newest.iter_mut().filter(|(key, _)| *key <= self.changed_to) {
            *value = LAST_VALUE.to_vec();
        }
        newest.push((self.changed_to.clone(), LAST_VALUE.to_vec()));
        newest
    }
}

/// One opening.
struct Opened {
    seconds: f64,
    commits: u64,
    pages: u64,
    log_bytes: u64,
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
        let crash = crash_with_log(own.path(), &database, &case)?;
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

/// A crash before which there was no checkpoint.
fn crash_with_log(folder: &Path, database: &Path, case: &Case) -> Outcome<Crash> {
    for _ in 0..TRIES {
        let crash = crash(database, case)?;
        let opened = open(database, &folder.join("tried"), (case, &crash), true)?;
        eprintln!("{}: {crash:?}, {} commits replayed", case.workload, opened.commits);
        if opened.commits >= crash.commits {
            return Ok(crash);
        }
        fs::remove_file(database)?;
        fs::remove_file(log_of(database))?;
    }
    Err(format!("{TRIES} times a checkpoint came before the process was killed").into())
}

fn log_of(database: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", database.display()))
}

/// Has a process fill a table and commit, and kills it.
fn crash(database: &Path, case: &Case) -> Outcome<Crash> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([SUBCOMMAND, "killed"]).arg(database);
    command.arg(case.rows.to_string());
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
    let frames = store.store().counts().pool.frames_max as u64;
    let rows = rows.min(frames * UPDATED_PART.0 / UPDATED_PART.1);
    let (bytes_per_commit, before) = bytes_per_commit(&store, database, rows)?;
    store.checkpoint()?;
    let commits = SMALL_COMMITS_BYTES / bytes_per_commit;
    commit(&store, rows, before..before + commits)?;
    let changed = store.keys((LOG_BYTES - SMALL_COMMITS_BYTES) / ROW_BYTES)?;
    let changed_to = changed.last().ok_or("no rows")?.clone();
    let last = changed.into_iter().map(|key| (key, LAST_VALUE.to_vec()));
    store.put(last, Durability::Sync)?;
    let file_bytes = store.store().file_bytes()?;
    let crash = Crash { commits: commits + 1, before, rows, changed_to, file_bytes };
    println!("{}", serde_json::to_string(&crash)?);
    // Whoever reads this kills the process; its own end closes the store.
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Commits updates, one row each; they are durable when it returns.
fn commit(store: &HopDb, rows: u64, numbers: Range<u64>) -> Outcome<()> {
    let updates = updates(rows);
    let last = numbers.end - 1;
    for number in numbers {
        let durability = if number == last { Durability::Sync } else { Durability::None };
        store.put([updates.row(number)].into_iter(), durability)?;
    }
    Ok(())
}

/// Bytes that a commit adds to the log, and how many commits it took to know: a log that grows is filled with zeros
/// ahead, and those must not count.
fn bytes_per_commit(store: &HopDb, database: &Path, rows: u64) -> Outcome<(u64, u64)> {
    for tries in 1..=10 {
        store.checkpoint()?;
        let (log, pages) = (log_of(database), || store.store().counts().io.pages_written);
        let before = (fs::metadata(&log).map_or(0, |log| log.len()), pages());
        let written = disk::bytes_written()?;
        commit(store, rows, (tries - 1) * MEASURED..tries * MEASURED)?;
        let bytes = disk::bytes_written()? - written;
        if before == (fs::metadata(&log)?.len(), pages()) {
            return Ok((bytes / MEASURED, tries * MEASURED));
        }
    }
    Err("the log grows at every try, or pages are written meanwhile".into())
}

/// Opens a copy, and checks what it holds.
fn open(
    database: &Path,
    copy: &Path,
    (case, crash): (&Case, &Crash),
    warm: bool,
) -> Outcome<Opened> {
    eprintln!("{}: {}", case.workload, copy.display());
    disk::copy(database, copy, warm)?;
    disk::copy(&log_of(database), &log_of(copy), warm)?;
    let newest = crash.newest();
    let disk_bytes = disk::bytes_from_disk()?;
    let began = Instant::now();
    let store = HopDb::open(copy, case.cache_bytes)?;
    let first = store.get(&newest[0].0)?;
    let seconds = began.elapsed().as_secs_f64();
    let disk_bytes = disk::bytes_from_disk()? - disk_bytes;
    let report = store.store().recovery().ok_or("nothing was recovered")?;
    if first.as_ref() != Some(&newest[0].1) {
        return Err(format!("a committed row is lost: {crash:?}, {report:?}").into());
    }
    check_rows(&store, &newest)?;
    store.store().clone().close()?;
    fs::remove_file(copy)?;
    let RecoveryReport { commits, pages, log_bytes, .. } = report;
    Ok(Opened { seconds, commits, pages, log_bytes, disk_bytes })
}

fn tell(report: &mut Report, case: &Case, crash: &Crash, opened: &[Vec<Opened>; 2]) {
    let mut about = HopDb::described();
    if case.cache_bytes.is_some() {
        about.settings = "defaults, but for 1 GiB of pages";
    }
    let run = format!(
        "{} rows, {} of them updated; file of {} bytes; process killed; warm and cold: with and without the \
         files' pages in the system's memory",
        case.rows, crash.rows, crash.file_bytes
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
    let each = |value: fn(&Opened) -> u64| all().map(|one| float(value(one))).collect::<Vec<_>>();
    told.add(("commits", "commits"), Better::Higher, &each(|one| one.commits));
    told.add(("pages", "pages"), Better::Higher, &each(|one| one.pages));
    told.add(("log_bytes", "bytes"), Better::Higher, &each(|one| one.log_bytes));
}
