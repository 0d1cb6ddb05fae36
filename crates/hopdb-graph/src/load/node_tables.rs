//! Where the nodes of a load go: new tables, or those of a graph that is there.
//!
//! Of new tables, that of the nodes is written as they come, since ids ascend with them; what labels and indexes
//! need is gathered, and they are written once all nodes are there.

use hopdb_storage::Bulk;
use rustc_hash::FxHashMap;

use super::index_entries::{IndexEntries, Twice};
use super::label_nodes::LabelNodes;
use super::places;
use super::run::Context;
use crate::error::{GraphError, LoadError, Result};
use crate::ids::{LabelId, NodeId, PropertyKeyId};
use crate::index::{not_unique, whole_key};
use crate::keys;
use crate::value::Value;
use crate::write::{GraphTxn, check_name};

/// Entries between two looks at whether the load is to stop.
pub(super) const CHECK_EVERY: u64 = 1 << 16;

/// Where nodes go.
#[derive(Debug)]
pub(super) enum NodeTables {
    /// New tables.
    Build(NewTables),
    /// Those of a graph that is there.
    Insert,
}

#[derive(Debug)]
pub(super) struct NewTables {
    nodes: Bulk,
    /// Nodes of each label, by label id.
    labels: Vec<LabelNodes>,
    /// In the order of the plan.
    indexes: Vec<IndexEntries>,
    key: Vec<u8>,
}

impl NodeTables {
    /// # Errors
    /// Bad names; an index that is there, or comes twice.
    pub(super) fn new(context: &Context<'_>, txn: &mut GraphTxn) -> Result<Self> {
        let mut wanted = Vec::new();
        for index in &context.plan.indexes {
            check_name("label", &index.label)?;
            check_name("property key", &index.property)?;
            let label = txn.catalog_mut().label_or_new(&index.label);
            let property = txn.catalog_mut().property_key_or_new(&index.property);
            if wanted.contains(&(label, property)) || txn.catalog.index(label, property).is_some() {
                let (label, property) = (index.label.clone(), index.property.clone());
                return Err(GraphError::IndexExists { label, property });
            }
            wanted.push((label, property));
        }
        if context.into_existing {
            return Ok(Self::Insert);
        }
        let bytes = context.memory.index_bytes() / wanted.len().max(1);
        let indexes = wanted
            .into_iter()
            .zip(&context.plan.indexes)
            .map(|(by, index)| IndexEntries::new(&context.scratch, bytes, by, index.unique));
        let indexes = indexes.collect();
        let nodes = txn.txn.bulk(txn.shared.tables.nodes)?;
        Ok(Self::Build(NewTables { nodes, labels: Vec::new(), indexes, key: Vec::new() }))
    }

    /// The property for which a graph that is there does not take a node with this record, and why.
    pub(super) fn refused_property(
        &self,
        txn: &GraphTxn,
        record: &[u8],
    ) -> Result<Option<(PropertyKeyId, GraphError)>> {
        match self {
            Self::Build(_) => Ok(None),
            Self::Insert => txn.refused_property(record),
        }
    }

    /// Adds a node that is not [refused](Self::refused_property): its record, its labels, and the keys of its values
    /// in the indexes of the plan.
    pub(super) fn add<'b>(
        &mut self,
        txn: &mut GraphTxn,
        (node, record): (NodeId, &[u8]),
        labels: &[LabelId],
        entries: impl Iterator<Item = (usize, &'b [u8], bool)>,
    ) -> Result<()> {
        let NewTables { nodes, labels: by_label, indexes, key } = match self {
            Self::Build(tables) => tables,
            Self::Insert => return txn.insert_node(node, record),
        };
        key.clear();
        keys::node(key, node);
        nodes.push(&mut txn.txn, key, record)?;
        for label in labels {
            let label = label.0 as usize;
            if label >= by_label.len() {
                by_label.resize_with(label + 1, LabelNodes::default);
            }
            by_label[label].push(node);
        }
        for (index, key, cut) in entries {
            if labels.contains(&indexes[index].label()) {
                indexes[index].push(key, node, cut)?;
            }
        }
        Ok(())
    }

