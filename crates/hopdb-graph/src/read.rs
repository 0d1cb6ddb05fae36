//! Reading the graph through any view: a snapshot, or a transaction with its own changes.

use std::sync::Arc;

use hopdb_storage::{Cursor, Keys, View};

use crate::block::{adjacency, relationships};
use crate::catalog::{Catalog, IndexDefinition};
use crate::error::{GraphError, Result};
use crate::ids::{Direction, LabelId, NodeId, PropertyKeyId, RelationshipId, TypeId};
use crate::index::{self, ValueKey};
use crate::keys::{self, BlockKey};
use crate::record::{PropertiesView, RecordView};
use crate::tables::Tables;
use crate::value::Value;

pub use crate::block::adjacency::Pair;

/// A node with all it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// Its labels, ascending by id.
    pub labels: Vec<Arc<str>>,
    /// Its properties, ascending by id of the key.
    pub properties: Vec<(Arc<str>, Value)>,
}

/// A relationship with all it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Relationship {
    /// Its id.
    pub id: RelationshipId,
    /// The node it starts at.
    pub start: NodeId,
    /// The node it ends at.
    pub end: NodeId,
    /// Its type.
    pub relationship_type: Arc<str>,
    /// Its properties, ascending by id of the key.
    pub properties: Vec<(Arc<str>, Value)>,
}

/// A relationship as one of its nodes sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjacent {
    /// The relationship.
    pub relationship: RelationshipId,
    /// Its type.
    pub type_id: TypeId,
    /// The node at the other end.
    pub neighbour: NodeId,
    /// Whether it starts at the node that looks.
    pub outgoing: bool,
}

/// Reads the graph as a view has it.
#[derive(Debug)]
pub struct Reader<'v, V> {
    pub(crate) view: &'v V,
    pub(crate) tables: &'v Tables,
    pub(crate) catalog: &'v Catalog,
}

impl<V> Clone for Reader<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Reader<'_, V> {}

