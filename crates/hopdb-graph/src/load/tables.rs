//! The tables of relationships, written bottom-up in two passes over sorted rows.
//!
//! First the rows by their start: each gets its id, which is its place, and goes into the tables of relationships
//! and of their properties, and into the sorter by end. Then both sides, merged by node, into the adjacency table.
//! Blocks are encoded on all cores and pushed here in order.

use hopdb_storage::Bulk;

use super::byte_sort::EntryStream;
use super::ordered::ordered;
use super::relationships::{LoadedRelationships, has_properties};
use super::run::Context;
use super::words::{Fields, Piece, Sorted, Stream, Widths, WordSorter};
use crate::block::adjacency::{self, Pair};
use crate::block::relationships::{self, RelationshipRow};
use crate::error::{GraphError, Result};
use crate::ids::{NodeId, RelationshipId, TypeId};
use crate::keys;
use crate::write::GraphTxn;

/// Rows that are encoded at a time: whole blocks.
const PIECE_ROWS: usize = 256 * keys::BLOCK_ROWS_MAX;

/// Entries on their way into a table.
#[derive(Debug, Default)]
struct Entries {
    bytes: Vec<u8>,
    /// Length of key and value of each.
    lens: Vec<(u16, u16)>,
}

impl Entries {
    /// Room for the entries of that many rows, about.
    fn with_capacity(rows: usize) -> Self {
        Self { bytes: Vec::with_capacity(8 * rows), lens: Vec::with_capacity(rows / 4) }
    }

    fn add(&mut self, put_key: impl FnOnce(&mut Vec<u8>), put_value: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        put_key(&mut self.bytes);
        let middle = self.bytes.len();
        put_value(&mut self.bytes);
        let short = |len: usize| u16::try_from(len).expect("blocks stay far below a page");
        self.lens.push((short(middle - start), short(self.bytes.len() - middle)));
    }

    fn push(&self, bulk: &mut Bulk, txn: &mut GraphTxn) -> Result<()> {
        let mut rest = &self.bytes[..];
        for (key, value) in &self.lens {
            let (key, after) = rest.split_at(usize::from(*key));
            let (value, after) = after.split_at(usize::from(*value));
            bulk.push(&mut txn.txn, key, value)?;
            rest = after;
        }
        Ok(())
    }
}

/// Writes all tables of relationships; gives their number.
pub(super) fn build(
    context: &Context<'_>,
    loaded: LoadedRelationships,
    txn: &mut GraphTxn,
) -> Result<u64> {
    let bytes = context.memory.sort_bytes(0) / 2;
    let types = txn.catalog.relationship_types().count() as u64;
    let widths = Widths::new(txn.catalog.counters.next_node, types, loaded.count);
    let mut by_end = WordSorter::new(&context.scratch, bytes, widths);
    build_rows(context, &loaded, txn, &mut by_end)?;
    let LoadedRelationships { words, count, properties } = loaded;
    drop(properties);
    let by_end = by_end.finish()?;
    build_adjacency(context, [&words, &by_end], txn)?;
    txn.catalog_mut().counters.next_relationship = count;
    Ok(count)
}

/// Rows by their start, in order.
struct RowPiece {
    first: u64,
    words: Vec<u128>,
}

/// What a piece of rows gives.
#[derive(Default)]
struct RowEntries {
    blocks: Entries,
    by_end: Option<Piece>,
    rows: u64,
    with_properties: Vec<u64>,
    /// Rows of each type.
    types: Vec<(TypeId, u64)>,
}

fn build_rows(
    context: &Context<'_>,
    loaded: &LoadedRelationships,
    txn: &mut GraphTxn,
    by_end: &mut WordSorter,
) -> Result<()> {
    let widths = [loaded.words.widths(), by_end.widths()];
    let mut blocks = txn.txn.bulk(txn.shared.tables.relationships)?;
    let mut properties = txn.txn.bulk(txn.shared.tables.relationship_properties)?;
    let mut stored = loaded.properties.stream()?;
    let mut words = loaded.words.stream()?;
    let mut first = 0;
    ordered(
        context.memory.under_way(),
        || {
            Ok(next_rows(context, &mut words, &mut first)?.map(|piece| {
                let bytes = size_of_val(&piece.words[..]);
                (piece, bytes)
            }))
        },
        |piece| encode_rows(&piece, widths),
        |entries: RowEntries| {
            entries.blocks.push(&mut blocks, txn)?;
            for id in &entries.with_properties {
                push_properties(*id, &mut stored, &mut properties, txn)?;
            }
            for (type_id, count) in &entries.types {
                txn.catalog_mut().count_type(*type_id, *count);
            }
            context.progress.add_built(entries.rows);
            entries.by_end.map_or(Ok(()), |piece| by_end.push(piece))
        },
    )?;
    blocks.finish(&mut txn.txn)?;
    properties.finish(&mut txn.txn)?;
    Ok(())
}

