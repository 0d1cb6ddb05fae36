//! What can go wrong in the graph layer, split by who must act.
//!
//! [`DecodeError`]: stored bytes are not what this layer wrote (damage; nobody but a restore can
//! act). [`LoadError`]: a row or header of a file being loaded is wrong (who made the file acts).
//! [`NestingError`]: a caller's value cannot be stored. `Display` prints the error itself and never
//! its sources.

use std::fmt;
use std::path::PathBuf;

use crate::ids::{NodeId, RelationshipId};

/// The graph layer's result.
pub type Result<T> = std::result::Result<T, GraphError>;

/// Any error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The storage engine failed.
    #[error(transparent)]
    Storage(#[from] hopdb_storage::Error),
    /// Stored bytes are damaged.
    #[error("a stored record is damaged: {0}")]
    Decode(#[from] DecodeError),
    /// An entry of a table is damaged.
    #[error("table {table}: {what} is damaged; `hop check` lists what is")]
    Damaged {
        /// The table.
        table: &'static str,
        /// What in it.
        what: String,
    },
    /// A file being loaded is wrong.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A value cannot be stored.
    #[error(transparent)]
    Nesting(#[from] NestingError),
    /// The store holds no graph.
    #[error("the file is a key-value store without a graph: it has no table {table:?}")]
    NotAGraph {
        /// The table that is missing.
        table: &'static str,
    },
    /// No node has this id.
    #[error("there is no node {0}")]
    NodeMissing(NodeId),
    /// No relationship has this id.
    #[error("there is no relationship {0}")]
    RelationshipMissing(RelationshipId),
    /// A node that has relationships was to be deleted.
    #[error("node {0} still has relationships; delete them first, or detach the node")]
    NodeHasRelationships(NodeId),
    /// A unique index has the value already.
    #[error("node {node} with label {label} has {property} = {value} already")]
    NotUnique {
        /// Label of the index.
        label: String,
        /// Property of the index.
        property: String,
        /// The value as Cypher writes it, or its beginning.
        value: String,
        /// The node that has it.
        node: NodeId,
    },
    /// There is such an index already.
    #[error("there is an index on {label}.{property} already")]
    IndexExists {
        /// Its label.
        label: String,
        /// Its property.
        property: String,
    },
    /// There is no such index.
    #[error("there is no index on {label}.{property}")]
    IndexMissing {
        /// The label asked for.
        label: String,
        /// The property asked for.
        property: String,
    },
    /// An index was asked for over a label that nothing loaded has.
    #[error("no loaded node has the label {label:?} that an index was asked for")]
    IndexWithoutNodes {
        /// The label.
        label: String,
    },
    /// A load has more of something than a graph can hold.
    #[error("one load takes fewer than {most} {what}")]
    TooMany {
        /// Nodes, relationships or types.
        what: &'static str,
        /// The limit.
        most: u64,
    },
    /// A load cannot do with the memory it was given.
    #[error("{what} more than the {} MiB of memory that this load may take; give it more, as with --memory 4GiB", budget >> 20)]
    OutOfMemoryBudget {
        /// What needs more, with its verb.
        what: &'static str,
        /// The memory given, in bytes.
        budget: u64,
    },
    /// The folder for an export holds something.
    #[error("{} is not empty", path.display())]
    FolderTaken {
        /// The folder.
        path: PathBuf,
    },
    /// A file of an export could not be written.
    #[error("cannot write {}", path.display())]
    ExportFile {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A name is empty or too long.
    #[error("{name:?} cannot be the name of a {what}: {reason}")]
    BadName {
        /// Label, relationship type or property key.
        what: &'static str,
        /// The name, or its beginning.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// A change of the transaction failed half-way.
    #[error("a change of this transaction failed before; drop it and begin anew")]
    TransactionFailed,
    /// The caller asked to stop; nothing was changed.
    #[error("stopped; nothing was changed")]
    Interrupted,
}

impl GraphError {
    pub(crate) fn damaged(table: &'static str, what: impl Into<String>) -> Self {
        Self::Damaged { table, what: what.into() }
    }
}

/// Why bytes could not be decoded.
///
/// Two bytes wide and `Copy`: it travels through the hottest loops. Which page and table the bytes
/// came from is added by the caller, who knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end before what they announce.
    #[error("the bytes end too early")]
    Truncated,
    /// There are bytes after the end.
    #[error("there are bytes after its end")]
    TrailingBytes,
    /// The first byte of a value is no known tag.
    #[error("unknown value tag {0}")]
    UnknownTag(u8),
    /// A number does not fit its type, or a date lies outside the calendar.
    #[error("a number is out of range")]
    OutOfRange,
    /// Ids that must ascend do not.
    #[error("its ids are not in ascending order")]
    NotAscending,
    /// A string is not UTF-8.
    #[error("a string is not UTF-8")]
    InvalidUtf8,
    /// Lists are nested deeper than [`crate::value::LIST_DEPTH_MAX`].
    #[error("lists are nested too deeply")]
    TooDeep,
}

/// A list is nested deeper than can be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("lists nested deeper than {} cannot be stored", crate::value::LIST_DEPTH_MAX)]
pub struct NestingError;

/// Something wrong in a file being loaded, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// The file, as it was named by the caller.
    pub file: PathBuf,
    /// Line in the file, from 1; 0 when the file as a whole is meant.
    pub line: u64,
    /// The column, when one is meant.
    pub column: Option<ColumnPlace>,
    /// What is wrong, and where known a way out.
    pub reason: String,
}

/// A column of a file being loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnPlace {
    /// Position in the row, from 1.
    pub number: usize,
    /// The header's text for the column; may be empty.
    pub name: String,
}

impl LoadError {
    /// An error about a whole file.
    pub fn file(file: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self { file: file.into(), line: 0, column: None, reason: reason.into() }
    }

    /// An error about a line of a file.
    pub fn line(file: impl Into<PathBuf>, line: u64, reason: impl Into<String>) -> Self {
        Self { file: file.into(), line, column: None, reason: reason.into() }
    }

    /// The same error, about one column: `number` counts from 1.
    #[must_use]
    pub fn at_column(mut self, number: usize, name: impl Into<String>) -> Self {
        self.column = Some(ColumnPlace { number, name: name.into() });
        self
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        f.write_str(": ")?;
        if let Some(column) = &self.column {
            write!(f, "column {}", column.number)?;
            if !column.name.is_empty() {
                write!(f, " ({})", column.name)?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.reason)
    }
}

impl std::error::Error for LoadError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_error_prints_its_place() {
        let error = LoadError::line("people.csv", 3, "\"x\" is not an integer");
        assert_eq!(error.to_string(), "people.csv:3: \"x\" is not an integer");
        let error = error.at_column(2, "age");
        assert_eq!(error.to_string(), "people.csv:3: column 2 (age): \"x\" is not an integer");
        let error = LoadError::file("people.csv", "is empty").at_column(1, "");
        assert_eq!(error.to_string(), "people.csv: column 1: is empty");
    }

    #[test]
    fn a_decode_error_stays_small() {
        assert!(size_of::<DecodeError>() <= 2);
    }
}