impl<'v, V: View> Reader<'v, V> {
    /// Names and counts.
    #[must_use]
    pub fn catalog(&self) -> &'v Catalog {
        self.catalog
    }

    /// A node; `None` when there is none with this id.
    ///
    /// # Errors
    /// Failed reads, damage.
    pub fn node(&self, id: NodeId) -> Result<Option<Node>> {
        self.with_record(id, |record| {
            let labels = record.labels().map(|label| self.label_name(label));
            let labels = labels.collect::<Result<_>>()?;
            Ok(Node { id, labels, properties: self.properties(record.properties())? })
        })
    }

    /// Whether there is a node with this id.
    ///
    /// # Errors
    /// Failed reads.
    pub fn has_node(&self, id: NodeId) -> Result<bool> {
        let mut key = Vec::new();
        keys::node(&mut key, id);
        Ok(self.view.get(self.tables.nodes, &key)?.is_some())
    }

    /// One property of a node; `None` when the node or the property is not there.
    ///
    /// # Errors
    /// Failed reads, damage.
    pub fn property(&self, id: NodeId, key: PropertyKeyId) -> Result<Option<Value>> {
        let found = self.with_record(id, |record| match record.property(key)? {
            Some(stored) => Ok(Some(Value::decode(stored)?)),
            None => Ok(None),
        })?;
        Ok(found.flatten())
    }

    /// Calls `read` with a node's record.
    pub(crate) fn with_record<T>(
        &self,
        id: NodeId,
        read: impl FnOnce(RecordView<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut key = Vec::new();
        keys::node(&mut key, id);
        let Some(found) = self.view.get(self.tables.nodes, &key)? else { return Ok(None) };
        let done = match found.inline() {
            Some(bytes) => read(RecordView::parse(bytes)?),
            None => read(RecordView::parse(&found.to_vec()?)?),
        };
        done.map(Some).map_err(|error| match error {
            GraphError::Decode(why) => {
                GraphError::damaged(keys::NODES, format!("node {id} ({why})"))
            }
            other => other,
        })
    }

    fn label_name(&self, label: LabelId) -> Result<Arc<str>> {
        let name = self.catalog.label_name(label).cloned();
        name.ok_or_else(|| GraphError::damaged(keys::CATALOG, format!("label {label}")))
    }

    fn type_name(&self, type_id: TypeId) -> Result<Arc<str>> {
        let name = self.catalog.type_name(type_id).cloned();
        name.ok_or_else(|| GraphError::damaged(keys::CATALOG, format!("type {type_id}")))
    }

    fn properties(&self, properties: PropertiesView<'_>) -> Result<Vec<(Arc<str>, Value)>> {
        let mut found = Vec::new();
        for (key, stored) in properties.iter()? {
            let name =
                self.catalog.property_key_name(key).cloned().ok_or_else(|| {
                    GraphError::damaged(keys::CATALOG, format!("property key {key}"))
                })?;
            found.push((name, Value::decode(stored)?));
        }
        Ok(found)
    }

    /// A relationship; `None` when there is none with this id.
    ///
    /// # Errors
    /// Failed reads, damage.
    pub fn relationship(&self, id: RelationshipId) -> Result<Option<Relationship>> {
        let Some(row) = self.relationship_row(id)? else { return Ok(None) };
        let mut key = Vec::new();
        keys::relationship(&mut key, id);
        let properties = match self.view.get(self.tables.relationship_properties, &key)? {
            Some(stored) => self.properties(PropertiesView::parse(&stored.to_vec()?)?)?,
            None => Vec::new(),
        };
        Ok(Some(Relationship {
            id,
            start: row.start,
            end: row.end,
            relationship_type: self.type_name(row.type_id)?,
            properties,
        }))
    }

    /// Ends and type of a relationship.
    pub(crate) fn relationship_row(
        &self,
        id: RelationshipId,
    ) -> Result<Option<relationships::RelationshipRow>> {
        let mut key = Vec::new();
        keys::relationship(&mut key, id);
        let mut cursor = self.view.cursor(self.tables.relationships);
        if !cursor.seek_floor(&key)? {
            return Ok(None);
        }
        let damaged =
            || GraphError::damaged(keys::RELATIONSHIPS, format!("the block of relationship {id}"));
        let first = cursor.key().and_then(keys::single).ok_or_else(damaged)?;
        let block = cursor.inline().ok_or_else(damaged)?;
        if id.0 - first >= relationships::count(block).ok_or_else(damaged)? {
            return Ok(None);
        }
        relationships::get(block, id.0 - first).map_err(|_| damaged())
    }

    /// Calls `visit` with every relationship, ascending by id.
    ///
    /// # Errors
    /// Failed reads, damage, and those of `visit`.
    pub fn for_each_relationship(
        &self,
        mut visit: impl FnMut(RelationshipId, relationships::RelationshipRow) -> Result<()>,
    ) -> Result<()> {
        let mut cursor = self.view.cursor(self.tables.relationships);
        let mut more = cursor.first()?;
        while more {
            let damaged = || GraphError::damaged(keys::RELATIONSHIPS, "a block");
            let first = cursor.key().and_then(keys::single).ok_or_else(damaged)?;
            let block = cursor.inline().ok_or_else(damaged)?;
            for (id, row) in (first..).zip(relationships::RelationshipsIter::new(block)?) {
                if let Some(row) = row? {
                    visit(RelationshipId(id), row)?;
                }
            }
            more = cursor.next()?;
        }
        Ok(())
    }

    /// Calls `visit` with every node id, ascending.
    ///
    /// # Errors
    /// Failed reads, damage, and those of `visit`.
    pub fn for_each_node(&self, mut visit: impl FnMut(NodeId) -> Result<()>) -> Result<()> {
        let mut cursor = self.view.cursor(self.tables.nodes);
        let mut more = cursor.first()?;
        while more {
            let id = cursor.key().and_then(keys::single);
            visit(NodeId(id.ok_or_else(|| GraphError::damaged(keys::NODES, "a key"))?))?;
            more = cursor.next()?;
        }
        Ok(())
    }

    /// Calls `visit` with the nodes that have a label, ascending.
    ///
    /// # Errors
    /// Failed reads, damage, and those of `visit`.
    pub fn for_each_node_with_label(
        &self,
        label: LabelId,
        mut visit: impl FnMut(NodeId) -> Result<()>,
    ) -> Result<()> {
        let mut start = Vec::new();
        keys::label(&mut start, label, NodeId(0));
        let mut cursor = self.view.cursor(self.tables.labels);
        let mut more = cursor.seek(&start)?;
        while more {
            let key = cursor.key().and_then(keys::read_label);
            let (found, node) = key.ok_or_else(|| GraphError::damaged(keys::LABELS, "a key"))?;
            if found != label {
                break;
            }
            visit(node)?;
            more = cursor.next()?;
        }
        Ok(())
    }

    /// The nodes with a label whose property equals a value, ascending: by an index where there is one, by
    /// looking at all nodes with the label otherwise. Integers and floats of the same number are equal.
    ///
    /// # Errors
    /// Failed reads, damage.
    pub fn find(
        &self,
        label: LabelId,
        property: PropertyKeyId,
        value: &Value,
    ) -> Result<Vec<NodeId>> {
        if value.is_null() {
            return Ok(Vec::new());
        }
        if let Some(index) = self.catalog.index(label, property) {
            return self.find_in_index(index, value);
        }
        let mut candidates = Vec::new();
        self.for_each_node_with_label(label, |node| {
            candidates.push(node);
            Ok(())
        })?;
        self.with_value(candidates, property, value)
    }

    pub(crate) fn find_in_index(
        &self,
        index: &IndexDefinition,
        value: &Value,
    ) -> Result<Vec<NodeId>> {
        let key = ValueKey::of(value);
        let found = index::lookup(self.view, index, &key)?;
        if key.cut { self.with_value(found, index.property, value) } else { Ok(found) }
    }

    /// Those of `nodes` whose property equals a value.
    fn with_value(
        &self,
        nodes: Vec<NodeId>,
        property: PropertyKeyId,
        value: &Value,
    ) -> Result<Vec<NodeId>> {
        let mut wanted = Vec::new();
        value.key(&mut hopdb_storage::codec::key::KeyWriter::new(&mut wanted));
        let mut equal = Vec::new();
        let mut bytes = Vec::new();
        for node in nodes {
            let Some(found) = self.property(node, property)? else { continue };
            bytes.clear();
            found.key(&mut hopdb_storage::codec::key::KeyWriter::new(&mut bytes));
            if bytes == wanted {
                equal.push(node);
            }
        }
        Ok(equal)
    }

    /// Follows relationships; keeps its place, so that one serves many nodes.
    #[must_use]
    pub fn expander(&self, direction: Direction, type_id: Option<TypeId>) -> Expander<'v, V> {
        let cursor = self.view.cursor(self.tables.adjacency);
        Expander { cursor, direction, type_id, prefixes: Keys::new() }
    }

    /// All relationships of a node on the given side.
    ///
    /// # Errors
    /// Failed reads, damage.
    pub fn adjacent(
        &self,
        node: NodeId,
        direction: Direction,
        type_id: Option<TypeId>,
    ) -> Result<Vec<Adjacent>> {
        let mut all = Vec::new();
        self.expander(direction, type_id).for_each_block(&[node], |block, bytes| {
            adjacency::for_each(block.first, bytes, |(neighbour, relationship)| {
                // From both sides, a relationship of a node with itself is seen once.
                if direction != Direction::Both || block.outgoing || neighbour != node {
                    all.push(Adjacent {
                        relationship,
                        type_id: block.type_id,
                        neighbour,
                        outgoing: block.outgoing,
                    });
                }
            })?;
            Ok(())
        })?;
        Ok(all)
    }
}

