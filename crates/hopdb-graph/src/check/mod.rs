//! Holds all tables of a graph against one another: nodes, labels, indexes, relationships and both their sides.
//!
//! Whatever is damaged is named, and the check goes on: only reads that fail end it. Memory grows with the
//! number of nodes (a bit each), not with what damaged numbers say.

mod relationships;

use std::collections::BTreeMap;
use std::fmt;

use hopdb_storage::codec::ordered;
use hopdb_storage::{CheckReport as StoreReport, ReadTxn, View};
use rustc_hash::FxHashMap;

use crate::catalog::IndexDefinition;
use crate::error::{GraphError, Result};
use crate::graph::Snapshot;
use crate::ids::{LabelId, NodeId};
use crate::index::{self, IndexEntry};
use crate::keys;
use crate::read::Reader;
use crate::record::{PropertiesView, RecordView};
use crate::value::Value;

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
                    self.report.problem(format!("node {id}: its record: {why}"));
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
        let properties = record.properties();
        if let Some(why) = self.wrong_property(properties) {
            self.report.problem(format!("node {id}: {why}"));
            return Ok(());
        }
        for entry in index::entries(reader.catalog, &labels, &properties)? {
            if reader.view.get(entry.index.table, &entry.key.entry(id))?.is_none() {
                let what =
                    format!("node {id}: not in index {} with {}", entry.index.id, entry.value);
                self.report.problem(what);
            }
        }
        Ok(())
    }

    /// What is wrong with a block of properties.
    fn wrong_property(&self, properties: PropertiesView<'_>) -> Option<String> {
        let mut all = match properties.iter() {
            Ok(all) => all,
            Err(why) => return Some(format!("its properties: {why}")),
        };
        all.find_map(|(key, stored)| match Value::decode(stored) {
            Err(why) => Some(format!("its property {key}: {why}")),
            Ok(Value::Null) => Some(format!("its property {key} is null")),
            Ok(_) if self.reader.catalog.property_key_name(key).is_none() => {
                Some(format!("its property key {key} has no name"))
            }
            Ok(_) => None,
        })
    }

    /// Every label entry leads to a node that has the label.
    fn labels(&mut self) -> Result<()> {
        let reader = self.reader;
        let mut cursor = reader.view.cursor(reader.tables.labels);
        let mut more = cursor.first()?;
        while more {
            match cursor.key().and_then(keys::read_label) {
                Some((label, node)) => {
                    let has = reader.with_record(node, |record| Ok(record.has_label(label)));
                    if told_before(has)?.is_some_and(|has| has != Some(true)) {
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

    fn indexes(&mut self) -> Result<()> {
        self.reader.catalog.indexes.iter().try_for_each(|index| self.index(index))
    }

    /// Every entry belongs to a node that should have it; a unique index has each value once.
    fn index(&mut self, index: &IndexDefinition) -> Result<()> {
        let reader = self.reader;
        let mut last = Vec::new();
        // Nodes by their whole values, among those of the same entry key.
        let mut seen: FxHashMap<Vec<u8>, NodeId> = FxHashMap::default();
        let mut cursor = reader.view.cursor(index.table);
        let mut more = cursor.first()?;
        while more {
            let key = cursor.key().unwrap_or_default().to_vec();
            let cut = cursor.inline().is_some_and(|flag| !flag.is_empty());
            more = cursor.next()?;
            let Some((value, node)) = split_entry(&key, cut) else {
                self.report.problem(format!("index {}: a key is damaged", index.id));
                continue;
            };
            let Some(entries) = told_before(self.entries_of(node))? else { continue };
            let entry = entries.into_iter().find(|entry| {
                entry.index.id == index.id && entry.key.bytes == value && entry.key.cut == cut
            });
            let Some(entry) = entry else {
                self.report
                    .problem(format!("index {}: an entry of node {node} is wrong", index.id));
                continue;
            };
            if last != value {
                last = value.to_vec();
                seen.clear();
            }
            if index.unique
                && let Some(other) = seen.insert(index::whole_key(&entry.value), node)
            {
                let what = format!("index {}: nodes {other} and {node} have one value", index.id);
                self.report.problem(what);
            }
        }
        Ok(())
    }

    /// The index entries that a node should have; none when there is no such node.
    fn entries_of(&self, node: NodeId) -> Result<Vec<IndexEntry>> {
        let entries = self.reader.with_record(node, |record| {
            let labels: Vec<LabelId> = record.labels().collect();
            index::entries(self.reader.catalog, &labels, &record.properties())
        })?;
        Ok(entries.unwrap_or_default())
    }
}

/// `None` for damage: it was named where its table was walked.
fn told_before<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(GraphError::Damaged { .. } | GraphError::Decode(_)) => Ok(None),
        Err(error) => Err(error),
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
