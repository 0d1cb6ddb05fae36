//! What a load puts into a graph that is there: records that are in their stored form already.

use crate::block::relationships::RelationshipRow;
use crate::error::{GraphError, Result};
use crate::ids::{NodeId, PropertyKeyId, RelationshipId};
use crate::index::{self, IndexEntry};
use crate::keys;
use crate::write::GraphTxn;

impl GraphTxn {
    /// The property that a unique index refuses of a new node's record, if any, and what it says.
    pub(crate) fn refused_property(
        &self,
        record: &[u8],
    ) -> Result<Option<(PropertyKeyId, GraphError)>> {
        let (_, entries) = self.image(record)?;
        for IndexEntry { index, value, .. } in entries.iter().filter(|entry| entry.index.unique) {
            let found = self.reader().find_in_index(index, value)?;
            if let Some(other) = found.first() {
                let error = index::not_unique(&self.catalog, index, value, *other);
                return Ok(Some((index.property, error)));
            }
        }
        Ok(None)
    }

    /// Adds a node that is not there yet, of a record that is not [refused](Self::refused_property). Counts of nodes
    /// are left to the caller.
    pub(crate) fn insert_node(&mut self, node: NodeId, record: &[u8]) -> Result<()> {
        self.change(|txn| {
            txn.align(node, &[], record)?;
            let mut key = Vec::new();
            keys::node(&mut key, node);
            txn.txn.put(txn.shared.tables.nodes, &key, record)?;
            Ok(())
        })
    }

    /// Adds a relationship between nodes that are there, with a property block when it has properties.
    pub(crate) fn insert_relationship(
        &mut self,
        row: RelationshipRow,
        properties: Option<&[u8]>,
    ) -> Result<RelationshipId> {
        self.change(|txn| {
            let RelationshipRow { start, end, type_id } = row;
            let catalog = txn.catalog_mut();
            let id = RelationshipId(catalog.counters.next_relationship);
            catalog.counters.next_relationship += 1;
            catalog.count_type(type_id, 1);
            txn.append_row(id, row)?;
            txn.insert_pair(start, true, type_id, (end, id))?;
            txn.insert_pair(end, false, type_id, (start, id))?;
            if let Some(block) = properties {
                let mut key = Vec::new();
                keys::relationship(&mut key, id);
                txn.txn.put(txn.shared.tables.relationship_properties, &key, block)?;
            }
            Ok(id)
        })
    }
}
