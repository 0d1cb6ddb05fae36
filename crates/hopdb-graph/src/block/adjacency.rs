//! The packed adjacency block: the relationships of one node, in one direction, of one type.
//!
//! A block is a run of pairs (neighbour, relationship), ascending and distinct. Its first pair is in
//! the key, where the tree orders by it; the value holds the rest:
//!
//! ```text
//! value   = header, codes, numbers
//! header  = 2 * count + wide (varint; all pairs are counted, the first included; at least 1)
//! codes   = two bits a number, lowest first: its width is 1, 2, 3 or 4 bytes, in a wide block
//!           1, 2, 4 or 8
//! numbers = per further pair, little endian:
//!             neighbour minus the previous neighbour,
//!             zigzag of relationship id minus the previous relationship id
//! ```
//!
//! A block is wide when one of its numbers needs more than four bytes. Bulk load numbers
//! relationships by start node, so that outgoing ids differ by one and take one byte. The header
//! alone gives the degree. Relationship ids may go up or down between neighbours, and their
//! differences wrap at 64 bits, so that every id can follow every other.
//!
//! Invariants: reading is total on any bytes: damage is an error, never a panic, and never more
//! pairs than bytes. The block ends with its last pair. Decoding is the hottest loop of a graph
//! walk: widths stand apart from the numbers so that it has no branch on them, and a pair of a
//! narrow block is one load.

use hopdb_storage::codec::num::{len_u64, to_usize};
use hopdb_storage::codec::varint;

use crate::error::DecodeError;
use crate::ids::{NodeId, RelationshipId};

/// What a block holds: a neighbour, and the relationship that leads there.
pub type Pair = (NodeId, RelationshipId);

/// How the four codes of a kind of block are read.
#[derive(Debug)]
struct Widths {
    bytes: [usize; 4],
    masks: [u64; 4],
    /// By both codes of a pair.
    pairs: [PairWidths; 16],
}

#[derive(Clone, Copy, Debug)]
struct PairWidths {
    masks: (u64, u64),
    /// Bits of the first number.
    shift: u32,
    /// Bytes of both.
    bytes: usize,
}

const NARROW: Widths = Widths::new([1, 2, 3, 4]);
const WIDE: Widths = Widths::new([1, 2, 4, 8]);

/// Most bytes of a pair, narrow and wide: as many are loaded for each.
const NARROW_PAIR: usize = 8;
const WIDE_PAIR: usize = 16;

impl Widths {
    const fn new(bytes: [usize; 4]) -> Self {
        let none = PairWidths { masks: (0, 0), shift: 0, bytes: 0 };
        let mut widths = Self { bytes, masks: [0; 4], pairs: [none; 16] };
        let mut code = 0;
        while code < 4 {
            widths.masks[code] = u64::MAX >> (64 - 8 * bytes[code]);
            code += 1;
        }
        let mut both = 0;
        while both < 16 {
            let (first, second) = (both & 3, both >> 2);
            widths.pairs[both] = PairWidths {
                masks: (widths.masks[first], widths.masks[second]),
                shift: [8, 16, 24, 32, 40, 48, 56, 64][bytes[first] - 1],
                bytes: bytes[first] + bytes[second],
            };
            both += 1;
        }
        widths
    }

    const fn of(wide: bool) -> &'static Self {
        if wide { &WIDE } else { &NARROW }
    }

    /// The code of the least width that holds `number`.
    #[inline]
    fn code(&self, number: u64) -> usize {
        // Without a branch: what is compared differs from number to number.
        self.masks[..3].iter().fold(0, |code, mask| code + usize::from(number > *mask))
    }
}

/// Whether one of two numbers does not fit four bytes.
fn is_wide((neighbour, relationship): (u64, u64)) -> bool {
    neighbour.max(relationship) > NARROW.masks[3]
}

/// Appends the value of the block that holds `pairs`; the first of them belongs into the key.
///
/// # Panics
/// When `pairs` is empty or its neighbours do not ascend: the caller's order is broken, and a
/// block written from it would be damage.
pub fn encode(pairs: &[Pair], out: &mut Vec<u8>) {
    assert!(!pairs.is_empty(), "an adjacency block holds at least one pair");
    let wide = pairs.windows(2).any(|both| is_wide(deltas(both[0], both[1])));
    let widths = Widths::of(wide);
    varint::put(out, 2 * len_u64(pairs.len()) + u64::from(wide));
    let codes = out.len();
    let mut at = codes + codes_len(pairs.len() - 1);
    // Numbers are written eight bytes wide, each over the end of the one before; what is too much goes in the end.
    out.resize(at + WIDE_PAIR * pairs.len(), 0);
    for (index, both) in pairs.windows(2).enumerate() {
        assert!(both[0] < both[1], "the pairs of an adjacency block must ascend");
        let (neighbour, relationship) = deltas(both[0], both[1]);
        let mut nibble = 0;
        for (number, shift) in [(neighbour, 0), (relationship, 2)] {
            let code = widths.code(number);
            out[at..at + size_of::<u64>()].copy_from_slice(&number.to_le_bytes());
            at += widths.bytes[code];
            nibble |= code << shift;
        }
        let nibble = u8::try_from(nibble).expect("two codes of two bits");
        out[codes + index / 2] |= nibble << (4 * (index % 2));
    }
    out.truncate(at);
}

