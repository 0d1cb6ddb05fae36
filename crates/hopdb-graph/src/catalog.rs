//! What the graph has names for, how many of each there are, and which ids come next.
//!
//! Held in memory as of one commit; stored in the table `catalog`, one entry a name, so that a commit writes
//! only what changed. Invariant: ids are positions in the lists here, and names are never removed.

use std::sync::Arc;

use hopdb_storage::codec::{ordered, varint};
use hopdb_storage::{Table, View, WriteTxn};
use rustc_hash::FxHashMap;

use crate::error::{GraphError, Result};
use crate::ids::{LabelId, PropertyKeyId, TypeId};
use crate::keys;

pub(crate) const KIND_LABEL: u64 = 1;
pub(crate) const KIND_TYPE: u64 = 2;
pub(crate) const KIND_PROPERTY_KEY: u64 = 3;
pub(crate) const KIND_INDEX: u64 = 4;
pub(crate) const KIND_COUNTERS: u64 = 5;

/// Names of one kind and what is counted of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    names: Vec<Arc<str>>,
    counts: Vec<u64>,
    ids: FxHashMap<Arc<str>, u32>,
}

impl Names {
    pub(crate) fn id(&self, name: &str) -> Option<u32> {
        self.ids.get(name).copied()
    }

    pub(crate) fn name(&self, id: u32) -> Option<&Arc<str>> {
        self.names.get(id as usize)
    }

    pub(crate) fn count(&self, id: u32) -> u64 {
        self.counts.get(id as usize).copied().unwrap_or(0)
    }

    /// Names and counts in the order of ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, u64)> {
        self.names.iter().zip(self.counts.iter().copied())
    }

    fn id_or_new(&mut self, name: &str) -> u32 {
        if let Some(id) = self.id(name) {
            return id;
        }
        let id = u32::try_from(self.names.len()).expect("fewer than 2^32 names");
        let name: Arc<str> = name.into();
        self.names.push(Arc::clone(&name));
        self.counts.push(0);
        self.ids.insert(name, id);
        id
    }

    fn add(&mut self, id: u32, more: u64) {
        self.counts[id as usize] += more;
    }

    fn subtract(&mut self, id: u32) {
        let count = &mut self.counts[id as usize];
        *count = count.checked_sub(1).expect("what is removed was counted");
    }

    /// Takes a stored name in; ids must come in order.
    fn restore(&mut self, id: u64, name: &str, count: u64) -> bool {
        let next = self.names.len() as u64;
        let new = u64::from(self.id_or_new(name));
        if new != next || id != next {
            return false;
        }
        self.counts[usize::try_from(next).expect("a position")] = count;
        true
    }
}

/// An index over the nodes with a label by a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexDefinition {
    /// Number of the index.
    pub id: u32,
    /// The nodes in it have this label,
    pub label: LabelId,
    /// and this property.
    pub property: PropertyKeyId,
    /// Whether no two nodes may have the same value.
    pub unique: bool,
    pub(crate) table: Table,
}

/// Ids to come, and totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) next_node: u64,
    pub(crate) next_relationship: u64,
    pub(crate) nodes: u64,
    pub(crate) relationships: u64,
    pub(crate) next_index: u64,
}

/// The catalog as of one commit, or as a transaction has changed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    labels: Names,
    types: Names,
    property_keys: Names,
    pub(crate) indexes: Vec<IndexDefinition>,
    pub(crate) counters: Counters,
}

impl Catalog {
    /// Nodes in all.
    #[must_use]
    pub fn node_count(&self) -> u64 {
        self.counters.nodes
    }

    /// Relationships in all.
    #[must_use]
    pub fn relationship_count(&self) -> u64 {
        self.counters.relationships
    }

