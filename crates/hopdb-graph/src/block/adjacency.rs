//! The packed adjacency block: the relationships of one node, in one direction, of one type.
//!
//! A block is a run of pairs (neighbour, relationship), ascending and distinct. Its first pair is in
//! the key, where the tree orders by it; the value holds the rest:
//!
//! ```text
//! value = count (varint; all pairs, the first included; at least 1),
//!         then per further pair:
//!             neighbour minus the previous neighbour (varint),
//!             relationship id minus the previous relationship id (zigzag varint)
//! ```
//!
//! Bulk load numbers relationships by start node, so that outgoing ids differ by one and take one
//! byte. The count alone gives the degree. Relationship ids may go up or down between neighbours,
//! and their differences wrap at 64 bits, so that every id can follow every other.
//!
//! Invariants: reading is total on any bytes: damage is an error, never a panic, and never more
//! pairs than half the bytes. The block ends with its last pair. Decoding is the hottest loop of a
//! graph walk: [`decode_into`] and [`neighbours_into`] are the fast ways, [`AdjacencyIter`] the
//! one that can stop early.

use hopdb_storage::codec::num::{len_u64, to_usize};
use hopdb_storage::codec::varint;

use crate::error::DecodeError;
use crate::ids::{NodeId, RelationshipId};

/// What a block holds: a neighbour, and the relationship that leads there.
pub type Pair = (NodeId, RelationshipId);

/// Appends the value of the block that holds `pairs`; the first of them belongs into the key.
///
/// # Panics
/// When `pairs` is empty or its neighbours do not ascend: the caller's order is broken, and a
/// block written from it would be damage.
pub fn encode(pairs: &[Pair], out: &mut Vec<u8>) {
    assert!(!pairs.is_empty(), "an adjacency block holds at least one pair");
    varint::put(out, len_u64(pairs.len()));
    for both in pairs.windows(2) {
        assert!(both[0] < both[1], "the pairs of an adjacency block must ascend");
        let (neighbour, relationship) = deltas(both[0], both[1]);
        varint::put(out, neighbour);
        varint::put(out, relationship);
    }
}

/// How many of the first `pairs` fit into a value of at most `bytes_max` bytes; at least 1, unless
/// there are none.
#[must_use]
pub fn split_at_bytes(pairs: &[Pair], bytes_max: usize) -> usize {
    let mut body = 0;
    let mut fit = pairs.len().min(1);
    for both in pairs.windows(2) {
        let (neighbour, relationship) = deltas(both[0], both[1]);
        body += varint::len(neighbour) + varint::len(relationship);
        if body + varint::len(len_u64(fit + 1)) > bytes_max {
            break;
        }
        fit += 1;
    }
    fit
}

fn deltas(previous: Pair, next: Pair) -> (u64, u64) {
    let relationship = next.1.0.wrapping_sub(previous.1.0).cast_signed();
    (next.0.0.wrapping_sub(previous.0.0), varint::zigzag(relationship))
}

/// The number of pairs, from the header alone; `None` when even that is damaged.
#[must_use]
pub fn count(value: &[u8]) -> Option<u64> {
    varint::get(value, &mut 0)
}

/// Appends all pairs of a block.
///
/// # Errors
/// When the block is damaged; `out` is then as it was.
pub fn decode_into(first: Pair, value: &[u8], out: &mut Vec<Pair>) -> Result<(), DecodeError> {
    fill(first, value, out, |pair| pair)
}

/// Appends the neighbours of a block, without their relationships; one that is reached by several
/// relationships comes several times.
///
/// # Errors
/// When the block is damaged; `out` is then as it was.
pub fn neighbours_into(
    first: Pair,
    value: &[u8],
    out: &mut Vec<NodeId>,
) -> Result<(), DecodeError> {
    fill(first, value, out, |pair| pair.0)
}

