//! What is to be loaded, how it goes, and what came of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use super::csv::Dialect;
use super::field::FieldRules;
use super::header::{IdType, PlainColumns};
use super::json_lines::JsonLines;
use super::table::TableFormat;

/// Files of nodes that share a header.
#[derive(Clone, Debug, Default)]
pub struct NodeFiles {
    /// Labels that every node of the files gets, besides those of a `:LABEL` column.
    pub labels: Vec<String>,
    /// The files; the first begins with the header.
    pub files: Vec<PathBuf>,
}

/// Files of relationships that share a header.
#[derive(Clone, Debug, Default)]
pub struct RelationshipFiles {
    /// Type of every relationship whose `:TYPE` column is missing or empty.
    pub relationship_type: Option<String>,
    /// The files; the first begins with the header.
    pub files: Vec<PathBuf>,
}

/// An index to be made with the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexFor {
    /// Label of the nodes.
    pub label: String,
    /// Their property.
    pub property: String,
    /// Whether no two of the nodes may have the same value.
    pub unique: bool,
}

/// What becomes of rows that cannot be loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BadRowRules {
    /// How many may be left out before the load stops; with 0 the first stops it.
    pub tolerance: u64,
    /// CSV file that gets the rows left out, with place, reason and the row as it stood; must not be there yet.
    pub rejects: Option<PathBuf>,
    /// Leave out nodes whose id is taken, without counting them as bad.
    pub skip_duplicate_nodes: bool,
    /// Leave out relationships whose type or end is missing, without counting them as bad.
    pub skip_bad_relationships: bool,
}

/// How fields are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldOptions {
    /// Cut white space from both ends of strings that are not quoted.
    pub trim_strings: bool,
    /// Take `""` for no value.
    pub ignore_empty_strings: bool,
    /// Take rows with more fields than the header has columns, and leave the further fields out.
    pub ignore_extra_columns: bool,
}

/// Bytes of memory that a load takes when the plan does not say.
pub const MEMORY_BYTES: usize = 1 << 30;

/// A whole load.
#[derive(Clone, Debug)]
pub struct LoadPlan {
    /// Groups of node files, in the order in which nodes are numbered.
    pub nodes: Vec<NodeFiles>,
    /// Groups of relationship files.
    pub relationships: Vec<RelationshipFiles>,
    /// How fields are separated.
    pub dialect: Dialect,
    /// How fields are read.
    pub fields: FieldOptions,
    /// What the ids in the files are, unless their header says otherwise.
    pub id_type: IdType,
    /// What the columns of files mean whose headers do not say so.
    pub plain: PlainColumns,
    /// Whether files begin with data: their columns are called `1`, `2` and so on in `plain`.
    pub no_header: bool,
    /// Label and property by which start nodes are found that are there before the load.
    pub start_nodes: Option<(String, String)>,
    /// Label and property by which end nodes are found that are there before the load.
    pub end_nodes: Option<(String, String)>,
    /// Indexes over the loaded nodes.
    pub indexes: Vec<IndexFor>,
    /// What becomes of rows that cannot be loaded.
    pub bad_rows: BadRowRules,
    /// A mended file of rejected rows: of all files only the headers are read, and the rows from here.
    pub again: Option<PathBuf>,
    /// Bytes of memory for all of the load: id map, sorting, page cache. Sorting goes to disk past it.
    pub memory_bytes: usize,
    /// Formats of files that are no CSV.
    pub formats: Vec<Arc<dyn TableFormat>>,
}

impl Default for LoadPlan {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            relationships: Vec::new(),
            dialect: Dialect::default(),
            fields: FieldOptions::default(),
            id_type: IdType::default(),
            plain: PlainColumns::default(),
            no_header: false,
            start_nodes: None,
            end_nodes: None,
            indexes: Vec::new(),
            bad_rows: BadRowRules::default(),
            again: None,
            memory_bytes: MEMORY_BYTES,
            formats: vec![Arc::new(JsonLines)],
        }
    }
}

