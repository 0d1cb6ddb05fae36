//! Holds all tables of a graph against one another: nodes, labels, indexes, relationships and both their sides.
//!
//! The two sides of all relationships are compared by sums of hashes in one pass over each table; only when
//! the sums differ are relationships looked up one by one, to name those that are wrong.

use std::collections::BTreeMap;
use std::fmt;

use hopdb_storage::codec::ordered;
use hopdb_storage::{CheckReport as StoreReport, ReadTxn, View};

use crate::block::adjacency::{self, Pair};
use crate::error::Result;
use crate::graph::Snapshot;
use crate::ids::{Direction, LabelId, NodeId, RelationshipId, TypeId};
use crate::index;
use crate::keys::{self, BlockKey};
use crate::read::Reader;
use crate::record::RecordView;

/// Most problems that are listed.
const PROBLEMS_MAX: usize = 1000;

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// What is wrong in the graph, in words; empty when all is well.
    pub problems: Vec<String>,
    /// What was found below: pages, trees, the allocation map.
    pub store: StoreReport,
    /// Nodes found.
    pub nodes: u64,
    /// Relationships found.
    pub relationships: u64,
}

impl CheckReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty() && self.store.problems.is_empty()
    }

    fn problem(&mut self, what: impl fmt::Display) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(what.to_string());
        }
    }
}

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

struct Check<'a> {
    reader: Reader<'a, ReadTxn>,
    report: CheckReport,
}

impl Snapshot {
    /// Checks the store below, then the graph in it.
    ///
    /// # Errors
    /// When a table cannot be walked at all; all else is in the report.
    pub fn check(&self) -> Result<CheckReport> {
        let store = self.txn().check()?;
        let broken = !store.problems.is_empty();
        let report = CheckReport { store, ..CheckReport::default() };
        let mut check = Check { reader: self.reader(), report };
        // Damaged pages would be told again at every place that leads to them.
        if !broken {
            check.nodes()?;
            check.labels()?;
            check.indexes()?;
            check.relationships()?;
        }
        Ok(check.report)
    }
}

