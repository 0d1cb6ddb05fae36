//! Rows, both sides, and properties of relationships.
//!
//! The two sides of all relationships are compared by sums of hashes in one pass over each table; only when
//! the sums differ are relationships looked up one by one, to name those that are wrong.

use std::collections::BTreeMap;

use hopdb_storage::View;
use rustc_hash::FxHashMap;

use super::{Check, told_before};
use crate::block::adjacency::{self, Pair};
use crate::block::relationships::{RelationshipRow, RelationshipsIter};
use crate::error::Result;
use crate::ids::{NodeId, RelationshipId, TypeId};
use crate::keys::{self, BlockKey};
use crate::record::PropertiesView;

/// A relationship as any of the three tables tells it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Told {
    id: RelationshipId,
    start: NodeId,
    end: NodeId,
    type_id: TypeId,
}

impl Told {
    fn by_side(block: &BlockKey, (neighbour, id): Pair) -> Self {
        let (start, end) =
            if block.outgoing { (block.node, neighbour) } else { (neighbour, block.node) };
        Self { id, start, end, type_id: block.type_id }
    }

    /// A number that sums up over any order; equal sums over different sets are as good as impossible.
    fn hash(self) -> u128 {
        let mix = |seed: u64| {
            let mut state = seed;
            for part in [self.id.0, self.start.0, self.end.0, u64::from(self.type_id.0)] {
                state = (state ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                state ^= state >> 29;
                state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
                state ^= state >> 32;
            }
            u128::from(state)
        };
        mix(1) << 64 | mix(2)
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Sum {
    count: u64,
    hash: u128,
}

impl Sum {
    fn add(&mut self, told: Told) {
        self.count += 1;
        self.hash = self.hash.wrapping_add(told.hash());
    }
}

impl Check<'_> {
    /// Every relationship is told alike by its row and by both sides, and its ends exist.
    pub(super) fn relationships(&mut self) -> Result<()> {
        let reader = self.reader;
        let mut rows = Sum::default();
        let mut types: BTreeMap<TypeId, u64> = BTreeMap::new();
        let mut ends = EndPoints::default();
        let mut cursor = reader.view.cursor(reader.tables.nodes);
        let mut more = cursor.first()?;
        while more {
            cursor.key().and_then(keys::single).into_iter().for_each(|id| ends.exists(id));
            more = cursor.next()?;
        }
        self.for_each_row(|check, id, row| {
            rows.add(Told { id, start: row.start, end: row.end, type_id: row.type_id });
            *types.entry(row.type_id).or_default() += 1;
            for end in [row.start, row.end] {
                if !ends.has(end.0) {
                    check.report.problem(format!("relationship {id}: its end {end} is no node"));
                }
            }
            if id.0 >= check.reader.catalog.counters.next_relationship {
                check.report.problem(format!("relationship {id}: its id was never given out"));
            }
            Ok(())
        })?;
        self.report.relationships = rows.count;
        self.counts(types);
        let [outgoing, incoming] = self.sides()?;
        if outgoing != rows || incoming != rows {
            self.name_wrong_sides()?;
        }
        self.relationship_properties()
    }

    /// Calls `visit` with every relationship; names blocks that are damaged or overlap.
    fn for_each_row(
        &mut self,
        mut visit: impl FnMut(&mut Self, RelationshipId, RelationshipRow) -> Result<()>,
    ) -> Result<()> {
        let reader = self.reader;
        let mut cursor = reader.view.cursor(reader.tables.relationships);
        let mut more = cursor.first()?;
        let mut end = 0;
        while more {
            let (first, block) = (cursor.key().and_then(keys::single), cursor.inline());
            if let (Some(first), Some(block)) = (first, block) {
                let what = format!("the block of relationships from {first} on");
                if first < end {
                    self.report.problem(format!("{what}: it begins before the end of the last"));
                }
                match RelationshipsIter::new(block) {
                    Ok(slots) => {
                        for (id, slot) in (first..).zip(slots) {
                            match slot {
                                Ok(Some(row)) => visit(self, RelationshipId(id), row)?,
                                Ok(None) => {}
                                Err(why) => self.report.problem(format!("{what}: {why}")),
                            }
                            end = id.saturating_add(1);
                        }
                    }
                    Err(why) => self.report.problem(format!("{what}: {why}")),
                }
            } else {
                self.report.problem("table relationships: a block is damaged");
            }
            more = cursor.next()?;
        }
        Ok(())
    }

    fn counts(&mut self, mut types: BTreeMap<TypeId, u64>) {
        let catalog = self.reader.catalog;
        for (id, (name, counted)) in (0..).map(TypeId).zip(catalog.relationship_types()) {
            let found = types.remove(&id).unwrap_or(0);
            if found != counted {
                let what = format!(
                    "the catalog counts {counted} relationships :{name}, there are {found}"
                );
                self.report.problem(what);
            }
        }
        for (type_id, found) in types {
            self.report
                .problem(format!("{found} relationships have type {type_id} without a name"));
        }
        let (counted, found) = (catalog.relationship_count(), self.report.relationships);
        if counted != found {
            let what = format!("the catalog counts {counted} relationships, there are {found}");
            self.report.problem(what);
        }
    }

    /// Sums over both sides; order within blocks is checked on the way.
    fn sides(&mut self) -> Result<[Sum; 2]> {
        let reader = self.reader;
        let mut sums = [Sum::default(); 2];
        let mut last: Option<BlockKey> = None;
        let mut last_pair: Pair = (NodeId(0), RelationshipId(0));
        let mut cursor = reader.view.cursor(reader.tables.adjacency);
        let mut more = cursor.first()?;
        while more {
            let block = cursor.key().and_then(BlockKey::read);
            let bytes = cursor.inline();
            let (Some(block), Some(bytes)) = (block, bytes) else {
                self.report.problem("table adjacency: a block is damaged");
                more = cursor.next()?;
                continue;
            };
            let same_list = |other: &BlockKey| {
                (other.node, other.outgoing, other.type_id)
                    == (block.node, block.outgoing, block.type_id)
            };
            let mut before = last.filter(same_list).map(|_| last_pair);
            let mut ascends = true;
            let decoded = adjacency::for_each(block.first, bytes, |pair| {
                ascends &= before.is_none_or(|before| before < pair);
                before = Some(pair);
                sums[usize::from(!block.outgoing)].add(Told::by_side(&block, pair));
            });
            if let Err(why) = decoded {
                self.report
                    .problem(format!("node {}: a block of relationships: {why}", block.node));
            } else if !ascends {
                let what = format!("node {}: its relationships do not ascend", block.node);
                self.report.problem(what);
            }
            last_pair = before.unwrap_or(last_pair);
            last = Some(block);
            more = cursor.next()?;
        }
        Ok(sums)
    }

    /// Looks each relationship up on both sides, and each side's pairs in the rows.
    fn name_wrong_sides(&mut self) -> Result<()> {
        let before = self.report.problems.len();
        self.for_each_row(|check, id, row| {
            for (node, outgoing, neighbour) in
                [(row.start, true, row.end), (row.end, false, row.start)]
            {
                if !check.has_pair(node, outgoing, row.type_id, (neighbour, id))? {
                    let what = format!(
                        "relationship {id}: not among those {} node {node}",
                        side(outgoing)
                    );
                    check.report.problem(what);
                }
            }
            Ok(())
        })?;
        let reader = self.reader;
        let mut cursor = reader.view.cursor(reader.tables.adjacency);
        let mut more = cursor.first()?;
        while more {
            if let (Some(block), Some(bytes)) =
                (cursor.key().and_then(BlockKey::read), cursor.inline())
            {
                let mut pairs = Vec::new();
                // A block that cannot be read was told before.
                let _told = adjacency::decode_into(block.first, bytes, &mut pairs);
                for pair in pairs {
                    let told = Told::by_side(&block, pair);
                    let row = told_before(reader.relationship_row(told.id))?.flatten();
                    let row = row.map(|row| (row.start, row.end, row.type_id));
                    if row != Some((told.start, told.end, told.type_id)) {
                        self.report.problem(format!(
                            "relationship {}: listed among those {} node {}, without such a row",
                            pair.1,
                            side(block.outgoing),
                            block.node
                        ));
                    }
                }
            }
            more = cursor.next()?;
        }
        if self.report.problems.len() == before {
            self.report.problem("the two sides of the relationships differ");
        }
        Ok(())
    }

    /// Whether a pair is in the block where it belongs.
    fn has_pair(&self, node: NodeId, outgoing: bool, type_id: TypeId, pair: Pair) -> Result<bool> {
        let reader = self.reader;
        let mut key = Vec::new();
        keys::adjacency_prefix(&mut key, node, Some(outgoing), Some(type_id));
        let prefix = key.len();
        keys::pair(&mut key, pair);
        let mut cursor = reader.view.cursor(reader.tables.adjacency);
        if !cursor.seek_floor(&key)? {
            return Ok(false);
        }
        let (Some(found), Some(bytes)) = (cursor.key(), cursor.inline()) else { return Ok(false) };
        let Some(block) = BlockKey::read(found) else { return Ok(false) };
        let mut has = false;
        let decoded = adjacency::for_each(block.first, bytes, |other| has |= other == pair);
        Ok(decoded.is_ok() && has && found.starts_with(&key[..prefix]))
    }

    /// Property blocks belong to relationships that exist, and can be read.
    fn relationship_properties(&mut self) -> Result<()> {
        let reader = self.reader;
        let mut cursor = reader.view.cursor(reader.tables.relationship_properties);
        let mut more = cursor.first()?;
        while more {
            let id = cursor.key().and_then(keys::single).map(RelationshipId);
            let stored = cursor.to_vec()?;
            more = cursor.next()?;
            let Some(id) = id else {
                self.report.problem("table relationship-properties: a key is no relationship id");
                continue;
            };
            if told_before(reader.relationship_row(id))?.is_some_and(|row| row.is_none()) {
                self.report.problem(format!("properties of relationship {id}, which is not there"));
            }
            let wrong = match PropertiesView::parse(&stored) {
                Ok(properties) => self.wrong_property(properties),
                Err(why) => Some(format!("its properties: {why}")),
            };
            if let Some(why) = wrong {
                self.report.problem(format!("relationship {id}: {why}"));
            }
        }
        Ok(())
    }
}

fn side(outgoing: bool) -> &'static str {
    if outgoing { "out of" } else { "into" }
}

/// Which node ids exist: a bit each, in words by their number, so that a damaged id takes no more memory than
/// any other.
#[derive(Default)]
struct EndPoints(FxHashMap<u64, [u64; 4]>);

impl EndPoints {
    fn exists(&mut self, node: u64) {
        self.0.entry(node / 256).or_default()[Self::word(node)] |= 1 << (node % 64);
    }

    fn has(&self, node: u64) -> bool {
        self.0
            .get(&(node / 256))
            .is_some_and(|words| words[Self::word(node)] >> (node % 64) & 1 == 1)
    }

    fn word(node: u64) -> usize {
        usize::from(node.to_le_bytes()[0] / 64)
    }
}
