//! From the ids in the files to the numbers of nodes.
//!
//! Ids are bytes, unique in their id space; nodes are numbered from 0 over all spaces in the order
//! of their rows. Made for tens of millions of ids: an id that is a plain decimal number (`0`,
//! `17`; not `017`, `+17` or `17.0`, which are other ids) takes 4 to 32 bytes in `integers`, any
//! other 15 to 30 bytes and up to twice its length in `texts` (measured for a million: 4 bytes
//! for row numbers, 25 for scattered numbers, 50 for `person-…`). While a table grows, the old one
//! is there as well. Ids are only added, never removed.
//!
//! Invariant: an id is in exactly one of the two tables of its space. `get` takes `&self`: once
//! the nodes are read, any number of threads may look ids up.

mod integers;
mod texts;

use integers::Integers;
pub use integers::plain_integer;
use texts::Texts;

/// An id space, as numbered by [`IdMap::space`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpaceId(usize);

/// Two nodes of one space have the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the id was given to node {first} already")]
pub struct DuplicateId {
    /// The number of the node that has the id.
    pub first: u64,
}

/// All ids of a load.
#[derive(Debug, Default)]
pub struct IdMap {
    spaces: Vec<Space>,
    next: u64,
}

#[derive(Debug)]
struct Space {
    name: String,
    integers: Integers,
    texts: Texts,
}

impl IdMap {
    /// A map without spaces, whose first node is 0.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The space of this name, made when it is new.
    pub fn space(&mut self, name: &str) -> SpaceId {
        self.find_space(name).unwrap_or_else(|| {
            self.spaces.push(Space {
                name: name.to_owned(),
                integers: Integers::default(),
                texts: Texts::default(),
            });
            SpaceId(self.spaces.len() - 1)
        })
    }

    /// The space of this name, if there is one.
    #[must_use]
    pub fn find_space(&self, name: &str) -> Option<SpaceId> {
        self.spaces.iter().position(|space| space.name == name).map(SpaceId)
    }

    /// The name of a space.
    #[must_use]
    pub fn space_name(&self, space: SpaceId) -> &str {
        &self.spaces[space.0].name
    }

    /// Gives the next number to a node with an id.
    ///
    /// # Errors
    /// When the space has the id already; no number is used up.
    pub fn insert(&mut self, space: SpaceId, id: &[u8]) -> Result<u64, DuplicateId> {
        let number = self.next;
        let Space { integers, texts, .. } = &mut self.spaces[space.0];
        let first = match integers::plain_integer(id) {
            // Numbers too large for the table of integers are rare enough for the other.
            Some(key) if integers::holds(number) => {
                integers.insert(key, number).or_else(|| texts.get(id))
            }
            Some(key) => integers.get(key).or_else(|| texts.insert(id, number)),
            None => texts.insert(id, number),
        };
        match first {
            Some(first) => Err(DuplicateId { first }),
            None => {
                self.next += 1;
                Ok(number)
            }
        }
    }

    /// Gives the next number to a node without an id.
    pub fn insert_nameless(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// The number of the node with this id.
    #[inline]
    #[must_use]
    pub fn get(&self, space: SpaceId, id: &[u8]) -> Option<u64> {
        let Space { integers, texts, .. } = &self.spaces[space.0];
        let integer = integers::plain_integer(id).and_then(|key| integers.get(key));
        integer.or_else(|| texts.get(id))
    }

    /// The number of the node with an id that is a [plain integer](plain_integer), while
    /// [`IdMap::keeps_integers`].
    #[inline]
    #[must_use]
    pub fn get_integer(&self, space: SpaceId, id: u64) -> Option<u64> {
        self.spaces[space.0].integers.get(id)
    }

    /// Whether all ids that are plain integers are found by [`IdMap::get_integer`]: below 2^32 nodes.
    #[inline]
    #[must_use]
    pub fn keeps_integers(&self) -> bool {
        integers::holds(self.next)
    }

    /// How many numbers were given.
    #[must_use]
    pub fn node_count(&self) -> u64 {
        self.next
    }

    /// The memory taken by the tables, about.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.spaces.iter().map(|space| space.integers.bytes() + space.texts.bytes()).sum()
    }
}

/// A hash of 64 bits, each of which depends on all of `key`: the finalizer of MurmurHash3 with
/// Stafford's constants (variant 13), as `SplitMix64` has it.
#[inline]
fn mix(key: u64) -> u64 {
    let key = (key ^ key >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ key >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ key >> 31
}

#[cfg(test)]
mod tests;
