//! Durable commits of small rows into a store that holds millions: HopDB's key-value store beside LMDB, redb, SQLite
//! and fjall.
//!
//! All stores hold the same rows before the clock starts: random keys of 24 bytes, values of 150. Engines take turns,
//! round by round; keys and values are made outside the timed loops. In the end every store is asked for rows of each
//! round. Beside them stands the limit: overwriting as many bytes of a file and syncing it.

mod fjall;
mod hopdb;
mod limit;
mod lmdb;
mod redb;
mod rows;
mod sqlite;

use std::path::Path;
use std::thread;
use std::time::Instant;

use hopdb_bench::Report;
use hopdb_bench::record::{Better, What, percentile, spread};

use crate::Outcome;
use rows::{Row, Rows};

/// A store with one table.
pub(crate) trait Store: Sync {
    /// Name, version, and settings that matter.
    fn about(&self) -> About;
    /// Puts rows in, in one transaction where the store has them; need not be durable.
    fn load(&self, rows: &mut dyn Iterator<Item = Row>) -> Outcome<()>;
    /// Commits the rows; durable when it returns.
    fn commit(&self, rows: &[Row]) -> Outcome<()>;
    /// Brings what was committed to where it stays.
    fn checkpoint(&self) -> Outcome<()>;
    /// The value of a key.
    fn get(&self, key: &[u8]) -> Outcome<Option<Vec<u8>>>;
}

/// What a record says of an engine.
pub(crate) struct About {
    pub(crate) name: &'static str,
    pub(crate) version: String,
    pub(crate) settings: &'static str,
}

/// The engines, in the order in which they take turns.
pub(crate) const ENGINES: [&str; 6] = ["hopdb", "lmdb", "redb", "sqlite", "fjall", "limit"];
/// The workloads.
pub(crate) const WORKLOADS: [&str; 3] = ["commit-1", "commit-16", "batch-1000"];

/// What to measure.
pub(crate) struct Settings {
    pub(crate) quick: bool,
    pub(crate) engines: Vec<String>,
    pub(crate) only: Vec<String>,
}

impl Settings {
    fn wants(chosen: &[String], name: &str) -> bool {
        chosen.is_empty() || chosen.iter().any(|one| one == name)
    }
}

/// Runs the suite.
pub(crate) fn run(settings: &Settings, report: &mut Report) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let rows = Rows::new(if settings.quick { 100_000 } else { 5_000_000 });
    let mut stores = Vec::new();
    for name in ENGINES.into_iter().filter(|name| Settings::wants(&settings.engines, name)) {
        let store = open(name, folder.path())?;
        let began = Instant::now();
        store.load(&mut rows.loaded())?;
        store.checkpoint()?;
        eprintln!("{name}: loaded in {:.1} s", began.elapsed().as_secs_f64());
        stores.push(store);
    }
    let rounds = if settings.quick { 2 } else { 5 };
    for workload in WORKLOADS.into_iter().filter(|name| Settings::wants(&settings.only, name)) {
        measure(workload, (&stores, rows, rounds), report)?;
    }
    Ok(())
}

fn open(name: &str, folder: &Path) -> Outcome<Box<dyn Store>> {
    let path = folder.join(name);
    Ok(match name {
        "hopdb" => Box::new(hopdb::HopDb::create(&path)?),
        "lmdb" => Box::new(lmdb::Lmdb::create(&path)?),
        "redb" => Box::new(redb::Redb::create(&path)?),
        "sqlite" => Box::new(sqlite::Sqlite::create(&path)?),
        "fjall" => Box::new(fjall::Fjall::create(&path)?),
        _ => Box::new(limit::Limit::create(&path)?),
    })
}

/// What one round of one store gave.
#[derive(Clone, Copy, Default)]
struct Measured {
    /// Commits, or rows, a second.
    per_second: f64,
    /// The same, with the time of the checkpoint that follows.
    checkpointed: f64,
    p50_us: f64,
    p99_us: f64,
}

