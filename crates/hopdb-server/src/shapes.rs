//! Nodes, relationships and names as the API shows them.
//!
//! Ids are strings: 64-bit numbers do not survive every JSON reader. In lists a node is a summary, in which large
//! values are cut; alone it is whole.

use std::sync::Arc;

use hopdb::kv::View;
use hopdb::load::names;
use hopdb::{
    Adjacent, Catalog, Coordinates, Direction, GraphError, IndexDefinition, NodeId, Reader,
    RelationshipId, TypeId, Value, Vector,
};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::failure::{Code, Failure};
use crate::values::Json;
use crate::work::Stop;

/// Most properties of a summary.
const PROPERTIES_MAX: usize = 16;
/// Most characters of a string, and bytes of a byte string, in a summary.
const LENGTH_MAX: usize = 256;
/// Most items of a list, with those of lists and vectors in it, and coordinates of a vector, in a summary.
const ITEMS_MAX: usize = 16;
/// Most names that a hint lists.
const LISTED_MAX: usize = 20;

/// Properties, as an object.
pub(crate) struct Properties(Vec<(Arc<str>, Value)>);

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = to.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            object.serialize_entry(key, &Json(value))?;
        }
        object.end()
    }
}

/// A value of its own.
pub(crate) struct Plain(pub(crate) Value);

impl Serialize for Plain {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Json(&self.0).serialize(to)
    }
}

fn as_text<S: Serializer>(id: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(id)
}

/// A node in a list.
#[derive(serde::Serialize)]
pub(crate) struct NodeSummary {
    #[serde(serialize_with = "as_text")]
    id: u64,
    labels: Vec<Arc<str>>,
    properties: Properties,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

/// How many relationships of a type a node has on a side.
#[derive(serde::Serialize)]
pub(crate) struct DegreeOfType {
    #[serde(rename = "type")]
    type_name: Arc<str>,
    direction: &'static str,
    count: u64,
}

/// A node alone.
#[derive(serde::Serialize)]
pub(crate) struct WholeNode {
    #[serde(serialize_with = "as_text")]
    id: u64,
    labels: Vec<Arc<str>>,
    properties: Properties,
    degrees: Vec<DegreeOfType>,
}

/// A relationship in a list.
#[derive(serde::Serialize)]
pub(crate) struct RelationshipEnds {
    #[serde(serialize_with = "as_text")]
    id: u64,
    #[serde(rename = "type")]
    type_name: Arc<str>,
    #[serde(serialize_with = "as_text")]
    start: u64,
    #[serde(serialize_with = "as_text")]
    end: u64,
}

/// A relationship alone.
#[derive(serde::Serialize)]
pub(crate) struct WholeRelationship {
    #[serde(flatten)]
    ends: RelationshipEnds,
    properties: Properties,
}

/// `out` or `in`.
pub(crate) fn side(outgoing: bool) -> &'static str {
    if outgoing { "out" } else { "in" }
}

/// Which relationships one [`DegreeOfType`] counts.
pub(crate) fn direction(outgoing: bool) -> Direction {
    if outgoing { Direction::Outgoing } else { Direction::Incoming }
}

/// A whole node.
pub(crate) fn whole_node<V: View>(reader: Reader<'_, V>, id: NodeId) -> Result<WholeNode, Failure> {
    let node = reader.node(id)?.ok_or(GraphError::NodeMissing(id))?;
    let mut degrees = Vec::new();
    for degree in reader.degrees(id)? {
        let type_name = type_name(reader.catalog(), degree.type_id)?;
        let direction = side(degree.outgoing);
        degrees.push(DegreeOfType { type_name, direction, count: degree.relationships });
    }
    let properties = Properties(node.properties);
    Ok(WholeNode { id: id.0, labels: node.labels, properties, degrees })
}

/// A node, shortened.
pub(crate) fn summary<V: View>(reader: Reader<'_, V>, id: NodeId) -> Result<NodeSummary, Failure> {
    let node = reader.node(id)?.ok_or(GraphError::NodeMissing(id))?;
    let mut cut = node.properties.len() > PROPERTIES_MAX;
    let shown = node.properties.into_iter().take(PROPERTIES_MAX);
    let shown = shown.map(|(key, value)| (key, shortened(value, &mut cut))).collect();
    Ok(NodeSummary { id: id.0, labels: node.labels, properties: Properties(shown), cut })
}

/// Summaries of distinct nodes, in the order in which they come first. An error when nobody waits for them any longer.
pub(crate) fn summaries<V: View>(
    reader: Reader<'_, V>,
    ids: impl IntoIterator<Item = NodeId>,
    stop: &Stop,
) -> Result<Vec<NodeSummary>, Failure> {
    let mut seen = std::collections::HashSet::new();
    let distinct = ids.into_iter().filter(|id| seen.insert(*id));
    distinct.map(|id| stop.check().and_then(|()| summary(reader, id))).collect()
}

/// A relationship that was found at one of its nodes.
pub(crate) fn ends(
    catalog: &Catalog,
    node: NodeId,
    adjacent: &Adjacent,
) -> Result<RelationshipEnds, Failure> {
    let Adjacent { relationship, type_id, neighbour, outgoing } = *adjacent;
    let (start, end) = if outgoing { (node, neighbour) } else { (neighbour, node) };
    let type_name = type_name(catalog, type_id)?;
    Ok(RelationshipEnds { id: relationship.0, type_name, start: start.0, end: end.0 })
}

