//! The fixed tables of a graph in its store.

use hopdb_storage::{Table, View, WriteTxn};

use crate::error::{GraphError, Result};
use crate::keys;

/// Handles of the fixed tables: the same in every snapshot, since roots never move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tables {
    pub(crate) catalog: Table,
    pub(crate) nodes: Table,
    pub(crate) adjacency: Table,
    pub(crate) relationships: Table,
    pub(crate) relationship_properties: Table,
    pub(crate) labels: Table,
}

impl Tables {
    pub(crate) fn create(txn: &mut WriteTxn) -> Result<Self> {
        Ok(Self {
            catalog: txn.create_table(keys::CATALOG)?,
            nodes: txn.create_table(keys::NODES)?,
            adjacency: txn.create_table(keys::ADJACENCY)?,
            relationships: txn.create_table(keys::RELATIONSHIPS)?,
            relationship_properties: txn.create_table(keys::RELATIONSHIP_PROPERTIES)?,
            labels: txn.create_table(keys::LABELS)?,
        })
    }

    pub(crate) fn open<V: View>(view: &V) -> Result<Self> {
        let table = |name| view.table(name)?.ok_or(GraphError::NotAGraph { table: name });
        Ok(Self {
            catalog: table(keys::CATALOG)?,
            nodes: table(keys::NODES)?,
            adjacency: table(keys::ADJACENCY)?,
            relationships: table(keys::RELATIONSHIPS)?,
            relationship_properties: table(keys::RELATIONSHIP_PROPERTIES)?,
            labels: table(keys::LABELS)?,
        })
    }
}
