//! `hop export`: a database as files that `hop load` makes an equal one of.

#[cfg(feature = "columnar")]
mod parquet;
mod progress;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use hopdb::ErrorKind;
use hopdb::export::{ARGUMENTS_FILE, Csv, ExportReport, Progress, RowFormat};
use serde::Serialize;

use crate::failure::Failure;
use crate::interrupt::{STOPPING, on_interrupt};
use crate::open;
use crate::screen::{Rows, Screen, bytes, count, duration, micros, per_second, tell};

const EXAMPLES: &str = "\
Examples:
  hop export friends.hop friends
  hop load again.hop --folder friends @friends/load.args
  hop export friends.hop packed --gzip
  hop export friends.hop tables --format parquet

The folder gets a file for each set of labels and each relationship type, with headers as
`hop load` and `neo4j-admin database import` read them, and load.args, which is written last: where it
is, the export is whole. Names with special characters stand in backquotes, and lists of several
types in columns of the type any, both of which only hop reads.";

/// Write a database as CSV or Parquet files, which load again as an equal one
///
/// Nodes and relationships get new ids when they are loaded; all else is as it was.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The database file
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// The folder to write to, new or empty
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The format of the files
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// Pack CSV files with gzip
    #[arg(long)]
    gzip: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    Parquet,
}

#[derive(Serialize)]
struct Json<'r> {
    nodes: u64,
    relationships: u64,
    files: &'r [String],
    bytes: u64,
    micros: u64,
}

pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let format = format(args)?;
    let db = open::read_only(&args.database, None)?;
    let snapshot = db.read()?;
    let progress = Arc::new(Progress::default());
    let stopped = Arc::clone(&progress);
    on_interrupt(move || {
        stopped.stop();
        tell(STOPPING);
    })?;
    let catalog = snapshot.reader().catalog();
    let total = catalog.node_count() + catalog.relationship_count();
    let started = Instant::now();
    let exported =
        progress::shown(&progress, total, || snapshot.export(&args.folder, &*format, &progress));
    let report = exported.map_err(|error| match error.kind() {
        ErrorKind::Interrupted => Failure::Interrupted,
        _ => error.into(),
    })?;
    let time = started.elapsed();
    if args.json {
        let ExportReport { nodes, relationships, ref files, bytes } = report;
        return screen.json(&Json { nodes, relationships, files, bytes, micros: micros(time) });
    }
    let folder = args.folder.display();
    writeln!(screen, "exported {} in {}\n", args.database.display(), duration(time))?;
    write!(screen, "{}", rows(&report, time))?;
    Ok(writeln!(
        screen,
        "\nload it again: hop load NEW.hop --folder {folder} @{folder}/{ARGUMENTS_FILE}"
    )?)
}

fn rows(report: &ExportReport, time: Duration) -> Rows {
    let rate = |number| format!("{} a second", count(per_second(number, time)));
    let mut rows = Rows::default();
    rows.add("nodes", count(report.nodes), rate(report.nodes));
    rows.add("relationships", count(report.relationships), rate(report.relationships));
    rows.add("files", count(report.files.len() as u64), bytes(report.bytes));
    rows
}

fn format(args: &Args) -> Result<Box<dyn RowFormat>, Failure> {
    match args.format {
        Format::Csv => Ok(Box::new(Csv { gzip: args.gzip })),
        Format::Parquet if args.gzip => Err(Failure::input(
            "--gzip is for CSV; Parquet files are packed already",
            "leave out --gzip",
        )),
        Format::Parquet => parquet(),
    }
}

#[cfg(feature = "columnar")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature it is an error")]
fn parquet() -> Result<Box<dyn RowFormat>, Failure> {
    Ok(Box::new(parquet::Parquet))
}

#[cfg(not(feature = "columnar"))]
fn parquet() -> Result<Box<dyn RowFormat>, Failure> {
    Err(Failure::input(
        "this hop was built without Parquet",
        "build it with: cargo build --release -p hopdb-cli --features columnar",
    ))
}