/// Bytes of the codes of so many pairs.
fn codes_len(further: usize) -> usize {
    further.div_ceil(2)
}

/// How many of the first `pairs` fit into a value of at most `bytes_max` bytes; at least 1, unless
/// there are none.
#[must_use]
pub fn split_at_bytes(pairs: &[Pair], bytes_max: usize) -> usize {
    // A header for that many pairs, codes, and numbers as wide as they get.
    if varint::MAX_LEN + pairs.len() * (WIDE_PAIR + 1) <= bytes_max {
        return pairs.len();
    }
    let mut body = [0, 0];
    let mut wide = false;
    let mut fit = pairs.len().min(1);
    for both in pairs.windows(2) {
        let numbers = deltas(both[0], both[1]);
        wide |= is_wide(numbers);
        for (body, widths) in body.iter_mut().zip([&NARROW, &WIDE]) {
            *body += widths.bytes[widths.code(numbers.0)] + widths.bytes[widths.code(numbers.1)];
        }
        let header = varint::len(2 * len_u64(fit + 1));
        if header + codes_len(fit) + body[usize::from(wide)] > bytes_max {
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
    varint::get(value, &mut 0).map(|header| header / 2)
}

/// Bytes of both numbers of the further pair `index`, as a block's codes say.
pub(crate) fn number_lens(wide: bool, codes: &[u8], index: usize) -> (usize, usize) {
    let code = usize::from(codes[index / 2] >> (4 * (index % 2)));
    let widths = Widths::of(wide);
    (widths.bytes[code & 3], widths.bytes[code >> 2 & 3])
}

/// Appends all pairs of a block.
///
/// # Errors
/// When the block is damaged; `out` is then as it was.
#[inline]
pub fn decode_into(first: Pair, value: &[u8], out: &mut Vec<Pair>) -> Result<(), DecodeError> {
    let start = out.len();
    // Room for all at once: the loop then never grows the vector. A damaged header asks for no
    // more than there are bytes.
    out.reserve(value.len().min(to_usize(count(value).unwrap_or(0))));
    for_each(first, value, |pair| out.push(pair)).inspect_err(|_| out.truncate(start))
}

/// Calls `visit` with every pair of a block in order.
///
/// # Errors
/// When the block is damaged; `visit` has then seen the pairs before the damage.
#[inline]
pub fn for_each(first: Pair, value: &[u8], mut visit: impl FnMut(Pair)) -> Result<(), DecodeError> {
    let mut at = 0;
    let header = varint::get(value, &mut at).ok_or(DecodeError::Truncated)?;
    let further = (header / 2).checked_sub(1).ok_or(DecodeError::OutOfRange)?;
    let further = usize::try_from(further).map_err(|_| DecodeError::Truncated)?;
    // A pair takes two bytes at least: a damaged count must not decide how much is read.
    if further > value.len() {
        return Err(DecodeError::Truncated);
    }
    let (codes, numbers) =
        value[at..].split_at_checked(codes_len(further)).ok_or(DecodeError::Truncated)?;
    let run = Run { widths: Widths::of(header & 1 == 1), codes, last: first, index: 0, further };
    visit(first);
    if header & 1 == 1 {
        run.read::<WIDE_PAIR>(numbers, visit, |bytes, pair| {
            let (low, high) = (load(bytes, 0), load(bytes, 8));
            (low, (low >> (pair.shift - 1) >> 1) | high << (64 - pair.shift))
        })
    } else {
        run.read::<NARROW_PAIR>(numbers, visit, |bytes, pair| {
            let word = load(bytes, 0);
            (word, word >> pair.shift)
        })
    }
}

/// Pairs being decoded.
struct Run<'b> {
    widths: &'static Widths,
    codes: &'b [u8],
    last: Pair,
    /// Which further pair comes next.
    index: usize,
    further: usize,
}

impl Run<'_> {
    /// Reads all pairs; `split` gives both numbers of `LEN` bytes, with more bits behind them.
    #[inline(always)]
    fn read<const LEN: usize>(
        mut self,
        numbers: &[u8],
        mut visit: impl FnMut(Pair),
        split: impl Fn(&[u8; LEN], &PairWidths) -> (u64, u64),
    ) -> Result<(), DecodeError> {
        let mut rest = numbers;
        while self.index < self.further
            && let Some(bytes) = rest.first_chunk::<LEN>()
        {
            rest = &rest[self.step(bytes, &split)?..];
            visit(self.last);
        }
        // The last pairs, from a copy with room behind it, so that as much can always be loaded.
        let mut padded = [0; 2 * WIDE_PAIR];
        let len = rest.len().min(LEN);
        padded[..len].copy_from_slice(&rest[..len]);
        let mut read = 0;
        while self.index < self.further {
            let bytes = padded[read..].first_chunk::<LEN>().ok_or(DecodeError::Truncated)?;
            read += self.step(bytes, &split)?;
            if read > rest.len() {
                return Err(DecodeError::Truncated);
            }
            visit(self.last);
        }
        if read == rest.len() { Ok(()) } else { Err(DecodeError::TrailingBytes) }
    }

    /// Reads the next pair; gives its bytes. Always inlined: called, it keeps its state in memory.
    #[inline(always)]
    fn step<const LEN: usize>(
        &mut self,
        bytes: &[u8; LEN],
        split: &impl Fn(&[u8; LEN], &PairWidths) -> (u64, u64),
    ) -> Result<usize, DecodeError> {
        let code = self.codes[self.index / 2] >> (4 * (self.index % 2));
        let pair = &self.widths.pairs[usize::from(code & 15)];
        let (neighbour, relationship) = split(bytes, pair);
        let neighbour = neighbour & pair.masks.0;
        let neighbour = self.last.0.0.checked_add(neighbour).ok_or(DecodeError::OutOfRange)?;
        let relationship = varint::unzigzag(relationship & pair.masks.1).cast_unsigned();
        let relationship = self.last.1.0.wrapping_add(relationship);
        self.last = (NodeId(neighbour), RelationshipId(relationship));
        self.index += 1;
        Ok(pair.bytes)
    }
}

