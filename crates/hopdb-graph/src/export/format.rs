//! How rows become files: the seam to formats.

use std::fmt::Debug;
use std::io;
use std::path::Path;

use crate::value::Value;

/// A format of files.
pub trait RowFormat: Debug {
    /// What file names end with, without the dot.
    fn extension(&self) -> &'static str;

    /// How many files may be written at once, at least two. What has no file of its own shares one.
    fn files_max(&self) -> usize;

    /// Whether a column of the type, as a header has it (`long`, `string[]`), holds the value as it is.
    fn fits(&self, type_text: &str, value: &Value) -> bool;

    /// Makes a new file with these columns.
    ///
    /// # Errors
    /// Those of the file system.
    fn create(&self, path: &Path, columns: &[FileColumn]) -> io::Result<Box<dyn RowWriter>>;
}

/// A file that takes rows. Dropped before it is finished, it does not go on writing.
pub trait RowWriter {
    /// Writes a row: a value for each column, null where it has none. The values may be taken.
    ///
    /// # Errors
    /// Those of the file system; a row that the format cannot hold.
    fn write(&mut self, row: &mut [Value]) -> io::Result<()>;

    /// Writes what is left, and makes the file durable.
    ///
    /// # Errors
    /// Those of the file system.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileColumn {
    /// The header's field, whole: `:ID`, `name:string`, `` `a:b`:long[] ``.
    pub field: String,
    /// The property's name, when it can stand in a header without a type, and no other column has it.
    pub plain_name: Option<String>,
    /// The type of its values as the header has it.
    pub type_text: String,
    /// Whether its values come as strings, which a reader takes for values of the type: some do not
    /// [fit](RowFormat::fits).
    pub as_text: bool,
}