/// Appends what `part` takes of each pair. The places are made first and then written, which saves
/// a look at the capacity for each pair.
#[inline]
fn fill<T: Copy>(
    first: Pair,
    value: &[u8],
    out: &mut Vec<T>,
    part: impl Fn(Pair) -> T,
) -> Result<(), DecodeError> {
    let start = out.len();
    let body = Body::open(first, value)?;
    out.resize(start + 1 + body.left, part(first));
    fill_places(body, &mut out[start + 1..], part).inspect_err(|_| out.truncate(start))
}

#[inline]
fn fill_places<T>(
    mut body: Body<'_>,
    places: &mut [T],
    part: impl Fn(Pair) -> T,
) -> Result<(), DecodeError> {
    for place in places {
        body.step()?;
        *place = part(body.pair());
    }
    body.close()
}

/// Calls `visit` with every pair of a block in order.
///
/// # Errors
/// When the block is damaged; `visit` has then seen the pairs before the damage.
#[inline]
pub fn for_each(first: Pair, value: &[u8], mut visit: impl FnMut(Pair)) -> Result<(), DecodeError> {
    let mut body = Body::open(first, value)?;
    visit(first);
    while body.left > 0 {
        body.step()?;
        visit(body.pair());
    }
    body.close()
}

/// The pairs of a block one by one.
///
/// After an error, which damaged bytes give, it ends.
#[derive(Clone, Debug)]
pub struct AdjacencyIter<'a> {
    body: Body<'a>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    First,
    Further,
    Ended,
}

impl<'a> AdjacencyIter<'a> {
    /// Reads the header of the block whose key holds `first`.
    ///
    /// # Errors
    /// When the header is damaged, or says more pairs than the bytes can hold.
    #[inline]
    pub fn new(first: Pair, value: &'a [u8]) -> Result<Self, DecodeError> {
        Ok(Self { body: Body::open(first, value)?, stage: Stage::First })
    }

    #[cold]
    fn end(&mut self) -> Option<Result<Pair, DecodeError>> {
        self.stage = Stage::Ended;
        self.body.close().err().map(Err)
    }
}

impl Iterator for AdjacencyIter<'_> {
    type Item = Result<Pair, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.stage {
            Stage::First => {
                self.stage = Stage::Further;
                Some(Ok(self.body.pair()))
            }
            Stage::Further if self.body.left == 0 => self.end(),
            Stage::Further => {
                let stepped = self.body.step();
                if stepped.is_err() {
                    self.stage = Stage::Ended;
                }
                Some(stepped.map(|()| self.body.pair()))
            }
            Stage::Ended => None,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // One more for the first pair, or for an error at the end.
        (0, Some(self.body.left + 1))
    }
}

/// The pairs after the first, as far as they have been read.
#[derive(Clone, Debug)]
struct Body<'a> {
    value: &'a [u8],
    at: usize,
    /// Pairs still to come.
    left: usize,
    // Two plain numbers rather than a pair: a pair is written in halves and read back whole, on
    // which the processor stalls.
    neighbour: u64,
    relationship: u64,
}

impl<'a> Body<'a> {
    #[inline]
    fn open(first: Pair, value: &'a [u8]) -> Result<Self, DecodeError> {
        let mut at = 0;
        let count = varint::get(value, &mut at).ok_or(DecodeError::Truncated)?;
        let left = count.checked_sub(1).ok_or(DecodeError::OutOfRange)?;
        let left = usize::try_from(left).map_err(|_| DecodeError::Truncated)?;
        // A pair takes two bytes at least: a damaged count must not decide how much is read.
        if left > (value.len() - at) / 2 {
            return Err(DecodeError::Truncated);
        }
        Ok(Self { value, at, left, neighbour: first.0.0, relationship: first.1.0 })
    }

    /// Moves to the next pair; [`Self::pair`] is then that. Always inlined: called, it keeps its
    /// state in memory, and a pair takes twice the time (measured: 8 ns instead of 4).
    #[inline(always)]
    fn step(&mut self) -> Result<(), DecodeError> {
        let deltas = two_varints(self.value, self.at).ok_or(DecodeError::Truncated)?;
        self.neighbour = self.neighbour.checked_add(deltas.first).ok_or(DecodeError::OutOfRange)?;
        let relationship = varint::unzigzag(deltas.second).cast_unsigned();
        self.relationship = self.relationship.wrapping_add(relationship);
        self.at = deltas.end;
        self.left -= 1;
        Ok(())
    }

