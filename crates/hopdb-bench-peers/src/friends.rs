//! The friends graph in each engine: loads from CSV to durable, then two-hop walks.
//!
//! All that hold a graph load the same people and friendships with a unique index over the people's ids, and
//! both directions. DuckDB loads the same rows into bare tables: the least that a load of them can cost.
//! All that hold a graph walk from the same random people and return the id of every end, once a path; the
//! ends are compared, and so are counts of what was loaded.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use hopdb::generate::Friends;
use hopdb_bench::Report;
use hopdb_bench::friends::{Files, starts, write_files};
use hopdb_bench::record::{percentile, spread};

use crate::Outcome;
use crate::engine::{Engine, Input, Load, WalkAnswer};
use crate::hopdb_engine::HopDb;
use crate::neo4j::Neo4j;
use crate::python::{PACKAGES, Python};
use crate::results::{Entry, Ids, Measured, report_all};
use crate::sqlite::Sqlite;

/// Names of all engines.
pub(crate) const ENGINES: [&str; 6] = ["hopdb", "sqlite", "kuzu", "ladybug", "duckdb", "neo4j"];

/// Ids of all workloads.
pub(crate) const WORKLOADS: [&str; 3] = ["load-friends", "walk-2", "friends-10m"];

/// What to measure.
pub(crate) struct Settings {
    pub(crate) quick: bool,
    /// Empty: all that belong to the workload.
    pub(crate) engines: Vec<String>,
    /// Empty: all that run unasked.
    pub(crate) only: Vec<String>,
    /// What HopDB's loads are asked to keep to.
    pub(crate) memory_bytes: Option<u64>,
}

/// A graph, and what is measured of it.
struct Stage {
    ids: Ids,
    people: u64,
    /// Takes part when `--engines` does not choose.
    engines: &'static [&'static str],
}

/// Friends of each person.
const FRIENDS: u64 = 10;

/// Runs the suite.
pub(crate) fn run(settings: &Settings, report: &mut Report) -> Outcome<()> {
    for stage in stages(settings) {
        measure(settings, &stage, report)?;
    }
    Ok(())
}

/// What the settings ask for. The large graph runs only when it is named.
fn stages(settings: &Settings) -> Vec<Stage> {
    let asked = |id| settings.only.iter().any(|only| only == id);
    let wanted = |id| (settings.only.is_empty() || asked(id)).then_some(id);
    let scale = if settings.quick { 10 } else { 1 };
    let small = Stage {
        ids: Ids { load: wanted("load-friends"), walk: wanted("walk-2") },
        people: 100_000 / scale,
        engines: &ENGINES,
    };
    let large = Stage {
        ids: Ids { load: asked("friends-10m").then_some("friends-10m"), walk: None },
        people: 1_000_000 / scale,
        engines: &["hopdb", "kuzu", "ladybug", "duckdb"],
    };
    let mut stages = vec![small, large];
    stages.retain(|stage| stage.ids.load.is_some() || stage.ids.walk.is_some());
    stages
}

fn measure(settings: &Settings, stage: &Stage, report: &mut Report) -> Outcome<()> {
    let mut entries = entries(settings, stage)?;
    let rounds = if settings.quick { 1 } else { 5 };
    let folder = tempfile::tempdir()?;
    let graph = Friends { people: stage.people, friends: FRIENDS, seed: 42 };
    let input = prepare(graph, folder.path())?;
    for round in 0..rounds {
        let mut answer = None;
        for (engine, measured) in &mut entries {
            eprintln!(
                "{} people, round {} of {rounds}: {}",
                stage.people,
                round + 1,
                engine.name()
            );
            let path = folder.path().join(format!("{}-{round}.db", engine.name()));
            let load = engine.load(&input, &path)?;
            check_load(engine.name(), &load, stage.people * FRIENDS)?;
            measured.loads.push(load.seconds);
            measured.peaks.extend(load.peak_bytes);
            measured.bytes.push(size(&path)?);
            if stage.ids.walk.is_some() && engine.holds_graph() {
                let walked = engine.walk(&input, &path)?;
                compare(&mut answer, engine.name(), &walked)?;
                measured.medians.push(spread(&walked.micros).0);
                measured.tails.push(percentile(&walked.micros, 99));
                measured.empty.extend(walked.empty_us);
            }
            remove(&path)?;
        }
    }
    report_all(report, stage.ids, &entries);
    let relationships = stage.people * FRIENDS;
    for id in [stage.ids.load, stage.ids.walk].into_iter().flatten() {
        let graph = format!("{} people, {relationships} relationships", stage.people);
        report.note(format!("{id}: {graph}; rounds: {rounds}"));
    }
    Ok(())
}

