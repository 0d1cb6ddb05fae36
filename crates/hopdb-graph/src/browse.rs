//! Reading a graph piece by piece, for whoever shows it to people: how many relationships a node has, some of
//! them and then the next ones, the entries of an index from a value on.
//!
//! Nothing here keeps state between calls: what was seen last is handed in again, and a call goes down the tree
//! once and reads what it gives, however far into a large node or index it begins.

use hopdb_storage::View;
use hopdb_storage::codec::key;

use crate::block::adjacency;
use crate::catalog::IndexDefinition;
use crate::error::{GraphError, Result};
use crate::ids::{Direction, NodeId, TypeId};
use crate::index::{self, KEY_BYTES_MAX, ValueKey};
use crate::keys::{self, BlockKey};
use crate::read::{Adjacent, Pair, Reader};
use crate::value::Value;

/// How many relationships of one type a node has on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Degree {
    /// The type.
    pub type_id: TypeId,
    /// Whether they start at the node.
    pub outgoing: bool,
    /// How many; a relationship of the node with itself is on both sides.
    pub relationships: u64,
    /// Packed blocks that hold them.
    pub blocks: u64,
    /// The first of them.
    pub first: Pair,
}

/// Which part of a list is wanted: what follows `after`, or its beginning, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<T> {
    /// The last one that was seen.
    pub after: Option<T>,
    /// At most so many.
    pub limit: usize,
}

/// What is looked for in an index.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'a> {
    /// Values equal to this one, as [`Reader::find`] has it.
    Equal(&'a Value),
    /// Strings that begin so, letter by letter.
    Prefix(&'a str),
}

/// An entry of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexHit {
    /// The node.
    pub node: NodeId,
    /// Its value.
    pub value: Value,
    /// The entry's key: where to go on.
    pub place: Vec<u8>,
}

/// What was found in a part of an index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexPart {
    /// Entries that hold what is wanted.
    pub hits: Vec<IndexHit>,
    /// How many entries were looked at, found or not.
    pub entries: usize,
    /// The key of the last entry that was looked at, when more follow: what comes `after`.
    pub next: Option<Vec<u8>>,
}

