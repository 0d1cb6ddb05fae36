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
use super::words::{Fields, Sorted, Stream, WordSorter};
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
    let mut by_end = WordSorter::new(&context.scratch, bytes);
    build_rows(context, &loaded, txn, &mut by_end)?;
    let LoadedRelationships { words, count, properties } = loaded;
    drop(properties);
    let by_end = by_end.finish()?;
    build_adjacency(context, [&words, &by_end], txn)?;
    txn.catalog.counters.next_relationship = count;
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
    by_end: Vec<u128>,
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
    let mut blocks = txn.txn.bulk(txn.shared.tables.relationships)?;
    let mut properties = txn.txn.bulk(txn.shared.tables.relationship_properties)?;
    let mut stored = loaded.properties.stream()?;
    let mut words = loaded.words.stream()?;
    let mut first = 0;
    ordered(
        || next_rows(context, &mut words, &mut first),
        |piece| encode_rows(&piece),
        |entries: RowEntries| {
            entries.blocks.push(&mut blocks, txn)?;
            for id in &entries.with_properties {
                push_properties(*id, &mut stored, &mut properties, txn)?;
            }
            for (type_id, count) in &entries.types {
                txn.catalog.count_type(*type_id, *count);
            }
            context.progress.add_built(entries.by_end.len() as u64);
            by_end.push(entries.by_end)
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

fn encode_rows(piece: &RowPiece) -> RowEntries {
    let mut entries = RowEntries::default();
    let mut slots = Vec::with_capacity(piece.words.len());
    for (id, word) in (piece.first..).zip(&piece.words) {
        let Fields { node, type_id, other, number } = Fields::unpack(*word);
        let (start, end, type_id) = (NodeId(node), NodeId(other), TypeId(type_id));
        slots.push(Some(RelationshipRow { start, end, type_id }));
        entries
            .by_end
            .push(Fields { node: other, type_id: type_id.0, other: node, number: id }.pack());
        if has_properties(number) {
            entries.with_properties.push(id);
        }
        match entries.types.iter_mut().find(|(other, _)| *other == type_id) {
            Some((_, count)) => *count += 1,
            None => entries.types.push((type_id, 1)),
        }
    }
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

/// A relationship as one of its nodes sees it.
#[derive(Clone, Copy, Debug)]
struct SideRow {
    node: NodeId,
    outgoing: bool,
    type_id: TypeId,
    pair: Pair,
}

impl SideRow {
    fn is_beside(&self, other: &Self) -> bool {
        self.node == other.node && self.outgoing == other.outgoing && self.type_id == other.type_id
    }
}

fn build_adjacency(
    context: &Context<'_>,
    [by_start, by_end]: [&Sorted; 2],
    txn: &mut GraphTxn,
) -> Result<()> {
    let mut bulk = txn.txn.bulk(txn.shared.tables.adjacency)?;
    let mut sides = Sides { outgoing: Side::new(by_start)?, incoming: Side::new(by_end)? };
    ordered(
        || {
            context.check_stopped()?;
            let rows = sides.next()?;
            context.progress.add_built(rows.len() as u64);
            Ok::<_, GraphError>((!rows.is_empty()).then_some(rows))
        },
        |rows| encode_sides(&rows),
        |entries: Entries| entries.push(&mut bulk, txn),
    )?;
    bulk.finish(&mut txn.txn)?;
    Ok(())
}

/// One side of all relationships, ascending by the node of that side.
struct Side<'s> {
    stream: Stream<'s>,
    words: Vec<u128>,
    at: usize,
    /// Number of the row behind `words`.
    taken: u64,
}

impl<'s> Side<'s> {
    fn new(sorted: &'s Sorted) -> Result<Self> {
        Ok(Self { stream: sorted.stream()?, words: Vec::new(), at: 0, taken: 0 })
    }

    /// The next row, and its place; `None` behind the last.
    fn peek(&mut self) -> Result<Option<(Fields, u64)>> {
        if self.at == self.words.len() {
            self.words.clear();
            self.at = 0;
            self.stream.next(PIECE_ROWS, &mut self.words)?;
            self.taken += self.words.len() as u64;
        }
        let place = self.taken - (self.words.len() - self.at) as u64;
        Ok(self.words.get(self.at).map(|word| (Fields::unpack(*word), place)))
    }
}

/// Both sides, merged by node, the outgoing relationships of a node first.
struct Sides<'s> {
    outgoing: Side<'s>,
    incoming: Side<'s>,
}

impl Sides<'_> {
    /// The next rows; none behind the last.
    fn next(&mut self) -> Result<Vec<SideRow>> {
        let mut rows = Vec::with_capacity(PIECE_ROWS);
        while rows.len() < PIECE_ROWS {
            let (outgoing, incoming) = (self.outgoing.peek()?, self.incoming.peek()?);
            let is_outgoing = match (outgoing, incoming) {
                (None, None) => break,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some((a, _)), Some((b, _))) => a.node <= b.node,
            };
            let (side, row) = match is_outgoing {
                true => (&mut self.outgoing, outgoing),
                false => (&mut self.incoming, incoming),
            };
            side.at += 1;
            let (fields, place) = row.expect("the side has a row");
            // By its start a relationship's place is its id; by its end it carries it.
            let id = if is_outgoing { place } else { fields.number };
            rows.push(SideRow {
                node: NodeId(fields.node),
                outgoing: is_outgoing,
                type_id: TypeId(fields.type_id),
                pair: (NodeId(fields.other), RelationshipId(id)),
            });
        }
        Ok(rows)
    }
}

fn encode_sides(rows: &[SideRow]) -> Entries {
    let mut entries = Entries::default();
    let mut pairs = Vec::new();
    for group in rows.chunk_by(SideRow::is_beside) {
        let first = group[0];
        pairs.clear();
        pairs.extend(group.iter().map(|row| row.pair));
        let mut rest = &pairs[..];
        while !rest.is_empty() {
            let fit = adjacency::split_at_bytes(rest, keys::BLOCK_BYTES_MAX);
            let (block, after) = rest.split_at(fit);
            let put_key = |out: &mut Vec<u8>| {
                keys::adjacency_prefix(out, first.node, Some(first.outgoing), Some(first.type_id));
                keys::pair(out, block[0]);
            };
            entries.add(put_key, |out| adjacency::encode(block, out));
            rest = after;
        }
    }
    entries
}

/// Puts all relationships into a graph that is there, one by one in the order of their start; gives their number.
pub(super) fn insert(
    context: &Context<'_>,
    loaded: &LoadedRelationships,
    txn: &mut GraphTxn,
) -> Result<u64> {
    let mut words = loaded.words.stream()?;
    let mut properties = loaded.properties.stream()?;
    let mut first = 0;
    while let Some(piece) = next_rows(context, &mut words, &mut first)? {
        for word in &piece.words {
            let Fields { node, type_id, other, number } = Fields::unpack(*word);
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
