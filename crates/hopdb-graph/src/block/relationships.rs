//! The packed relationships block: start, end and type of relationships with neighbouring ids.
//!
//! The key holds the id of the block's first slot; slot `n` is the relationship `first + n`.
//!
//! ```text
//! value = slot count (varint), then per slot:
//!             type id + 1 (varint), or 0: the relationship was removed and nothing follows;
//!             start minus the start of the row before (zigzag varint; the first against 0),
//!             end (varint)
//! ```
//!
//! Bulk load numbers relationships by start node, so that the difference is mostly 0. Ids are never
//! reused: a removed slot stays, one byte long, until its whole block is empty.
//!
//! Invariants: reading is total on any bytes and allocates nothing; the block ends with its last
//! slot. Rows have no fixed size: [`get`] reads all rows before the one asked for, which is why
//! blocks are kept short.

use hopdb_storage::codec::num::len_u64;
use hopdb_storage::codec::varint;

use crate::error::DecodeError;
use crate::ids::{NodeId, TypeId};

/// What is stored of every relationship, properties aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RelationshipRow {
    /// The node it starts at.
    pub start: NodeId,
    /// The node it ends at.
    pub end: NodeId,
    /// Its relationship type.
    pub type_id: TypeId,
}

/// Appends the value of the block with these slots; `None` stands for a removed relationship.
pub fn encode(slots: &[Option<RelationshipRow>], out: &mut Vec<u8>) {
    varint::put(out, len_u64(slots.len()));
    let mut start = 0;
    for slot in slots {
        let Some(row) = slot else {
            varint::put(out, 0);
            continue;
        };
        varint::put(out, u64::from(row.type_id.0) + 1);
        varint::put(out, varint::zigzag(row.start.0.wrapping_sub(start).cast_signed()));
        varint::put(out, row.end.0);
        start = row.start.0;
    }
}

/// The number of slots, removed ones included; `None` when even the header is damaged.
#[must_use]
pub fn count(value: &[u8]) -> Option<u64> {
    varint::get(value, &mut 0)
}

/// The row in slot `index`; `None` when it was removed or the block is shorter.
///
/// # Errors
/// When the block is damaged up to that slot.
pub fn get(value: &[u8], index: u64) -> Result<Option<RelationshipRow>, DecodeError> {
    let mut slots = RelationshipsIter::new(value)?;
    let Ok(index) = usize::try_from(index) else { return Ok(None) };
    if index >= slots.left {
        return Ok(None);
    }
    for _ in 0..index {
        slots.step()?;
    }
    slots.step()
}

/// The slots of a block in order; `None` for a removed relationship.
///
/// After an error, which damaged bytes give, it ends.
#[derive(Clone, Debug)]
pub struct RelationshipsIter<'a> {
    value: &'a [u8],
    at: usize,
    left: usize,
    start: u64,
    ended: bool,
}

impl<'a> RelationshipsIter<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// When it is damaged, or says more slots than the bytes can hold.
    pub fn new(value: &'a [u8]) -> Result<Self, DecodeError> {
        let mut at = 0;
        let count = varint::get(value, &mut at).ok_or(DecodeError::Truncated)?;
        let left = usize::try_from(count).map_err(|_| DecodeError::Truncated)?;
        // A slot takes one byte at least.
        if left > value.len() - at {
            return Err(DecodeError::Truncated);
        }
        Ok(Self { value, at, left, start: 0, ended: false })
    }

    #[inline]
    fn step(&mut self) -> Result<Option<RelationshipRow>, DecodeError> {
        self.left -= 1;
        let type_place = self.number()?;
        let Some(type_id) = type_place.checked_sub(1) else { return Ok(None) };
        let type_id = u32::try_from(type_id).map_err(|_| DecodeError::OutOfRange)?;
        let delta = varint::unzigzag(self.number()?);
        self.start = self.start.wrapping_add(delta.cast_unsigned());
        let end = NodeId(self.number()?);
        Ok(Some(RelationshipRow { start: NodeId(self.start), end, type_id: TypeId(type_id) }))
    }

    #[inline]
    fn number(&mut self) -> Result<u64, DecodeError> {
        varint::get(self.value, &mut self.at).ok_or(DecodeError::Truncated)
    }
}

impl Iterator for RelationshipsIter<'_> {
    type Item = Result<Option<RelationshipRow>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        if self.left == 0 {
            self.ended = true;
            let whole = self.at == self.value.len();
            return if whole { None } else { Some(Err(DecodeError::TrailingBytes)) };
        }
        let slot = self.step();
        self.ended = slot.is_err();
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn slots() -> impl Strategy<Value = Vec<Option<RelationshipRow>>> {
        let id = prop_oneof![0_u64..1_000, any::<u64>()];
        let type_id = prop_oneof![0_u32..5, any::<u32>()];
        let row = (id.clone(), id, type_id).prop_map(|(start, end, type_id)| RelationshipRow {
            start: NodeId(start),
            end: NodeId(end),
            type_id: TypeId(type_id),
        });
        vec(proptest::option::weighted(0.8, row), 0..40)
    }

    fn encoded(slots: &[Option<RelationshipRow>]) -> Vec<u8> {
        let mut out = Vec::new();
        encode(slots, &mut out);
        out
    }

    #[test]
    fn the_layout_is_as_documented() {
        let row = |start, end, type_id| {
            Some(RelationshipRow {
                start: NodeId(start),
                end: NodeId(end),
                type_id: TypeId(type_id),
            })
        };
        let value = encoded(&[row(5, 9, 0), None, row(5, 300, 2), row(4, 0, 2)]);
        assert_eq!(value, [4, 1, 10, 9, 0, 3, 0, 0xac, 2, 3, 1, 0]);
        assert_eq!(count(&value), Some(4));
    }

    #[test]
    fn damage_is_named() {
        assert_eq!(get(&[], 0), Err(DecodeError::Truncated));
        assert_eq!(get(&[2, 0], 0), Err(DecodeError::Truncated));
        assert_eq!(get(&[1, 1, 0], 0), Err(DecodeError::Truncated));
        let mut wide = vec![1];
        varint::put(&mut wide, 1 << 40);
        wide.extend_from_slice(&[0, 0]);
        assert_eq!(get(&wide, 0), Err(DecodeError::OutOfRange));
        let trailing: Result<Vec<_>, _> = RelationshipsIter::new(&[1, 0, 0]).unwrap().collect();
        assert_eq!(trailing, Err(DecodeError::TrailingBytes));
    }

    proptest! {
        #[test]
        fn blocks_survive(slots in slots()) {
            let value = encoded(&slots);
            let all: Result<Vec<_>, _> = RelationshipsIter::new(&value).unwrap().collect();
            prop_assert_eq!(all.as_ref(), Ok(&slots));
            for (index, slot) in slots.iter().enumerate() {
                prop_assert_eq!(get(&value, index as u64), Ok(*slot));
            }
            prop_assert_eq!(get(&value, slots.len() as u64), Ok(None));
            prop_assert_eq!(get(&value, u64::MAX), Ok(None));
        }

        #[test]
        fn any_bytes_are_read_or_refused(value in vec(any::<u8>(), 0..60), index in 0_u64..60) {
            if let Ok(iter) = RelationshipsIter::new(&value) {
                prop_assert!(iter.count() <= value.len());
            }
            let _ = get(&value, index);
        }
    }
}
