//! Packed blocks, taken apart. Layout: `docs/file-format.md`, "Blocks".

use hopdb_storage::codec::varint;
use hopdb_storage::inspect::Fields;

use super::meaning::GraphMeaning;
use crate::block::adjacency::{self, Pair};
use crate::block::relationships::{RelationshipRow, RelationshipsIter};
use crate::keys::{self, BlockKey};

/// Most pairs that are shown one by one, that in the key included.
const PAIRS_MAX: usize = 64;

/// Takes a block of neighbours apart; its first pair is in `key`.
pub(super) fn adjacency(key: &[u8], fields: &mut Fields<'_>) {
    let Some(key) = BlockKey::read(key) else { return fields.give_up("its key is damaged") };
    let value = fields.rest();
    let mut pairs = Vec::new();
    if let Err(why) = adjacency::decode_into(key.first, value, &mut pairs) {
        return fields.give_up(format!("the block is damaged: {why}"));
    }
    let header = fields.varint("pairs", |header| {
        let wide = if header & 1 == 1 { ", wide" } else { "" };
        format!("{}, the first in the key{wide}", header / 2)
    });
    let wide = header.is_some_and(|header| header & 1 == 1);
    let codes = fields.rest();
    let lens = |index| adjacency::number_lens(wide, codes, index);
    let shown = pairs.len().min(PAIRS_MAX) - 1;
    fields.take((pairs.len() - 1).div_ceil(2), "codes", codes_text(shown, pairs.len() - 1, lens));
    fields.deeper(|fields| {
        for (index, both) in pairs.windows(2).take(shown).enumerate() {
            let (neighbour, relationship) = lens(index);
            let name = format!("pair {}", index + 2);
            fields.take(neighbour + relationship, name, pair_text(both[0], both[1]));
        }
        let text = match pairs.last() {
            Some((node, relationship)) => format!("up to node {node}, relationship {relationship}"),
            None => String::new(),
        };
        fields.take_rest(format!("pairs {} to {}", shown + 2, pairs.len()), text);
    });
}

/// What the codes say of the first pairs: how many bytes both numbers of each take.
fn codes_text(shown: usize, all: usize, lens: impl Fn(usize) -> (usize, usize)) -> String {
    const CODES_MAX: usize = 4;
    let few = (0..shown.min(CODES_MAX)).map(|index| {
        let (neighbour, relationship) = lens(index);
        format!("{neighbour}+{relationship}")
    });
    let few: Vec<String> = few.collect();
    let dots = if all > few.len() { ", …" } else { "" };
    format!("widths in bytes: {}{dots}", few.join(", "))
}

fn pair_text(before: Pair, pair: Pair) -> String {
    let apart = pair.1.0.wrapping_sub(before.1.0).cast_signed();
    let node_apart = pair.0.0 - before.0.0;
    format!("+{node_apart}: node {}, {apart:+}: relationship {}", pair.0, pair.1)
}

/// A block of neighbours in a line.
pub(super) fn adjacency_text(value: &[u8]) -> String {
    match adjacency::count(value) {
        Some(1) => "1 relationship".into(),
        Some(count) => format!("{count} relationships"),
        None => "damaged".into(),
    }
}

/// Takes a block of relationships apart; the id of the first is in `key`.
pub(super) fn relationships(meaning: &GraphMeaning<'_>, key: &[u8], fields: &mut Fields<'_>) {
    let Some(first) = keys::single(key) else { return fields.give_up("its key is damaged") };
    let Some(slots) = fields.varint("relationships", |slots| slots.to_string()) else { return };
    let mut start = 0;
    fields.deeper(|fields| {
        for slot in 0..slots {
            let name = format!("relationship {}", first.saturating_add(slot));
            let Some((len, row)) = read_row(fields.rest(), start) else {
                return fields.give_up("here should be the numbers of a relationship");
            };
            let text = match row {
                None => "removed".into(),
                Some((type_id, row)) => {
                    let apart = row.0.wrapping_sub(start).cast_signed();
                    start = row.0;
                    let name = meaning.type_name(type_id);
                    format!("{name}, {apart:+}: from node {start}, to node {}", row.1)
                }
            };
            if fields.take(len, name, text).is_none() {
                return;
            }
        }
    });
}

/// Bytes of a row, and its type, start and end; `None` within for one that was removed.
type Row = (usize, Option<(u64, (u64, u64))>);

fn read_row(bytes: &[u8], start: u64) -> Option<Row> {
    let mut at = 0;
    let Some(type_id) = varint::get(bytes, &mut at)?.checked_sub(1) else {
        return Some((at, None));
    };
    let apart = varint::unzigzag(varint::get(bytes, &mut at)?).cast_unsigned();
    let end = varint::get(bytes, &mut at)?;
    Some((at, Some((type_id, (start.wrapping_add(apart), end)))))
}

/// A block of relationships in a line.
pub(super) fn relationships_text(value: &[u8]) -> String {
    let rows = RelationshipsIter::new(value).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let Ok(rows) = rows else { return "damaged".into() };
    let count = rows.len();
    let removed = rows.iter().filter(|row: &&Option<RelationshipRow>| row.is_none()).count();
    let what = if count == 1 { "relationship" } else { "relationships" };
    match removed {
        0 => format!("{count} {what}"),
        _ => format!("{count} {what}, {removed} of them removed"),
    }
}
