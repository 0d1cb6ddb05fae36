//! What the keys and values of a graph's tables mean, with names from the catalog. Layout: `docs/file-format.md`,
//! "Graph".

use hopdb_storage::codec::key::{self, kind};
use hopdb_storage::inspect::{Fields, Meaning, PlainBytes};

use super::{blocks, records};
use crate::catalog::{
    Catalog, KIND_COUNTERS, KIND_INDEX, KIND_LABEL, KIND_PROPERTY_KEY, KIND_TYPE,
};
use crate::ids::{LabelId, PropertyKeyId, TypeId};
use crate::index::KEY_BYTES_MAX;
use crate::keys;

/// Most bytes of a text in an index key whose end is not there.
const TEXT_BYTES_MAX: usize = 40;

/// The meaning of a graph's tables as of one catalog.
#[derive(Clone, Copy)]
pub(super) struct GraphMeaning<'c> {
    pub(super) catalog: &'c Catalog,
}

/// Names of key fields whose values say enough alone.
const SPEAKING: [&str; 6] = ["side", "type", "first neighbour", "label", "value", "what"];

impl GraphMeaning<'_> {
    pub(super) fn label_name(&self, id: u64) -> String {
        let name = u32::try_from(id).ok().and_then(|id| self.catalog.label_name(LabelId(id)));
        name.map_or_else(|| format!("label {id}, which has no name"), ToString::to_string)
    }

    pub(super) fn type_name(&self, id: u64) -> String {
        let name = u32::try_from(id).ok().and_then(|id| self.catalog.type_name(TypeId(id)));
        name.map_or_else(|| format!("type {id}, which has no name"), ToString::to_string)
    }

    pub(super) fn property_key_name(&self, id: u64) -> String {
        let id32 = u32::try_from(id).ok();
        let name = id32.and_then(|id| self.catalog.property_key_name(PropertyKeyId(id)));
        name.map_or_else(|| format!("property key {id}, which has no name"), ToString::to_string)
    }

    fn adjacency_key(&self, key: &mut Fields<'_>) -> Option<()> {
        key.ordered("node", plain)?;
        key.ordered("side", |side| match side {
            0 => "out".into(),
            1 => "in".into(),
            other => format!("side {other}, which there is not"),
        })?;
        key.ordered("type", |id| self.type_name(id))?;
        key.ordered("first neighbour", |node| format!("node {node}"))?;
        key.ordered("first relationship", plain)?;
        Some(())
    }

    fn catalog_value(&self, key: &[u8], value: &mut Fields<'_>) -> Option<()> {
        let kind = hopdb_storage::codec::ordered::get(key, &mut 0);
        match kind {
            Some(KIND_LABEL | KIND_TYPE | KIND_PROPERTY_KEY) => {
                let what = match kind {
                    Some(KIND_LABEL) => "nodes with it",
                    Some(KIND_TYPE) => "relationships of it",
                    _ => "not counted",
                };
                value.varint(what, plain)?;
                value.take_rest("name", String::from_utf8_lossy(value.rest()));
            }
            Some(KIND_INDEX) => {
                value.varint("label", |id| self.label_name(id))?;
                value.varint("unique", |unique| if unique == 1 { "yes" } else { "no" }.into())?;
                value.varint("properties", plain)?;
                value.varint("property key", |id| self.property_key_name(id))?;
            }
            Some(KIND_COUNTERS) => {
                for name in
                    ["next node", "next relationship", "nodes", "relationships", "next index"]
                {
                    value.varint(name, plain)?;
                }
            }
            _ => value.give_up("no entry of the catalog has such a key"),
        }
        Some(())
    }
}

fn plain(number: u64) -> String {
    number.to_string()
}

fn catalog_key(key: &mut Fields<'_>) -> Option<()> {
    key.ordered("what", |kind| {
        match kind {
            KIND_LABEL => "label",
            KIND_TYPE => "relationship type",
            KIND_PROPERTY_KEY => "property key",
            KIND_INDEX => "index",
            KIND_COUNTERS => "counts",
            _ => "unknown",
        }
        .into()
    })?;
    key.ordered("id", plain)?;
    Some(())
}

