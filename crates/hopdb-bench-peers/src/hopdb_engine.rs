//! HopDB itself, by its library.

use std::path::Path;

use hopdb::generate::Friends;
use hopdb::load::Progress;
use hopdb::{Database, Options};
use hopdb_bench::friends::{Files, walk_hopdb};

use crate::Outcome;
use crate::child::{self, Held};
use crate::engine::{Engine, Input, Load, WalkAnswer};

/// HopDB: loads in a process of its own, walks in this one.
pub(crate) struct HopDb {
    /// The memory that a load keeps to.
    pub(crate) memory_bytes: Option<u64>,
}

/// Loads in this process; seconds and relationships.
pub(crate) fn load_here(
    files: &Files,
    path: &Path,
    memory_bytes: Option<u64>,
) -> Outcome<(f64, u64)> {
    let mut plan = Friends::load_plan(files.people.clone(), files.friends.clone());
    if let Some(bytes) = memory_bytes {
        plan.memory_bytes = usize::try_from(bytes)?;
    }
    let report = Database::load(path, &Options::default(), &plan, &Progress::default())?;
    Ok((report.time.as_secs_f64(), report.relationships))
}

impl Engine for HopDb {
    fn name(&self) -> &'static str {
        "hopdb"
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").into()
    }

    fn settings(&self) -> String {
        let defaults = "defaults; library call; node and relationship of every end";
        match self.memory_bytes {
            None => defaults.into(),
            Some(bytes) => {
                format!("{defaults}; loads within {bytes} bytes of memory")
            }
        }
    }

    fn load(&mut self, input: &Input, path: &Path) -> Outcome<Load> {
        child::load(Held::Hopdb, &input.with_headers, path, self.memory_bytes)
    }

    fn walk(&mut self, input: &Input, path: &Path) -> Outcome<WalkAnswer> {
        let db = Database::open(path, &Options { read_only: true, ..Options::default() })?;
        let snapshot = db.read()?;
        walk_hopdb(&snapshot, &input.starts)?;
        let walks = walk_hopdb(&snapshot, &input.starts)?;
        Ok(WalkAnswer {
            micros: walks.micros(),
            ends: walks.ends,
            sum: walks.node_sum,
            empty_us: None,
        })
    }
}
