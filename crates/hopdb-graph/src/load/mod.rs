//! Reading graphs from CSV with the header format of `neo4j-admin database import`.
//!
//! From file to row to value, each part usable alone:
//! - [`source`]: where files come from; the one place that opens any.
//! - [`rows`]: rows of a group of files, with their places.
//! - [`header`]: what each column means.
//! - [`field`]: one field's text as a stored value.
//! - [`id_map`]: the ids of the files against the numbers of nodes.
//! - [`sort`]: ordering relationships by either end.
//!
//! Nothing here writes to a database. Every error about a file names file, line, column where there
//! is one, and a way out ([`crate::error::LoadError`]).

pub mod field;
pub mod header;
pub mod id_map;
pub mod rows;
pub mod sort;
pub mod source;
