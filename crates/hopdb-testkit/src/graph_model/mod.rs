//! The graph as plain maps: what every change must come to. [`GraphModel::assert_like`] holds it against a
//! real one.
//!
//! Written to be obviously right, not fast: unique values are found by looking at every node. It shares
//! nothing with the graph layer but ids and values. A change is refused before anything is changed.

mod compare;

use std::collections::{BTreeMap, BTreeSet};

use hopdb_graph::GraphError;
use hopdb_graph::ids::{NodeId, RelationshipId};
use hopdb_graph::value::{Coordinates, DateTime, Value};

/// Properties by key.
pub type Properties = BTreeMap<String, Value>;

/// A node of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelNode {
    /// Its labels.
    pub labels: BTreeSet<String>,
    /// Its properties, none of them null.
    pub properties: Properties,
}

/// A relationship of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRelationship {
    /// The node it starts at.
    pub start: NodeId,
    /// The node it ends at.
    pub end: NodeId,
    /// Its type.
    pub relationship_type: String,
    /// Its properties, none of them null.
    pub properties: Properties,
}

/// Why a change is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such node.
    NodeMissing,
    /// There is no such relationship.
    RelationshipMissing,
    /// The node has relationships.
    NodeHasRelationships,
    /// A unique index has the value.
    NotUnique,
    /// There is such an index.
    IndexExists,
    /// There is no such index.
    IndexMissing,
}

impl Refusal {
    /// The same refusal as the graph layer says it; `None` for any other error.
    #[must_use]
    pub fn of(error: &GraphError) -> Option<Self> {
        match error {
            GraphError::NodeMissing(_) => Some(Self::NodeMissing),
            GraphError::RelationshipMissing(_) => Some(Self::RelationshipMissing),
            GraphError::NodeHasRelationships(_) => Some(Self::NodeHasRelationships),
            GraphError::NotUnique { .. } => Some(Self::NotUnique),
            GraphError::IndexExists { .. } => Some(Self::IndexExists),
            GraphError::IndexMissing { .. } => Some(Self::IndexMissing),
            _ => None,
        }
    }
}

/// A graph in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphModel {
    nodes: BTreeMap<NodeId, ModelNode>,
    relationships: BTreeMap<RelationshipId, ModelRelationship>,
    /// Whether it is unique, by label and property.
    indexes: BTreeMap<(String, String), bool>,
    next_node: u64,
    next_relationship: u64,
}

impl GraphModel {
    /// The nodes.
    #[must_use]
    pub fn nodes(&self) -> &BTreeMap<NodeId, ModelNode> {
        &self.nodes
    }

    /// The relationships.
    #[must_use]
    pub fn relationships(&self) -> &BTreeMap<RelationshipId, ModelRelationship> {
        &self.relationships
    }

    /// Whether each index is unique, by label and property.
    #[must_use]
    pub fn indexes(&self) -> &BTreeMap<(String, String), bool> {
        &self.indexes
    }

    /// Makes a node.
    ///
    /// # Errors
    /// [`Refusal::NotUnique`].
    pub fn create_node(
        &mut self,
        labels: &[&str],
        properties: &[(&str, Value)],
    ) -> Result<NodeId, Refusal> {
        let id = NodeId(self.next_node);
        let mut node = ModelNode::default();
        node.labels.extend(labels.iter().map(ToString::to_string));
        for (key, value) in properties {
            set(&mut node.properties, key, value);
        }
        self.put_node(id, node)?;
        self.next_node += 1;
        Ok(id)
    }

    /// Sets a property of a node; null removes it.
    ///
    /// # Errors
    /// [`Refusal::NodeMissing`], [`Refusal::NotUnique`].
    pub fn set_property(&mut self, id: NodeId, key: &str, value: &Value) -> Result<(), Refusal> {
        let mut node = self.node(id)?;
        set(&mut node.properties, key, value);
        self.put_node(id, node)
    }

    /// Gives a node a label.
    ///
    /// # Errors
    /// [`Refusal::NodeMissing`], [`Refusal::NotUnique`].
    pub fn add_label(&mut self, id: NodeId, label: &str) -> Result<(), Refusal> {
        let mut node = self.node(id)?;
        node.labels.insert(label.into());
        self.put_node(id, node)
    }

    /// Takes a label from a node.
    ///
    /// # Errors
    /// [`Refusal::NodeMissing`].
    pub fn remove_label(&mut self, id: NodeId, label: &str) -> Result<(), Refusal> {
        let mut node = self.node(id)?;
        node.labels.remove(label);
        self.put_node(id, node)
    }

    /// Deletes a node that has no relationships.
    ///
    /// # Errors
    /// [`Refusal::NodeMissing`], [`Refusal::NodeHasRelationships`].
    pub fn delete_node(&mut self, id: NodeId) -> Result<(), Refusal> {
        if self.relationships.values().any(|row| row.start == id || row.end == id) {
            return Err(Refusal::NodeHasRelationships);
        }
        self.nodes.remove(&id).map(drop).ok_or(Refusal::NodeMissing)
    }

    /// Deletes a node and all its relationships.
    ///
    /// # Errors
    /// [`Refusal::NodeMissing`].
    pub fn detach_delete_node(&mut self, id: NodeId) -> Result<(), Refusal> {
        self.relationships.retain(|_, row| row.start != id && row.end != id);
        self.nodes.remove(&id).map(drop).ok_or(Refusal::NodeMissing)
    }