/// The engines that take part.
fn entries(settings: &Settings, stage: &Stage) -> Outcome<Vec<Entry>> {
    let wanted = |name: &str| match settings.engines.as_slice() {
        [] => stage.engines.contains(&name),
        named => named.iter().any(|engine| engine == name),
    };
    let mut engines: Vec<Box<dyn Engine>> = Vec::new();
    if wanted("hopdb") {
        engines.push(Box::new(HopDb { memory_bytes: settings.memory_bytes }));
    }
    if wanted("sqlite") {
        engines.push(Box::new(Sqlite));
    }
    for package in PACKAGES.iter().filter(|package| wanted(package.module)) {
        match Python::install(package) {
            Ok(engine) => engines.push(Box::new(engine)),
            Err(error) => eprintln!("{}: not measured: {error}", package.module),
        }
    }
    if wanted("neo4j") {
        match Neo4j::find() {
            Some(engine) => engines.push(Box::new(engine)),
            None => eprintln!("neo4j: not measured: set NEO4J_HOME to an installation"),
        }
    }
    engines.retain(|engine| engine.holds_graph() || stage.ids.load.is_some());
    if engines.is_empty() {
        let what = [stage.ids.load, stage.ids.walk].map(Option::unwrap_or_default);
        return Err(format!("no engine for {}: name others", what.join(" ").trim()).into());
    }
    Ok(engines.into_iter().map(|engine| (engine, Measured::default())).collect())
}

/// Writes the files in both forms, down to the disk: the first engine shall not wait for them.
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
        let mut rows = BufReader::new(File::open(from)?);
        rows.read_line(&mut String::new())?;
        let mut copy = File::create(to)?;
        writeln!(copy, "{header}")?;
        io::copy(&mut rows, &mut copy)?;
        copy.sync_all()?;
        File::open(from)?.sync_all()?;
    }
    let starts = starts(graph.people, 1000, 7);
    fs::write(folder.join("starts.json"), serde_json::to_vec(&starts)?)?;
    Ok(Input { folder: folder.to_path_buf(), with_headers, plain, starts })
}

/// Nothing is left out by a load.
fn check_load(engine: &str, load: &Load, relationships: u64) -> Outcome<()> {
    match load.relationships {
        Some(loaded) if loaded != relationships => {
            Err(format!("{engine} loaded {loaded} relationships of {relationships}").into())
        }
        _ => Ok(()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(only: &[&str]) -> Vec<(Option<&'static str>, Option<&'static str>)> {
        let only = only.iter().map(ToString::to_string).collect();
        let settings = Settings { quick: true, engines: Vec::new(), only, memory_bytes: None };
        stages(&settings).iter().map(|stage| (stage.ids.load, stage.ids.walk)).collect()
    }

    #[test]
    fn the_large_graph_runs_only_when_it_is_named() {
        let (load, walk, large) = (Some("load-friends"), Some("walk-2"), Some("friends-10m"));
        assert_eq!(ids(&[]), [(load, walk)]);
        assert_eq!(ids(&["load-friends"]), [(load, None)]);
        assert_eq!(ids(&["walk-2"]), [(None, walk)]);
        assert_eq!(ids(&["friends-10m"]), [(large, None)]);
        assert_eq!(ids(&["walk-2", "friends-10m"]), [(None, walk), (large, None)]);
    }

    #[test]
    fn a_load_that_leaves_rows_out_is_told() {
        let load = |relationships| Load { seconds: 1.0, peak_bytes: None, relationships };
        assert!(check_load("duckdb", &load(Some(9)), 10).is_err());
        assert!(check_load("duckdb", &load(Some(10)), 10).is_ok());
        assert!(check_load("neo4j", &load(None), 10).is_ok());
    }
}
