//! Ids that are any bytes.
//!
//! ```text
//! entry in the arena = node number (varint), length (varint), the id's bytes
//! slot of 8 bytes    = 24 bits of the hash, 40 bits: offset of the entry + 1; 0 is empty
//! ```
//!
//! Open addressing with linear probing, at most three quarters full. Growing reads the arena from
//! front to back and hashes again: no hash is kept, and memory is read in order.
//!
//! Invariants: slots point at the start of entries; the arena stays below 2^40 bytes.

use std::hash::Hasher;

use hopdb_storage::codec::num::{len_u64, to_usize};
use hopdb_storage::codec::varint;
use rustc_hash::FxHasher;

use super::mix;

const OFFSET_BITS: u32 = 40;
const OFFSET_MASK: u64 = (1 << OFFSET_BITS) - 1;
const START_BITS: u32 = 10;

/// The map of one id space.
#[derive(Debug, Default)]
pub(super) struct Texts {
    arena: Vec<u8>,
    slots: Vec<u64>,
    count: usize,
}

impl Texts {
    /// Adds an id, unless it is there: then its number is returned.
    ///
    /// # Panics
    /// When all ids together take a tebibyte.
    pub(super) fn insert(&mut self, id: &[u8], number: u64) -> Option<u64> {
        if 4 * (self.count + 1) > 3 * self.slots.len() {
            self.grow();
        }
        let hash = hash(id);
        let at = match self.find(id, hash) {
            Ok(first) => return Some(first),
            Err(at) => at,
        };
        self.slots[at] = slot(hash, self.arena.len());
        self.count += 1;
        varint::put(&mut self.arena, number);
        varint::put(&mut self.arena, len_u64(id.len()));
        self.arena.extend_from_slice(id);
        None
    }

    /// The number of an id.
    #[inline]
    pub(super) fn get(&self, id: &[u8]) -> Option<u64> {
        if self.slots.is_empty() { None } else { self.find(id, hash(id)).ok() }
    }

    /// The memory taken.
    pub(super) fn bytes(&self) -> usize {
        self.arena.capacity() + self.slots.capacity() * size_of::<u64>()
    }

    /// The number of `id`, or the empty slot where it belongs; the table is never full.
    #[inline]
    fn find(&self, id: &[u8], hash: u64) -> Result<u64, usize> {
        let mask = self.slots.len() - 1;
        let mut at = self.home(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            if slot & !OFFSET_MASK == hash << OFFSET_BITS {
                let mut offset = to_usize((slot & OFFSET_MASK) - 1);
                if let Some((number, other)) = entry(&self.arena, &mut offset)
                    && other == id
                {
                    return Ok(number);
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// Where the search for a hash starts: its high bits, as the tag has the low ones.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        to_usize(hash >> (64 - self.slots.len().trailing_zeros()))
    }

    fn grow(&mut self) {
        let len = (2 * self.slots.len()).max(1 << START_BITS);
        self.slots = vec![0; len];
        let mut offset = 0;
        let mut start = offset;
        while let Some((_, id)) = entry(&self.arena, &mut offset) {
            let hash = hash(id);
            let mut at = self.home(hash);
            while self.slots[at] != 0 {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = slot(hash, start);
            start = offset;
        }
    }
}

/// The number and id of the entry at `offset`, which moves behind it; `None` at the arena's end.
#[inline]
fn entry<'a>(arena: &'a [u8], offset: &mut usize) -> Option<(u64, &'a [u8])> {
    let number = varint::get(arena, offset)?;
    let end = to_usize(varint::get(arena, offset)?) + *offset;
    let id = arena.get(*offset..end)?;
    *offset = end;
    Some((number, id))
}

fn slot(hash: u64, offset: usize) -> u64 {
    let place = len_u64(offset) + 1;
    assert!(place <= OFFSET_MASK, "the ids of one space take more than a tebibyte");
    hash << OFFSET_BITS | place
}

#[inline]
fn hash(id: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(id);
    mix(hasher.finish())
}