#[inline(always)]
fn load<const LEN: usize>(bytes: &[u8; LEN], at: usize) -> u64 {
    bytes[at..].first_chunk::<8>().map_or(0, |chunk| u64::from_le_bytes(*chunk))
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
        let pairs = [pair(7, 100), pair(7, 101), pair(0x0201_0007, 99), pair(0x0201_0008, 500)];
        let value = encoded(&pairs);
        assert_eq!(value, [8, 0x30, 0x04, 0, 2, 0, 0, 1, 2, 3, 1, 0x22, 3]);
        assert_eq!(count(&value), Some(4));
        assert_eq!(encoded(&pairs[..1]), [2]);
        let wide = encoded(&[pair(1, 0), pair(1 << 40, 0x0001_0000)]);
        let neighbour = ((1_u64 << 40) - 1).to_le_bytes();
        assert_eq!(wide, [&[5, 0x0b][..], &neighbour, &[0, 0, 2, 0]].concat());
    }

    #[test]
    fn a_split_counts_the_header_too() {
        // 63 pairs have a header of one byte, 64 of two.
        let pairs: Vec<_> = (0..200).map(|id| pair(id, id)).collect();
        for bytes_max in 1..=503 {
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
        assert_eq!(decoded(first, &[4]), Err(DecodeError::Truncated));
        assert_eq!(decoded(first, &[6, 0, 0, 2, 0]), Err(DecodeError::Truncated));
        assert_eq!(decoded(first, &[4, 0, 1, 2]), Err(DecodeError::OutOfRange));
        assert_eq!(decoded(first, &[4, 0, 0, 2, 2]), Err(DecodeError::TrailingBytes));
        assert_eq!(
            decoded(first, &[[4, 0, 0, 2].as_slice(), &[7; 40]].concat()),
            Err(DecodeError::TrailingBytes)
        );
        assert_eq!(count(&[0x80]), None);
        let mut huge = Vec::new();
        varint::put(&mut huge, u64::MAX);
        assert_eq!(decoded(first, &huge), Err(DecodeError::Truncated));
    }

    #[test]
    fn out_is_as_it_was_after_an_error() {
        let mut out = vec![pair(1, 1)];
        assert!(decode_into(pair(5, 5), &[6, 0, 1, 2, 1, 2, 9], &mut out).is_err());
        assert_eq!(out, [pair(1, 1)]);
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
            if let Ok(pairs) = whole {
                prop_assert!(pairs.len() <= value.len() + 1);
                prop_assert_eq!(count(&value), Some(pairs.len() as u64));
            }
        }
    }
}