    /// The id of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<LabelId> {
        self.labels.id(name).map(LabelId)
    }

    /// The id of a relationship type.
    #[must_use]
    pub fn relationship_type(&self, name: &str) -> Option<TypeId> {
        self.types.id(name).map(TypeId)
    }

    /// The id of a property key.
    #[must_use]
    pub fn property_key(&self, name: &str) -> Option<PropertyKeyId> {
        self.property_keys.id(name).map(PropertyKeyId)
    }

    /// The name of a label.
    #[must_use]
    pub fn label_name(&self, id: LabelId) -> Option<&Arc<str>> {
        self.labels.name(id.0)
    }

    /// The name of a relationship type.
    #[must_use]
    pub fn type_name(&self, id: TypeId) -> Option<&Arc<str>> {
        self.types.name(id.0)
    }

    /// The name of a property key.
    #[must_use]
    pub fn property_key_name(&self, id: PropertyKeyId) -> Option<&Arc<str>> {
        self.property_keys.name(id.0)
    }

    /// Labels with the number of their nodes, in the order of ids.
    pub fn labels(&self) -> impl Iterator<Item = (&Arc<str>, u64)> {
        self.labels.iter()
    }

    /// Relationship types with the number of their relationships, in the order of ids.
    pub fn relationship_types(&self) -> impl Iterator<Item = (&Arc<str>, u64)> {
        self.types.iter()
    }

    /// Property keys, in the order of ids.
    pub fn property_keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.property_keys.iter().map(|(name, _)| name)
    }

    /// The indexes.
    #[must_use]
    pub fn indexes(&self) -> &[IndexDefinition] {
        &self.indexes
    }

    /// Nodes that have a label.
    #[must_use]
    pub fn nodes_with_label(&self, label: LabelId) -> u64 {
        self.labels.count(label.0)
    }

    /// The index over a label's nodes by a property.
    #[must_use]
    pub fn index(&self, label: LabelId, property: PropertyKeyId) -> Option<&IndexDefinition> {
        self.indexes.iter().find(|index| index.label == label && index.property == property)
    }

    pub(crate) fn label_or_new(&mut self, name: &str) -> LabelId {
        LabelId(self.labels.id_or_new(name))
    }

    pub(crate) fn type_or_new(&mut self, name: &str) -> TypeId {
        TypeId(self.types.id_or_new(name))
    }

    pub(crate) fn property_key_or_new(&mut self, name: &str) -> PropertyKeyId {
        PropertyKeyId(self.property_keys.id_or_new(name))
    }

    pub(crate) fn count_label(&mut self, label: LabelId, more: u64) {
        self.labels.add(label.0, more);
    }

    pub(crate) fn discount_label(&mut self, label: LabelId) {
        self.labels.subtract(label.0);
    }

    pub(crate) fn count_type(&mut self, type_id: TypeId, more: u64) {
        self.types.add(type_id.0, more);
        self.counters.relationships += more;
    }

    pub(crate) fn discount_type(&mut self, type_id: TypeId) {
        self.types.subtract(type_id.0);
        self.counters.relationships -= 1;
    }

    /// Reads the stored catalog.
    pub(crate) fn load<V: View>(view: &V, table: Table) -> Result<Self> {
        let mut catalog = Self::default();
        let mut cursor = view.cursor(table);
        let mut more = cursor.first()?;
        while more {
            let key = cursor.key().unwrap_or_default().to_vec();
            let value = cursor.to_vec()?;
            if catalog.restore(view, &key, &value)?.is_none() {
                return Err(GraphError::damaged(keys::CATALOG, format!("the entry {key:02x?}")));
            }
            more = cursor.next()?;
        }
        Ok(catalog)
    }

    fn restore<V: View>(&mut self, view: &V, key: &[u8], value: &[u8]) -> Result<Option<()>> {
        let mut at = 0;
        let (Some(kind), Some(id)) = (ordered::get(key, &mut at), ordered::get(key, &mut at))
        else {
            return Ok(None);
        };
        let names = match kind {
            KIND_LABEL => &mut self.labels,
            KIND_TYPE => &mut self.types,
            KIND_PROPERTY_KEY => &mut self.property_keys,
            KIND_INDEX => return self.restore_index(view, id, value),
            KIND_COUNTERS => return Ok(self.restore_counters(value)),
            _ => return Ok(None),
        };
        let mut at = 0;
        let Some(count) = varint::get(value, &mut at) else { return Ok(None) };
        let Ok(name) = std::str::from_utf8(&value[at..]) else { return Ok(None) };
        Ok(names.restore(id, name, count).then_some(()))
    }

    fn restore_counters(&mut self, value: &[u8]) -> Option<()> {
        let mut at = 0;
        let mut next = || varint::get(value, &mut at);
        self.counters = Counters {
            next_node: next()?,
            next_relationship: next()?,
            nodes: next()?,
            relationships: next()?,
            next_index: next()?,
        };
        Some(())
    }

    fn restore_index<V: View>(&mut self, view: &V, id: u64, value: &[u8]) -> Result<Option<()>> {
        let mut at = 0;
        let mut next = || u32::try_from(varint::get(value, &mut at)?).ok();
        let (Some(label), Some(unique), Some(1), Some(property)) = (next(), next(), next(), next())
        else {
            return Ok(None);
        };
        let Ok(id) = u32::try_from(id) else { return Ok(None) };
        let Some(table) = view.table(&keys::index_table(id))? else { return Ok(None) };
        self.indexes.push(IndexDefinition {
            id,
            label: LabelId(label),
            property: PropertyKeyId(property),
            unique: unique == 1,
            table,
        });
        Ok(Some(()))
    }

    /// Writes what differs from `before`, the stored state.
    pub(crate) fn store(&self, before: &Self, txn: &mut WriteTxn, table: Table) -> Result<()> {
        let kinds = [
            (KIND_LABEL, &self.labels, &before.labels),
            (KIND_TYPE, &self.types, &before.types),
            (KIND_PROPERTY_KEY, &self.property_keys, &before.property_keys),
        ];
        for (kind, names, old) in kinds {
            for (id, (name, count)) in names.iter().enumerate() {
                if old.counts.get(id) != Some(&count) {
                    let mut value = Vec::new();
                    varint::put(&mut value, count);
                    value.extend_from_slice(name.as_bytes());
                    txn.put(table, &entry_key(kind, id as u64), &value)?;
                }
            }
        }
        for index in &before.indexes {
            if !self.indexes.contains(index) {
                txn.delete(table, &entry_key(KIND_INDEX, u64::from(index.id)))?;
            }
        }
        for index in &self.indexes {
            if !before.indexes.contains(index) {
                let numbers = [index.label.0, u32::from(index.unique), 1, index.property.0];
                let value = varints(numbers.into_iter().map(u64::from));
                txn.put(table, &entry_key(KIND_INDEX, u64::from(index.id)), &value)?;
            }
        }
        if self.counters != before.counters {
            let Counters { next_node, next_relationship, nodes, relationships, next_index } =
                self.counters;
            let value = varints([next_node, next_relationship, nodes, relationships, next_index]);
            txn.put(table, &entry_key(KIND_COUNTERS, 0), &value)?;
        }
        Ok(())
    }
}

fn entry_key(kind: u64, id: u64) -> Vec<u8> {
    let mut key = Vec::new();
    ordered::put(&mut key, kind);
    ordered::put(&mut key, id);
    key
}

fn varints(numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut out = Vec::new();
    numbers.into_iter().for_each(|number| varint::put(&mut out, number));
    out
}
