//! What an engine is to the friends suite: it loads the graph, most walk it, and both say what came of it.

use std::path::{Path, PathBuf};

use hopdb_bench::friends::Files;
use serde::{Deserialize, Serialize};

use crate::Outcome;

/// The input, in the two forms that engines take.
pub(crate) struct Input {
    pub(crate) folder: PathBuf,
    /// With import headers.
    pub(crate) with_headers: Files,
    /// With the headers `id,name` and `from,to`.
    pub(crate) plain: Files,
    pub(crate) starts: Vec<u64>,
}

/// What an engine says of a load. A process of its own that loads prints this as JSON.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Load {
    /// From the first call of the engine until the database is durable and closed.
    pub(crate) seconds: f64,
    /// Most resident memory of the process that loaded, where the system tells and the process is its own.
    pub(crate) peak_bytes: Option<f64>,
    /// Relationships loaded, where the engine counts them: the answer to compare.
    pub(crate) relationships: Option<u64>,
}

/// What an engine says of its walks.
pub(crate) struct WalkAnswer {
    pub(crate) micros: Vec<f64>,
    pub(crate) ends: u64,
    /// Sum of the ends' ids over all walks.
    pub(crate) sum: u64,
    /// Median time of a query that does nothing, where calls go through another language.
    pub(crate) empty_us: Option<f64>,
}

/// An engine that can be measured.
pub(crate) trait Engine {
    fn name(&self) -> &'static str;
    fn version(&self) -> String;
    fn settings(&self) -> String;
    /// Whether it holds a graph. One that does not loads bare tables, and takes no part in walks.
    fn holds_graph(&self) -> bool {
        true
    }
    /// Loads into a new database at `path`, until it is durable and closed.
    fn load(&mut self, input: &Input, path: &Path) -> Outcome<Load>;
    /// Walks from all starts, after a warm-up.
    fn walk(&mut self, input: &Input, path: &Path) -> Outcome<WalkAnswer>;
}
