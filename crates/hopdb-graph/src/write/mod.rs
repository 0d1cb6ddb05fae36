//! Changing the graph: nodes, relationships, their labels and properties, indexes.
//!
//! Invariants, held by every method and checked by [`crate::check`]:
//! 1. A relationship is in the table `relationships`, in its start's outgoing and its end's incoming blocks.
//! 2. A node is in `labels` under each of its labels, and in each index over one of them and a property it has.
//! 3. Counts in the catalog are exact; ids only grow.
//!
//! A change that is refused before it began (there is no such node, relationship or index, the index is there,
//! the node has relationships) leaves the transaction as it was. One that fails later may have changed part of
//! what it should: the transaction is then to be dropped, which undoes all of it, or to go back to a savepoint.
//! [`GraphTxn::commit`] refuses to commit after such a failure.

mod blocks;
mod load;
mod savepoint;

use std::sync::Arc;

use hopdb_storage::{Durability, Savepoint, View, WriteTxn};

use crate::block::relationships::RelationshipRow;
use crate::catalog::{Catalog, IndexDefinition};
use crate::error::{GraphError, Result};
use crate::graph::Shared;
use crate::ids::{Direction, NodeId, PropertyKeyId, RelationshipId};
use crate::index::{self, IndexEntry};
use crate::keys;
use crate::read::Reader;
use crate::record::{PropertiesView, RecordBuilder, RecordView};
use crate::value::Value;

/// Most bytes of a label, relationship type or property key.
pub const NAME_BYTES_MAX: usize = 255;

/// The write transaction of a graph; dropped without commit it leaves nothing.
#[derive(Debug)]
pub struct GraphTxn {
    pub(crate) shared: Arc<Shared>,
    pub(crate) txn: WriteTxn,
    pub(crate) before: Arc<Catalog>,
    /// Copied when it changes: savepoints share it until then, so that going back allocates nothing.
    pub(crate) catalog: Arc<Catalog>,
    savepoints: Vec<(Savepoint, Arc<Catalog>)>,
    record: RecordBuilder,
    failed: bool,
}

impl GraphTxn {
    pub(crate) fn new(shared: Arc<Shared>, txn: WriteTxn, before: Arc<Catalog>) -> Self {
        let catalog = Arc::clone(&before);
        let (savepoints, record) = (Vec::new(), RecordBuilder::new());
        Self { shared, txn, before, catalog, savepoints, record, failed: false }
    }

    /// The catalog, to change.
    pub(crate) fn catalog_mut(&mut self) -> &mut Catalog {
        Arc::make_mut(&mut self.catalog)
    }

