//! Files whose rows are values rather than text: JSON lines, Parquet, Arrow.
//!
//! The loader knows such a file by its columns and rows alone; who reads the format stands behind [`Table`].
//! Columns are named as the fields of a CSV header are (`id:ID(Person)`, `name`), and bad rows are treated as
//! those of CSV are: a row that cannot be read is handed on with the reason, and reading goes on behind it.

use std::fmt::Debug;
use std::path::Path;

use crate::error::LoadError;
use crate::value::Value;

/// A format of tables.
pub trait TableFormat: Debug + Send + Sync {
    /// Opens `path` when it is a file of this format, known by its name or its first bytes.
    ///
    /// # Errors
    /// It is of this format and cannot be read.
    fn open(&self, path: &Path) -> Result<Option<Box<dyn Table>>, LoadError>;
}

/// An open file of rows.
pub trait Table: Send {
    /// The columns, in order; known before any row is read.
    fn columns(&self) -> &[TableColumn];

    /// The next rows, some thousands at a time; `None` behind the last.
    ///
    /// # Errors
    /// The file cannot be read on.
    fn next_rows(&mut self) -> Result<Option<Vec<TableRow>>, LoadError>;
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Its name: a header field of CSV, where the part after a colon may say a special column or a type.
    pub name: String,
    /// The type its values have, as a CSV header writes it (`long`, `string[]`), when the file says so.
    pub type_text: Option<String>,
}

impl TableColumn {
    /// Whether a column of this name is not to be read at all: it ends in `:IGNORE`, in any case.
    #[must_use]
    pub fn is_ignored(name: &str) -> bool {
        name.rsplit_once(':').is_some_and(|(_, end)| end.trim().eq_ignore_ascii_case("IGNORE"))
    }
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    /// Number of its line, or of the row in files without lines, from 1.
    pub line: u64,
    /// A value for each column, null where it has none; empty when the row is `bad`.
    pub values: Vec<Value>,
    /// The row as it stands in the file, when that is text.
    pub source: Option<String>,
    /// Why the row cannot be read, when it cannot.
    pub bad: Option<String>,
}
