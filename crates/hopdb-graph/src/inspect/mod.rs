//! How a graph lies in its file: the cells that make up a node, with the ways to them, and any page.
//!
//! For people and tools that show it; reads only, through a snapshot. The store takes pages and cells apart
//! ([`hopdb_storage::inspect`]); here stands what the tables of a graph mean. All of it is total: damaged bytes are
//! fields that say so.

mod blocks;
mod meaning;
mod records;

#[cfg(test)]
mod tests;

pub use hopdb_storage::inspect::{
    Cell, ChainStep, Extent, Field, Hex, Kind, LARGE_BYTES_MAX, Large, Page, Slot,
};

use hopdb_storage::{PageId, View};
use serde::Serialize;

use crate::browse::Degree;
use crate::catalog::IndexDefinition;
use crate::error::{GraphError, Result};
use crate::graph::Snapshot;
use crate::ids::NodeId;
use crate::index::IndexEntry as Entry;
use crate::keys;
use crate::load::names::write_name;
use crate::record::RecordView;
use meaning::GraphMeaning;

/// What stands between the parts of `Label.property=value`, and so only in backquotes in a name.
const NAME_SIGNS: &[char] = &['.', ':', '='];

/// A side of a node's relationships.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Those that start at the node.
    Out,
    /// Those that end at it.
    In,
}

/// The cells that make up a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// The node's record.
    pub record: Cell,
    /// Its relationships by side and type, out before in, types by id.
    pub adjacency: Vec<Adjacency>,
    /// Its entries in indexes, in the order of the indexes' ids.
    pub indexes: Vec<IndexEntry>,
}

/// A node's relationships of one side and type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Adjacency {
    /// The side.
    pub direction: Side,
    /// The type.
    #[serde(rename = "type")]
    pub relationship_type: String,
    /// How many there are; one of a node with itself is on both sides.
    pub relationships: u64,
    /// How many blocks they fill.
    pub blocks: u64,
    /// The cell of the first block.
    pub first: Cell,
}

/// A node's entry in an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexEntry {
    /// The index as `Label.property`, names with signs in backquotes.
    pub index: String,
    /// Whether it is unique.
    pub unique: bool,
    /// The entry's cell.
    pub cell: Cell,
}

impl Snapshot {
    /// The cells that make up a node; `None` when there is none with this id.
    ///
    /// # Errors
    /// Failed reads, damaged pages on the ways, damaged keys of relationships. A damaged record is shown.
    pub fn inspect_node(&self, id: NodeId) -> Result<Option<Node>> {
        let mut key = Vec::new();
        keys::node(&mut key, id);
        let Some(record) = self.cell(keys::NODES, &key)? else { return Ok(None) };
        let (adjacency, indexes) = (self.adjacency_cells(id)?, self.index_cells(id)?);
        Ok(Some(Node { record, adjacency, indexes }))
    }

    /// A page taken apart; `None` when the file has fewer pages.
    ///
    /// # Errors
    /// As [`hopdb_storage::ReadTxn::inspect_page`].
    pub fn inspect_page(&self, page: u64) -> Result<Option<Page>> {
        Ok(self.txn().inspect_page(PageId(page), &self.meaning())?)
    }

    fn meaning(&self) -> GraphMeaning<'_> {
        GraphMeaning { catalog: self.reader().catalog }
    }

    fn cell(&self, table: &str, key: &[u8]) -> Result<Option<Cell>> {
        Ok(self.txn().inspect_cell(table, key, &self.meaning())?)
    }

    fn adjacency_cells(&self, node: NodeId) -> Result<Vec<Adjacency>> {
        let cell = |degree: Degree| {
            let Degree { type_id, outgoing, relationships, blocks, first } = degree;
            let mut key = Vec::new();
            keys::adjacency_prefix(&mut key, node, Some(outgoing), Some(type_id));
            keys::pair(&mut key, first);
            let first = self.cell(keys::ADJACENCY, &key)?;
            Ok(Adjacency {
                direction: if outgoing { Side::Out } else { Side::In },
                relationship_type: self.meaning().type_name(type_id.0.into()),
                relationships,
                blocks,
                first: first.ok_or_else(|| GraphError::damaged(keys::ADJACENCY, "a block"))?,
            })
        };
        self.reader().degrees(node)?.into_iter().map(cell).collect()
    }

    /// The entries that are there: one that is missing, or of a record that cannot be read, is for the check.
    fn index_cells(&self, node: NodeId) -> Result<Vec<IndexEntry>> {
        let mut cells = Vec::new();
        for entry in self.index_entries(node)? {
            let table = keys::index_table(entry.index.id);
            if let Some(cell) = self.cell(&table, &entry.key.entry(node))? {
                let index = self.index_name(&entry.index);
                cells.push(IndexEntry { index, unique: entry.index.unique, cell });
            }
        }
        Ok(cells)
    }

    fn index_entries(&self, node: NodeId) -> Result<Vec<Entry>> {
        let reader = self.reader();
        let mut key = Vec::new();
        keys::node(&mut key, node);
        let Some(found) = self.txn().get(reader.tables.nodes, &key)? else { return Ok(Vec::new()) };
        let bytes = found.to_vec()?;
        let Ok(record) = RecordView::parse(&bytes) else { return Ok(Vec::new()) };
        let labels: Vec<_> = record.labels().collect();
        match crate::index::entries(reader.catalog, &labels, &record.properties()) {
            Err(GraphError::Decode(_)) => Ok(Vec::new()),
            entries => entries,
        }
    }

    fn index_name(&self, index: &IndexDefinition) -> String {
        let meaning = self.meaning();
        let mut name = String::new();
        write_name(&meaning.label_name(index.label.0.into()), NAME_SIGNS, &mut name);
        name.push('.');
        write_name(&meaning.property_key_name(index.property.0.into()), NAME_SIGNS, &mut name);
        name
    }
}
