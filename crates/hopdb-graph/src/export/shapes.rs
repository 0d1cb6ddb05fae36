//! What a graph holds, found by one pass over it: which sets of labels, and of which kinds the values are that nodes
//! with these labels, or relationships of a type, have under each key.
//!
//! Memory is bounded by how many sets of labels get a file of their own, and how many kinds a key gets columns
//! for: what is beyond shares one file, and one column of any values.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::format::RowFormat;
use super::kinds::Kind;
use super::progress::Progress;
use super::rows;
use crate::catalog::Catalog;
use crate::error::Result;
use crate::graph::Snapshot;
use crate::ids::{LabelId, PropertyKeyId, TypeId};
use crate::record::PropertiesView;
use crate::value::Value;

/// A key with more kinds of values gets one column for all.
const KINDS_MAX: usize = 16;

/// What a graph holds.
#[derive(Debug)]
pub(super) struct Shapes {
    /// By the file that they go to; the last may be for all that have none of their own.
    pub(super) nodes: Vec<NodeShape>,
    pub(super) node_of: FxHashMap<Vec<LabelId>, usize>,
    pub(super) relationships: Vec<RelationshipShape>,
    pub(super) relationship_of: FxHashMap<TypeId, usize>,
}

/// Nodes of one file.
#[derive(Debug)]
pub(super) struct NodeShape {
    /// The labels of all; `None` when they differ.
    pub(super) labels: Option<Vec<LabelId>>,
    pub(super) properties: Properties,
}

/// Relationships of one file.
#[derive(Debug)]
pub(super) struct RelationshipShape {
    /// The type of all; `None` when they differ.
    pub(super) type_id: Option<TypeId>,
    pub(super) properties: Properties,
}

/// The kinds of values of each key.
pub(super) type Properties = BTreeMap<PropertyKeyId, Vec<Found>>;

/// A kind that some value has.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) type_text: String,
    /// Whether the format holds all of them as they are.
    pub(super) fits: bool,
}

impl Shapes {
    /// Those of all nodes and relationships.
    pub(super) fn of(
        snapshot: &Snapshot,
        format: &dyn RowFormat,
        progress: &Progress,
    ) -> Result<Self> {
        let mut shapes = Self::new(snapshot.reader().catalog(), format.files_max());
        let own_max = format.files_max().saturating_sub(1);
        let mut labels = Vec::new();
        rows::for_each_node(snapshot, |_, record| {
            labels.clear();
            labels.extend(record.labels());
            let position = shapes.node_shape(&labels, own_max);
            see(&mut shapes.nodes[position].properties, record.properties(), format)?;
            progress.count_node()
        })?;
        rows::for_each_relationship(snapshot, |row, properties| {
            let position = shapes.relationship_shape(row.type_id);
            see(&mut shapes.relationships[position].properties, properties, format)?;
            progress.count_relationship()
        })?;
        Ok(shapes)
    }

    /// Nothing is seen yet; the most common types have files of their own.
    fn new(catalog: &Catalog, files_max: usize) -> Self {
        let types = (0..).map(TypeId).zip(catalog.relationship_types());
        let mut types: Vec<(u64, TypeId)> =
            types.filter_map(|(id, (_, count))| (count > 0).then_some((count, id))).collect();
        let has_rest = types.len() > files_max;
        if has_rest {
            types.sort_by_key(|(count, id)| (std::cmp::Reverse(*count), *id));
            types.truncate(files_max.saturating_sub(1));
            types.sort_by_key(|(_, id)| *id);
        }
        let types: Vec<TypeId> = types.into_iter().map(|(_, id)| id).collect();
        let rest = has_rest.then_some(None);
        let shapes = types.iter().copied().map(Some).chain(rest);
        let shape = |type_id| RelationshipShape { type_id, properties: Properties::new() };
        Self {
            nodes: Vec::new(),
            node_of: FxHashMap::default(),
            relationships: shapes.map(shape).collect(),
            relationship_of: types.into_iter().zip(0..).collect(),
        }
    }

    fn node_shape(&mut self, labels: &[LabelId], own_max: usize) -> usize {
        if let Some(position) = self.node_of.get(labels) {
            return *position;
        }
        let is_own = self.node_of.len() < own_max;
        if is_own || self.nodes.len() == self.node_of.len() {
            let labels = is_own.then(|| labels.to_vec());
            self.nodes.push(NodeShape { labels, properties: Properties::new() });
        }
        let position = self.nodes.len() - 1;
        if is_own {
            self.node_of.insert(labels.to_vec(), position);
        }
        position
    }

    fn relationship_shape(&self, type_id: TypeId) -> usize {
        let last = self.relationships.len() - 1;
        self.relationship_of.get(&type_id).copied().unwrap_or(last)
    }
}

fn see(
    properties: &mut Properties,
    seen: PropertiesView<'_>,
    format: &dyn RowFormat,
) -> Result<()> {
    for (key, stored) in seen.iter()? {
        let value = Value::decode(stored)?;
        see_value(properties.entry(key).or_default(), &value, format);
    }
    Ok(())
}

fn see_value(found: &mut Vec<Found>, value: &Value, format: &dyn RowFormat) {
    let known = |kind| found.iter().position(|found: &Found| found.kind == kind);
    let mut kind = Kind::of(value);
    if known(kind).is_none() && found.len() >= KINDS_MAX {
        kind = Kind::Any;
    }
    if let Some(position) = known(kind) {
        let found = &mut found[position];
        found.fits = found.fits && format.fits(&found.type_text, value);
        return;
    }
    let type_text = kind.type_text();
    let fits = format.fits(&type_text, value);
    found.push(Found { kind, type_text, fits });
}