impl Check<'_> {
    /// Every node has its label entries and index entries; counts are exact.
    fn nodes(&mut self) -> Result<()> {
        let reader = self.reader;
        let mut labels: BTreeMap<LabelId, u64> = BTreeMap::new();
        let mut cursor = reader.view.cursor(reader.tables.nodes);
        let mut more = cursor.first()?;
        while more {
            self.report.nodes += 1;
            let id = cursor.key().and_then(keys::single).map(NodeId);
            let record = cursor.to_vec()?;
            match (id, RecordView::parse(&record)) {
                (Some(id), Ok(record)) => self.node(id, record, &mut labels)?,
                (Some(id), Err(why)) => {
                    self.report.problem(format!("node {id}: its record: {why}"))
                }
                (None, _) => self.report.problem("table nodes: a key is no node id"),
            }
            more = cursor.next()?;
        }
        let counted = reader.catalog.node_count();
        if counted != self.report.nodes {
            let found = self.report.nodes;
            self.report.problem(format!("the catalog counts {counted} nodes, there are {found}"));
        }
        for (id, (name, counted)) in (0..).map(LabelId).zip(reader.catalog.labels()) {
            let found = labels.remove(&id).unwrap_or(0);
            if found != counted {
                let what = format!("the catalog counts {counted} nodes :{name}, there are {found}");
                self.report.problem(what);
            }
        }
        Ok(())
    }

    fn node(
        &mut self,
        id: NodeId,
        record: RecordView<'_>,
        counts: &mut BTreeMap<LabelId, u64>,
    ) -> Result<()> {
        let reader = self.reader;
        if id.0 >= reader.catalog.counters.next_node {
            self.report.problem(format!("node {id}: its id was never given out"));
        }
        let labels: Vec<LabelId> = record.labels().collect();
        for label in &labels {
            *counts.entry(*label).or_default() += 1;
            let mut key = Vec::new();
            keys::label(&mut key, *label, id);
            if reader.catalog.label_name(*label).is_none() {
                self.report.problem(format!("node {id}: its label {label} has no name"));
            } else if reader.view.get(reader.tables.labels, &key)?.is_none() {
                self.report.problem(format!("node {id}: not listed under its label {label}"));
            }
        }
        let entries = match index::entries(reader.catalog, &labels, &record.properties()) {
            Ok(entries) => entries,
            Err(why) => {
                self.report.problem(format!("node {id}: its properties: {why}"));
                return Ok(());
            }
        };
        for entry in entries {
            if reader.view.get(entry.index.table, &entry.key.entry(id))?.is_none() {
                let what =
                    format!("node {id}: not in index {} with {}", entry.index.id, entry.value);
                self.report.problem(what);
            }
        }
        Ok(())
    }

    /// Every label entry leads to a node that has the label.
    fn labels(&mut self) -> Result<()> {
        let reader = self.reader;
        let mut cursor = reader.view.cursor(reader.tables.labels);
        let mut more = cursor.first()?;
        while more {
            match cursor.key().and_then(keys::read_label) {
                Some((label, node)) => {
                    let has = reader.with_record(node, |record| Ok(record.has_label(label)))?;
                    if has != Some(true) {
                        let what = format!("node {node} is listed under label {label} it lacks");
                        self.report.problem(what);
                    }
                }
                None => self.report.problem("table labels: a key is damaged"),
            }
            more = cursor.next()?;
        }
        Ok(())
    }

    /// Every index has as many entries as nodes should be in it, and all it has are right; a unique one has
    /// each value once.
    fn indexes(&mut self) -> Result<()> {
        let reader = self.reader;
        for index in &reader.catalog.indexes {
            let mut last: Option<(Vec<u8>, NodeId)> = None;
            let mut cursor = reader.view.cursor(index.table);
            let mut more = cursor.first()?;
            while more {
                let key = cursor.key().unwrap_or_default().to_vec();
                let cut = cursor.inline().is_some_and(|flag| !flag.is_empty());
                match split_entry(&key, cut) {
                    Some((value, node)) => {
                        let entries = reader.with_record(node, |record| {
                            let labels: Vec<LabelId> = record.labels().collect();
                            index::entries(reader.catalog, &labels, &record.properties())
                        })?;
                        let right = entries
                            .unwrap_or_default()
                            .into_iter()
                            .any(|entry| entry.index.id == index.id && entry.key.bytes == value);
                        if !right {
                            let what =
                                format!("index {}: an entry of node {node} is wrong", index.id);
                            self.report.problem(what);
                        }
                        if let Some((_, other)) =
                            last.filter(|(other, _)| index.unique && !cut && *other == value)
                        {
                            let what = format!(
                                "index {}: nodes {other} and {node} have one value",
                                index.id
                            );
                            self.report.problem(what);
                        }
                        last = Some((value.to_vec(), node));
                    }
                    None => self.report.problem(format!("index {}: a key is damaged", index.id)),
                }
                more = cursor.next()?;
            }
        }
        Ok(())
    }

    /// Every relationship is told alike by its row and by both sides, and its ends exist.
    fn relationships(&mut self) -> Result<()> {
        let reader = self.reader;
        let mut rows = Sum::default();
        let mut types: BTreeMap<TypeId, u64> = BTreeMap::new();
        let mut ends = EndPoints::new(reader.catalog.counters.next_node);
        reader.for_each_node(|node| {
            ends.exists(node);
            Ok(())
        })?;
        let mut problems = Vec::new();
        reader.for_each_relationship(|id, row| {
            rows.add(Told { id, start: row.start, end: row.end, type_id: row.type_id });
            *types.entry(row.type_id).or_default() += 1;
            for end in [row.start, row.end] {
                if !ends.has(end) {
                    problems.push(format!("relationship {id}: its end {end} is no node"));
                }
            }
            if id.0 >= reader.catalog.counters.next_relationship {
                problems.push(format!("relationship {id}: its id was never given out"));
            }
            Ok(())
        })?;
        problems.into_iter().for_each(|what| self.report.problem(what));
        self.report.relationships = rows.count;
        for (id, (name, counted)) in (0..).map(TypeId).zip(reader.catalog.relationship_types()) {
            let found = types.remove(&id).unwrap_or(0);
            if found != counted {
                let what = format!(
                    "the catalog counts {counted} relationships :{name}, there are {found}"
                );
                self.report.problem(what);
            }
        }
        let counted = reader.catalog.relationship_count();
        if counted != rows.count {
            let found = rows.count;
            let what = format!("the catalog counts {counted} relationships, there are {found}");
            self.report.problem(what);
        }
        let [outgoing, incoming] = self.sides()?;
        if outgoing != rows || incoming != rows {
            self.name_wrong_sides()?;
        }
        self.relationship_properties()
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
        let reader = self.reader;
        let mut problems = Vec::new();
        reader.for_each_relationship(|id, row| {
            for (node, direction, neighbour) in [
                (row.start, Direction::Outgoing, row.end),
                (row.end, Direction::Incoming, row.start),
            ] {
                let mut found = 0;
                for adjacent in reader.adjacent(node, direction, Some(row.type_id))? {
                    found += u64::from(adjacent.relationship == id && adjacent.neighbour == neighbour);
                }
                if found != 1 {
                    let what = format!(
                        "relationship {id}: {found} times among the {direction:?} ones of node {node}"
                    );
                    problems.push(what);
                }
            }
            Ok(())
        })?;
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
                    let row = reader.relationship_row(told.id)?;
                    let row = row.map(|row| (row.start, row.end, row.type_id));
                    if row != Some((told.start, told.end, told.type_id)) {
                        problems.push(format!(
                            "node {}: it lists relationship {} to {}, which has no such row",
                            block.node, pair.1, pair.0
                        ));
                    }
                }
            }
            more = cursor.next()?;
        }
        if problems.is_empty() {
            problems.push("the two sides of the relationships differ".into());
        }
        problems.into_iter().for_each(|what| self.report.problem(what));
        Ok(())
    }

    /// Property blocks belong to relationships that exist.
    fn relationship_properties(&mut self) -> Result<()> {
        let reader = self.reader;
        let mut cursor = reader.view.cursor(reader.tables.relationship_properties);
        let mut more = cursor.first()?;
        while more {
            let id = cursor.key().and_then(keys::single).map(RelationshipId);
            let found = match id {
                Some(id) => reader.relationship(id).map(|found| found.is_some()),
                None => Ok(false),
            };
            match found {
                Ok(true) => {}
                Ok(false) => self
                    .report
                    .problem(format!("properties of relationship {id:?}, which is not there")),
                Err(why) => {
                    self.report.problem(format!("properties of relationship {id:?}: {why}"))
                }
            }
            more = cursor.next()?;
        }
        Ok(())
    }
}

/// Value bytes and node of an index entry.
fn split_entry(key: &[u8], cut: bool) -> Option<(&[u8], NodeId)> {
    let mut at = if cut {
        index::KEY_BYTES_MAX
    } else {
        let mut at = 0;
        hopdb_storage::codec::key::skip(key, &mut at).ok()?;
        at
    };
    let value = key.get(..at)?;
    let node = ordered::get(key, &mut at)?;
    (at == key.len()).then_some((value, NodeId(node)))
}

/// Which node ids exist, a bit each.
struct EndPoints(Vec<u64>);

impl EndPoints {
    fn new(next_node: u64) -> Self {
        Self(vec![0; usize::try_from(next_node.div_ceil(64)).expect("one bit a node fits memory")])
    }

    fn exists(&mut self, node: NodeId) {
        let at = usize::try_from(node.0 / 64).unwrap_or(usize::MAX);
        if let Some(word) = self.0.get_mut(at) {
            *word |= 1 << (node.0 % 64);
        }
    }

    fn has(&self, node: NodeId) -> bool {
        let at = usize::try_from(node.0 / 64).unwrap_or(usize::MAX);
        self.0.get(at).is_some_and(|word| word >> (node.0 % 64) & 1 == 1)
    }
}
