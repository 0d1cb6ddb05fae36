//! The friends graph in each engine: loads from CSV to durable, then two-hop walks.
//!
//! All load the same people and friendships with a unique index over the people's ids, and both directions.
//! All walk from the same random people and return the id of every end, once a path; the ends are compared.

use std::fs;
use std::path::{Path, PathBuf};

use hopdb::generate::Friends;
use hopdb_bench::friends::{Files, starts, write_files};
use hopdb_bench::record::{What, percentile, spread};
use hopdb_bench::{Better, Report};

use crate::Outcome;
use crate::hopdb_engine::HopDb;
use crate::neo4j::Neo4j;
use crate::python::Python;
use crate::sqlite::Sqlite;

/// What to measure.
pub(crate) struct Settings {
    pub(crate) quick: bool,
    pub(crate) engines: Vec<String>,
    pub(crate) only: Vec<String>,
}

/// The input, in the two forms that engines take.
pub(crate) struct Input {
    pub(crate) folder: PathBuf,
    /// With import headers.
    pub(crate) with_headers: Files,
    /// With the headers `id,name` and `from,to`.
    pub(crate) plain: Files,
    pub(crate) starts: Vec<u64>,
}

/// What an engine says of its walks.
pub(crate) struct WalkAnswer {
    pub(crate) micros: Vec<f64>,
    pub(crate) ends: u64,
    /// Sum of the ends' ids over all walks.
    pub(crate) sum: u64,
    /// Median time of a query that does nothing, where calls go through another language.
    pub(crate) empty_us: Option<f64>,
}

/// An engine that can be measured.
pub(crate) trait Engine {
    fn name(&self) -> &'static str;
    fn version(&self) -> String;
    fn settings(&self) -> &'static str;
    /// Loads into a new database at `path`, until it is durable and closed; seconds.
    fn load(&mut self, input: &Input, path: &Path) -> Outcome<f64>;
    /// Walks from all starts, after a warm-up.
    fn walk(&mut self, input: &Input, path: &Path) -> Outcome<WalkAnswer>;
}

#[derive(Default)]
struct Measured {
    loads: Vec<f64>,
    bytes: Vec<f64>,
    medians: Vec<f64>,
    tails: Vec<f64>,
    empty: Vec<f64>,
}

/// Runs the suite.
pub(crate) fn run(settings: &Settings, report: &mut Report) -> Outcome<()> {
    let people = if settings.quick { 10_000 } else { 100_000 };
    let rounds = if settings.quick { 1 } else { 3 };
    let folder = tempfile::tempdir()?;
    let input = prepare(Friends { people, friends: 10, seed: 42 }, folder.path())?;
    let mut engines = engines(settings);
    let mut measured: Vec<Measured> = engines.iter().map(|_| Measured::default()).collect();
    for round in 0..rounds {
        let mut answer = None;
        for (engine, measured) in engines.iter_mut().zip(&mut measured) {
            eprintln!("round {} of {rounds}: {}", round + 1, engine.name());
            let path = folder.path().join(format!("{}-{round}.db", engine.name()));
            measured.loads.push(engine.load(&input, &path)?);
            measured.bytes.push(size(&path)?);
            if settings.wants("walk-2") {
                let walked = engine.walk(&input, &path)?;
                compare(&mut answer, engine.name(), &walked)?;
                measured.medians.push(spread(&walked.micros).0);
                measured.tails.push(percentile(&walked.micros, 99));
                measured.empty.extend(walked.empty_us);
            }
            remove(&path)?;
        }
    }
    for (engine, measured) in engines.iter().zip(&measured) {
        report_engine(settings, report, &**engine, measured);
    }
    ratios(settings, report, &engines, &measured);
    Ok(())
}

impl Settings {
    fn wants(&self, workload: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == workload)
    }

    fn wants_engine(&self, name: &str) -> bool {
        self.engines.is_empty() || self.engines.iter().any(|engine| engine == name)
    }
}

fn engines(settings: &Settings) -> Vec<Box<dyn Engine>> {
    let mut engines: Vec<Box<dyn Engine>> = Vec::new();
    if settings.wants_engine("hopdb") {
        engines.push(Box::new(HopDb));
    }
    if settings.wants_engine("sqlite") {
        engines.push(Box::new(Sqlite));
    }
    for (module, requirement) in [("kuzu", "kuzu==0.11.3"), ("ladybug", "ladybug==0.22.*")] {
        if settings.wants_engine(module) {
            match Python::install(module, requirement) {
                Ok(engine) => engines.push(Box::new(engine)),
                Err(error) => eprintln!("{module}: not measured: {error}"),
            }
        }
    }
    if settings.wants_engine("neo4j") {
        match Neo4j::find() {
            Some(engine) => engines.push(Box::new(engine)),
            None => eprintln!("neo4j: not measured: set NEO4J_HOME to an installation"),
        }
    }
    engines
}

