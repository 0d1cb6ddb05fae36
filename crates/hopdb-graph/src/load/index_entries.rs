//! The entries of one index, gathered while nodes are read, sorted once, written in order.
//!
//! Beside its key an entry carries how long the value's part of it is, and whether that was cut.

use hopdb_storage::codec::ordered;

use super::byte_sort::ByteSorter;
use super::node_tables::CHECK_EVERY;
use super::run::Context;
use super::spill::Scratch;
use crate::error::Result;
use crate::ids::{LabelId, NodeId, PropertyKeyId};
use crate::index::ValueKey;
use crate::keys;
use crate::write::GraphTxn;

/// Gathers the entries of an index.
#[derive(Debug)]
pub(super) struct IndexEntries {
    label: LabelId,
    property: PropertyKeyId,
    unique: bool,
    entries: ByteSorter,
    key: Vec<u8>,
}

/// What the entries of a unique index say against it.
#[derive(Debug, Default)]
pub(super) struct Twice {
    /// The first two nodes that have one value.
    pub(super) nodes: Option<[NodeId; 2]>,
    /// Groups of nodes whose keys were cut to the same bytes: to be compared by their values.
    pub(super) cut_alike: Vec<Vec<NodeId>>,
}

impl IndexEntries {
    /// Entries in about `bytes` of memory.
    pub(super) fn new(
        scratch: &Scratch,
        bytes: usize,
        (label, property): (LabelId, PropertyKeyId),
        unique: bool,
    ) -> Self {
        let entries = ByteSorter::new(scratch, bytes);
        Self { label, property, unique, entries, key: Vec::new() }
    }

    pub(super) fn label(&self) -> LabelId {
        self.label
    }

    /// Notes the value of a node that has the label.
    pub(super) fn push(&mut self, value_key: &[u8], node: NodeId, cut: bool) -> Result<()> {
        self.key.clear();
        self.key.extend_from_slice(value_key);
        ordered::put(&mut self.key, node.0);
        let len = u16::try_from(value_key.len()).expect("keys are cut at a quarter page");
        let [low, high] = len.to_le_bytes();
        self.entries.push(&self.key, &[low, high, u8::from(cut)])
    }

    /// Registers the index and writes its table.
    pub(super) fn build(self, context: &Context<'_>, txn: &mut GraphTxn) -> Result<Twice> {
        let index = txn.new_index(self.label, self.property, self.unique)?;
        let mut bulk = txn.txn.bulk(index.table)?;
        let sorted = self.entries.finish()?;
        let mut stream = sorted.stream()?;
        let mut watch = self.unique.then(Watch::default);
        let mut written: u64 = 0;
        while let Some((key, note)) = stream.next()? {
            written += 1;
            if written.is_multiple_of(CHECK_EVERY) {
                context.check_stopped()?;
            }
            let [low, high, cut] = *note else { unreachable!("three bytes were pushed") };
            let cut = cut != 0;
            bulk.push(&mut txn.txn, key, ValueKey::stored_flag(cut))?;
            if let Some(watch) = &mut watch {
                watch.entry(key, usize::from(u16::from_le_bytes([low, high])), cut);
            }
        }
        bulk.finish(&mut txn.txn)?;
        Ok(watch.map_or_else(Twice::default, Watch::finish))
    }
}

/// Looks at entries in order for values that come twice.
#[derive(Default)]
struct Watch {
    value_key: Vec<u8>,
    cut: bool,
    /// Nodes with the value.
    nodes: Vec<NodeId>,
    found: Twice,
}

impl Watch {
    fn entry(&mut self, key: &[u8], value_len: usize, cut: bool) {
        let (value_key, node) = key.split_at(value_len);
        let node = NodeId(keys::single(node).expect("an id ends the key of an entry"));
        if self.nodes.is_empty() || self.value_key != value_key || self.cut != cut {
            self.end_group();
            self.value_key.clear();
            self.value_key.extend_from_slice(value_key);
            self.cut = cut;
        } else if !cut && self.found.nodes.is_none() {
            self.found.nodes = Some([self.nodes[0], node]);
        }
        // Of whole keys the first node is enough.
        if cut || self.nodes.is_empty() {
            self.nodes.push(node);
        }
    }

    fn end_group(&mut self) {
        let nodes = std::mem::take(&mut self.nodes);
        // Values whose keys were cut may differ behind the cut.
        if self.cut && nodes.len() > 1 {
            self.found.cut_alike.push(nodes);
        }
    }

    fn finish(mut self) -> Twice {
        self.end_group();
        self.found
    }
}