fn index_key(key: &mut Fields<'_>) -> Option<()> {
    let bytes = key.rest();
    let mut end = 0;
    if key::skip(bytes, &mut end).is_ok() {
        key.take(end, "value", key::describe(&bytes[..end]))?;
    } else if !key.goes_on() && bytes.len() > KEY_BYTES_MAX {
        let text = format!("{}, cut at {KEY_BYTES_MAX} bytes", beginning(bytes));
        key.take(KEY_BYTES_MAX, "value", text)?;
    } else if key.goes_on() {
        key.take_rest("value", beginning(bytes));
        return None;
    } else {
        key.give_up("no value that an index can have begins so");
        return None;
    }
    key.ordered("node", plain)?;
    Some(())
}

/// A value's key whose end is not there.
fn beginning(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(TEXT_BYTES_MAX)];
    match shown.split_first() {
        Some((&kind::STRING, text)) => {
            let text = String::from_utf8_lossy(text);
            format!("\"{}…", text.trim_end_matches(char::REPLACEMENT_CHARACTER))
        }
        _ => format!("{}…", hopdb_storage::inspect::Hex(shown.to_vec())),
    }
}

impl Meaning for GraphMeaning<'_> {
    fn key(&self, table: &str, key: &mut Fields<'_>) {
        let _all = match table {
            keys::CATALOG => catalog_key(key),
            keys::NODES => key.ordered("node", plain).map(drop),
            keys::ADJACENCY => self.adjacency_key(key),
            keys::RELATIONSHIPS => key.ordered("first relationship", plain).map(drop),
            keys::RELATIONSHIP_PROPERTIES => key.ordered("relationship", plain).map(drop),
            keys::LABELS => {
                let label = key.ordered("label", |id| self.label_name(id));
                label.and_then(|_| key.ordered("node", plain)).map(drop)
            }
            _ if is_index(table) => index_key(key),
            _ => return PlainBytes.key(table, key),
        };
    }

    fn value(&self, table: &str, key: &[u8], value: &mut Fields<'_>) {
        match table {
            keys::CATALOG => drop(self.catalog_value(key, value)),
            keys::NODES => records::node_record(self, value),
            keys::ADJACENCY => blocks::adjacency(key, value),
            keys::RELATIONSHIPS => blocks::relationships(self, key, value),
            keys::RELATIONSHIP_PROPERTIES => records::properties(self, value),
            keys::LABELS => {}
            _ if is_index(table) => {
                if value.rest() == [1] {
                    value.take_rest("cut", "the key has only the beginning of the value");
                }
            }
            _ => PlainBytes.value(table, key, value),
        }
    }

    fn key_text(&self, table: &str, key: &[u8], cut: bool) -> String {
        let mut fields = Fields::of(key, cut);
        self.key(table, &mut fields);
        let part = |field: hopdb_storage::inspect::Field| match SPEAKING.contains(&&*field.name) {
            true => field.value,
            // Which first is meant is plain in a line.
            false => format!("{} {}", field.name.trim_start_matches("first "), field.value),
        };
        let parts: Vec<String> = fields.finish().into_iter().map(part).collect();
        parts.join(", ")
    }

    fn value_text(&self, table: &str, key: &[u8], value: &[u8]) -> String {
        match table {
            keys::NODES => records::node_text(self, value),
            keys::ADJACENCY => blocks::adjacency_text(value),
            keys::RELATIONSHIPS => blocks::relationships_text(value),
            keys::RELATIONSHIP_PROPERTIES => records::properties_text(self, value),
            _ => {
                let mut fields = Fields::of(value, false);
                self.value(table, key, &mut fields);
                let fields = fields.finish().into_iter();
                let parts: Vec<String> =
                    fields.map(|f| format!("{} {}", f.name, f.value)).collect();
                parts.join(", ")
            }
        }
    }
}

fn is_index(table: &str) -> bool {
    table.starts_with("index.")
}