    /// Reads the graph with this transaction's changes.
    #[must_use]
    pub fn reader(&self) -> Reader<'_, WriteTxn> {
        Reader { view: &self.txn, tables: &self.shared.tables, catalog: &self.catalog }
    }

    /// Runs a change; remembers when it fails half-way.
    fn change<T>(&mut self, change: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let done = change(self);
        self.failed |= done.is_err();
        done
    }

    /// Makes a node; null properties are left out.
    ///
    /// # Errors
    /// Bad names, values that cannot be stored, unique indexes, failed reads.
    pub fn create_node(&mut self, labels: &[&str], properties: &[(&str, Value)]) -> Result<NodeId> {
        self.change(|txn| {
            let counters = &mut txn.catalog_mut().counters;
            let id = NodeId(counters.next_node);
            counters.next_node += 1;
            counters.nodes += 1;
            let mut record = std::mem::take(&mut txn.record);
            record.clear();
            for label in labels {
                check_name("label", label)?;
                record.add_label(txn.catalog_mut().label_or_new(label));
            }
            txn.set_all(&mut record, properties)?;
            txn.store_node(id, &mut record)?;
            txn.record = record;
            Ok(id)
        })
    }

    fn set_all(&mut self, record: &mut RecordBuilder, properties: &[(&str, Value)]) -> Result<()> {
        for (key, value) in properties {
            check_name("property key", key)?;
            let key = self.catalog_mut().property_key_or_new(key);
            set_or_remove(record, key, value)?;
        }
        Ok(())
    }

    /// Writes a node's record and brings labels and indexes in line.
    fn store_node(&mut self, id: NodeId, record: &mut RecordBuilder) -> Result<()> {
        let mut key = Vec::new();
        keys::node(&mut key, id);
        let old = match self.txn.get(self.shared.tables.nodes, &key)? {
            Some(found) => found.to_vec()?,
            None => Vec::new(),
        };
        let mut new = Vec::new();
        record.write_node(&mut new);
        self.align(id, &old, &new)?;
        self.txn.put(self.shared.tables.nodes, &key, &new)?;
        Ok(())
    }

    /// Brings labels, counts and indexes from an old record of a node to a new one; empty is none.
    fn align(&mut self, id: NodeId, old: &[u8], new: &[u8]) -> Result<()> {
        let (old_labels, old_entries) = self.image(old)?;
        let (new_labels, new_entries) = self.image(new)?;
        let mut key = Vec::new();
        for label in old_labels.iter().filter(|label| !new_labels.contains(label)) {
            key.clear();
            keys::label(&mut key, *label, id);
            self.txn.delete(self.shared.tables.labels, &key)?;
            self.catalog_mut().discount_label(*label);
        }
        for label in new_labels.iter().filter(|label| !old_labels.contains(label)) {
            key.clear();
            keys::label(&mut key, *label, id);
            self.txn.put(self.shared.tables.labels, &key, &[])?;
            self.catalog_mut().count_label(*label, 1);
        }
        for entry in old_entries.iter().filter(|entry| !entry.is_in(&new_entries)) {
            self.txn.delete(entry.index.table, &entry.key.entry(id))?;
        }
        for entry in new_entries.iter().filter(|entry| !entry.is_in(&old_entries)) {
            self.insert_entry(entry, id)?;
        }
        Ok(())
    }

    fn image(&self, record: &[u8]) -> Result<(Vec<crate::ids::LabelId>, Vec<IndexEntry>)> {
        if record.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let record = RecordView::parse(record)?;
        let labels: Vec<_> = record.labels().collect();
        let entries = index::entries(&self.catalog, &labels, &record.properties())?;
        Ok((labels, entries))
    }

    fn insert_entry(&mut self, entry: &IndexEntry, node: NodeId) -> Result<()> {
        let IndexEntry { index, key, value } = entry;
        if index.unique {
            let others = self.reader().find_in_index(index, value)?;
            if let Some(other) = others.into_iter().find(|other| *other != node) {
                return Err(index::not_unique(&self.catalog, index, value, other));
            }
        }
        self.txn.put(index.table, &key.entry(node), key.entry_value())?;
        Ok(())
    }

    /// Changes a node's record through `change`.
    fn modify_node(
        &mut self,
        id: NodeId,
        change: impl FnOnce(&mut Catalog, &mut RecordBuilder) -> Result<()>,
    ) -> Result<()> {
        if !self.reader().has_node(id)? {
            return Err(GraphError::NodeMissing(id));
        }
        self.change(|txn| {
            let mut record = std::mem::take(&mut txn.record);
            txn.reader().with_record(id, |stored| Ok(record.read_node(stored)?))?;
            change(txn.catalog_mut(), &mut record)?;
            txn.store_node(id, &mut record)?;
            txn.record = record;
            Ok(())
        })
    }

    /// Sets a property of a node; null removes it.
    ///
    /// # Errors
    /// [`GraphError::NodeMissing`], and as [`GraphTxn::create_node`].
    pub fn set_property(&mut self, node: NodeId, key: &str, value: &Value) -> Result<()> {
        check_name("property key", key)?;
        self.modify_node(node, |catalog, record| {
            set_or_remove(record, catalog.property_key_or_new(key), value)
        })
    }

    /// Gives a node a label.
    ///
    /// # Errors
    /// [`GraphError::NodeMissing`], and as [`GraphTxn::create_node`].
    pub fn add_label(&mut self, node: NodeId, label: &str) -> Result<()> {
        check_name("label", label)?;
        self.modify_node(node, |catalog, record| {
            let label = catalog.label_or_new(label);
            if !record.labels().contains(&label) {
                record.add_label(label);
            }
            Ok(())
        })
    }

    /// Takes a label from a node, if it has it.
    ///
    /// # Errors
    /// [`GraphError::NodeMissing`], failed reads.
    pub fn remove_label(&mut self, node: NodeId, label: &str) -> Result<()> {
        self.modify_node(node, |catalog, record| {
            if let Some(label) = catalog.label(label) {
                record.remove_label(label);
            }
            Ok(())
        })
    }

    /// Deletes a node that has no relationships.
    ///
    /// # Errors
    /// [`GraphError::NodeMissing`], [`GraphError::NodeHasRelationships`], failed reads.
    pub fn delete_node(&mut self, node: NodeId) -> Result<()> {
        if !self.reader().has_node(node)? {
            return Err(GraphError::NodeMissing(node));
        }
        let mut degree = self.reader().expander(Direction::Both, None);
        if degree.degree(node)? > 0 {
            return Err(GraphError::NodeHasRelationships(node));
        }
        self.change(|txn| {
            let mut key = Vec::new();
            keys::node(&mut key, node);
            let found = txn.txn.get(txn.shared.tables.nodes, &key)?;
            let old = found.ok_or(GraphError::NodeMissing(node))?.to_vec()?;
            txn.align(node, &old, &[])?;
            txn.txn.delete(txn.shared.tables.nodes, &key)?;
            txn.catalog_mut().counters.nodes -= 1;
            Ok(())
        })
    }

    /// Deletes a node and all its relationships.
    ///
    /// # Errors
    /// [`GraphError::NodeMissing`], failed reads.
    pub fn detach_delete_node(&mut self, node: NodeId) -> Result<()> {
        for adjacent in self.reader().adjacent(node, Direction::Both, None)? {
            self.delete_relationship(adjacent.relationship)?;
        }
        self.delete_node(node)
    }

    /// Makes a relationship; null properties are left out.
    ///
    /// # Errors
    /// [`GraphError::NodeMissing`], bad names, values that cannot be stored, failed reads.
    pub fn create_relationship(
        &mut self,
        start: NodeId,
        relationship_type: &str,
        end: NodeId,
        properties: &[(&str, Value)],
    ) -> Result<RelationshipId> {
        check_name("relationship type", relationship_type)?;
        for node in [start, end] {
            if !self.reader().has_node(node)? {
                return Err(GraphError::NodeMissing(node));
            }
        }
        self.change(|txn| {
            let type_id = txn.catalog_mut().type_or_new(relationship_type);
            let mut record = std::mem::take(&mut txn.record);
            record.clear();
            txn.set_all(&mut record, properties)?;
            let mut block = Vec::new();
            record.write_properties(&mut block);
            let block = (!record.has_no_properties()).then_some(&block[..]);
            let id = txn.insert_relationship(RelationshipRow { start, end, type_id }, block)?;
            txn.record = record;
            Ok(id)
        })
    }

    fn store_relationship_properties(
        &mut self,
        id: RelationshipId,
        record: &mut RecordBuilder,
    ) -> Result<()> {
        let table = self.shared.tables.relationship_properties;
        let mut key = Vec::new();
        keys::relationship(&mut key, id);
        if record.has_no_properties() {
            self.txn.delete(table, &key)?;
        } else {
            let mut bytes = Vec::new();
            record.write_properties(&mut bytes);
            self.txn.put(table, &key, &bytes)?;
        }
        Ok(())
    }

    /// Sets a property of a relationship; null removes it.
    ///
    /// # Errors
    /// [`GraphError::RelationshipMissing`], bad names, values that cannot be stored, failed reads.
    pub fn set_relationship_property(
        &mut self,
        id: RelationshipId,
        key: &str,
        value: &Value,
    ) -> Result<()> {
        check_name("property key", key)?;
        if self.reader().relationship_row(id)?.is_none() {
            return Err(GraphError::RelationshipMissing(id));
        }
        self.change(|txn| {
            let mut stored_key = Vec::new();
            keys::relationship(&mut stored_key, id);
            let mut record = std::mem::take(&mut txn.record);
            record.clear();
            let table = txn.shared.tables.relationship_properties;
            if let Some(found) = txn.txn.get(table, &stored_key)? {
                record.read_properties(PropertiesView::parse(&found.to_vec()?)?)?;
            }
            set_or_remove(&mut record, txn.catalog_mut().property_key_or_new(key), value)?;
            txn.store_relationship_properties(id, &mut record)?;
            txn.record = record;
            Ok(())
        })
    }

    /// Deletes a relationship.
    ///
    /// # Errors
    /// [`GraphError::RelationshipMissing`], failed reads.
    pub fn delete_relationship(&mut self, id: RelationshipId) -> Result<()> {
        let row = self.reader().relationship_row(id)?;
        let row = row.ok_or(GraphError::RelationshipMissing(id))?;
        self.change(|txn| {
            txn.remove_row(id)?;
            txn.remove_pair(row.start, true, row.type_id, (row.end, id))?;
            txn.remove_pair(row.end, false, row.type_id, (row.start, id))?;
            let mut key = Vec::new();
            keys::relationship(&mut key, id);
            txn.txn.delete(txn.shared.tables.relationship_properties, &key)?;
            txn.catalog_mut().discount_type(row.type_id);
            Ok(())
        })
    }

    /// Makes an index over the nodes with a label by a property, and fills it.
    ///
    /// # Errors
    /// [`GraphError::IndexExists`], [`GraphError::NotUnique`], bad names, failed reads.
    pub fn create_index(&mut self, label: &str, property: &str, unique: bool) -> Result<()> {
        check_name("label", label)?;
        check_name("property key", property)?;
        let known = self.catalog.label(label).zip(self.catalog.property_key(property));
        if known.is_some_and(|(label, property)| self.catalog.index(label, property).is_some()) {
            return Err(GraphError::IndexExists { label: label.into(), property: property.into() });
        }
        self.change(|txn| {
            let label_id = txn.catalog_mut().label_or_new(label);
            let property_id = txn.catalog_mut().property_key_or_new(property);
            let index = txn.new_index(label_id, property_id, unique)?;
            let mut nodes = Vec::new();
            txn.reader().for_each_node_with_label(label_id, |node| {
                nodes.push(node);
                Ok(())
            })?;
            for node in nodes {
                if let Some(value) = txn.reader().property(node, property_id)? {
                    let key = index::ValueKey::of(&value);
                    txn.insert_entry(&IndexEntry { index, key, value }, node)?;
                }
            }
            Ok(())
        })
    }

    /// Registers an empty index.
    pub(crate) fn new_index(
        &mut self,
        label: crate::ids::LabelId,
        property: PropertyKeyId,
        unique: bool,
    ) -> Result<IndexDefinition> {
        let id = u32::try_from(self.catalog.counters.next_index).expect("fewer than 2^32 indexes");
        self.catalog_mut().counters.next_index += 1;
        let table = self.txn.create_table(&keys::index_table(id))?;
        let index = IndexDefinition { id, label, property, unique, table };
        self.catalog_mut().indexes.push(index);
        Ok(index)
    }

    /// Removes an index.
    ///
    /// # Errors
    /// [`GraphError::IndexMissing`], failed reads.
    pub fn drop_index(&mut self, label: &str, property: &str) -> Result<()> {
        let found = self.catalog.label(label).zip(self.catalog.property_key(property));
        let found =
            found.and_then(|(label, property)| self.catalog.index(label, property).copied());
        let index = found.ok_or_else(|| GraphError::IndexMissing {
            label: label.into(),
            property: property.into(),
        })?;
        self.change(|txn| {
            txn.txn.drop_table(&keys::index_table(index.id))?;
            txn.catalog_mut().indexes.retain(|other| other.id != index.id);
            Ok(())
        })
    }

    /// Says when the commit is durable; when it returns, if nothing is said.
    pub fn set_durability(&mut self, durability: Durability) {
        self.txn.set_durability(durability);
    }

    /// Makes the changes durable, then visible.
    ///
    /// # Errors
    /// [`GraphError::TransactionFailed`] when a change of this transaction failed half-way; failed writes and syncs.
    pub fn commit(mut self) -> Result<()> {
        if self.failed {
            return Err(GraphError::TransactionFailed);
        }
        self.catalog.store(&self.before, &mut self.txn, self.shared.tables.catalog)?;
        let Self { shared, txn, catalog, .. } = self;
        txn.commit_then(|ts| shared.remember(ts, catalog))?;
        Ok(())
    }
}

fn set_or_remove(record: &mut RecordBuilder, key: PropertyKeyId, value: &Value) -> Result<()> {
    if value.is_null() {
        record.remove_property(key);
        Ok(())
    } else {
        Ok(record.set(key, value)?)
    }
}

/// Names are not empty and at most [`NAME_BYTES_MAX`] bytes long.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<()> {
    let reason = match name.len() {
        0 => "it is empty",
        1..=NAME_BYTES_MAX => return Ok(()),
        _ => "it is longer than 255 bytes",
    };
    Err(GraphError::BadName { what, name: name.chars().take(40).collect(), reason })
}
