//! Packed blocks in their tables: where a row or a pair goes, splits, first keys that change.
//!
//! Invariants: a list of pairs (one node, side and type) ascends through its blocks, and each is under the key
//! of its first pair; relationship ids are never given twice, so a removed row leaves its slot behind until
//! its whole block is empty.

use hopdb_storage::View;

use super::GraphTxn;
use crate::block::adjacency::{self, Pair};
use crate::block::relationships::{self, RelationshipRow};
use crate::error::{GraphError, Result};
use crate::ids::{NodeId, RelationshipId, TypeId};
use crate::keys::{self, BlockKey};

impl GraphTxn {
    /// Puts the newest relationship into the last block, or begins one.
    pub(super) fn append_row(&mut self, id: RelationshipId, row: RelationshipRow) -> Result<()> {
        let table = self.shared.tables.relationships;
        let mut slots = vec![Some(row)];
        let mut key = Vec::new();
        keys::relationship(&mut key, id);
        let mut block = Vec::new();
        if let Some((first, mut old)) = self.rows_at(id)?
            && first + old.len() as u64 == id.0
            && old.len() < keys::BLOCK_ROWS_MAX
        {
            old.push(Some(row));
            relationships::encode(&old, &mut block);
            if block.len() <= keys::BLOCK_BYTES_MAX {
                slots = old;
                key.clear();
                keys::relationship(&mut key, RelationshipId(first));
            }
        }
        block.clear();
        relationships::encode(&slots, &mut block);
        self.txn.put(table, &key, &block)?;
        Ok(())
    }

    pub(super) fn remove_row(&mut self, id: RelationshipId) -> Result<()> {
        let table = self.shared.tables.relationships;
        let found = self.rows_at(id)?;
        let (first, mut slots) = found.ok_or(GraphError::RelationshipMissing(id))?;
        let at = usize::try_from(id.0 - first).map_err(|_| GraphError::RelationshipMissing(id))?;
        slots[at] = None;
        let mut key = Vec::new();
        keys::relationship(&mut key, RelationshipId(first));
        if slots.iter().all(Option::is_none) {
            self.txn.delete(table, &key)?;
        } else {
            let mut block = Vec::new();
            relationships::encode(&slots, &mut block);
            self.txn.put(table, &key, &block)?;
        }
        Ok(())
    }

    /// The block of relationships that has `id`, or comes before it.
    fn rows_at(&self, id: RelationshipId) -> Result<Option<(u64, Vec<Option<RelationshipRow>>)>> {
        let mut key = Vec::new();
        keys::relationship(&mut key, id);
        let mut cursor = self.txn.cursor(self.shared.tables.relationships);
        if !cursor.seek_floor(&key)? {
            return Ok(None);
        }
        let damaged = || GraphError::damaged(keys::RELATIONSHIPS, "a block");
        let first = cursor.key().and_then(keys::single).ok_or_else(damaged)?;
        let block = cursor.inline().ok_or_else(damaged)?;
        let slots = relationships::RelationshipsIter::new(block)?;
        Ok(Some((first, slots.collect::<std::result::Result<_, _>>()?)))
    }

    /// The block that has a pair or would have it, with its key.
    fn block_for(
        &self,
        node: NodeId,
        outgoing: bool,
        type_id: TypeId,
        pair: Pair,
    ) -> Result<Option<(Vec<u8>, Vec<Pair>)>> {
        let mut prefix = Vec::new();
        keys::adjacency_prefix(&mut prefix, node, Some(outgoing), Some(type_id));
        let mut wanted = prefix.clone();
        keys::pair(&mut wanted, pair);
        let mut cursor = self.txn.cursor(self.shared.tables.adjacency);
        let floor = cursor.seek_floor(&wanted)?;
        let in_prefix = |key: Option<&[u8]>| key.is_some_and(|key| key.starts_with(&prefix));
        if !(floor && in_prefix(cursor.key())) {
            // Before the first block of its list a pair goes into that.
            let behind = cursor.seek(&wanted)?;
            if !behind || !in_prefix(cursor.key()) {
                return Ok(None);
            }
        }
        let damaged = || GraphError::damaged(keys::ADJACENCY, format!("a block of node {node}"));
        let key = cursor.key().ok_or_else(damaged)?;
        let block = BlockKey::read(key).ok_or_else(damaged)?;
        let mut pairs = Vec::new();
        adjacency::decode_into(block.first, cursor.inline().ok_or_else(damaged)?, &mut pairs)?;
        Ok(Some((key.to_vec(), pairs)))
    }

    pub(super) fn insert_pair(
        &mut self,
        node: NodeId,
        outgoing: bool,
        type_id: TypeId,
        pair: Pair,
    ) -> Result<()> {
        let (old_key, mut pairs) =
            self.block_for(node, outgoing, type_id, pair)?.unwrap_or_default();
        let at = pairs.partition_point(|other| *other < pair);
        pairs.insert(at, pair);
        let fit = adjacency::split_at_bytes(&pairs, keys::BLOCK_BYTES_MAX);
        // A full block is halved, unless the new pair comes last: ascending pairs fill blocks.
        let cut = match (fit < pairs.len(), at + 1 == pairs.len()) {
            (false, _) => pairs.len(),
            (true, true) => at,
            (true, false) => pairs.len() / 2,
        };
        let mut prefix = Vec::new();
        keys::adjacency_prefix(&mut prefix, node, Some(outgoing), Some(type_id));
        if !old_key.is_empty() && at == 0 {
            self.txn.delete(self.shared.tables.adjacency, &old_key)?;
        }
        let (left, right) = pairs.split_at(cut);
        self.put_block(&prefix, left)?;
        self.put_block(&prefix, right)
    }

    fn put_block(&mut self, prefix: &[u8], pairs: &[Pair]) -> Result<()> {
        let Some(first) = pairs.first() else { return Ok(()) };
        let mut key = prefix.to_vec();
        keys::pair(&mut key, *first);
        let mut block = Vec::new();
        adjacency::encode(pairs, &mut block);
        self.txn.put(self.shared.tables.adjacency, &key, &block)?;
        Ok(())
    }

    pub(super) fn remove_pair(
        &mut self,
        node: NodeId,
        outgoing: bool,
        type_id: TypeId,
        pair: Pair,
    ) -> Result<()> {
        let missing = || {
            let side = if outgoing { "outgoing" } else { "incoming" };
            let what = format!("the {side} side of relationship {}", pair.1);
            GraphError::damaged(keys::ADJACENCY, what)
        };
        let found = self.block_for(node, outgoing, type_id, pair)?;
        let (old_key, mut pairs) = found.ok_or_else(missing)?;
        let at = pairs.binary_search(&pair).map_err(|_| missing())?;
        pairs.remove(at);
        if at == 0 {
            self.txn.delete(self.shared.tables.adjacency, &old_key)?;
        }
        let mut prefix = Vec::new();
        keys::adjacency_prefix(&mut prefix, node, Some(outgoing), Some(type_id));
        self.put_block(&prefix, &pairs)
    }
}
