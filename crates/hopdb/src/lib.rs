//! HopDB: an embedded property-graph database. One file, one library.
//!
//! ```
//! use hopdb::{Database, Direction, Options, Value};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("friends.hop");
//! let db = Database::create(path, &Options::default())?;
//! let mut txn = db.write()?;
//! let ada = txn.create_node(&["Person"], &[("name", Value::String("Ada".into()))])?;
//! let bob = txn.create_node(&["Person"], &[("name", Value::String("Bob".into()))])?;
//! txn.create_relationship(ada, "KNOWS", bob, &[])?;
//! txn.create_index("Person", "name", true)?;
//! txn.commit()?;
//!
//! let snapshot = db.read()?;
//! assert_eq!(snapshot.find("Person", "name", &Value::String("Ada".into()))?, [ada]);
//! let known = snapshot.reader().adjacent(ada, Direction::Outgoing, None)?;
//! assert_eq!(known[0].neighbour, bob);
//! # Ok(())
//! # }
//! ```
//!
//! Modules: `database` is the way in; [`load`] reads CSV and JSON lines, [`export`] writes
//! them; [`generate`] makes benchmark graphs; [`inspect`] shows how a graph lies in its file; [`kv`] is the
//! key-value store below, usable alone.

mod database;
mod error;
pub mod generate;

pub use database::{Database, Options, Snapshot, Transaction};
pub use error::{Error, ErrorKind, Result};
pub use hopdb_graph::ids::{Direction, LabelId, NodeId, PropertyKeyId, RelationshipId, TypeId};
pub use hopdb_graph::value::temporal::Zone;
pub use hopdb_graph::value::{
    CoordinateType, Coordinates, Crs, Date, DateTime, Duration, LocalDateTime, LocalTime, Point,
    TextError, Time, Value, Vector,
};
pub use hopdb_graph::{
    Adjacent, Catalog, CheckReport, Degree, Expander, GraphError, Hop, IndexDefinition, IndexHit,
    IndexPart, Node, Pair, Part, Reader, Relationship, Walk, Wanted,
};
pub use hopdb_storage::{
    Counts, Durability, FORMAT_VERSION, IoCounts, PageKind, PoolCounts, RecoveryReport, Savepoint,
};

/// Writing a graph as files that load again as an equal one.
pub mod export {
    pub use hopdb_graph::export::{
        ARGUMENTS_FILE, Csv, ExportReport, FileColumn, Phase, Progress, RowFormat, RowWriter,
    };
}

/// How a graph lies in its file: what [`Snapshot::inspect_node`] and [`Snapshot::inspect_page`] give.
///
/// Everything here serializes: bytes as lower-case hexadecimal, page ids as numbers, `large` and the like as `null`
/// where there is nothing.
pub mod inspect {
    pub use hopdb_graph::inspect::{
        Adjacency, Cell, ChainStep, Extent, Field, Hex, IndexEntry, Kind, LARGE_BYTES_MAX, Large,
        Node, Page, Side, Slot,
    };
}

/// Loading CSV with the headers of `neo4j-admin database import`.
pub mod load {
    pub use hopdb_graph::error::{ColumnPlace, LoadError};
    pub use hopdb_graph::load::csv::Dialect;
    pub use hopdb_graph::load::json_lines::JsonLines;
    pub use hopdb_graph::load::names;
    pub use hopdb_graph::load::source::STANDARD_INPUT;
    pub use hopdb_graph::load::table::{Table, TableColumn, TableFormat, TableRow};
    pub use hopdb_graph::load::{
        BadRowRules, FieldOptions, GuessedColumn, IdType, IndexFor, LoadPlan, LoadReport,
        MEMORY_BYTES, NodeFiles, Phase, PlainColumns, Progress, RelationshipFiles,
    };
    pub use hopdb_graph::value::field_text::Separators;
}

/// The key-value store below the graph.
pub mod kv {
    pub use hopdb_storage::*;
}
