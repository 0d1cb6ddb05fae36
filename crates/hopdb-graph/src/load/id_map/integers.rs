//! Ids that are plain decimal numbers.
//!
//! Two parts. *Near*: an array indexed by the id, for ids not much larger than their count, as the
//! row numbers that most files have. *Far*: open addressing with linear probing, slots of 12 bytes
//! (id and number), at most three quarters full, for all others.
//!
//! Invariants: `near` is never longer than four times the ids it was grown for (and a small
//! start); an id below `near.len()` may still be in `far`, from before `near` grew; numbers are
//! below [`NONE`], which marks an empty slot.

use hopdb_storage::codec::num::to_usize;

use super::mix;

const NONE: u32 = u32::MAX;
/// Ids below this are near from the start.
const NEAR_START: u64 = 1024;
const FAR_START_BITS: u32 = 10;

/// The map of one id space.
#[derive(Debug, Default)]
pub(super) struct Integers {
    near: Vec<u32>,
    far: Vec<Slot>,
    far_count: usize,
    count: u64,
}

/// An id in two halves, so that the slot has no padding, and its number.
#[derive(Clone, Copy, Debug)]
struct Slot {
    low: u32,
    high: u32,
    number: u32,
}

const EMPTY: Slot = Slot { low: 0, high: 0, number: NONE };

/// The value of an id that is written as a number is: digits, no leading zero, below 2^63.
#[inline]
#[must_use]
pub fn plain_integer(id: &[u8]) -> Option<u64> {
    let leading_zero = id.len() > 1 && id[0] == b'0';
    if id.is_empty() || id.len() > 19 || leading_zero {
        return None;
    }
    let mut value = 0_u64;
    for &byte in id {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // Nineteen digits fit into 64 bits.
        value = value * 10 + u64::from(digit);
    }
    (value < 1 << 63).then_some(value)
}

/// Whether the table can hold this node number.
#[inline]
pub(super) fn holds(number: u64) -> bool {
    number < u64::from(NONE)
}

impl Integers {
    /// Adds an id, unless it is there: then its number is returned.
    ///
    /// # Panics
    /// When `number` is one that the table cannot hold.
    pub(super) fn insert(&mut self, id: u64, number: u64) -> Option<u64> {
        if let Some(first) = self.get(id) {
            return Some(first);
        }
        assert!(holds(number), "node number {number} is too large for the table of integers");
        let number = u32::try_from(number).unwrap_or(NONE);
        self.count += 1;
        if self.grow_near(id) {
            self.near[to_usize(id)] = number;
        } else {
            self.insert_far(id, number);
        }
        None
    }

    /// The number of an id.
    #[inline]
    pub(super) fn get(&self, id: u64) -> Option<u64> {
        let near = usize::try_from(id).ok().and_then(|index| self.near.get(index));
        match near {
            Some(&number) if number != NONE => Some(u64::from(number)),
            _ => self.get_far(id),
        }
    }

    /// The memory taken.
    pub(super) fn bytes(&self) -> usize {
        self.near.capacity() * size_of::<u32>() + self.far.capacity() * size_of::<Slot>()
    }

    /// Makes room for `id` in the near part if it belongs there.
    fn grow_near(&mut self, id: u64) -> bool {
        if id < self.near.len() as u64 {
            return true;
        }
        let near_enough = id < NEAR_START.max(2 * self.count);
        if near_enough {
            let len = (id + 1).max(NEAR_START).next_power_of_two();
            self.near.resize(to_usize(len), NONE);
        }
        near_enough
    }

    #[inline]
    fn get_far(&self, id: u64) -> Option<u64> {
        if self.far.is_empty() {
            return None;
        }
        let slot = self.far[self.find(id)];
        (slot.number != NONE).then_some(u64::from(slot.number))
    }

    fn insert_far(&mut self, id: u64, number: u32) {
        if 4 * (self.far_count + 1) > 3 * self.far.len() {
            self.grow_far();
        }
        let at = self.find(id);
        let [low, high] = split(id);
        self.far[at] = Slot { low, high, number };
        self.far_count += 1;
    }

    fn grow_far(&mut self) {
        let len = (2 * self.far.len()).max(1 << FAR_START_BITS);
        let old = std::mem::replace(&mut self.far, vec![EMPTY; len]);
        for slot in old.into_iter().filter(|slot| slot.number != NONE) {
            let at = self.find(u64::from(slot.high) << 32 | u64::from(slot.low));
            self.far[at] = slot;
        }
    }

    /// The slot that holds `id`, or the empty one where it belongs; the table is never full.
    #[inline]
    fn find(&self, id: u64) -> usize {
        let [low, high] = split(id);
        let mask = self.far.len() - 1;
        // The high bits of the hash: the length is a power of two.
        let mut at = to_usize(mix(id) >> (64 - self.far.len().trailing_zeros()));
        loop {
            let slot = &self.far[at];
            if slot.number == NONE || (slot.low == low && slot.high == high) {
                return at;
            }
            at = (at + 1) & mask;
        }
    }
}

/// The low and the high half.
#[inline]
fn split(id: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = id.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}
