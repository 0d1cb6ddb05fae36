//! `commit-1`, `commit-16`: one-row commits by one thread and by 16. `batch-1000`: commits of 1,000 rows each.
//!
//! Engines take turns within each round. Before each turn the store's files are read, since a system may give up what was
//! not used during the turns of the others. Rows are new, random, made outside the clock and the same for all. In the
//! end each store must hold exactly what was loaded and committed.

use std::path::Path;
use std::time::Instant;

use hopdb_bench::Report;
use hopdb_bench::record::{Better, percentile};

use super::engines::{self, ENGINES, Store};
use super::rows::{Contents, Row, Stream};
use super::{Settings, Told, disk, float, in_threads};
use crate::Outcome;

/// What a workload commits in each round.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) workload: &'static str,
    pub(super) threads: u64,
    /// By each thread.
    pub(super) commits: u64,
    /// Rows of a commit.
    pub(super) rows: u64,
}

impl Shape {
    /// The workload's shape; `None` when it is not one of these.
    pub(super) fn of(workload: &str, quick: bool) -> Option<Self> {
        let commits = |full, quickly| if quick { quickly } else { full };
        Some(match workload {
            "commit-1" => {
                Self { workload: "commit-1", threads: 1, commits: commits(20_000, 1_000), rows: 1 }
            }
            "commit-16" => {
                Self { workload: "commit-16", threads: 16, commits: commits(2_500, 100), rows: 1 }
            }
            "batch-1000" => {
                Self { workload: "batch-1000", threads: 1, commits: commits(100, 20), rows: 1_000 }
            }
            _ => return None,
        })
    }

    pub(super) fn all_rows(&self) -> u64 {
        self.threads * self.commits * self.rows
    }

    /// The rows of each commit of each thread.
    pub(super) fn batches(&self, round: u64) -> Vec<Vec<Vec<Row>>> {
        let of_thread = |thread| {
            let stream = Stream::new(self.workload, round, thread);
            let of_commit = |commit| {
                (commit * self.rows..(commit + 1) * self.rows).map(|n| stream.row(n)).collect()
            };
            (0..self.commits).map(of_commit).collect()
        };
        (0..self.threads).map(of_thread).collect()
    }
}

/// What one round of one store gave.
#[derive(Clone, Copy)]
struct Measured {
    /// Rows a second.
    per_second: f64,
    /// The same, with the time of the checkpoint that follows.
    checkpointed: f64,
    p50_us: f64,
    p99_us: f64,
}

/// A store, and what its rounds gave.
type Measurements = (Box<dyn Store>, Vec<Measured>);

/// Runs those of the three workloads that are wanted, and compares the contents.
pub(super) fn measure(settings: &Settings, folder: &Path, report: &mut Report) -> Outcome<()> {
    let wanted = super::WORKLOADS.into_iter().filter(|name| settings.measures(name));
    let shapes: Vec<Shape> = wanted.filter_map(|name| Shape::of(name, settings.quick)).collect();
    if shapes.is_empty() {
        return Ok(());
    }
    let mut entries: Vec<Measurements> = Vec::new();
    for name in ENGINES.into_iter().filter(|name| settings.with(name)) {
        let store = engines::create(name, &folder.join(name))?;
        load(&*store, settings.loaded())?;
        entries.push((store, Vec::new()));
    }
    let mut expected = Contents::default();
    for number in 0..settings.loaded() {
        let (key, value) = Stream::LOADED.row(number);
        expected.add(&key, &value);
    }
    for shape in &shapes {
        for round in 0..settings.rounds() {
            let batches = shape.batches(round);
            let rows = batches.iter().flatten().flatten();
            rows.for_each(|(key, value)| expected.add(key, value));
            for (store, measured) in &mut entries {
                eprintln!("{}, round {}: {}", shape.workload, round + 1, store.about().name);
                disk::warm(folder, store.about().name)?;
                measured.push(one_round(&**store, &batches, shape)?);
            }
        }
        tell(report, settings, shape, &entries);
        entries.iter_mut().for_each(|(_, measured)| measured.clear());
    }
    entries.iter().try_for_each(|(store, _)| check_contents(&**store, expected))
}