fn next_rows(
    context: &Context<'_>,
    words: &mut Stream<'_>,
    first: &mut u64,
) -> Result<Option<RowPiece>> {
    context.check_stopped()?;
    let mut piece = RowPiece { first: *first, words: Vec::with_capacity(PIECE_ROWS) };
    words.next(PIECE_ROWS, &mut piece.words)?;
    *first += piece.words.len() as u64;
    Ok((!piece.words.is_empty()).then_some(piece))
}

fn push_properties(
    id: u64,
    stored: &mut EntryStream<'_>,
    bulk: &mut Bulk,
    txn: &mut GraphTxn,
) -> Result<()> {
    // Properties lie under the words of their rows, so in the same order.
    let (_, block) = stored.next()?.expect("every row that says so has properties");
    let mut key = Vec::new();
    keys::relationship(&mut key, RelationshipId(id));
    Ok(bulk.push(&mut txn.txn, &key, block)?)
}

/// `from` are the widths of the words, `to` those of the sorter by end.
fn encode_rows(piece: &RowPiece, [from, to]: [Widths; 2]) -> RowEntries {
    let mut entries = RowEntries {
        blocks: Entries::with_capacity(piece.words.len()),
        rows: piece.words.len() as u64,
        ..RowEntries::default()
    };
    let mut by_end = Vec::with_capacity(piece.words.len());
    let mut slots = Vec::with_capacity(piece.words.len());
    for (id, word) in (piece.first..).zip(&piece.words) {
        let Fields { node, type_id, other, number } = from.unpack(*word);
        let (start, end, type_id) = (NodeId(node), NodeId(other), TypeId(type_id));
        slots.push(Some(RelationshipRow { start, end, type_id }));
        by_end.push(Fields { node: other, type_id: type_id.0, other: node, number: id }.pack());
        if has_properties(number) {
            entries.with_properties.push(id);
        }
        match entries.types.iter_mut().find(|(other, _)| *other == type_id) {
            Some((_, count)) => *count += 1,
            None => entries.types.push((type_id, 1)),
        }
    }
    entries.by_end = Some(to.piece(&by_end));
    let mut id = piece.first;
    let mut rest = &slots[..];
    let mut block = Vec::new();
    while !rest.is_empty() {
        let mut count = keys::BLOCK_ROWS_MAX.min(rest.len());
        loop {
            block.clear();
            relationships::encode(&rest[..count], &mut block);
            if block.len() <= keys::BLOCK_BYTES_MAX {
                break;
            }
            count /= 2;
        }
        let put_key = |out: &mut Vec<u8>| keys::relationship(out, RelationshipId(id));
        entries.blocks.add(put_key, |out| out.extend_from_slice(&block));
        id += count as u64;
        rest = &rest[count..];
    }
    entries
}

fn build_adjacency(
    context: &Context<'_>,
    [by_start, by_end]: [&Sorted; 2],
    txn: &mut GraphTxn,
) -> Result<()> {
    let mut bulk = txn.txn.bulk(txn.shared.tables.adjacency)?;
    let widths = [by_start.widths(), by_end.widths()];
    let mut sides = Sides {
        outgoing: Side::new(by_start, PIECE_ROWS)?,
        incoming: Side::new(by_end, PIECE_ROWS)?,
    };
    ordered(
        context.memory.under_way(),
        || {
            context.check_stopped()?;
            let piece = sides.next()?;
            Ok::<_, GraphError>(piece.map(|piece| {
                let rows = piece.outgoing.len() + piece.incoming.len();
                context.progress.add_built(rows as u64);
                (piece, rows * size_of::<u128>())
            }))
        },
        |piece| encode_sides(&piece, widths),
        |entries: Entries| entries.push(&mut bulk, txn),
    )?;
    bulk.finish(&mut txn.txn)?;
    Ok(())
}

/// Both sides of some nodes. Where a piece has outgoing and incoming relationships of a node, it has all of them.
struct SidePiece {
    /// Id of the first outgoing relationship: by their start a relationship's place is its id.
    first: u64,
    outgoing: Vec<u128>,
    /// These carry their ids.
    incoming: Vec<u128>,
}

