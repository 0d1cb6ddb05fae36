//! The nodes of a label, ascending, in few bytes: ranges, as differences to what came before.

use hopdb_storage::codec::varint;

use crate::ids::NodeId;

/// Nodes that were pushed in ascending order.
#[derive(Debug, Default)]
pub(super) struct LabelNodes {
    /// Pairs of varints: from the end of the range before to the start of the next, and its length.
    bytes: Vec<u8>,
    /// End of the last range in `bytes`.
    written: u64,
    /// First of the open range and behind its last; empty at the beginning.
    open: (u64, u64),
    count: u64,
}

impl LabelNodes {
    /// Adds a node behind all others.
    #[inline]
    pub(super) fn push(&mut self, node: NodeId) {
        if node.0 != self.open.1 || self.count == 0 {
            self.close();
            self.open.0 = node.0;
        }
        self.open.1 = node.0 + 1;
        self.count += 1;
    }

    fn close(&mut self) {
        let (start, end) = self.open;
        if end > start {
            varint::put(&mut self.bytes, start - self.written);
            varint::put(&mut self.bytes, end - start);
            self.written = end;
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// All nodes, ascending.
    pub(super) fn iter(&mut self) -> impl Iterator<Item = NodeId> + '_ {
        self.close();
        self.open = (self.written, self.written);
        let (mut at, mut node, mut end) = (0, 0, 0);
        std::iter::from_fn(move || {
            if node == end {
                node = end + varint::get(&self.bytes, &mut at)?;
                end = node + varint::get(&self.bytes, &mut at)?;
            }
            node += 1;
            Some(NodeId(node - 1))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nodes_come_back(nodes in prop::collection::btree_set(0_u64..300, 0..200)) {
            let mut label = LabelNodes::default();
            nodes.iter().for_each(|node| label.push(NodeId(*node)));
            let expected: Vec<_> = nodes.iter().copied().map(NodeId).collect();
            prop_assert_eq!(label.count(), expected.len() as u64);
            for _ in 0..2 {
                prop_assert_eq!(label.iter().collect::<Vec<_>>(), expected.clone());
            }
        }
    }
}
