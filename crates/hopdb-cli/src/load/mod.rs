//! `hop load`: CSV files into a new database.

mod files;
mod progress;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hopdb::load::{Dialect, IndexFor, LoadPlan, LoadReport, Progress};
use hopdb::{Database, ErrorKind, Options};
use serde::Serialize;

use crate::failure::Failure;
use crate::screen::{Rows, Screen, bytes, count, duration, micros, per_second, tell};
use crate::start::LabelProperty;

const EXAMPLES: &str = "\
Examples:
  hop load friends.hop --nodes=Person=people.csv --relationships=FRIEND=friends.csv \\
      --unique Person.id
  hop load shop.hop --delimiter '|' --nodes=Customer:Person=customers.csv.gz \\
      --nodes=Product=header.csv,part1.csv,part2.csv --relationships=BOUGHT=orders.csv \\
      --index Product.name
  hop load places.hop --nodes=places.csv --relationships=roads.csv

Headers are those of `neo4j-admin database import`:
  nodes          id:ID(Person),name:string,born:int,tags:string[],:LABEL
  relationships  :START_ID(Person),:END_ID(Person),:TYPE,since:date,note:IGNORE
Files may be gzip. The first file of a group begins with the header. A text that as a whole names a
file is taken as that file; else what stands before its first `=` is labels or type, and a file
whose name holds `=` is written with one in front, as in --nodes==a=b.csv.";

/// Load CSV files into a new database
///
/// The database appears under its name only when it is whole and on disk: a bad row, a full disk,
/// Ctrl-C or a crash leaves nothing behind. A row that cannot be loaded is named by file, line and
/// column.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The database file to make; it must not be there yet
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// Files of nodes that share a header, and labels for all of them; may be given many times
    #[arg(long, value_name = "[LABEL[:LABEL…]=]FILE[,FILE…]", required = true)]
    nodes: Vec<OsString>,
    /// Files of relationships that share a header, and their type; may be given many times
    #[arg(long, value_name = "[TYPE=]FILE[,FILE…]")]
    relationships: Vec<OsString>,
    /// What stands between fields: one character, or tab
    #[arg(long, value_name = "CHAR", default_value = ",")]
    delimiter: String,
    /// What stands between the items of an array; `;`, or `,` where fields are separated by `;`
    #[arg(long, value_name = "CHAR")]
    array_delimiter: Option<String>,
    /// What fields with special characters are quoted by
    #[arg(long, value_name = "CHAR", default_value = "\"")]
    quote: String,
    /// Index the nodes with a label by a property; may be given many times
    #[arg(long, value_name = "LABEL.PROPERTY")]
    index: Vec<LabelProperty>,
    /// Index that also refuses the same value twice; may be given many times
    #[arg(long, value_name = "LABEL.PROPERTY")]
    unique: Vec<LabelProperty>,
    /// Print one JSON object at the end
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let plan = plan(args)?;
    if args.database.exists() {
        // Said before any work, and by the engine too, should the name be taken meanwhile.
        return Err(
            hopdb::Error::from(hopdb::kv::Error::AlreadyExists(args.database.clone())).into()
        );
    }
    refuse_missing_folder(&args.database)?;
    let progress = Arc::new(Progress::default());
    stop_when_interrupted(&progress)?;
    let report = load(&args.database, &plan, &progress)?;
    if args.json {
        return screen.json(&json(&report));
    }
    let loaded = args.database.display();
    writeln!(screen, "loaded {loaded} in {}\n", duration(report.time))?;
    write!(screen, "{}", rows(&report))?;
    writeln!(screen, "\n{}", pages_line(&report))?;
    Ok(())
}

fn refuse_missing_folder(path: &Path) -> Result<(), Failure> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
            let folder = folder.display();
            let message = format!("there is no folder {folder} to make the database in");
            Err(Failure::input(message, format!("make it first: mkdir -p {folder}")))
        }
        _ => Ok(()),
    }
}

fn plan(args: &Args) -> Result<LoadPlan, Failure> {
    let bad_dialect = |message| Failure::Input { message, hint: None };
    let mut dialect = Dialect::with_delimiter(&args.delimiter).map_err(bad_dialect)?;
    if let Some(delimiter) = &args.array_delimiter {
        dialect = dialect.with_array_delimiter(delimiter).map_err(bad_dialect)?;
    }
    dialect = dialect.with_quote(&args.quote).map_err(bad_dialect)?;
    let index = |unique| {
        move |by: &LabelProperty| IndexFor {
            label: by.label.clone(),
            property: by.property.clone(),
            unique,
        }
    };
    let indexes = args.index.iter().map(index(false)).chain(args.unique.iter().map(index(true)));
    Ok(LoadPlan {
        nodes: args.nodes.iter().map(|text| files::nodes(text)).collect::<Result<_, _>>()?,
        relationships: args
            .relationships
            .iter()
            .map(|text| files::relationships(text))
            .collect::<Result<_, _>>()?,
        dialect,
        indexes: indexes.collect(),
    })
}

/// Loads, and shows on standard error how far it is.
pub(crate) fn load(
    path: &Path,
    plan: &LoadPlan,
    progress: &Progress,
) -> Result<LoadReport, Failure> {
    let total = files::total_bytes(plan);
    let loaded = progress::shown(progress, total, || {
        Database::load(path, &Options::default(), plan, progress)
    });
    loaded.map_err(|error| match error.kind() {
        ErrorKind::Interrupted => Failure::Interrupted,
        _ => error.into(),
    })
}

/// The first Ctrl-C asks the load to stop; the second ends the process.
fn stop_when_interrupted(progress: &Arc<Progress>) -> Result<(), Failure> {
    let progress = Arc::clone(progress);
    let asked = std::sync::atomic::AtomicBool::new(false);
    let handler = move || {
        if asked.swap(true, std::sync::atomic::Ordering::Relaxed) {
            std::process::exit(130);
        }
        tell("stopping; once more ends it at once");
        progress.stop();
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Failure::io("watch for Ctrl-C", std::io::Error::other(error)))
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
    for (phase, time) in progress::PHASES.iter().zip(report.phases) {
        rows.add(*phase, duration(time), "");
    }
    rows
}

#[derive(Serialize)]
struct Json {
    nodes: u64,
    relationships: u64,
    micros: u64,
    nodes_per_second: u64,
    relationships_per_second: u64,
    file_bytes: u64,
    pages: u64,
    pages_read: u64,
    pages_written: u64,
    phase_micros: PhaseMicros,
}

#[derive(Serialize)]
struct PhaseMicros {
    nodes: u64,
    relationships: u64,
    building: u64,
    syncing: u64,
}

fn json(report: &LoadReport) -> Json {
    let [nodes, relationships, building, syncing] = report.phases.map(micros);
    Json {
        nodes: report.nodes,
        relationships: report.relationships,
        micros: micros(report.time),
        nodes_per_second: per_second(report.nodes, report.time),
        relationships_per_second: per_second(report.relationships, report.time),
        file_bytes: report.file_bytes,
        pages: report.pages,
        pages_read: report.pages_read,
        pages_written: report.pages_written,
        phase_micros: PhaseMicros { nodes, relationships, building, syncing },
    }
}