/// One side of all relationships, ascending by the node of that side.
struct Side<'s> {
    stream: Stream<'s>,
    widths: Widths,
    /// Read, and not handed on.
    words: Vec<u128>,
    is_at_end: bool,
    /// Words handed on.
    taken: u64,
    /// Words that are read at a time.
    read_rows: usize,
}

impl<'s> Side<'s> {
    fn new(sorted: &'s Sorted, read_rows: usize) -> Result<Self> {
        let (stream, widths) = (sorted.stream()?, sorted.widths());
        Ok(Self { stream, widths, words: Vec::new(), is_at_end: false, taken: 0, read_rows })
    }

    fn fill(&mut self) -> Result<()> {
        if !self.is_at_end && self.words.len() < self.read_rows {
            let wanted = 2 * self.read_rows - self.words.len();
            let before = self.words.len();
            self.words.reserve(wanted);
            self.stream.next(wanted, &mut self.words)?;
            self.is_at_end = self.words.len() - before < wanted;
        }
        Ok(())
    }

    fn first(&self) -> Option<u64> {
        self.words.first().map(|word| self.widths.node(*word))
    }

    /// The node up to which, itself left out, all words have been read; `None` when all have.
    fn whole_below(&self) -> Option<u64> {
        let last = self.words.last().filter(|_| !self.is_at_end);
        last.map(|word| self.widths.node(*word))
    }

    /// Hands on the words of the nodes below `end`, all of them when there is none.
    fn take_below(&mut self, end: Option<u64>) -> Vec<u128> {
        let count = match end {
            Some(end) => self.words.partition_point(|word| self.widths.node(*word) < end),
            None => self.words.len(),
        };
        let rest = self.words.split_off(count);
        self.taken += count as u64;
        std::mem::replace(&mut self.words, rest)
    }
}

/// Both sides, by node.
struct Sides<'s> {
    outgoing: Side<'s>,
    incoming: Side<'s>,
}

impl Sides<'_> {
    /// The next piece; `None` behind the last.
    fn next(&mut self) -> Result<Option<SidePiece>> {
        self.outgoing.fill()?;
        self.incoming.fill()?;
        let first = self.outgoing.taken;
        let whole = [self.outgoing.whole_below(), self.incoming.whole_below()];
        let end = whole.into_iter().flatten().min();
        let outgoing = self.outgoing.take_below(end);
        let incoming = self.incoming.take_below(end);
        if !outgoing.is_empty() || !incoming.is_empty() {
            return Ok(Some(SidePiece { first, outgoing, incoming }));
        }
        // A node with more relationships than are read at a time: one side of it, as far as it is read, the
        // outgoing ones before the incoming.
        let firsts = [self.outgoing.first(), self.incoming.first()];
        let Some(node) = firsts.into_iter().flatten().min() else { return Ok(None) };
        let mut piece = SidePiece { first, outgoing: Vec::new(), incoming: Vec::new() };
        if firsts[0] == Some(node) {
            piece.outgoing = self.outgoing.take_below(Some(node + 1));
        } else {
            piece.incoming = self.incoming.take_below(Some(node + 1));
        }
        Ok(Some(piece))
    }
}

/// `widths` are those of the outgoing and of the incoming words.
fn encode_sides(piece: &SidePiece, widths: [Widths; 2]) -> Entries {
    let SidePiece { first, outgoing, incoming } = piece;
    let mut entries = Entries::with_capacity(outgoing.len() + incoming.len());
    let mut pairs = Vec::new();
    let mut outgoing = (*first..)
        .zip(outgoing)
        .map(|(id, word)| {
            let fields = widths[0].unpack(*word);
            Fields { number: id, ..fields }
        })
        .peekable();
    let mut incoming = incoming.iter().map(|word| widths[1].unpack(*word)).peekable();
    loop {
        let is_outgoing = match (outgoing.peek(), incoming.peek()) {
            (None, None) => return entries,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(a), Some(b)) => a.node <= b.node,
        };
        if is_outgoing {
            encode_group(&mut outgoing, true, &mut pairs, &mut entries);
        } else {
            encode_group(&mut incoming, false, &mut pairs, &mut entries);
        }
    }
}

