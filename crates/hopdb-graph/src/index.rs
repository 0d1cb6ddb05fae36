//! Property indexes: key bytes of a value, then the node's id. Layout: `docs/file-format.md`, "Graph".
//!
//! A value whose key is longer than a key may be is cut, and its entry flagged: readers compare the stored
//! value again. Null is not indexed.

use hopdb_storage::View;
use hopdb_storage::codec::key::KeyWriter;
use hopdb_storage::codec::ordered;

use crate::catalog::{Catalog, IndexDefinition};
use crate::error::{GraphError, Result};
use crate::ids::{LabelId, NodeId};
use crate::keys;
use crate::record::PropertiesView;
use crate::value::Value;

/// Most bytes of a value's key: with the longest id behind it, it fits a quarter of the smallest page.
pub(crate) const KEY_BYTES_MAX: usize = 1024 - ordered::MAX_LEN;

/// Entry value of a whole key, and of a cut one.
const WHOLE: &[u8] = &[];
const CUT: &[u8] = &[1];

/// The key bytes of a value, and whether they were cut.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ValueKey {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cut: bool,
}

impl ValueKey {
    pub(crate) fn of(value: &Value) -> Self {
        let mut bytes = Vec::new();
        let mut writer = KeyWriter::new(&mut bytes);
        value.key(&mut writer);
        let (_, cut) = writer.cut(KEY_BYTES_MAX);
        Self { bytes, cut }
    }

    pub(crate) fn entry(&self, node: NodeId) -> Vec<u8> {
        let mut key = self.bytes.clone();
        ordered::put(&mut key, node.0);
        key
    }

    pub(crate) fn entry_value(&self) -> &'static [u8] {
        Self::stored_flag(self.cut)
    }

    /// The value of an entry, which says whether its key was cut.
    pub(crate) fn stored_flag(cut: bool) -> &'static [u8] {
        if cut { CUT } else { WHOLE }
    }
}

/// The key bytes of a value, however long: two values are equal in an index when these are.
pub(crate) fn whole_key(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.key(&mut KeyWriter::new(&mut bytes));
    bytes
}

/// An entry that a node should have.
#[derive(Clone, Debug)]
pub(crate) struct IndexEntry {
    pub(crate) index: IndexDefinition,
    pub(crate) key: ValueKey,
    pub(crate) value: Value,
}

impl IndexEntry {
    /// Whether one of `others` is the same entry. Cut keys may be equal where values differ: another value is
    /// another entry then, so that a unique index looks at it.
    pub(crate) fn is_in(&self, others: &[Self]) -> bool {
        others.iter().any(|other| {
            self.index.id == other.index.id
                && self.key == other.key
                && (!self.key.cut || self.value == other.value)
        })
    }
}

/// The entries that a node should have: one for each index over one of its labels and properties.
pub(crate) fn entries(
    catalog: &Catalog,
    labels: &[LabelId],
    properties: &PropertiesView<'_>,
) -> Result<Vec<IndexEntry>> {
    let mut entries = Vec::new();
    for index in &catalog.indexes {
        if labels.contains(&index.label)
            && let Some(stored) = properties.get(index.property)?
        {
            let value = Value::decode(stored)?;
            entries.push(IndexEntry { index: *index, key: ValueKey::of(&value), value });
        }
    }
    Ok(entries)
}

/// Nodes that an index has under a value's key, ascending; for a cut key these are candidates.
pub(crate) fn lookup<V: View>(
    view: &V,
    index: &IndexDefinition,
    key: &ValueKey,
) -> Result<Vec<NodeId>> {
    let mut nodes = Vec::new();
    let mut cursor = view.cursor(index.table);
    let mut more = cursor.seek(&key.bytes)?;
    while more {
        let Some(rest) = cursor.key().and_then(|found| found.strip_prefix(&key.bytes[..])) else {
            break;
        };
        // A whole key ends its value: what follows is the id. Behind a cut one the same holds, since a
        // longer value was cut at the same length.
        let Some(id) = keys::single(rest) else { break };
        nodes.push(NodeId(id));
        more = cursor.next()?;
    }
    Ok(nodes)
}

/// Most characters of a value in a message.
const SHOWN_CHARS_MAX: usize = 80;

/// What a unique index says to a second node with a value.
pub(crate) fn not_unique(
    catalog: &Catalog,
    index: &IndexDefinition,
    value: &Value,
    node: NodeId,
) -> GraphError {
    let name = |name: Option<&std::sync::Arc<str>>| name.map_or(String::new(), ToString::to_string);
    GraphError::NotUnique {
        label: name(catalog.label_name(index.label)),
        property: name(catalog.property_key_name(index.property)),
        value: shown(value),
        node,
    }
}

/// A value as Cypher writes it, or its beginning.
fn shown(value: &Value) -> String {
    let mut text = value.to_string();
    if let Some((end, _)) = text.char_indices().nth(SHOWN_CHARS_MAX) {
        text.truncate(end);
        text.push('…');
    }
    text
}
