//! A model against a graph: everything that can be read, in every way it can be read.

use std::collections::{BTreeMap, BTreeSet};

use hopdb_graph::ids::{Direction, NodeId, RelationshipId, TypeId};
use hopdb_graph::value::Value;
use hopdb_graph::{Adjacent, IndexHit, Part, Reader, Wanted};
use hopdb_storage::View;

use super::{GraphModel, Properties};

/// Values of a property that are looked for where there is no index.
const SCANS_MAX: usize = 2;

/// What a node sees of its relationships: type, neighbour, relationship, by side.
type Seen = BTreeSet<(TypeId, NodeId, RelationshipId)>;

impl GraphModel {
    /// Panics when `reader` gives anything else than the model has.
    ///
    /// # Panics
    /// See above; also on an error.
    pub fn assert_like<V: View>(&self, reader: Reader<'_, V>) {
        self.assert_nodes(reader);
        self.assert_relationships(reader);
        self.assert_adjacency(reader);
        self.assert_degrees(reader);
        self.assert_counts(reader);
        self.assert_found(reader);
        self.assert_index_parts(reader);
    }

    fn assert_nodes<V: View>(&self, reader: Reader<'_, V>) {
        let mut found = Vec::new();
        let walked = reader.for_each_node(|id| {
            found.push(id);
            Ok(())
        });
        walked.expect("nodes are walked");
        assert!(found.iter().eq(self.nodes.keys()), "node ids: {found:?}");
        for id in (0..=self.next_node).map(NodeId) {
            let node = reader.node(id).expect("a node is read");
            assert_eq!(reader.has_node(id).expect("a node is looked for"), node.is_some());
            let Some(expected) = self.nodes.get(&id) else {
                assert_eq!(node, None, "node {id} was deleted");
                continue;
            };
            let node = node.unwrap_or_else(|| panic!("node {id} is missing"));
            let labels: BTreeSet<String> = node.labels.iter().map(ToString::to_string).collect();
            assert_eq!(labels.len(), node.labels.len(), "node {id} has a label twice");
            assert_eq!(labels, expected.labels, "labels of node {id}");
            assert_same_properties(&node.properties, &expected.properties, &format!("node {id}"));
            for key in reader.catalog().property_keys() {
                let key_id = reader.catalog().property_key(key).expect("a listed key has an id");
                let value = reader.property(id, key_id).expect("a property is read");
                assert_eq!(value.as_ref(), expected.properties.get(&**key), "node {id}: {key}");
            }
        }
    }

    fn assert_relationships<V: View>(&self, reader: Reader<'_, V>) {
        let mut found = Vec::new();
        let walked = reader.for_each_relationship(|id, row| {
            found.push((id, row.start, row.end));
            Ok(())
        });
        walked.expect("relationships are walked");
        let expected = self.relationships.iter().map(|(id, row)| (*id, row.start, row.end));
        assert!(found.iter().copied().eq(expected), "relationships: {found:?}");
        for id in (0..=self.next_relationship).map(RelationshipId) {
            let found = reader.relationship(id).expect("a relationship is read");
            let Some(expected) = self.relationships.get(&id) else {
                assert_eq!(found, None, "relationship {id} was deleted");
                continue;
            };
            let found = found.unwrap_or_else(|| panic!("relationship {id} is missing"));
            assert_eq!((found.start, found.end), (expected.start, expected.end), "ends of {id}");
            assert_eq!(*found.relationship_type, *expected.relationship_type, "type of {id}");
            let what = format!("relationship {id}");
            assert_same_properties(&found.properties, &expected.properties, &what);
        }
    }

