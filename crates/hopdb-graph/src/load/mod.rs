//! Reading graphs from CSV with the header format of `neo4j-admin database import`, and from files of values.
//!
//! From file to row to value, each part usable alone:
//! - [`source`]: where files come from; the one place that opens any. `unpack`: their text.
//! - [`csv`]: text into chunks of whole rows, and those into records.
//! - [`table`]: files of values rather than text; [`json_lines`] is one.
//! - [`header`]: what each column means.
//! - [`field`]: one field's text as a stored value.
//! - [`id_map`]: the ids of the files against the numbers of nodes.
//! - [`names`]: names in backquotes.
//!
//! A whole load, by [`load`] into a new graph and by [`load_into`] into one that is there:
//! - `plan`: what is to be done. `run`: in which order, and with how much memory.
//! - `parts`, `blocks`: files with their headers, cut into blocks of rows. `ordered`: blocks worked on by all cores,
//!   taken in their order.
//! - `node_rows`, `nodes`, `node_tables`, `ids`: nodes. `relationship_rows`, `relationships`, `tables`: relationships.
//! - `words`, `bucket_sort`, `byte_sort`, `index_entries`, `label_nodes`, `spill`: sorting, on disk past the memory given.
//! - `bad_rows`, `again`, `places`: rows that cannot be loaded.
//!
//! Every error about a file names file, line, column where there is one, and a way out
//! ([`crate::error::LoadError`]).

mod again;
mod bad_rows;
mod blocks;
mod bucket_sort;
mod byte_sort;
pub mod csv;
pub mod field;
pub mod header;
pub mod id_map;
mod ids;
mod index_entries;
pub mod json_lines;
mod label_nodes;
pub mod names;
mod node_rows;
mod node_tables;
mod nodes;
mod ordered;
mod parts;
mod places;
mod plan;
mod relationship_rows;
mod relationships;
mod run;
pub mod source;
mod spill;
pub mod table;
mod tables;
mod unpack;
mod words;

pub use header::{IdType, PlainColumns};
pub use plan::{
    BadRowRules, FieldOptions, GuessedColumn, IndexFor, LoadPlan, LoadReport, MEMORY_BYTES,
    NodeFiles, Phase, Progress, RelationshipFiles,
};
pub use run::{load, load_into, load_with};