/// Follows relationships of one direction and type.
#[derive(Debug)]
pub struct Expander<'v, V> {
    cursor: Cursor<'v, V>,
    direction: Direction,
    type_id: Option<TypeId>,
    /// Where the relationships of the nodes asked for begin.
    prefixes: Keys,
}

impl<V: View> Expander<'_, V> {
    /// Appends the (neighbour, relationship) pairs of a node, per side and type ascending; a relationship of
    /// the node with itself comes once.
    ///
    /// # Errors
    /// Failed reads, damage.
    pub fn expand(&mut self, node: NodeId, out: &mut Vec<Pair>) -> Result<()> {
        self.expand_all(&[node], out)
    }

    /// Appends the pairs of all the nodes, node by node: as many calls of [`Expander::expand`], but faster,
    /// since several nodes are looked up side by side.
    ///
    /// # Errors
    /// Failed reads, damage.
    pub fn expand_all(&mut self, nodes: &[NodeId], out: &mut Vec<Pair>) -> Result<()> {
        let both = self.direction == Direction::Both;
        self.for_each_block(nodes, |block, bytes| {
            if both && !block.outgoing {
                adjacency::for_each(block.first, bytes, |pair| {
                    if pair.0 != block.node {
                        out.push(pair);
                    }
                })?;
            } else {
                adjacency::decode_into(block.first, bytes, out)?;
            }
            Ok(())
        })
    }

    /// The number of pairs that [`Expander::expand`] gives; read from block headers where the direction is
    /// not both.
    ///
    /// # Errors
    /// Failed reads, damage.
    pub fn degree(&mut self, node: NodeId) -> Result<u64> {
        if self.direction == Direction::Both {
            let mut pairs = Vec::new();
            self.expand(node, &mut pairs)?;
            return Ok(pairs.len() as u64);
        }
        let mut degree = 0;
        self.for_each_block(&[node], |_, bytes| {
            degree += adjacency::count(bytes)
                .ok_or_else(|| GraphError::damaged(keys::ADJACENCY, "a block"))?;
            Ok(())
        })?;
        Ok(degree)
    }

    /// Calls `visit` with the packed blocks of the nodes, node by node and side by side.
    #[inline]
    pub(crate) fn for_each_block(
        &mut self,
        nodes: &[NodeId],
        mut visit: impl FnMut(BlockKey, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let sides: &[Option<bool>] = match (self.direction, self.type_id) {
            (Direction::Outgoing, _) => &[Some(true)],
            (Direction::Incoming, _) => &[Some(false)],
            // All blocks of a node follow one another.
            (Direction::Both, None) => &[None],
            (Direction::Both, Some(_)) => &[Some(true), Some(false)],
        };
        let type_id = self.type_id;
        self.prefixes.clear();
        for node in nodes {
            for side in sides {
                self.prefixes.push(|key| keys::adjacency_prefix(key, *node, *side, type_id));
            }
        }
        let Self { cursor, prefixes, .. } = self;
        cursor.scan_many(prefixes, |index, key, value| {
            let prefix = prefixes.get(index);
            if !key.starts_with(prefix) {
                return Ok(false);
            }
            let node = nodes[index / sides.len()];
            let known = sides[index % sides.len()].zip(type_id);
            let known_len = match known {
                Some(_) => prefix.len(),
                None => hopdb_storage::codec::ordered::len(node.0),
            };
            let damaged =
                || GraphError::damaged(keys::ADJACENCY, format!("a block of node {node}"));
            let block = BlockKey::read_behind(key, known_len, node, known).ok_or_else(damaged)?;
            visit(block, value.ok_or_else(damaged)?)?;
            Ok::<_, GraphError>(true)
        })
    }
}
