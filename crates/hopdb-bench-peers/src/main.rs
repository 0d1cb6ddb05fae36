//! HopDB beside other engines. Each suite measures all sides in one run, in turn, and compares their answers.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a benchmark reads clocks, starts peers and prints"
)]

mod child;
mod commit;
mod engine;
mod friends;
mod hopdb_engine;
mod neo4j;
mod python;
mod results;
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
    /// Only these engines. Without it all that belong to the workload; Neo4j where NEO4J_HOME names one.
    #[arg(long, global = true, value_delimiter = ',', value_parser = engines())]
    engines: Vec<String>,
    /// Only these workloads. Without it load-friends and walk-2, or all of commits.
    #[arg(long, global = true, value_delimiter = ',', value_parser = workloads())]
    only: Vec<String>,
    /// Bytes of memory that a load by HopDB keeps to.
    #[arg(long, global = true, value_name = "BYTES")]
    memory: Option<u64>,
}

#[derive(Subcommand)]
enum Suite {
    /// The friends graph: durable loads from CSV, and two-hop walks that return all ends.
    Friends,
    /// Durable commits of small rows: rates, flushes, latency at a steady rate, recovery, a reader beside.
    Commit(commit::Options),
    /// One load in this process, for a suite that started it.
    #[command(name = child::SUBCOMMAND, hide = true)]
    LoadHere(child::LoadHere),
    /// A part of a commit workload in this process, for a suite that started it.
    #[command(name = commit::child::SUBCOMMAND, hide = true, subcommand)]
    CommitHere(commit::child::Task),
}

fn engines() -> Vec<&'static str> {
    let mut names = [&friends::ENGINES[..], &commit::ENGINES].concat();
    names.sort_unstable();
    names.dedup();
    names
}

fn workloads() -> Vec<&'static str> {
    [&friends::WORKLOADS[..], &commit::WORKLOADS].concat()
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Outcome<()> {
    let Arguments { suite, json, quick, engines, only, memory } = arguments;
    match suite {
        Suite::LoadHere(what) => child::load_here(what, memory),
        Suite::CommitHere(task) => commit::child::run(&task),
        Suite::Commit(options) => {
            let mut report = Report::new("commit");
            commit::run(&commit::Settings { quick, engines, only, options }, &mut report)?;
            Ok(report.finish(json.as_deref())?)
        }
        Suite::Friends => {
            let mut report = Report::new("friends");
            let settings = friends::Settings { quick, engines, only, memory_bytes: memory };
            friends::run(&settings, &mut report)?;
            Ok(report.finish(json.as_deref())?)
        }
    }
}