fn prepare(graph: Friends, folder: &Path) -> Outcome<Input> {
    let with_headers = write_files(graph, folder)?;
    let plain = Files {
        people: folder.join("people-plain.csv"),
        friends: folder.join("friends-plain.csv"),
    };
    for (from, to, header) in [
        (&with_headers.people, &plain.people, "id,name"),
        (&with_headers.friends, &plain.friends, "from,to"),
    ] {
        let text = fs::read_to_string(from)?;
        let rows = text.split_once('\n').ok_or("a file without a header")?.1;
        fs::write(to, format!("{header}\n{rows}"))?;
    }
    let starts = starts(graph.people, 1000, 7);
    fs::write(folder.join("starts.json"), serde_json::to_vec(&starts)?)?;
    Ok(Input { folder: folder.to_path_buf(), with_headers, plain, starts })
}

/// All engines give the same ends.
fn compare(answer: &mut Option<(u64, u64)>, engine: &str, walked: &WalkAnswer) -> Outcome<()> {
    let theirs = (walked.ends, walked.sum);
    let wanted = *answer.get_or_insert(theirs);
    if theirs == wanted {
        return Ok(());
    }
    Err(format!("{engine} answers {theirs:?} (ends, sum of ids), others {wanted:?}").into())
}

/// Bytes of a database: a file with its companions, or a folder.
fn size(path: &Path) -> Outcome<f64> {
    let mut bytes = 0;
    for part in parts(path)? {
        if part.is_dir() {
            for entry in fs::read_dir(&part)? {
                bytes += entry?.metadata()?.len();
            }
        } else {
            bytes += fs::metadata(&part)?.len();
        }
    }
    Ok(f64::from(u32::try_from(bytes / 1024)?) * 1024.0)
}

/// The path and those that begin with its name.
fn parts(path: &Path) -> Outcome<Vec<PathBuf>> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or("a path without a name")?;
    let mut parts = Vec::new();
    for entry in fs::read_dir(path.parent().ok_or("a path without a folder")?)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|other| other.starts_with(name)) {
            parts.push(entry.path());
        }
    }
    Ok(parts)
}

fn remove(path: &Path) -> Outcome<()> {
    for part in parts(path)? {
        if part.is_dir() {
            fs::remove_dir_all(part)?;
        } else {
            fs::remove_file(part)?;
        }
    }
    Ok(())
}

fn report_engine(settings: &Settings, report: &mut Report, engine: &dyn Engine, m: &Measured) {
    let version = engine.version();
    let what = |workload, metric| What {
        workload,
        engine: engine.name(),
        version: &version,
        metric,
        better: Better::Lower,
        settings: engine.settings(),
    };
    if settings.wants("load-friends") {
        report.add(&what("load-friends", ("seconds", "s")), &m.loads);
        report.add(&what("load-friends", ("bytes", "bytes")), &m.bytes);
    }
    if settings.wants("walk-2") {
        report.add(&what("walk-2", ("p50_us", "us")), &m.medians);
        report.add(&what("walk-2", ("p99_us", "us")), &m.tails);
        if !m.empty.is_empty() {
            report.add(&what("walk-2", ("empty_call_us", "us")), &m.empty);
        }
    }
}

/// How many times faster HopDB is than each peer, round by round.
fn ratios(
    settings: &Settings,
    report: &mut Report,
    engines: &[Box<dyn Engine>],
    measured: &[Measured],
) {
    let Some(ours) = engines.iter().position(|engine| engine.name() == "hopdb") else { return };
    for (engine, theirs) in engines.iter().zip(measured).filter(|(e, _)| e.name() != "hopdb") {
        let unit = format!("x faster than {}", engine.name());
        let mut add = |workload, ours: &[f64], theirs: &[f64]| {
            let values: Vec<f64> = theirs.iter().zip(ours).map(|(b, a)| b / a).collect();
            let what = What {
                workload,
                engine: "hopdb",
                version: "",
                metric: ("ratio", &unit),
                better: Better::Higher,
                settings: "",
            };
            report.add(&what, &values);
        };
        if settings.wants("load-friends") {
            add("load-friends", &measured[ours].loads, &theirs.loads);
        }
        if settings.wants("walk-2") {
            add("walk-2", &measured[ours].medians, &theirs.medians);
        }
    }
}