/// The rows that are there before a clock starts.
pub(super) fn load(store: &dyn Store, rows: u64) -> Outcome<()> {
    let began = Instant::now();
    store.load(&mut (0..rows).map(|number| Stream::LOADED.row(number)))?;
    store.checkpoint()?;
    store.settle()?;
    eprintln!("{}: {rows} rows in {:.1} s", store.about().name, began.elapsed().as_secs_f64());
    Ok(())
}

fn check_contents(store: &dyn Store, expected: Contents) -> Outcome<()> {
    let mut contents = Contents::default();
    store.scan(&mut |key, value| contents.add(key, value))?;
    let name = store.about().name;
    if store.about().keeps_rows && contents != expected {
        return Err(format!("{name} holds {contents:?}, not {expected:?}").into());
    }
    Ok(())
}

fn one_round(store: &dyn Store, batches: &[Vec<Vec<Row>>], shape: &Shape) -> Outcome<Measured> {
    let began = Instant::now();
    let times = commit_all(store, batches)?;
    let seconds = began.elapsed().as_secs_f64();
    store.checkpoint()?;
    let checkpointed = began.elapsed().as_secs_f64();
    store.settle()?;
    let rows = float(shape.all_rows());
    Ok(Measured {
        per_second: rows / seconds,
        checkpointed: rows / checkpointed,
        p50_us: percentile(&times, 50),
        p99_us: percentile(&times, 99),
    })
}

/// Commits what each thread has to commit; microseconds of each commit.
pub(super) fn commit_all(store: &dyn Store, batches: &[Vec<Vec<Row>>]) -> Outcome<Vec<f64>> {
    let one = |batch: &Vec<Row>| {
        let began = Instant::now();
        store.commit(batch)?;
        Ok(began.elapsed().as_secs_f64() * 1e6)
    };
    let of_thread =
        |batches: &Vec<Vec<Row>>| batches.iter().map(one).collect::<Outcome<Vec<f64>>>();
    Ok(in_threads(batches, of_thread)?.concat())
}

fn tell(report: &mut Report, settings: &Settings, shape: &Shape, entries: &[Measurements]) {
    let Shape { workload, threads, commits, rows } = *shape;
    let (loaded, rounds) = (settings.loaded(), settings.rounds());
    let run = format!(
        "{loaded} rows before; rounds: {rounds}; {threads} threads, {commits} commits of {rows} rows each"
    );
    let unit = if rows == 1 { "commits/s" } else { "rows/s" };
    let ours = entries.iter().find(|(store, _)| store.about().name == "hopdb");
    for (store, measured) in entries {
        let mut told = Told::new(report, workload, store.about(), &run);
        let each = |value: fn(&Measured) -> f64| measured.iter().map(value).collect::<Vec<_>>();
        told.add(("ops_per_second", unit), Better::Higher, &each(|one| one.per_second));
        told.add(("p50_us", "us"), Better::Lower, &each(|one| one.p50_us));
        told.add(("p99_us", "us"), Better::Lower, &each(|one| one.p99_us));
        told.add(("checkpointed_per_second", unit), Better::Higher, &each(|one| one.checkpointed));
        let Some((_, ours)) = ours.filter(|_| told.about.name != "hopdb") else { continue };
        let ratios = |value: fn(&Measured) -> f64| {
            let pairs = ours.iter().zip(measured);
            pairs.map(|(ours, theirs)| value(ours) / value(theirs)).collect::<Vec<_>>()
        };
        let plain = ratios(|one| one.per_second);
        told.add(("ratio", "hopdb / this"), Better::Higher, &plain);
        if workload == "batch-1000" {
            let checkpointed = ratios(|one| one.checkpointed);
            told.add(("ratio", "hopdb / this, checkpointed"), Better::Higher, &checkpointed);
        }
    }
}