fn measure(
    workload: &str,
    (stores, rows, rounds): (&[Box<dyn Store>], Rows, u64),
    report: &mut Report,
) -> Outcome<()> {
    let mut all: Vec<Vec<Measured>> = stores.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for (store, measured) in stores.iter().zip(&mut all) {
            let threads = if workload == "commit-16" { 16 } else { 1 };
            let (commits, each) = match workload {
                "batch-1000" => (100, 1000),
                "commit-16" => (500, 1),
                _ => (4000, 1),
            };
            let shape = Shape { round: (workload, round), threads, commits, each };
            measured.push(one_round(&**store, rows, &shape)?);
        }
    }
    let ours = stores.iter().zip(&all).find(|(store, _)| store.about().name == "hopdb");
    let ours: Option<Vec<Measured>> = ours.map(|(_, measured)| measured.clone());
    for (store, measured) in stores.iter().zip(&all) {
        add(report, workload, &store.about(), (measured, ours.as_deref()));
    }
    Ok(())
}

struct Shape<'a> {
    round: (&'a str, u64),
    threads: u64,
    commits: u64,
    each: usize,
}

fn one_round(store: &dyn Store, rows: Rows, shape: &Shape<'_>) -> Outcome<Measured> {
    let batches: Vec<Vec<Vec<Row>>> = (0..shape.threads)
        .map(|thread| {
            let mut new = rows.new_rows(shape.round, thread);
            (0..shape.commits).map(|_| new.by_ref().take(shape.each).collect()).collect()
        })
        .collect();
    let began = Instant::now();
    let times: Outcome<Vec<f64>> = thread::scope(|scope| {
        let threads: Vec<_> = batches
            .iter()
            .map(|batches| scope.spawn(|| commit_all(store, batches).map_err(|e| e.to_string())))
            .collect();
        let mut times = Vec::new();
        for thread in threads {
            times.extend(thread.join().map_err(|_| "a thread panicked")??);
        }
        Ok(times)
    });
    let times = times?;
    let seconds = began.elapsed().as_secs_f64();
    store.checkpoint()?;
    let checkpointed = began.elapsed().as_secs_f64();
    for batch in batches.iter().flatten().step_by(97) {
        let (key, value) = &batch[batch.len() / 2];
        if store.get(key)?.as_deref() != Some(&value[..]) && store.about().name != "limit" {
            return Err(format!("{} has lost a row", store.about().name).into());
        }
    }
    let rows = f64::from(u32::try_from(shape.threads * shape.commits * shape.each as u64)?);
    Ok(Measured {
        per_second: rows / seconds,
        checkpointed: rows / checkpointed,
        p50_us: percentile(&times, 50),
        p99_us: percentile(&times, 99),
    })
}

/// Microseconds of each commit.
fn commit_all(store: &dyn Store, batches: &[Vec<Row>]) -> Outcome<Vec<f64>> {
    let one = |batch: &Vec<Row>| {
        let began = Instant::now();
        store.commit(batch)?;
        Ok(began.elapsed().as_secs_f64() * 1e6)
    };
    batches.iter().map(one).collect()
}

fn add(
    report: &mut Report,
    workload: &str,
    about: &About,
    (measured, ours): (&[Measured], Option<&[Measured]>),
) {
    let mut add = |metric, better, values: Vec<f64>| {
        let About { name: engine, version, settings } = about;
        report.add(&What { workload, engine, version, metric, better, settings }, &values);
    };
    let each = |value: fn(&Measured) -> f64| measured.iter().map(value).collect::<Vec<_>>();
    let unit = if workload == "batch-1000" { "rows/s" } else { "commits/s" };
    add(("ops_per_second", unit), Better::Higher, each(|one| one.per_second));
    add(("p50_us", "us"), Better::Lower, each(|one| one.p50_us));
    add(("p99_us", "us"), Better::Lower, each(|one| one.p99_us));
    add(("checkpointed_per_second", unit), Better::Higher, each(|one| one.checkpointed));
    if let Some(ours) = ours.filter(|_| about.name != "hopdb") {
        let ratios = |value: fn(&Measured) -> f64| {
            let ratio = |(a, b): (&Measured, &Measured)| value(a) / value(b);
            ours.iter().zip(measured).map(ratio).collect::<Vec<_>>()
        };
        let (plain, checkpointed) = (ratios(|one| one.per_second), ratios(|one| one.checkpointed));
        let shown = [spread(&plain).0, spread(&checkpointed).0];
        add(("ratio", "hopdb / this"), Better::Higher, plain);
        if workload == "batch-1000" && shown[1].is_finite() {
            add(("ratio", "hopdb / this, checkpointed"), Better::Higher, checkpointed);
        }
    }
}
