//! Writing a graph as files that a load makes an equal graph of.
//!
//! - [`format`](RowFormat): how rows become a file. [`Csv`] is one; others live where their formats do.
//! - `kinds`: which column of a file holds a value. `shapes`: what values there are, found by one pass.
//! - `layout`: from shapes to files and their columns.
//! - `rows`: nodes and relationships in order, as stored.
//! - `options`: the file `load.args`, with what `hop load` must be told.
//! - `folder`: the one place that makes files; removes them again when the export fails.
//!
//! The graph that is loaded is equal but for numbers: node ids, relationship ids, and ids of names are new. Labels
//! and types that nothing has are not kept, unless an index names them; all NaN become one.
//!
//! Invariant: `load.args` is written last, under another name first: where it is, the export is whole and
//! durable. Memory does not grow with the graph, but with the kinds of its nodes and relationships.

mod csv;
mod folder;
mod format;
mod kinds;
mod layout;
mod options;
mod progress;
mod rows;
mod shapes;

#[cfg(test)]
mod tests;

use std::path::Path;

pub use csv::Csv;
pub use format::{FileColumn, RowFormat, RowWriter};
pub use options::ARGUMENTS_FILE;
pub use progress::{Phase, Progress};

use crate::error::{GraphError, Result};
use crate::graph::Snapshot;
use crate::ids::{NodeId, PropertyKeyId};
use crate::load::names::write_name;
use crate::record::PropertiesView;
use crate::value::Value;
use folder::Folder;
use layout::{Columns, Layout};
use shapes::Shapes;

/// What came of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportReport {
    /// Nodes written.
    pub nodes: u64,
    /// Relationships written.
    pub relationships: u64,
    /// The files' names in the folder, in order: nodes, relationships, `load.args`.
    pub files: Vec<String>,
    /// Bytes of all files.
    pub bytes: u64,
}

/// Writes the graph of `snapshot` into `folder`, which is new or empty.
///
/// # Errors
/// The folder holds something; a file cannot be written; a stop asked for through `progress`; failed reads,
/// damage. The files that were made are removed again, and so is the folder when it is new.
pub fn export(
    snapshot: &Snapshot,
    folder: &Path,
    format: &dyn RowFormat,
    progress: &Progress,
) -> Result<ExportReport> {
    let mut folder = Folder::new(folder)?;
    let shapes = Shapes::of(snapshot, format, progress)?;
    let layout = Layout::of(snapshot.reader().catalog(), shapes, format);
    progress.enter(Phase::Nodes);
    let nodes = write_nodes(snapshot, &layout, &mut folder, (format, progress))?;
    progress.enter(Phase::Relationships);
    let relationships = write_relationships(snapshot, &layout, &mut folder, (format, progress))?;
    let arguments = options::arguments(snapshot.reader().catalog(), &layout);
    let bytes = folder.finish(ARGUMENTS_FILE, arguments.as_bytes())?;
    let names = layout.nodes.iter().map(|file| &file.columns.file_name);
    let names = names.chain(layout.relationships.iter().map(|file| &file.columns.file_name));
    let files = names.cloned().chain([ARGUMENTS_FILE.to_owned()]).collect();
    Ok(ExportReport { nodes, relationships, files, bytes })
}

fn write_nodes(
    snapshot: &Snapshot,
    layout: &Layout,
    folder: &mut Folder,
    (format, progress): (&dyn RowFormat, &Progress),
) -> Result<u64> {
    let mut files = open_files(layout.nodes.iter().map(|file| &file.columns), folder, format)?;
    let catalog = snapshot.reader().catalog();
    let mut labels = Vec::new();
    let mut count = 0;
    rows::for_each_node(snapshot, |id, record| {
        labels.clear();
        labels.extend(record.labels());
        let position = layout.node_file(&labels);
        let file = &mut files[position];
        file.row[0] = id_value(id);
        if layout.nodes[position].labels.is_none() {
            let mut text = String::new();
            for (index, label) in labels.iter().enumerate() {
                if index > 0 {
                    text.push(layout::LABEL_DELIMITER);
                }
                let name = catalog.label_name(*label).map_or("", |name| name);
                write_name(name, &[layout::LABEL_DELIMITER], &mut text);
            }
            file.row[1] = Value::String(text);
        }
        file.write(record.properties())?;
        count += 1;
        progress.count_node()
    })?;
    files.into_iter().try_for_each(OpenFile::finish)?;
    Ok(count)
}

fn write_relationships(
    snapshot: &Snapshot,
    layout: &Layout,
    folder: &mut Folder,
    (format, progress): (&dyn RowFormat, &Progress),
) -> Result<u64> {
    let columns = layout.relationships.iter().map(|file| &file.columns);
    let mut files = open_files(columns, folder, format)?;
    let catalog = snapshot.reader().catalog();
    let mut count = 0;
    rows::for_each_relationship(snapshot, |row, properties| {
        let position = layout.relationship_file(row.type_id);
        let file = &mut files[position];
        file.row[0] = id_value(row.start);
        file.row[1] = id_value(row.end);
        if layout.relationships[position].type_id.is_none() {
            let mut text = String::new();
            let name = catalog.type_name(row.type_id).map_or("", |name| name);
            write_name(name, &[], &mut text);
            file.row[2] = Value::String(text);
        }
        file.write(properties)?;
        count += 1;
        progress.count_relationship()
    })?;
    files.into_iter().try_for_each(OpenFile::finish)?;
    Ok(count)
}

fn id_value(id: NodeId) -> Value {
    Value::Integer(i64::try_from(id.0).expect("ids are below 2^63"))
}

/// A file that is being written.
struct OpenFile<'l> {
    path: std::path::PathBuf,
    columns: &'l Columns,
    writer: Box<dyn RowWriter>,
    /// A value for each column; null between rows.
    row: Vec<Value>,
}

fn open_files<'l>(
    columns: impl Iterator<Item = &'l Columns>,
    folder: &mut Folder,
    format: &dyn RowFormat,
) -> Result<Vec<OpenFile<'l>>> {
    columns.map(|columns| OpenFile::new(columns, folder, format)).collect()
}

impl<'l> OpenFile<'l> {
    fn new(columns: &'l Columns, folder: &mut Folder, format: &dyn RowFormat) -> Result<Self> {
        let path = folder.path(&columns.file_name);
        let writer = format.create(&path, &columns.columns);
        let writer = writer.map_err(|source| unwritten(&path, source))?;
        Ok(Self { path, columns, writer, row: vec![Value::Null; columns.columns.len()] })
    }

    /// Writes the row with these properties.
    fn write(&mut self, properties: PropertiesView<'_>) -> Result<()> {
        for entry in properties.iter()? {
            let (key, stored): (PropertyKeyId, &[u8]) = entry;
            let (column, value) = self.columns.place(key, Value::decode(stored)?);
            self.row[column] = value;
        }
        let written = self.writer.write(&mut self.row);
        self.row.fill(Value::Null);
        written.map_err(|source| unwritten(&self.path, source))
    }

    fn finish(self) -> Result<()> {
        self.writer.finish().map_err(|source| unwritten(&self.path, source))
    }
}

fn unwritten(path: &Path, source: std::io::Error) -> GraphError {
    GraphError::ExportFile { path: path.to_owned(), source }
}