    /// The pair read last; at first, that of the key.
    #[inline]
    fn pair(&self) -> Pair {
        (NodeId(self.neighbour), RelationshipId(self.relationship))
    }

    #[inline]
    fn close(&self) -> Result<(), DecodeError> {
        if self.at == self.value.len() { Ok(()) } else { Err(DecodeError::TrailingBytes) }
    }
}

/// The high bit of every byte: set where a varint goes on.
const MORE_BITS: u64 = 0x8080_8080_8080_8080;

/// Two numbers, and where the bytes go on behind them.
struct Two {
    first: u64,
    second: u64,
    end: usize,
}

/// Reads two varints at `at`, from one load of eight bytes when both end within them.
///
/// Their lengths vary at random (the gaps between random neighbours do), so branches on them would
/// be mispredicted; this has one branch that is nearly always taken. The position goes in and out
/// by value, so that it stays in a register.
#[inline]
fn two_varints(bytes: &[u8], at: usize) -> Option<Two> {
    if let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let stops = !word & MORE_BITS;
        let second_stops = stops & stops.wrapping_sub(1);
        if second_stops != 0 {
            // All bits up to and with the lowest stop bit: the bytes of the varint that it ends.
            let first_bits = stops ^ stops.wrapping_sub(1);
            let both_bits = second_stops ^ second_stops.wrapping_sub(1);
            let second = (word & both_bits & !first_bits) >> (stops.trailing_zeros() + 1);
            let end = at + to_usize(u64::from(second_stops.trailing_zeros() / 8 + 1));
            return Some(Two { first: squeeze(word & first_bits), second: squeeze(second), end });
        }
    }
    two_varints_bytewise(bytes, at)
}

/// The end of a block, and numbers that take more than eight bytes together.
#[inline(never)]
fn two_varints_bytewise(bytes: &[u8], mut at: usize) -> Option<Two> {
    let first = varint::get(bytes, &mut at)?;
    let second = varint::get(bytes, &mut at)?;
    Some(Two { first, second, end: at })
}

