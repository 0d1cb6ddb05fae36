//! All nodes and all relationships, ascending by id, as they are stored: each table is read once, front to back.

use hopdb_storage::View;

use crate::block::relationships::RelationshipRow;
use crate::error::{DecodeError, GraphError, Result};
use crate::graph::Snapshot;
use crate::ids::NodeId;
use crate::keys;
use crate::record::{PropertiesView, RecordView};

/// Calls `visit` with every node.
///
/// # Errors
/// Failed reads, damage, and those of `visit`.
pub(super) fn for_each_node(
    snapshot: &Snapshot,
    mut visit: impl FnMut(NodeId, RecordView<'_>) -> Result<()>,
) -> Result<()> {
    let reader = snapshot.reader();
    let mut cursor = reader.view.cursor(reader.tables.nodes);
    let mut more = cursor.first()?;
    while more {
        let id = cursor.key().and_then(keys::single);
        let id = id.ok_or_else(|| GraphError::damaged(keys::NODES, "a key"))?;
        let named = |error| named(error, keys::NODES, || format!("node {id}"));
        let visited = match cursor.inline() {
            Some(bytes) => RecordView::parse(bytes)
                .map_err(GraphError::from)
                .and_then(|record| visit(NodeId(id), record)),
            None => {
                let bytes = cursor.to_vec()?;
                let record = RecordView::parse(&bytes).map_err(GraphError::from);
                record.and_then(|record| visit(NodeId(id), record))
            }
        };
        visited.map_err(named)?;
        more = cursor.next()?;
    }
    Ok(())
}

/// Calls `visit` with every relationship and its properties.
///
/// # Errors
/// Failed reads, damage, and those of `visit`.
pub(super) fn for_each_relationship(
    snapshot: &Snapshot,
    mut visit: impl FnMut(RelationshipRow, PropertiesView<'_>) -> Result<()>,
) -> Result<()> {
    let reader = snapshot.reader();
    let mut cursor = reader.view.cursor(reader.tables.relationship_properties);
    let mut more = cursor.first()?;
    reader.for_each_relationship(|id, row| {
        let damaged = || GraphError::damaged(keys::RELATIONSHIP_PROPERTIES, "a key");
        let mut found = false;
        while more && !found {
            let at = cursor.key().and_then(keys::single).ok_or_else(damaged)?;
            if at > id.0 {
                break;
            }
            found = at == id.0;
            if !found {
                more = cursor.next()?;
            }
        }
        if !found {
            return visit(row, PropertiesView::EMPTY);
        }
        let named =
            |error| named(error, keys::RELATIONSHIP_PROPERTIES, || format!("relationship {id}"));
        let bytes = cursor.to_vec()?;
        let properties = PropertiesView::parse(&bytes).map_err(GraphError::from);
        properties.and_then(|properties| visit(row, properties)).map_err(named)
    })
}

/// Says whose record is damaged.
fn named(error: GraphError, table: &'static str, what: impl Fn() -> String) -> GraphError {
    match error {
        GraphError::Decode(why) => {
            let why: DecodeError = why;
            GraphError::damaged(table, format!("{} ({why})", what()))
        }
        other => other,
    }
}