/// Encodes the relationships of one node, side and type.
fn encode_group(
    rows: &mut std::iter::Peekable<impl Iterator<Item = Fields>>,
    outgoing: bool,
    pairs: &mut Vec<Pair>,
    entries: &mut Entries,
) {
    let Some(first) = rows.peek().copied() else { return };
    pairs.clear();
    while let Some(row) = rows.next_if(|row| row.node == first.node && row.type_id == first.type_id)
    {
        pairs.push((NodeId(row.other), RelationshipId(row.number)));
    }
    let mut rest = &pairs[..];
    while !rest.is_empty() {
        let fit = adjacency::split_at_bytes(rest, keys::BLOCK_BYTES_MAX);
        let (block, after) = rest.split_at(fit);
        let put_key = |out: &mut Vec<u8>| {
            let (node, type_id) = (NodeId(first.node), TypeId(first.type_id));
            keys::adjacency_prefix(out, node, Some(outgoing), Some(type_id));
            keys::pair(out, block[0]);
        };
        entries.add(put_key, |out| adjacency::encode(block, out));
        rest = after;
    }
}

/// Puts all relationships into a graph that is there, one by one in the order of their start; gives their number.
pub(super) fn insert(
    context: &Context<'_>,
    loaded: &LoadedRelationships,
    txn: &mut GraphTxn,
) -> Result<u64> {
    let widths = loaded.words.widths();
    let mut words = loaded.words.stream()?;
    let mut properties = loaded.properties.stream()?;
    let mut first = 0;
    while let Some(piece) = next_rows(context, &mut words, &mut first)? {
        for word in &piece.words {
            let Fields { node, type_id, other, number } = widths.unpack(*word);
            let (start, end, type_id) = (NodeId(node), NodeId(other), TypeId(type_id));
            let block = match has_properties(number) {
                true => properties.next()?.map(|(_, block)| block),
                false => None,
            };
            txn.insert_relationship(RelationshipRow { start, end, type_id }, block)?;
        }
        context.progress.add_built(3 * piece.words.len() as u64);
    }
    Ok(loaded.count)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use hopdb_storage::io::sim::SimFs;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::spill::Scratch;
    use super::*;

    fn sorted(words: Vec<u128>) -> Sorted {
        let scratch = Scratch::new(Arc::new(SimFs::new(1)), Path::new("/data"));
        let mut sorter = WordSorter::new(&scratch, 1 << 20, Widths::new(64, 1, 1 << 20));
        let piece = sorter.widths().piece(&words);
        sorter.push(piece).unwrap();
        sorter.finish().unwrap()
    }

    proptest! {
        /// Hubs that are read in many goes, nodes with one side only, gaps.
        #[test]
        fn pieces_are_all_rows_by_node_the_outgoing_first(
            ends in vec((prop_oneof![Just(3_u64), 0..12_u64], prop_oneof![Just(3_u64), 0..40_u64]), 0..200),
            read_rows in 1_usize..30,
        ) {
            let fields = |node, other, number| Fields { node, type_id: 0, other, number };
            let mut by_start: Vec<u128> =
                ends.iter().map(|(start, end)| fields(*start, *end, 0).pack()).collect();
            by_start.sort_unstable();
            let all: Vec<(u64, Fields)> =
                (0..).zip(by_start.iter().map(|word| Fields::unpack(*word))).collect();
            let by_end: Vec<u128> =
                all.iter().map(|(id, row)| fields(row.other, row.node, *id).pack()).collect();
            let mut expected: Vec<(u64, bool, u64, u64)> = Vec::new();
            for (id, row) in &all {
                expected.push((row.node, false, row.other, *id));
                expected.push((row.other, true, row.node, *id));
            }
            expected.sort_unstable();

            let (by_start, by_end) = (sorted(by_start), sorted(by_end));
            let mut sides = Sides {
                outgoing: Side::new(&by_start, read_rows).unwrap(),
                incoming: Side::new(&by_end, read_rows).unwrap(),
            };
            let [from, to] = [by_start.widths(), by_end.widths()];
            let mut found = Vec::new();
            while let Some(piece) = sides.next().unwrap() {
                let mut rows = Vec::new();
                for (id, word) in (piece.first..).zip(&piece.outgoing) {
                    let row = from.unpack(*word);
                    rows.push((row.node, false, row.other, id));
                }
                for word in &piece.incoming {
                    let row = to.unpack(*word);
                    rows.push((row.node, true, row.other, row.number));
                }
                prop_assert!(!rows.is_empty() && rows.len() <= 4 * read_rows);
                rows.sort_unstable();
                found.extend(rows);
            }
            prop_assert_eq!(found, expected);
        }
    }
}