    /// Makes a relationship.
    ///
    /// # Errors
    /// [`Refusal::NodeMissing`].
    pub fn create_relationship(
        &mut self,
        start: NodeId,
        relationship_type: &str,
        end: NodeId,
        properties: &[(&str, Value)],
    ) -> Result<RelationshipId, Refusal> {
        self.node(start)?;
        self.node(end)?;
        let id = RelationshipId(self.next_relationship);
        self.next_relationship += 1;
        let mut row = ModelRelationship {
            start,
            end,
            relationship_type: relationship_type.into(),
            properties: Properties::new(),
        };
        for (key, value) in properties {
            set(&mut row.properties, key, value);
        }
        self.relationships.insert(id, row);
        Ok(id)
    }

    /// Sets a property of a relationship; null removes it.
    ///
    /// # Errors
    /// [`Refusal::RelationshipMissing`].
    pub fn set_relationship_property(
        &mut self,
        id: RelationshipId,
        key: &str,
        value: &Value,
    ) -> Result<(), Refusal> {
        let row = self.relationships.get_mut(&id).ok_or(Refusal::RelationshipMissing)?;
        set(&mut row.properties, key, value);
        Ok(())
    }

    /// Deletes a relationship.
    ///
    /// # Errors
    /// [`Refusal::RelationshipMissing`].
    pub fn delete_relationship(&mut self, id: RelationshipId) -> Result<(), Refusal> {
        self.relationships.remove(&id).map(drop).ok_or(Refusal::RelationshipMissing)
    }

    /// Makes an index.
    ///
    /// # Errors
    /// [`Refusal::IndexExists`], [`Refusal::NotUnique`].
    pub fn create_index(
        &mut self,
        label: &str,
        property: &str,
        unique: bool,
    ) -> Result<(), Refusal> {
        let name = (label.to_string(), property.to_string());
        if self.indexes.contains_key(&name) {
            return Err(Refusal::IndexExists);
        }
        let values: Vec<&Value> = self.values(label, property).map(|(_, value)| value).collect();
        let twice = |at: usize| values[..at].iter().any(|other| same_place(other, values[at]));
        if unique && (0..values.len()).any(twice) {
            return Err(Refusal::NotUnique);
        }
        self.indexes.insert(name, unique);
        Ok(())
    }

    /// Removes an index.
    ///
    /// # Errors
    /// [`Refusal::IndexMissing`].
    pub fn drop_index(&mut self, label: &str, property: &str) -> Result<(), Refusal> {
        let name = (label.to_string(), property.to_string());
        self.indexes.remove(&name).map(drop).ok_or(Refusal::IndexMissing)
    }

    /// The nodes with a label whose property is in the same place of the order as a value, ascending.
    #[must_use]
    pub fn find(&self, label: &str, property: &str, value: &Value) -> Vec<NodeId> {
        let found = self.values(label, property).filter(|(_, other)| same_place(other, value));
        found.map(|(id, _)| id).collect()
    }

    /// Values of a property among the nodes with a label.
    fn values<'m>(
        &'m self,
        label: &'m str,
        property: &'m str,
    ) -> impl Iterator<Item = (NodeId, &'m Value)> {
        let labelled = self.nodes.iter().filter(move |(_, node)| node.labels.contains(label));
        labelled.filter_map(move |(id, node)| Some((*id, node.properties.get(property)?)))
    }

    fn node(&self, id: NodeId) -> Result<ModelNode, Refusal> {
        self.nodes.get(&id).cloned().ok_or(Refusal::NodeMissing)
    }

    fn put_node(&mut self, id: NodeId, node: ModelNode) -> Result<(), Refusal> {
        for (label, property) in self.indexes.iter().filter(|(_, unique)| **unique).map(|(n, _)| n)
        {
            if node.labels.contains(label)
                && let Some(value) = node.properties.get(property)
                && self.find(label, property, value).iter().any(|other| *other != id)
            {
                return Err(Refusal::NotUnique);
            }
        }
        self.nodes.insert(id, node);
        Ok(())
    }
}

fn set(properties: &mut Properties, key: &str, value: &Value) {
    if value.is_null() {
        properties.remove(key);
    } else {
        properties.insert(key.into(), value.clone());
    }
}

/// Whether two values are in one place of Cypher's order: numbers across their types, both zeros (in points and
/// vectors too), all NaNs, date-times that differ in the zone's name alone.
#[must_use]
pub fn same_place(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Integer(a), Value::Float(b)) | (Value::Float(b), Value::Integer(a)) => {
            same_number(*a, *b)
        }
        (Value::Float(a), Value::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_place(a, b))
        }
        (Value::DateTime(a), Value::DateTime(b)) => {
            let place = |of: &DateTime| (of.epoch_seconds(), of.nanos(), of.offset_seconds());
            place(a) == place(b)
        }
        (Value::Point(a), Value::Point(b)) => {
            a.crs() == b.crs() && a.coordinates() == b.coordinates()
        }
        (Value::Vector(a), Value::Vector(b)) => match (a.coordinates(), b.coordinates()) {
            (Coordinates::Float32(a), Coordinates::Float32(b)) => a == b,
            (Coordinates::Float64(a), Coordinates::Float64(b)) => a == b,
            _ => a == b,
        },
        _ => a == b,
    }
}

/// Exact: no integer is rounded to a float.
fn same_number(integer: i64, float: f64) -> bool {
    // -2^63, and 2^63, below which every whole float is an integer.
    let range = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
    #[expect(clippy::cast_possible_truncation, reason = "a whole number in the range of integers")]
    let whole = || float as i64;
    float.fract() == 0.0 && range.contains(&float) && whole() == integer
}