/// Joins the seven low bits of each byte, pairwise.
#[inline]
fn squeeze(groups: u64) -> u64 {
    let groups = (groups & 0x007f_007f_007f_007f) | (groups & 0x7f00_7f00_7f00_7f00) >> 1;
    let groups = (groups & 0x0000_3fff_0000_3fff) | (groups & 0x3fff_0000_3fff_0000) >> 2;
    (groups & 0x0fff_ffff) | (groups & 0x0fff_ffff_0000_0000) >> 4
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;

    fn pairs(max: usize) -> impl Strategy<Value = Vec<Pair>> {
        // Gaps of every varint length, parallel relationships (gap 0) among them.
        let id = (0_u32..64).prop_flat_map(|bits| 0..=(u64::MAX >> bits));
        let set = btree_set((id.clone(), id), 1..max);
        set.prop_map(|set: BTreeSet<(u64, u64)>| {
            set.into_iter().map(|(node, id)| (NodeId(node), RelationshipId(id))).collect()
        })
    }

    fn encoded(pairs: &[Pair]) -> Vec<u8> {
        let mut out = Vec::new();
        encode(pairs, &mut out);
        out
    }

    fn decoded(first: Pair, value: &[u8]) -> Result<Vec<Pair>, DecodeError> {
        let mut out = Vec::new();
        decode_into(first, value, &mut out).map(|()| out)
    }

    fn pair(node: u64, relationship: u64) -> Pair {
        (NodeId(node), RelationshipId(relationship))
    }

    #[test]
    fn the_layout_is_as_documented() {
        let pairs = [pair(7, 100), pair(7, 101), pair(207, 99)];
        let value = encoded(&pairs);
        assert_eq!(value, [3, 0, 2, 0xc8, 1, 3]);
        assert_eq!(count(&value), Some(3));
        assert_eq!(encoded(&pairs[..1]), [1]);
    }

    #[test]
    fn a_split_counts_the_header_too() {
        // 127 pairs have a header of one byte, 128 of two.
        let pairs: Vec<_> = (0..200).map(|id| pair(id, id)).collect();
        for bytes_max in 1..=401 {
            let fit = split_at_bytes(&pairs, bytes_max);
            assert!(encoded(&pairs[..fit]).len() <= bytes_max, "{bytes_max}");
            assert!(fit == 200 || encoded(&pairs[..=fit]).len() > bytes_max, "{bytes_max}");
        }
    }

    #[test]
    fn damage_is_named() {
        let first = pair(u64::MAX, 0);
        assert_eq!(decoded(first, &[]), Err(DecodeError::Truncated));
        assert_eq!(decoded(first, &[0]), Err(DecodeError::OutOfRange));
        assert_eq!(decoded(first, &[3, 0, 2]), Err(DecodeError::Truncated));
        assert_eq!(decoded(first, &[2, 1, 2]), Err(DecodeError::OutOfRange));
        assert_eq!(decoded(first, &[2, 0, 2, 2]), Err(DecodeError::TrailingBytes));
        assert_eq!(count(&[0x80]), None);
        let mut huge = Vec::new();
        varint::put(&mut huge, u64::MAX);
        assert_eq!(decoded(first, &huge), Err(DecodeError::Truncated));
    }

    #[test]
    fn out_is_as_it_was_after_an_error() {
        let mut nodes = vec![NodeId(1)];
        let damaged = [3, 1, 2, 1, 2, 9];
        assert!(neighbours_into(pair(5, 5), &damaged, &mut nodes).is_err());
        assert_eq!(nodes, [NodeId(1)]);
    }

    #[test]
    #[should_panic(expected = "must ascend")]
    fn pairs_out_of_order_are_not_written() {
        encode(&[pair(2, 0), pair(1, 0)], &mut Vec::new());
    }

    proptest! {
        #[test]
        fn blocks_survive(pairs in pairs(60)) {
            let value = encoded(&pairs);
            prop_assert_eq!(count(&value), Some(pairs.len() as u64));
            prop_assert_eq!(decoded(pairs[0], &value), Ok(pairs.clone()));
            let one_by_one: Result<Vec<_>, _> =
                AdjacencyIter::new(pairs[0], &value).unwrap().collect();
            prop_assert_eq!(one_by_one, Ok(pairs.clone()));
            let mut nodes = Vec::new();
            neighbours_into(pairs[0], &value, &mut nodes).unwrap();
            prop_assert!(nodes.iter().eq(pairs.iter().map(|pair| &pair.0)));
        }

        #[test]
        fn a_split_is_the_longest_that_fits(pairs in pairs(60), bytes_max in 0_usize..400) {
            let fit = split_at_bytes(&pairs, bytes_max);
            prop_assert!(fit == 1 || encoded(&pairs[..fit]).len() <= bytes_max);
            prop_assert!(fit == pairs.len() || encoded(&pairs[..=fit]).len() > bytes_max);
        }

        #[test]
        fn any_bytes_are_read_or_refused(value in vec(any::<u8>(), 0..60), node: u64, id: u64) {
            let first = pair(node, id);
            let whole = decoded(first, &value);
            let one_by_one =
                AdjacencyIter::new(first, &value).and_then(|iter| iter.collect::<Result<Vec<_>, _>>());
            prop_assert_eq!(&whole, &one_by_one);
            if let Ok(pairs) = whole {
                prop_assert!(pairs.len() <= value.len());
                prop_assert_eq!(count(&value), Some(pairs.len() as u64));
            }
        }

        #[test]
        fn an_iterator_ends_after_an_error(value in vec(any::<u8>(), 0..60)) {
            if let Ok(mut iter) = AdjacencyIter::new(pair(0, 0), &value) {
                let good = iter.by_ref().take_while(Result::is_ok).count();
                prop_assert!(good <= value.len());
                prop_assert!(iter.next().is_none());
            }
        }
    }
}