    fn assert_adjacency<V: View>(&self, reader: Reader<'_, V>) {
        let type_id = |name: &str| {
            let id = reader.catalog().relationship_type(name);
            id.unwrap_or_else(|| panic!("the type {name} has no id"))
        };
        let mut sides: BTreeMap<(NodeId, bool), Seen> = BTreeMap::new();
        for (id, row) in &self.relationships {
            let type_id = type_id(&row.relationship_type);
            sides.entry((row.start, true)).or_default().insert((type_id, row.end, *id));
            sides.entry((row.end, false)).or_default().insert((type_id, row.start, *id));
        }
        let types = reader.catalog().relationship_types().map(|(name, _)| type_id(name));
        let types: Vec<Option<TypeId>> = types.map(Some).chain([None]).collect();
        let none = Seen::new();
        for direction in [Direction::Outgoing, Direction::Incoming, Direction::Both] {
            for type_id in &types {
                let mut expander = reader.expander(direction, *type_id);
                for node in (0..=self.next_node).map(NodeId) {
                    let side = |outgoing| sides.get(&(node, outgoing)).unwrap_or(&none);
                    let expected = expected(node, direction, *type_id, [side(true), side(false)]);
                    let found = reader.adjacent(node, direction, *type_id);
                    assert_eq!(
                        found.expect("adjacent relationships are read"),
                        expected,
                        "node {node}, {direction:?}, {type_id:?}"
                    );
                    let mut pairs = Vec::new();
                    expander.expand(node, &mut pairs).expect("a node is expanded");
                    let alike = expected.iter().map(|one| (one.neighbour, one.relationship));
                    assert!(pairs.iter().copied().eq(alike), "pairs of node {node}: {pairs:?}");
                    let degree = expander.degree(node).expect("a degree is read");
                    assert_eq!(degree, expected.len() as u64, "degree of node {node}");
                    let way = (direction, *type_id);
                    for limit in [1, 3] {
                        let parts = parts(limit, |part| reader.adjacent_part(node, way, part));
                        assert_eq!(parts, expected, "node {node}, {way:?}, {limit} at a time");
                    }
                }
            }
        }
    }

    fn assert_degrees<V: View>(&self, reader: Reader<'_, V>) {
        let mut expected: BTreeMap<(NodeId, bool, &str), u64> = BTreeMap::new();
        for row in self.relationships.values() {
            *expected.entry((row.start, false, &row.relationship_type)).or_default() += 1;
            *expected.entry((row.end, true, &row.relationship_type)).or_default() += 1;
        }
        let mut found = BTreeMap::new();
        for node in (0..=self.next_node).map(NodeId) {
            for degree in reader.degrees(node).expect("degrees are read") {
                let name = reader.catalog().type_name(degree.type_id).expect("a type has a name");
                assert!((1..=degree.relationships).contains(&degree.blocks), "{degree:?}");
                let before = found.insert((node, !degree.outgoing, &**name), degree.relationships);
                assert_eq!(before, None, "degrees of node {node} come once");
            }
        }
        assert_eq!(found, expected, "degrees");
    }

    fn assert_counts<V: View>(&self, reader: Reader<'_, V>) {
        let catalog = reader.catalog();
        assert_eq!(catalog.node_count(), self.nodes.len() as u64);
        assert_eq!(catalog.relationship_count(), self.relationships.len() as u64);
        let mut left: BTreeSet<&str> = BTreeSet::new();
        left.extend(self.nodes.values().flat_map(|node| &node.labels).map(String::as_str));
        for (name, count) in catalog.labels() {
            let having = self.nodes.iter().filter(|(_, node)| node.labels.contains(&**name));
            let expected: Vec<NodeId> = having.map(|(id, _)| *id).collect();
            assert_eq!(count, expected.len() as u64, "count of :{name}");
            let label = catalog.label(name).expect("a listed label has an id");
            assert_eq!(catalog.nodes_with_label(label), count);
            let mut found = Vec::new();
            let walked = reader.for_each_node_with_label(label, |node| {
                found.push(node);
                Ok(())
            });
            walked.expect("a label is walked");
            assert_eq!(found, expected, "nodes with :{name}");
            left.remove(&**name);
        }
        assert!(left.is_empty(), "labels without an id: {left:?}");
        for (name, count) in catalog.relationship_types() {
            let rows = self.relationships.values();
            let expected = rows.filter(|row| *row.relationship_type == **name).count();
            assert_eq!(count, expected as u64, "count of type {name}");
        }
        let indexes = catalog.indexes().iter().map(|index| {
            let label = catalog.label_name(index.label).expect("an index has a label");
            let property = catalog.property_key_name(index.property).expect("and a property");
            ((label.to_string(), property.to_string()), index.unique)
        });
        assert_eq!(indexes.collect::<BTreeMap<_, _>>(), self.indexes);
    }