    /// Writes labels and indexes. `all_good` says that no row was left out, so that a node's number tells its row.
    ///
    /// # Errors
    /// A value that a unique index has twice; an index without nodes; failed writes.
    pub(super) fn finish(
        self,
        context: &Context<'_>,
        txn: &mut GraphTxn,
        all_good: bool,
    ) -> Result<()> {
        let indexes = &context.plan.indexes;
        let tables = match self {
            Self::Build(tables) => tables,
            Self::Insert => {
                return indexes.iter().try_for_each(|index| {
                    txn.create_index(&index.label, &index.property, index.unique)
                });
            }
        };
        let NewTables { nodes, mut labels, indexes: entries, .. } = tables;
        nodes.finish(&mut txn.txn)?;
        write_labels(context, txn, &mut labels)?;
        for (entries, wanted) in entries.into_iter().zip(indexes) {
            let is_empty =
                labels.get(entries.label().0 as usize).is_none_or(|nodes| nodes.count() == 0);
            if is_empty
                && !context.plan.nodes.iter().any(|group| group.labels.contains(&wanted.label))
            {
                return Err(GraphError::IndexWithoutNodes { label: wanted.label.clone() });
            }
            let Twice { nodes, cut_alike } = entries.build(context, txn)?;
            let twice = match nodes {
                Some(nodes) => Some(nodes),
                None => first_equal(txn, cut_alike)?,
            };
            if let Some(nodes) = twice {
                return Err(duplicate(context, txn, nodes, all_good)?);
            }
        }
        Ok(())
    }
}

fn write_labels(
    context: &Context<'_>,
    txn: &mut GraphTxn,
    labels: &mut [LabelNodes],
) -> Result<()> {
    let mut bulk = txn.txn.bulk(txn.shared.tables.labels)?;
    let mut key = Vec::new();
    for (label, nodes) in (0..).map(LabelId).zip(labels) {
        for node in nodes.iter() {
            if node.0.is_multiple_of(CHECK_EVERY) {
                context.check_stopped()?;
            }
            key.clear();
            keys::label(&mut key, label, node);
            bulk.push(&mut txn.txn, &key, &[])?;
        }
        txn.catalog_mut().count_label(label, nodes.count());
    }
    bulk.finish(&mut txn.txn)?;
    Ok(())
}

/// The first two nodes of a group whose indexed values are equal behind the cut.
fn first_equal(txn: &GraphTxn, groups: Vec<Vec<NodeId>>) -> Result<Option<[NodeId; 2]>> {
    let Some(index) = txn.catalog.indexes.last() else { return Ok(None) };
    for group in groups {
        let mut seen: FxHashMap<Vec<u8>, NodeId> = FxHashMap::default();
        for node in group {
            let value = txn.reader().property(node, index.property)?;
            let Some(value) = value else { continue };
            if let Some(first) = seen.insert(whole_key(&value), node) {
                return Ok(Some([first, node]));
            }
        }
    }
    Ok(None)
}

/// The error for a value that a unique index has twice: names the second node's row, where it can be told.
fn duplicate(
    context: &Context<'_>,
    txn: &GraphTxn,
    [first, second]: [NodeId; 2],
    all_good: bool,
) -> Result<GraphError> {
    let index = txn.catalog.indexes.last().expect("the index was made just now");
    let value = txn.reader().property(second, index.property)?.unwrap_or(Value::Null);
    let error = not_unique(&txn.catalog, index, &value, first);
    let place = if all_good { places::of(context, second)? } else { None };
    let Some(place) = place else { return Ok(error) };
    let first = match places::of(context, first)? {
        Some(place) => format!(" ({}:{})", place.file.display(), place.line),
        None => String::new(),
    };
    Ok(LoadError { reason: error.to_string() + &first, ..place }.into())
}
