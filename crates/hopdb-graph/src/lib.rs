//! The property graph of HopDB over sorted bytes.
//!
//! Modules, low to high:
//! - [`ids`]: the newtypes everything else speaks in.
//! - [`error`]: what can go wrong here.
//! - [`value`]: property values and their stored form.
//! - [`record`]: a node's labels and properties as bytes.
//! - [`block`]: packed neighbours and packed relationships as bytes.
//! - `keys`, `tables`: names and keys of the tables.
//! - `catalog`: names, counts, indexes.
//! - `index`: the entries of property indexes.
//! - `read`: the graph through any view.
//! - `walk`: from a node, hop by hop.
//! - `write`: the write transaction.
//! - `graph`: opening, snapshots.
//! - `check`: holds all tables against one another.
//! - [`load`]: CSV files into a new graph.
//! - [`export`]: a graph as such files.
//! - [`inspect`]: how all that lies in the file, for people.

pub mod block;
mod browse;
mod catalog;
mod check;
pub mod error;
pub mod export;
mod graph;
pub mod ids;
mod index;
pub mod inspect;
mod keys;
pub mod load;
mod read;
pub mod record;
mod tables;
pub mod value;
mod walk;
mod write;

pub use browse::{Degree, IndexHit, IndexPart, Part, Wanted};
pub use catalog::{Catalog, IndexDefinition};
pub use check::CheckReport;
pub use error::{GraphError, Result};
pub use graph::{Graph, Snapshot};
pub use read::{Adjacent, Expander, Node, Pair, Reader, Relationship};
pub use walk::{Hop, Walk};
pub use write::{GraphTxn, NAME_BYTES_MAX};
