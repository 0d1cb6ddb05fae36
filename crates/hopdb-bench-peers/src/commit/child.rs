//! Parts of workloads that need a process of their own: this program, started again. One is watched by `strace`, one
//! is killed.

use std::path::PathBuf;

use super::{flushes, recovery};
use crate::Outcome;

/// The hidden subcommand.
pub(crate) const SUBCOMMAND: &str = "commit-here";

/// What the process is for.
#[derive(clap::Subcommand)]
pub(crate) enum Task {
    /// Commits, with marks around them, for whoever watches.
    Watched { engine: String, workload: String, folder: PathBuf },
    /// Fills a table, commits, and waits to be killed.
    Killed {
        database: PathBuf,
        rows: u64,
        #[arg(long)]
        cache_bytes: Option<usize>,
    },
}

/// The task itself, in the process that was started for it.
pub(crate) fn run(task: &Task) -> Outcome<()> {
    match task {
        Task::Watched { engine, workload, folder } => flushes::watched(engine, workload, folder),
        Task::Killed { database, rows, cache_bytes } => {
            recovery::killed(database, *rows, *cache_bytes)
        }
    }
}
