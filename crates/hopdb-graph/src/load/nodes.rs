//! Node files into the table of nodes, which is written as rows come in: ids ascend with them.

use std::path::PathBuf;

use super::field::{Field, FieldRules, encode_field};
use super::header::{Column, FileKind, Header, Role};
use super::id_map::{IdMap, SpaceId};
use super::index_entries::IndexEntries;
use super::plan::{NodeFiles, Progress};
use super::rows::{Row, RowReader};
use super::run::{CHECK_EVERY, Context, place_of};
use crate::error::{GraphError, LoadError, Result};
use crate::ids::{LabelId, NodeId, PropertyKeyId};
use crate::keys;
use crate::record::RecordBuilder;
use crate::write::{GraphTxn, check_name};
use hopdb_storage::Bulk;

/// What the rows of all node files gave besides the table of nodes.
#[derive(Debug, Default)]
pub(super) struct LoadedNodes {
    pub(super) ids: IdMap,
    /// Nodes of each label, ascending; by label id.
    pub(super) by_label: Vec<Vec<NodeId>>,
    pub(super) indexes: Vec<IndexEntries>,
}

/// A group's columns, with names turned into ids.
struct Columns {
    properties: Vec<(Column, PropertyKeyId)>,
    id: Option<(Column, SpaceId)>,
    label: Option<Column>,
    labels: Vec<LabelId>,
}

/// Reads all groups and writes the nodes.
pub(super) fn load(context: &Context<'_>, txn: &mut GraphTxn) -> Result<LoadedNodes> {
    let mut loaded = LoadedNodes::default();
    for index in &context.plan.indexes {
        check_name("label", &index.label)?;
        check_name("property key", &index.property)?;
        let label = txn.catalog.label_or_new(&index.label);
        let property = txn.catalog.property_key_or_new(&index.property);
        if loaded.indexes.iter().any(|other| other.is_for(label, property)) {
            return Err(GraphError::IndexExists {
                label: index.label.clone(),
                property: index.property.clone(),
            });
        }
        loaded.indexes.push(IndexEntries::new(label, property, index.unique));
    }
    let mut bulk = txn.txn.bulk(txn.shared.tables.nodes)?;
    let mut writer = NodeWriter {
        bulk: &mut bulk,
        record: RecordBuilder::new(),
        key: Vec::new(),
        bytes: Vec::new(),
    };
    for group in &context.plan.nodes {
        load_group(context, txn, group, &mut loaded, &mut writer)?;
    }
    bulk.finish(&mut txn.txn)?;
    Ok(loaded)
}

struct NodeWriter<'b> {
    bulk: &'b mut Bulk,
    record: RecordBuilder,
    key: Vec<u8>,
    bytes: Vec<u8>,
}

fn load_group(
    context: &Context<'_>,
    txn: &mut GraphTxn,
    group: &NodeFiles,
    loaded: &mut LoadedNodes,
    writer: &mut NodeWriter<'_>,
) -> Result<()> {
    let dialect = context.plan.dialect;
    let counter = context.progress.counter();
    let mut rows = RowReader::open(context.source, &group.files, dialect, counter)?;
    let rules = dialect.field_rules();
    let header = rows.header(FileKind::Nodes)?;
    let columns = Columns::resolve(&header, group, txn, &mut loaded.ids)?;
    while let Some(row) = rows.next_row()? {
        read_row(&row, (&columns, &rules), txn, writer)?;
        let node = NodeId(give_number(context, &row, &columns, &mut loaded.ids)?);
        writer.write(node, txn)?;
        loaded.note(node, &mut writer.record)?;
        report(context.progress, node)?;
    }
    Ok(())
}

fn report(progress: &Progress, node: NodeId) -> Result<()> {
    if node.0.is_multiple_of(CHECK_EVERY) {
        progress.set_nodes(node.0 + 1);
        if progress.is_stopped() {
            return Err(GraphError::Interrupted);
        }
    }
    Ok(())
}

