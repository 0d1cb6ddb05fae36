//! `hop load`: files into a new database, or into one that is there.

mod args;
mod files;
pub(crate) mod progress;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use hopdb::load::{LoadPlan, LoadReport, Progress};
use hopdb::{Database, ErrorKind, Options};
use serde::Serialize;

pub(crate) use args::Args;

use crate::failure::Failure;
use crate::interrupt::{STOPPING, on_interrupt};
use crate::screen::{Rows, Screen, bytes, count, counted, duration, micros, per_second, tell};

pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let plan = args.plan()?;
    let progress = Arc::new(Progress::default());
    let report = if args.adds() {
        stop_when_interrupted(&progress)?;
        let db = Database::open(&args.database, &Options::default())?;
        let report = shown(&plan, &progress, || db.add(&plan, &progress))?;
        db.close()?;
        report
    } else {
        if args.database.exists() {
            // Said before any work, and by the engine too, should the name be taken meanwhile.
            let taken = hopdb::kv::Error::AlreadyExists(args.database.clone());
            return Err(hopdb::Error::from(taken).into());
        }
        refuse_missing_folder(&args.database)?;
        stop_when_interrupted(&progress)?;
        load(&args.database, &plan, &progress)?
    };
    if args.json {
        return screen.json(&json(&report));
    }
    let loaded = args.database.display();
    writeln!(screen, "loaded {loaded} in {}\n", duration(report.time))?;
    write!(screen, "{}", rows(&report))?;
    writeln!(screen, "\n{}", pages_line(&report))?;
    left_out(&plan, &report, screen)?;
    for guessed in &report.guessed {
        let file = guessed.file.display();
        writeln!(screen, "{file}: {} is {}", guessed.column, guessed.type_name)?;
    }
    Ok(())
}

/// Says which rows were not loaded.
fn left_out(plan: &LoadPlan, report: &LoadReport, screen: &mut Screen) -> Result<(), Failure> {
    let LoadReport { bad_rows, skipped_nodes, skipped_relationships, .. } = *report;
    let all = bad_rows + skipped_nodes + skipped_relationships;
    if all == 0 {
        return Ok(());
    }
    let mut parts = Vec::new();
    if bad_rows > 0 {
        parts.push(counted(bad_rows, "bad row", "bad rows"));
    }
    if skipped_nodes > 0 {
        parts.push(counted(skipped_nodes, "node whose id was taken", "nodes whose ids were taken"));
    }
    if skipped_relationships > 0 {
        let many = "relationships without a type or an end";
        parts.push(counted(skipped_relationships, "relationship without a type or an end", many));
    }
    let place = match &plan.bad_rows.rejects {
        Some(file) if all == 1 => format!("it is in {}", file.display()),
        Some(file) => format!("they are in {}", file.display()),
        None => format!("--rejects FILE would have kept {}", if all == 1 { "it" } else { "them" }),
    };
    Ok(writeln!(screen, "left out: {}; {place}", parts.join(", "))?)
}

fn refuse_missing_folder(path: &Path) -> Result<(), Failure> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    let there = fs::exists(folder);
    let folder = folder.display();
    if there.map_err(|error| Failure::io(format!("look for the folder {folder}"), error))? {
        return Ok(());
    }
    let message = format!("there is no folder {folder} to make the database in");
    Err(Failure::input(message, format!("make it first: mkdir -p {folder}")))
}

/// Loads, and shows on standard error how far it is.
pub(crate) fn load(
    path: &Path,
    plan: &LoadPlan,
    progress: &Progress,
) -> Result<LoadReport, Failure> {
    shown(plan, progress, || Database::load(path, &Options::default(), plan, progress))
}

/// Runs a load, and shows how far it is.
fn shown(
    plan: &LoadPlan,
    progress: &Progress,
    load: impl FnOnce() -> hopdb::Result<LoadReport>,
) -> Result<LoadReport, Failure> {
    let loaded = progress::shown(progress, files::total_bytes(plan), load);
    loaded.map_err(|error| match error.kind() {
        ErrorKind::Interrupted => Failure::Interrupted,
        _ => error.into(),
    })
}

fn stop_when_interrupted(progress: &Arc<Progress>) -> Result<(), Failure> {
    let progress = Arc::clone(progress);
    on_interrupt(move || {
        progress.stop();
        tell(STOPPING);
    })
}

/// The line that shows that a load reads nothing back.
pub(crate) fn pages_line(report: &LoadReport) -> String {
    let [read, written] = [report.pages_read, report.pages_written].map(count);
    format!("pages read: {read}, pages written: {written}")
}

pub(crate) fn rows(report: &LoadReport) -> Rows {
    let rate = |number| format!("{} a second", count(per_second(number, report.time)));
    let mut rows = Rows::default();
    rows.add("nodes", count(report.nodes), rate(report.nodes)).add(
        "relationships",
        count(report.relationships),
        rate(report.relationships),
    );
    rows.add("file", bytes(report.file_bytes), format!("{} pages", count(report.pages)));
    let phases = progress::PHASES.iter().zip(report.phases);
    // Types are looked at for some files only.
    for (phase, time) in phases.skip(usize::from(report.guessed.is_empty())) {
        rows.add(*phase, duration(time), "");
    }
    rows
}

#[derive(Serialize)]
struct Json {
    nodes: u64,
    relationships: u64,
    bad_rows: u64,
    skipped_nodes: u64,
    skipped_relationships: u64,
    types: Vec<GuessedType>,
    micros: u64,
    nodes_per_second: u64,
    relationships_per_second: u64,
    file_bytes: u64,
    pages: u64,
    pages_read: u64,
    pages_written: u64,
    spilled_bytes: u64,
    phase_micros: PhaseMicros,
}

#[derive(Serialize)]
struct GuessedType {
    file: String,
    column: String,
    r#type: String,
}

#[derive(Serialize)]
struct PhaseMicros {
    looking: u64,
    nodes: u64,
    relationships: u64,
    building: u64,
    syncing: u64,
}

fn json(report: &LoadReport) -> Json {
    let [looking, nodes, relationships, building, syncing] = report.phases.map(micros);
    let types = report.guessed.iter().map(|guessed| GuessedType {
        file: guessed.file.display().to_string(),
        column: guessed.column.clone(),
        r#type: guessed.type_name.clone(),
    });
    Json {
        nodes: report.nodes,
        relationships: report.relationships,
        bad_rows: report.bad_rows,
        skipped_nodes: report.skipped_nodes,
        skipped_relationships: report.skipped_relationships,
        types: types.collect(),
        micros: micros(report.time),
        nodes_per_second: per_second(report.nodes, report.time),
        relationships_per_second: per_second(report.relationships, report.time),
        file_bytes: report.file_bytes,
        pages: report.pages,
        pages_read: report.pages_read,
        pages_written: report.pages_written,
        spilled_bytes: report.spilled_bytes,
        phase_micros: PhaseMicros { looking, nodes, relationships, building, syncing },
    }
}
