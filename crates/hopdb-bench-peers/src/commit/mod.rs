//! Durable commits of small rows into a store that holds millions: HopDB's key-value store beside LMDB, redb, SQLite
//! and fjall, and beside the limit of the disk.
//!
//! A workload is a file in here, and so is the adapter of an engine. The stores' files lie in one folder on a disk; a store is loaded once, and the workloads run on
//! it in turn. Answers are checked after the clock has stopped; a wrong one ends the run.

pub(crate) mod child;
mod disk;
mod engines;
mod fjall;
mod flushes;
mod hopdb;
mod hot_rows;
mod limit;
mod lmdb;
mod open_loop;
mod recovery;
mod redb;
mod rows;
mod sqlite;
mod steady;
mod throughput;

use std::path::{Path, PathBuf};
use std::thread;

use hopdb_bench::Report;
use hopdb_bench::record::{Better, What};

use crate::Outcome;
use engines::{About, Store};
use hopdb::HopDb;

pub(crate) use engines::ENGINES;

/// The workloads.
pub(crate) const WORKLOADS: [&str; 8] = [
    "commit-1",
    "commit-16",
    "batch-1000",
    "commit-steady",
    "commit-steady-16",
    "recovery-64m",
    "recovery-64m-1g",
    "hot-rows-reader",
];

/// Options of this suite alone.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Minutes of each steady run by HopDB [default: 10; 0.2 when quick]
    #[arg(long, value_name = "M")]
    minutes: Option<f64>,
    /// Folder for the files, on the disk to be measured [default: a temporary one, removed afterwards]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// What to measure.
pub(crate) struct Settings {
    pub(crate) quick: bool,
    /// Empty: all.
    pub(crate) engines: Vec<String>,
    /// Empty: all.
    pub(crate) only: Vec<String>,
    pub(crate) options: Options,
}

impl Settings {
    fn measures(&self, workload: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|one| one == workload)
    }

    fn with(&self, engine: &str) -> bool {
        self.engines.is_empty() || self.engines.iter().any(|one| one == engine)
    }

    fn rounds(&self) -> u64 {
        if self.quick { 2 } else { 5 }
    }

    /// Rows that a store holds before a clock starts.
    fn loaded(&self) -> u64 {
        if self.quick { 100_000 } else { 5_000_000 }
    }
}

/// Runs the suite.
pub(crate) fn run(settings: &Settings, report: &mut Report) -> Outcome<()> {
    let folder = match &settings.options.dir {
        Some(dir) => tempfile::tempdir_in(dir)?,
        None => tempfile::tempdir()?,
    };
    let folder = folder.path();
    disk::check_is_disk(folder)?;
    throughput::measure(settings, folder, report)?;
    flushes::count(settings, folder, report)?;
    if settings.with("hopdb") {
        steady::measure(settings, folder, report)?;
        recovery::measure(settings, folder, report)?;
        hot_rows::measure(settings, folder, report)?;
    }
    Ok(())
}

/// What is reported of one engine in one workload.
struct Told<'a> {
    report: &'a mut Report,
    workload: &'a str,
    about: About,
    settings: String,
}

impl<'a> Told<'a> {
    /// `settings`: what matters beside those of the engine.
    fn new(report: &'a mut Report, workload: &'a str, about: About, settings: &str) -> Self {
        let settings = format!("{}; {settings}", about.settings);
        Self { report, workload, about, settings }
    }

    /// Adds a measurement by its repetitions; gives the median.
    fn add(&mut self, metric: (&str, &str), better: Better, values: &[f64]) -> f64 {
        let what = What {
            workload: self.workload,
            engine: self.about.name,
            version: &self.about.version,
            metric,
            better,
            settings: &self.settings,
        };
        self.report.add(&what, values)
    }
}

/// A count as a number to calculate with; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}

/// Does something with each item, each in a thread of its own.
fn in_threads<I: Sync, T: Send>(
    items: &[I],
    act: impl Fn(&I) -> Outcome<T> + Sync,
) -> Outcome<Vec<T>> {
    let act = |item| act(item).map_err(|error| error.to_string());
    let act = &act;
    thread::scope(|scope| {
        let threads: Vec<_> = items.iter().map(|item| scope.spawn(move || act(item))).collect();
        let done = threads
            .into_iter()
            .map(|thread| Ok(thread.join().map_err(|_| "a thread panicked")??));
        done.collect()
    })
}

/// The store of HopDB that other workloads have loaded, or a new one with as many rows.
fn loaded_hopdb(settings: &Settings, folder: &Path) -> Outcome<HopDb> {
    let path = folder.join("hopdb");
    if path.exists() {
        return HopDb::open(&path, None);
    }
    let store = HopDb::create(&path, None)?;
    throughput::load(&store, settings.loaded())?;
    Ok(store)
}

/// Fails unless the store gives these values.
fn check_rows(store: &dyn Store, rows: &[rows::Row]) -> Outcome<()> {
    for (key, value) in rows {
        if store.get(key)?.as_ref() != Some(value) {
            return Err(format!("{} lost a committed row", store.about().name).into());
        }
    }
    Ok(())
}