impl LoadPlan {
    pub(super) fn field_rules(&self) -> FieldRules {
        FieldRules {
            trim_strings: self.fields.trim_strings,
            ignore_empty_strings: self.fields.ignore_empty_strings,
            ..self.dialect.field_rules()
        }
    }
}

/// What a load is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Finding the types of columns by looking at all their values.
    Looking,
    /// Reading nodes and writing their tables.
    Nodes,
    /// Reading relationships and sorting them.
    Relationships,
    /// Writing the tables of relationships.
    Building,
    /// Writing what is left and syncing the file.
    Syncing,
}

impl Phase {
    /// All, in order.
    pub const ALL: [Self; 5] =
        [Self::Looking, Self::Nodes, Self::Relationships, Self::Building, Self::Syncing];
}

/// How far a load is: written by the load, read by whoever shows it; and the way to stop it.
#[derive(Debug, Default)]
pub struct Progress {
    phase: AtomicU8,
    bytes_read: Arc<AtomicU64>,
    nodes: AtomicU64,
    relationships: AtomicU64,
    built: AtomicU64,
    stopped: AtomicBool,
}

// Numbers for a progress bar, and a wish to stop: nothing is ordered by them.
impl Progress {
    /// What the load is busy with.
    #[must_use]
    pub fn phase(&self) -> Phase {
        let phase = self.phase.load(Ordering::Relaxed);
        Phase::ALL.into_iter().find(|known| *known as u8 == phase).unwrap_or(Phase::Syncing)
    }

    /// Bytes of the files read so far, packed ones as they are.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Nodes read so far.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    /// Relationships read so far.
    #[must_use]
    pub fn relationships(&self) -> u64 {
        self.relationships.load(Ordering::Relaxed)
    }

    /// How much of the tables of relationships is written, from 0 to 1.
    #[must_use]
    pub fn built(&self) -> f64 {
        // Three passes: once over the relationships, once over both sides.
        let all = 3 * self.relationships().max(1);
        #[expect(clippy::cast_precision_loss, reason = "a share for a progress bar")]
        let share = self.built.load(Ordering::Relaxed) as f64 / all as f64;
        share.min(1.0)
    }

    /// Asks the load to stop: it ends soon with an error and leaves nothing behind.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(super) fn enter(&self, phase: Phase) {
        if phase == Phase::Nodes {
            self.bytes_read.store(0, Ordering::Relaxed);
        }
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    pub(super) fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes_read)
    }

    pub(super) fn set_nodes(&self, nodes: u64) {
        self.nodes.store(nodes, Ordering::Relaxed);
    }

    pub(super) fn set_relationships(&self, relationships: u64) {
        self.relationships.store(relationships, Ordering::Relaxed);
    }

    pub(super) fn add_built(&self, rows: u64) {
        self.built.fetch_add(rows, Ordering::Relaxed);
    }
}

/// A type that was found by looking at a column's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuessedColumn {
    /// The first file of the group.
    pub file: PathBuf,
    /// The column.
    pub column: String,
    /// Its type, as a header writes it.
    pub type_name: String,
}

/// What came of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// Nodes loaded.
    pub nodes: u64,
    /// Relationships loaded.
    pub relationships: u64,
    /// Rows that could not be loaded and were left out.
    pub bad_rows: u64,
    /// Nodes left out because their id was taken.
    pub skipped_nodes: u64,
    /// Relationships left out because their type or an end was missing.
    pub skipped_relationships: u64,
    /// Types found by looking.
    pub guessed: Vec<GuessedColumn>,
    /// Bytes of the database file.
    pub file_bytes: u64,
    /// Bytes of temporary files that sorting wrote.
    pub spilled_bytes: u64,
    /// Pages of the database file read.
    pub pages_read: u64,
    /// Pages of the database file written.
    pub pages_written: u64,
    /// Pages of the database file.
    pub pages: u64,
    /// Time from the start until the file was durable under its name.
    pub time: Duration,
    /// The same by [`Phase`], in order.
    pub phases: [Duration; 5],
}
