//! HopDB beside other engines. Each suite measures all sides in one run, in turn, and compares their answers.
#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a benchmark reads clocks, starts peers and prints"
)]

mod friends;
mod hopdb_engine;
mod neo4j;
mod python;
mod sqlite;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hopdb_bench::Report;

/// The result of a step that may fail for any reason.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Measures HopDB beside other engines.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    suite: Suite,
    /// Also writes the records as JSON.
    #[arg(long, global = true)]
    json: Option<PathBuf>,
    /// A smaller graph and fewer repetitions: at most 3 minutes.
    #[arg(long, global = true)]
    quick: bool,
    /// Only these engines: hopdb, sqlite, kuzu, ladybug, neo4j.
    #[arg(long, global = true, value_delimiter = ',')]
    engines: Vec<String>,
    /// Only these workloads: load-friends, walk-2.
    #[arg(long, global = true, value_delimiter = ',')]
    only: Vec<String>,
}

#[derive(Subcommand)]
enum Suite {
    /// The friends graph: durable loads from CSV, and two-hop walks that return all ends.
    Friends,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new(match arguments.suite {
        Suite::Friends => "friends",
    });
    let settings = friends::Settings {
        quick: arguments.quick,
        engines: arguments.engines,
        only: arguments.only,
    };
    let done = friends::run(&settings, &mut report)
        .and_then(|()| report.finish(arguments.json.as_deref()).map_err(Into::into));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
