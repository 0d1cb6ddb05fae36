//! Names and keys of the graph's tables. Layout: `docs/file-format.md`, "Graph".
//!
//! All numbers in keys are ordered integers, so that keys of one node, label or index lie together.

use hopdb_storage::codec::ordered;

use crate::block::adjacency::Pair;
use crate::ids::{LabelId, NodeId, RelationshipId, TypeId};

pub(crate) const CATALOG: &str = "catalog";
pub(crate) const NODES: &str = "nodes";
pub(crate) const ADJACENCY: &str = "adjacency";
pub(crate) const RELATIONSHIPS: &str = "relationships";
pub(crate) const RELATIONSHIP_PROPERTIES: &str = "relationship-properties";
pub(crate) const LABELS: &str = "labels";

/// Most bytes of a packed block: it stays in its leaf at every page size.
pub(crate) const BLOCK_BYTES_MAX: usize = 900;
/// Most relationships of a packed block: reading one decodes those before it.
pub(crate) const BLOCK_ROWS_MAX: usize = 64;

/// Name of the table of an index.
pub(crate) fn index_table(index: u32) -> String {
    format!("index.{index}")
}

pub(crate) fn node(out: &mut Vec<u8>, id: NodeId) {
    ordered::put(out, id.0);
}

pub(crate) fn relationship(out: &mut Vec<u8>, id: RelationshipId) {
    ordered::put(out, id.0);
}

pub(crate) fn label(out: &mut Vec<u8>, label: LabelId, node: NodeId) {
    ordered::put(out, u64::from(label.0));
    ordered::put(out, node.0);
}

/// Start of the keys of a node's relationships: all, those of one side, or those of one type there.
pub(crate) fn adjacency_prefix(
    out: &mut Vec<u8>,
    node: NodeId,
    outgoing: Option<bool>,
    type_id: Option<TypeId>,
) {
    ordered::put(out, node.0);
    if let Some(outgoing) = outgoing {
        ordered::put(out, u64::from(!outgoing));
        if let Some(type_id) = type_id {
            ordered::put(out, u64::from(type_id.0));
        }
    }
}

/// The pair that ends the key of an adjacency block.
pub(crate) fn pair(out: &mut Vec<u8>, pair: Pair) {
    ordered::put(out, pair.0.0);
    ordered::put(out, pair.1.0);
}

/// What the key of an adjacency block says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockKey {
    pub(crate) node: NodeId,
    pub(crate) outgoing: bool,
    pub(crate) type_id: TypeId,
    pub(crate) first: Pair,
}

impl BlockKey {
    /// Reads a key of the adjacency table; `None` when it is none.
    pub(crate) fn read(key: &[u8]) -> Option<Self> {
        let mut at = 0;
        let node = NodeId(ordered::get(key, &mut at)?);
        Self::read_behind(key, at, node, None)
    }

    /// Reads a key of which the first `at` bytes are known: the node, and side and type where `known` has them.
    #[inline]
    pub(crate) fn read_behind(
        key: &[u8],
        mut at: usize,
        node: NodeId,
        known: Option<(bool, TypeId)>,
    ) -> Option<Self> {
        let (outgoing, type_id) = match known {
            Some(known) => known,
            None => {
                let side = ordered::get(key, &mut at).filter(|side| *side <= 1)?;
                (side == 0, TypeId(u32::try_from(ordered::get(key, &mut at)?).ok()?))
            }
        };
        let neighbour = NodeId(ordered::get(key, &mut at)?);
        let relationship = RelationshipId(ordered::get(key, &mut at)?);
        let first = (neighbour, relationship);
        (at == key.len()).then_some(Self { node, outgoing, type_id, first })
    }
}

/// The one number that a key consists of.
pub(crate) fn single(key: &[u8]) -> Option<u64> {
    let mut at = 0;
    let id = ordered::get(key, &mut at)?;
    (at == key.len()).then_some(id)
}

/// The label and the node that a key of the label table consists of.
pub(crate) fn read_label(key: &[u8]) -> Option<(LabelId, NodeId)> {
    let mut at = 0;
    let label = LabelId(u32::try_from(ordered::get(key, &mut at)?).ok()?);
    let node = NodeId(ordered::get(key, &mut at)?);
    (at == key.len()).then_some((label, node))
}