impl Columns {
    fn resolve(
        header: &Header,
        group: &NodeFiles,
        txn: &mut GraphTxn,
        ids: &mut IdMap,
    ) -> Result<Self> {
        let mut labels = Vec::new();
        for label in &group.labels {
            check_name("label", label)?;
            let label = txn.catalog.label_or_new(label);
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        let properties = property_columns(header, &group.files, txn)?;
        let id = only(header.ids(), &group.files)?.cloned().map(|column| {
            let Role::Id { space, .. } = &column.role else { unreachable!("it is the id column") };
            let space = ids.space(space);
            (column, space)
        });
        Ok(Self { properties, id, label: header.label().cloned(), labels })
    }
}

/// Turns a row into the writer's record.
fn read_row(
    row: &Row<'_>,
    (columns, rules): (&Columns, &FieldRules),
    txn: &mut GraphTxn,
    writer: &mut NodeWriter<'_>,
) -> Result<()> {
    let record = &mut writer.record;
    record.clear();
    for label in &columns.labels {
        record.add_label(*label);
    }
    if let Some(column) = &columns.label {
        let delimiter = rules.array_delimiter;
        for label in row.get(column.index).split(|byte| *byte == delimiter) {
            let label = label.trim_ascii();
            if label.is_empty() {
                continue;
            }
            let label = text(row, column, label)?;
            check_name("label", label).map_err(|error| at(row, column, error.to_string()))?;
            let label = txn.catalog.label_or_new(label);
            if !record.labels().contains(&label) {
                record.add_label(label);
            }
        }
    }
    for (column, key) in &columns.properties {
        let field = Field { text: row.get(column.index), quoted: false };
        record
            .set_with(*key, |out| encode_field(column, rules, field, out))
            .map_err(|error| at(row, column, error.to_string()))?;
    }
    Ok(())
}

fn give_number(
    context: &Context<'_>,
    row: &Row<'_>,
    columns: &Columns,
    ids: &mut IdMap,
) -> Result<u64> {
    let Some((column, space)) = &columns.id else { return Ok(ids.insert_nameless()) };
    let id = row.get(column.index);
    if id.is_empty() {
        return Ok(ids.insert_nameless());
    }
    let Err(duplicate) = ids.insert(*space, id) else { return Ok(ids.node_count() - 1) };
    let space = match ids.space_name(*space) {
        "" => String::new(),
        name => format!(" in the id space {name}"),
    };
    let owner = match place_of(context, NodeId(duplicate.first))? {
        Some(place) => format!("{}:{} has it", place.file.display(), place.line),
        None => "an earlier row has it".into(),
    };
    let shown: String = String::from_utf8_lossy(id).chars().take(40).collect();
    Err(at(row, column, format!("the id {shown:?} is taken{space}: {owner}")).into())
}

impl NodeWriter<'_> {
    fn write(&mut self, node: NodeId, txn: &mut GraphTxn) -> Result<()> {
        self.key.clear();
        keys::node(&mut self.key, node);
        self.bytes.clear();
        self.record.write_node(&mut self.bytes);
        Ok(self.bulk.push(&mut txn.txn, &self.key, &self.bytes)?)
    }
}

impl LoadedNodes {
    /// Notes the labels and the index entries of a node.
    fn note(&mut self, node: NodeId, record: &mut RecordBuilder) -> Result<()> {
        for label in record.labels() {
            let label = label.0 as usize;
            if label >= self.by_label.len() {
                self.by_label.resize_with(label + 1, Vec::new);
            }
            self.by_label[label].push(node);
        }
        for index in &mut self.indexes {
            index.note(node, record)?;
        }
        Ok(())
    }
}

/// The one column of an id.
pub(super) fn only<'h>(
    mut columns: impl Iterator<Item = &'h Column>,
    files: &[PathBuf],
) -> Result<Option<&'h Column>> {
    let first = columns.next();
    match columns.next() {
        None => Ok(first),
        Some(second) => {
            let file = files.first().cloned().unwrap_or_default();
            let reason = "ids of several columns are not loaded; join them in one";
            Err(LoadError::line(file, 1, reason).at_column(second.index + 1, &second.text).into())
        }
    }
}

/// The columns of a header that are properties, with the ids of their keys.
pub(super) fn property_columns(
    header: &Header,
    files: &[PathBuf],
    txn: &mut GraphTxn,
) -> Result<Vec<(Column, PropertyKeyId)>> {
    let mut properties = Vec::new();
    for (column, name) in header.properties() {
        check_name("property key", name).map_err(|error| {
            let file = files.first().cloned().unwrap_or_default();
            LoadError::line(file, 1, error.to_string()).at_column(column.index + 1, &column.text)
        })?;
        properties.push((column.clone(), txn.catalog.property_key_or_new(name)));
    }
    Ok(properties)
}

pub(super) fn text<'r>(row: &Row<'r>, column: &Column, field: &'r [u8]) -> Result<&'r str> {
    std::str::from_utf8(field)
        .map_err(|_| at(row, column, "it is not valid UTF-8; save the file as UTF-8").into())
}

pub(super) fn at(row: &Row<'_>, column: &Column, reason: impl Into<String>) -> LoadError {
    row.error(reason).at_column(column.index + 1, &column.text)
}