    /// Entries of indexes, found by the beginning of strings and by values.
    fn assert_index_parts<V: View>(&self, reader: Reader<'_, V>) {
        let catalog = reader.catalog();
        for index in catalog.indexes() {
            let label = catalog.label_name(index.label).expect("an index has a label");
            let property = catalog.property_key_name(index.property).expect("and a property");
            let look = |wanted: Wanted<'_>, is: &dyn Fn(&Value) -> bool| {
                let mut hits: Vec<IndexHit> = Vec::new();
                let mut after: Option<Vec<u8>> = None;
                loop {
                    let part = Part { after: after.as_deref(), limit: 2 };
                    let found =
                        reader.index_part(index, wanted, part, 3).expect("an index is read");
                    assert!(found.hits.len() <= 2 && found.entries <= 3);
                    hits.extend(found.hits);
                    after = found.next;
                    if after.is_none() {
                        break;
                    }
                }
                let mut found: Vec<_> = hits.iter().map(|hit| (hit.node, &hit.value)).collect();
                found.sort_by_key(|(node, _)| *node);
                let mut expected: Vec<_> =
                    self.values(label, property).filter(|(_, value)| is(value)).collect();
                expected.sort_by_key(|(node, _)| *node);
                assert_eq!(found, expected, ":{label}({property}) {wanted:?}");
            };
            let is_string = |value: &Value| matches!(value, Value::String(_));
            look(Wanted::Prefix(""), &is_string);
            for (node, value) in self.values(label, property) {
                let equal = self.find(label, property, value);
                assert!(equal.contains(&node));
                let same = |other: &Value| self.find(label, property, other) == equal;
                look(Wanted::Equal(value), &same);
                if let Value::String(text) = value {
                    for chars in [1, 2, text.chars().count()] {
                        let prefix: String = text.chars().take(chars).collect();
                        let begins = |other: &Value| matches!(other, Value::String(other) if other.starts_with(&prefix));
                        look(Wanted::Prefix(&prefix), &begins);
                    }
                }
            }
        }
    }

    /// By index and by scan: values that are there, and one that is not.
    fn assert_found<V: View>(&self, reader: Reader<'_, V>) {
        let catalog = reader.catalog();
        for (label_name, _) in catalog.labels() {
            let label = catalog.label(label_name).expect("a listed label has an id");
            for property_name in catalog.property_keys() {
                let property = catalog.property_key(property_name).expect("a listed key has one");
                let look = |value: &Value| {
                    let found = reader.find(label, property, value).expect("a value is looked for");
                    let expected = self.find(label_name, property_name, value);
                    assert_eq!(found, expected, ":{label_name}({property_name}: {value})");
                };
                look(&Value::from("nobody has this"));
                look(&Value::Null);
                let name = (label_name.to_string(), property_name.to_string());
                let most = if self.indexes.contains_key(&name) { usize::MAX } else { SCANS_MAX };
                let values: Vec<&Value> =
                    self.values(label_name, property_name).map(|(_, value)| value).collect();
                let step = values.len().div_ceil(most).max(1);
                values.into_iter().step_by(step).for_each(look);
            }
        }
    }
}

/// Everything that parts of at most `limit` give, one behind the other.
fn parts<T: Copy>(limit: usize, read: impl Fn(Part<T>) -> hopdb_graph::Result<Vec<T>>) -> Vec<T> {
    let mut all = Vec::new();
    loop {
        let part = read(Part { after: all.last().copied(), limit }).expect("a part is read");
        assert!(part.len() <= limit, "a part of {} where {limit} were asked for", part.len());
        all.extend_from_slice(&part);
        if part.len() < limit {
            return all;
        }
    }
}

/// What a node should see: per side and type ascending; a relationship with itself once.
fn expected(
    node: NodeId,
    direction: Direction,
    type_id: Option<TypeId>,
    sides: [&Seen; 2],
) -> Vec<Adjacent> {
    let wanted = match direction {
        Direction::Outgoing => [true, false],
        Direction::Incoming => [false, true],
        Direction::Both => [true, true],
    };
    let mut all = Vec::new();
    for (outgoing, side) in [true, false].into_iter().zip(sides) {
        if !wanted[usize::from(!outgoing)] {
            continue;
        }
        for (found, neighbour, relationship) in side {
            let again = direction == Direction::Both && !outgoing && *neighbour == node;
            if !again && type_id.is_none_or(|type_id| type_id == *found) {
                let (relationship, neighbour) = (*relationship, *neighbour);
                all.push(Adjacent { relationship, type_id: *found, neighbour, outgoing });
            }
        }
    }
    all
}

fn assert_same_properties<K: AsRef<str>>(found: &[(K, Value)], expected: &Properties, what: &str) {
    let sorted: BTreeMap<&str, &Value> =
        found.iter().map(|(key, value)| (key.as_ref(), value)).collect();
    assert_eq!(sorted.len(), found.len(), "{what} has a property twice");
    let expected = expected.iter().map(|(key, value)| (key.as_str(), value));
    assert!(sorted.into_iter().eq(expected), "properties of {what}");
}