/// A whole relationship.
pub(crate) fn whole_relationship<V: View>(
    reader: Reader<'_, V>,
    id: RelationshipId,
) -> Result<WholeRelationship, Failure> {
    let found = reader.relationship(id)?.ok_or(GraphError::RelationshipMissing(id))?;
    let ends = RelationshipEnds {
        id: id.0,
        type_name: found.relationship_type,
        start: found.start.0,
        end: found.end.0,
    };
    Ok(WholeRelationship { ends, properties: Properties(found.properties) })
}

fn type_name(catalog: &Catalog, id: TypeId) -> Result<Arc<str>, Failure> {
    let missing = || Failure::new(Code::Damaged, format!("type {id} has no name"));
    catalog.type_name(id).cloned().ok_or_else(missing)
}

/// The relationship type that is asked for; none when none is.
pub(crate) fn wanted_type(
    catalog: &Catalog,
    name: Option<&str>,
) -> Result<Option<TypeId>, Failure> {
    let Some(name) = name else { return Ok(None) };
    match catalog.relationship_type(name) {
        Some(id) => Ok(Some(id)),
        None => {
            let known = catalog.relationship_types().map(|(name, _)| name.to_string());
            Err(unknown("relationship type", name, known.collect()))
        }
    }
}

/// Something that is asked for by a name that nothing has.
pub(crate) fn unknown(what: &str, name: &str, mut known: Vec<String>) -> Failure {
    let shown: String = name.chars().take(100).collect();
    let failure = Failure::new(Code::NotFound, format!("there is no {what} {shown:?}"));
    known.sort_unstable();
    let more = known.len().saturating_sub(LISTED_MAX);
    known.truncate(LISTED_MAX);
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    match known.is_empty() {
        true => failure.hint(format!("the database has no {what} at all")),
        false => failure.hint(format!("there are: {}{more}", known.join(", "))),
    }
}

/// An index as users write it: `Label.property`, with backquotes where they are needed.
pub(crate) fn index_name(catalog: &Catalog, index: &IndexDefinition) -> String {
    let mut text = String::new();
    let delimiters = ['.', ':', '='];
    let label = catalog.label_name(index.label).map_or("?", AsRef::as_ref);
    names::write_name(label, &delimiters, &mut text);
    text.push('.');
    let property = catalog.property_key_name(index.property).map_or("?", AsRef::as_ref);
    names::write_name(property, &delimiters, &mut text);
    text
}

/// The value, or its beginning; `cut` is set when something is left out.
pub(crate) fn shortened(value: Value, cut: &mut bool) -> Value {
    shortened_to(value, &mut ITEMS_MAX.clone(), cut)
}

/// The same with `items` left for the whole value, those of lists within lists included.
fn shortened_to(value: Value, items: &mut usize, cut: &mut bool) -> Value {
    match value {
        Value::String(mut text) => {
            if let Some((end, _)) = text.char_indices().nth(LENGTH_MAX) {
                text.truncate(end);
                *cut = true;
            }
            Value::String(text)
        }
        Value::Bytes(mut bytes) => {
            *cut |= bytes.len() > LENGTH_MAX;
            bytes.truncate(LENGTH_MAX);
            Value::Bytes(bytes)
        }
        Value::List(values) => {
            let mut shown = Vec::new();
            for value in values {
                let Some(left) = items.checked_sub(1) else {
                    *cut = true;
                    break;
                };
                *items = left;
                shown.push(shortened_to(value, items, cut));
            }
            Value::List(shown)
        }
        Value::Vector(vector) => {
            // A vector has one coordinate at least.
            let most = (*items).max(1);
            let dimensions = vector.dimensions();
            *items = items.saturating_sub(dimensions);
            *cut |= dimensions > most;
            let shown = if dimensions > most { first_coordinates(vector, most) } else { vector };
            Value::Vector(shown)
        }
        other => other,
    }
}

fn first_coordinates(vector: Vector, most: usize) -> Vector {
    let mut coordinates = vector.coordinates().clone();
    match &mut coordinates {
        Coordinates::Integer8(values) => values.truncate(most),
        Coordinates::Integer16(values) => values.truncate(most),
        Coordinates::Integer32(values) => values.truncate(most),
        Coordinates::Integer64(values) => values.truncate(most),
        Coordinates::Float32(values) => values.truncate(most),
        Coordinates::Float64(values) => values.truncate(most),
    }
    // A part of a vector that is not empty is one.
    Vector::new(coordinates).unwrap_or(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(value: impl Into<Value>) -> (Value, bool) {
        let mut cut = false;
        let value = shortened(value.into(), &mut cut);
        (value, cut)
    }

    #[test]
    fn large_values_are_cut() {
        assert_eq!(cut("é".repeat(256)), (Value::from("é".repeat(256)), false));
        assert_eq!(cut("é".repeat(257)), (Value::from("é".repeat(256)), true));
        assert_eq!(cut(vec![1_u8; 300]), (Value::Bytes(vec![1; 256]), true));
        let list = |items: usize| Value::List(vec![1.into(); items]);
        assert_eq!(cut(list(16)), (list(16), false));
        assert_eq!(cut(list(17)), (list(16), true));
        // What is in lists in lists counts as well.
        assert_eq!(cut(vec![list(17), "x".into()]), (Value::List(vec![list(15)]), true));
        assert_eq!(cut(vec![list(5), list(5)]), (Value::List(vec![list(5), list(5)]), false));
        let deep = Value::List(vec![Value::List(vec![list(16); 16]); 16]);
        let (deep, true) = cut(deep) else { panic!("lists in lists are cut") };
        assert!(deep.to_string().len() < 100, "{deep}");
        let vector = Vector::new(Coordinates::Float32(vec![1.0; 17])).unwrap();
        let (Value::Vector(vector), true) = cut(vector) else { panic!("vectors are cut") };
        assert_eq!(vector.dimensions(), 16);
    }
}
