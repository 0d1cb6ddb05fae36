//! The entries of one index, gathered while nodes are read, sorted once, written in order.

use hopdb_storage::codec::ordered;

use crate::error::Result;
use crate::ids::{LabelId, NodeId, PropertyKeyId};
use crate::index::ValueKey;
use crate::record::RecordBuilder;
use crate::value::Value;
use crate::write::GraphTxn;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The first bytes of the key: most comparisons end here.
    head: u64,
    start: usize,
    len: u16,
    cut: bool,
    node: NodeId,
}

/// Gathers the entries of an index.
#[derive(Debug)]
pub(super) struct IndexEntries {
    label: LabelId,
    property: PropertyKeyId,
    unique: bool,
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

impl IndexEntries {
    pub(super) fn new(label: LabelId, property: PropertyKeyId, unique: bool) -> Self {
        Self { label, property, unique, entries: Vec::new(), bytes: Vec::new() }
    }

    pub(super) fn is_for(&self, label: LabelId, property: PropertyKeyId) -> bool {
        self.label == label && self.property == property
    }

    /// Notes a node that has the label and the property.
    pub(super) fn note(&mut self, node: NodeId, record: &RecordBuilder) -> Result<()> {
        if !record.labels().contains(&self.label) {
            return Ok(());
        }
        let Some(stored) = record.stored(self.property) else { return Ok(()) };
        let key = ValueKey::of(&Value::decode(stored)?);
        let mut head = [0; 8];
        let len = key.bytes.len().min(8);
        head[..len].copy_from_slice(&key.bytes[..len]);
        self.entries.push(Entry {
            head: u64::from_be_bytes(head),
            start: self.bytes.len(),
            len: u16::try_from(key.bytes.len()).expect("keys are cut at a quarter page"),
            cut: key.cut,
            node,
        });
        self.bytes.extend_from_slice(&key.bytes);
        Ok(())
    }

    /// Sorts the entries; for a unique index, the first two nodes found with one value.
    pub(super) fn sort(&mut self) -> Option<[NodeId; 2]> {
        let bytes = &self.bytes;
        let key = |entry: &Entry| &bytes[entry.start..entry.start + usize::from(entry.len)];
        self.entries.sort_unstable_by(|a, b| {
            a.head.cmp(&b.head).then_with(|| key(a).cmp(key(b))).then(a.node.cmp(&b.node))
        });
        // Values whose keys were cut may differ behind the cut: those are compared when the index is made.
        let same = |pair: &&[Entry]| !pair[0].cut && key(&pair[0]) == key(&pair[1]);
        let found = self.entries.windows(2).filter(|_| self.unique).find(same)?;
        let [a, b] = [found[0].node, found[1].node];
        Some([a.min(b), a.max(b)])
    }

    /// Groups of nodes of a unique index whose keys were cut to the same bytes: to be compared by their values.
    pub(super) fn cut_alike(&self) -> Vec<Vec<NodeId>> {
        if !self.unique {
            return Vec::new();
        }
        let key = |entry: &Entry| &self.bytes[entry.start..entry.start + usize::from(entry.len)];
        let groups = self.entries.chunk_by(|a, b| a.cut && b.cut && key(a) == key(b));
        let groups = groups.filter(|group| group.len() > 1);
        groups.map(|group| group.iter().map(|entry| entry.node).collect()).collect()
    }

    /// Registers the index and writes its table.
    pub(super) fn build(&self, txn: &mut GraphTxn) -> Result<()> {
        let index = txn.new_index(self.label, self.property, self.unique)?;
        let mut bulk = txn.txn.bulk(index.table)?;
        let mut key = Vec::new();
        for entry in &self.entries {
            key.clear();
            key.extend_from_slice(&self.bytes[entry.start..entry.start + usize::from(entry.len)]);
            ordered::put(&mut key, entry.node.0);
            bulk.push(&mut txn.txn, &key, ValueKey::stored_flag(entry.cut))?;
        }
        bulk.finish(&mut txn.txn)?;
        Ok(())
    }
}
