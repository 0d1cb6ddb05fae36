//! HopDB itself, by its library.

use std::path::Path;

use hopdb::{Database, Options};
use hopdb_bench::friends::{load, walk_hopdb};

use crate::Outcome;
use crate::friends::{Engine, Input, WalkAnswer};

/// HopDB in this process.
pub(crate) struct HopDb;

impl Engine for HopDb {
    fn name(&self) -> &'static str {
        "hopdb"
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").into()
    }

    fn settings(&self) -> &'static str {
        "defaults; library call; node and relationship of every end"
    }

    fn load(&mut self, input: &Input, path: &Path) -> Outcome<f64> {
        Ok(load(&input.with_headers, path)?.time.as_secs_f64())
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
