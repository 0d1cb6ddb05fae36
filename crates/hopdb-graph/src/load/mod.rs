//! Reading graphs from CSV with the header format of `neo4j-admin database import`.
//!
//! From file to row to value, each part usable alone:
//! - [`source`]: where files come from; the one place that opens any.
//! - [`table`]: files of values rather than text.
//! - [`csv`]: text in chunks of whole rows, and their records.
//! - [`rows`]: rows of a group of files, with their places.
//! - [`header`]: what each column means.
//! - [`field`]: one field's text as a stored value.
//! - [`id_map`]: the ids of the files against the numbers of nodes.
//! - [`sort`]: ordering relationships by either end.
//! - `plan`, `nodes`, `relationships`, `index_entries`, `run`: a whole load into a new graph, by [`load`].
//!
//! Every error about a file names file, line, column where there
//! is one, and a way out ([`crate::error::LoadError`]).

pub mod csv;
pub mod field;
pub mod header;
pub mod id_map;
mod index_entries;
mod nodes;
mod plan;
mod relationships;
pub mod rows;
mod run;
pub mod sort;
pub mod source;
pub mod table;

pub use plan::{IndexFor, LoadPlan, LoadReport, NodeFiles, Phase, Progress, RelationshipFiles};
pub use run::{load, load_with};