impl<V: View> Reader<'_, V> {
    /// The relationships of a node counted by side and type, outgoing ones first; read from block headers.
    ///
    /// # Errors
    /// Failed reads, damage.
    pub fn degrees(&self, node: NodeId) -> Result<Vec<Degree>> {
        let mut degrees: Vec<Degree> = Vec::new();
        self.expander(Direction::Both, None).for_each_block(&[node], |block, bytes| {
            let BlockKey { outgoing, type_id, first, .. } = block;
            let relationships = adjacency::count(bytes).ok_or_else(|| damaged(node))?;
            match degrees.last_mut() {
                Some(last) if (last.outgoing, last.type_id) == (outgoing, type_id) => {
                    last.relationships += relationships;
                    last.blocks += 1;
                }
                _ => degrees.push(Degree { type_id, outgoing, relationships, blocks: 1, first }),
            }
            Ok(())
        })?;
        Ok(degrees)
    }

    /// A part of what [`Reader::adjacent`] gives, in its order: outgoing before incoming, then by type,
    /// neighbour and relationship.
    ///
    /// # Errors
    /// Failed reads, damage.
    pub fn adjacent_part(
        &self,
        node: NodeId,
        (direction, type_id): (Direction, Option<TypeId>),
        part: Part<Adjacent>,
    ) -> Result<Vec<Adjacent>> {
        let sides: &[bool] = match direction {
            Direction::Outgoing => &[true],
            Direction::Incoming => &[false],
            Direction::Both => &[true, false],
        };
        let mut found = Vec::new();
        for outgoing in sides {
            // From both sides, a relationship of a node with itself is seen once.
            let wanted = |pair: &Adjacent| sides.len() == 1 || *outgoing || pair.neighbour != node;
            let side = Side { node, outgoing: *outgoing, type_id };
            self.adjacent_on_side(side, part, wanted, &mut found)?;
        }
        Ok(found)
    }

    fn adjacent_on_side(
        &self,
        side: Side,
        part: Part<Adjacent>,
        wanted: impl Fn(&Adjacent) -> bool,
        found: &mut Vec<Adjacent>,
    ) -> Result<()> {
        let prefix = side.prefix();
        let after = part.after.map(|after| side.key(&after)).filter(|after| *after > prefix);
        let mut cursor = self.view.cursor(self.tables.adjacency);
        // What follows may be in the block that begins with what was seen last, or before it.
        let mut more = match &after {
            Some(after) => cursor.seek_floor(after)? || cursor.first()?,
            None => cursor.seek(&prefix)?,
        };
        while more && found.len() < part.limit {
            let Some(entry) = cursor.key() else { break };
            if entry.starts_with(&prefix) {
                let block = BlockKey::read(entry).ok_or_else(|| damaged(side.node))?;
                let bytes = cursor.inline().ok_or_else(|| damaged(side.node))?;
                adjacency::for_each(block.first, bytes, |(neighbour, relationship)| {
                    let BlockKey { outgoing, type_id, .. } = block;
                    let pair = Adjacent { relationship, type_id, neighbour, outgoing };
                    let seen = after.as_ref().is_some_and(|after| side.key(&pair) <= *after);
                    if !seen && found.len() < part.limit && wanted(&pair) {
                        found.push(pair);
                    }
                })?;
            } else if entry > prefix.as_slice() {
                break;
            }
            more = cursor.next()?;
        }
        Ok(())
    }

    /// A part of the entries of an index that hold what is wanted: by value, then by node. `after` is the
    /// place of the last one seen.
    ///
    /// Keys are cut, so that entries may have to be looked at that do not hold it: at most `entries_max` are, and
    /// what was found by then is given. Both limits are at least 1.
    ///
    /// # Errors
    /// Failed reads, damage.
    pub fn index_part(
        &self,
        index: &IndexDefinition,
        wanted: Wanted<'_>,
        part: Part<&[u8]>,
        entries_max: usize,
    ) -> Result<IndexPart> {
        let prefix = wanted.key_prefix();
        let mut cursor = self.view.cursor(index.table);
        let mut more = cursor.seek(part.after.unwrap_or(&prefix).max(&prefix))?;
        let mut found = IndexPart::default();
        let mut last = part.after.map(<[u8]>::to_vec);
        while more {
            let Some(place) = cursor.key().filter(|key| key.starts_with(&prefix)) else { break };
            if part.after != Some(place) {
                if found.hits.len() >= part.limit || found.entries >= entries_max {
                    found.next = last;
                    break;
                }
                found.entries += 1;
                let place = place.to_vec();
                let node = self.entry_node(index, &place, cursor.inline())?;
                if let Some(value) = self.property(node, index.property)?
                    && wanted.is(&value)
                {
                    found.hits.push(IndexHit { node, value, place: place.clone() });
                }
                last = Some(place);
            }
            more = cursor.next()?;
        }
        Ok(found)
    }

    /// The node at the end of an entry's key.
    fn entry_node(
        &self,
        index: &IndexDefinition,
        place: &[u8],
        flag: Option<&[u8]>,
    ) -> Result<NodeId> {
        let mut at = 0;
        if flag == Some(ValueKey::stored_flag(true)) {
            at = KEY_BYTES_MAX;
        } else {
            // What is no element leaves no id behind it either.
            key::skip(place, &mut at).unwrap_or_default();
        }
        let id = place.get(at..).and_then(keys::single);
        let damaged = || GraphError::damaged("index", format!("a key of index {}", index.id));
        id.map(NodeId).ok_or_else(damaged)
    }
}

/// The relationships of a node on one side, of one type or of all.
#[derive(Clone, Copy)]
struct Side {
    node: NodeId,
    outgoing: bool,
    type_id: Option<TypeId>,
}

impl Side {
    fn prefix(self) -> Vec<u8> {
        let mut prefix = Vec::new();
        keys::adjacency_prefix(&mut prefix, self.node, Some(self.outgoing), self.type_id);
        prefix
    }

    /// The key that a block would have which began with this one.
    fn key(self, first: &Adjacent) -> Vec<u8> {
        let mut key = Vec::new();
        keys::adjacency_prefix(&mut key, self.node, Some(first.outgoing), Some(first.type_id));
        keys::pair(&mut key, (first.neighbour, first.relationship));
        key
    }
}

impl Wanted<'_> {
    /// What the keys of all entries wanted begin with.
    fn key_prefix(self) -> Vec<u8> {
        match self {
            Self::Equal(value) => ValueKey::of(value).bytes,
            Self::Prefix(text) => {
                let mut bytes = index::whole_key(&Value::String(text.into()));
                // Without the end of the string.
                bytes.pop();
                bytes.truncate(KEY_BYTES_MAX);
                bytes
            }
        }
    }

    /// Whether a value is wanted: keys that were cut do not tell.
    fn is(self, value: &Value) -> bool {
        match self {
            Self::Equal(wanted) => index::whole_key(wanted) == index::whole_key(value),
            Self::Prefix(prefix) => {
                matches!(value, Value::String(text) if text.starts_with(prefix))
            }
        }
    }
}

fn damaged(node: NodeId) -> GraphError {
    GraphError::damaged(keys::ADJACENCY, format!("a block of node {node}"))
}
