//! `hop check`: reads all there is and names what is wrong.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hopdb::{CheckReport, RelationshipId, Snapshot};
use serde::Serialize;

use crate::failure::Failure;
use crate::open;
use crate::screen::{Rows, Screen, count, duration, micros};

const EXAMPLES: &str = "\
Examples:
  hop check friends.hop
  hop check friends.hop --json
  hop bench commit try.hop --ack > ids.txt; hop check try.hop --acknowledged ids.txt

Exits with 1 when something is wrong; with 4 when the file cannot be opened at all.";

/// Check every page, tree, index, and both directions of every relationship
///
/// Reads the whole file, holds what it finds against everything that should agree with it, and
/// names each thing that is wrong. Changes nothing.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The database file
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// Look for each relationship whose id is a line of this file, too
    #[arg(long, value_name = "FILE")]
    acknowledged: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Json {
    clean: bool,
    problems: Vec<String>,
    nodes: u64,
    relationships: u64,
    pages: u64,
    page_reads: u64,
    micros: u64,
}

pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let db = open::read_only(&args.database, None)?;
    let started = Instant::now();
    let snapshot = db.read()?;
    let report = snapshot.check()?;
    let time = started.elapsed();
    let mut problems: Vec<String> = report.store.problems.iter().map(ToString::to_string).collect();
    problems.extend(report.problems.iter().cloned());
    if let Some(path) = &args.acknowledged {
        problems.extend(missing(&snapshot, path)?);
    }
    let clean = problems.is_empty();
    if args.json {
        screen.json(&Json {
            clean,
            problems,
            nodes: report.nodes,
            relationships: report.relationships,
            pages: report.store.pages,
            page_reads: db.counts().io.pages_read,
            micros: micros(time),
        })?;
    } else if clean {
        let name = args.database.display();
        writeln!(screen, "{name}: no problems\n\n{}", found(&report, time))?;
    } else {
        for problem in &problems {
            writeln!(screen, "{problem}")?;
        }
        let graph = if report.store.problems.is_empty() {
            ""
        } else {
            "; the graph above the damaged pages was not checked"
        };
        let problems = crate::screen::counted(problems.len() as u64, "problem", "problems");
        writeln!(screen, "{}: {problems}{graph}", args.database.display())?;
    }
    if clean { Ok(()) } else { Err(Failure::ProblemsFound) }
}

/// Which of the relationships that a file lists are not there. A line without an end, as a kill leaves it, says
/// nothing.
fn missing(snapshot: &Snapshot, path: &Path) -> Result<Vec<String>, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::io(format!("read {}", path.display()), error))?;
    let mut missing = Vec::new();
    let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    for (number, line) in (1..).zip(whole) {
        let id = line.trim().parse().map_err(|_| {
            let message = format!("{}:{number}: {line:?} is no id", path.display());
            Failure::input(message, "one id a line, as `hop bench commit --ack` prints them")
        })?;
        if snapshot.reader().relationship(RelationshipId(id))?.is_none() {
            missing.push(format!("relationship {id} was acknowledged, but is not there"));
        }
    }
    Ok(missing)
}

fn found(report: &CheckReport, time: Duration) -> Rows {
    let mut rows = Rows::default();
    rows.add("pages", count(report.store.pages), "")
        .add("trees", count(report.store.tables.len() as u64), "")
        .add("nodes", count(report.nodes), "")
        .add("relationships", count(report.relationships), "both directions of each")
        .add("time", duration(time), "");
    rows
}
