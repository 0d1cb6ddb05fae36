//! Any graph, and any bytes: fields tile them, and say what readers of the graph say.

use std::collections::BTreeSet;

use hopdb_storage::inspect::{Fields, Meaning};
use hopdb_storage::{CommitTs, Options};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::*;
use crate::block::adjacency;
use crate::block::relationships::{self, RelationshipRow};
use crate::graph::Graph;
use crate::ids::Direction;
use crate::ids::{RelationshipId, TypeId};
use crate::value::Value;
use crate::value::tests::any_value;

fn assert_tiles(fields: &[Field], len: usize) {
    let end = fields.iter().fold(0, |at, field| {
        assert_eq!(field.start, at, "{fields:?}");
        assert!(field.len > 0, "{fields:?}");
        at + field.len
    });
    assert_eq!(end, len, "{fields:?}");
}

fn is_whole(fields: &[Field]) -> bool {
    !fields.iter().any(|field| field.name.starts_with('('))
}

fn texts(fields: &[Field]) -> Vec<String> {
    fields.iter().map(|f| format!("{}{}: {}", "  ".repeat(f.depth), f.name, f.value)).collect()
}

struct Made {
    _folder: tempfile::TempDir,
    graph: Graph,
}

fn make(build: impl FnOnce(&mut crate::write::GraphTxn)) -> Made {
    let folder = tempfile::tempdir().unwrap();
    let graph = Graph::create(&folder.path().join("x.hop"), &Options::default()).unwrap();
    let mut txn = graph.write().unwrap();
    build(&mut txn);
    txn.commit().unwrap();
    Made { _folder: folder, graph }
}

/// Holds all pages and all nodes of a graph against what its reader says.
fn assert_shown(graph: &Graph) {
    let snapshot = graph.read().unwrap();
    let pages: Vec<Page> = (0..snapshot.txn().page_count())
        .map(|page| snapshot.inspect_page(page).unwrap().unwrap())
        .collect();
    for page in &pages {
        assert_tiles(&page.fields, page.bytes.0.len());
        let in_tree = matches!(page.kind, Kind::Leaf | Kind::Branch);
        assert_eq!(page.table.is_some(), in_tree, "page {}", page.page);
        assert!(is_whole(&page.fields), "{:?}", page.fields);
        for slot in &page.slots {
            assert!(!slot.key.contains("(not") && !slot.value.contains("damaged"), "{slot:?}");
        }
    }
    let mut ids = Vec::new();
    snapshot
        .reader()
        .for_each_node(|id| {
            ids.push(id);
            Ok(())
        })
        .unwrap();
    ids.into_iter().for_each(|id| assert_node_shown(&snapshot, id, &pages));
    assert_eq!(snapshot.inspect_node(NodeId(u64::MAX)).unwrap(), None);
}

fn assert_node_shown(snapshot: &Snapshot, id: NodeId, pages: &[Page]) {
    let node = snapshot.inspect_node(id).unwrap().unwrap();
    let reader = snapshot.reader();
    let whole = reader.node(id).unwrap().unwrap();
    let cells = std::iter::once(&node.record)
        .chain(node.adjacency.iter().map(|group| &group.first))
        .chain(node.indexes.iter().map(|entry| &entry.cell));
    for cell in cells {
        let leaf = &pages[usize::try_from(cell.chain.last().unwrap().page).unwrap()];
        assert_eq!(leaf.table.as_ref(), Some(&cell.table));
        let bytes = &cell.bytes.0;
        assert_eq!(&leaf.bytes.0[cell.offset..cell.offset + bytes.len()], bytes.as_slice());
        assert_tiles(&cell.fields, bytes.len());
        assert!(is_whole(&cell.fields), "{:?}", cell.fields);
    }
    let record = node.record.large.as_ref().map_or(&node.record.fields, |large| &large.fields);
    if let Some(large) = &node.record.large {
        assert_tiles(record, large.bytes.0.len());
    }
    if node.record.large.as_ref().is_none_or(|large| !large.cut) {
        for (key, value) in &whole.properties {
            let shown = |field: &Field| *field.name == **key && value.to_string() == field.value;
            let is_plain = !matches!(value, Value::List(_)) && value.to_string().len() < 200;
            assert!(!is_plain || record.iter().any(shown), "{key} {value}: {record:?}");
        }
    }
    let mut degrees = Vec::new();
    for group in &node.adjacency {
        let side =
            if group.direction == Side::Out { Direction::Outgoing } else { Direction::Incoming };
        let type_id = reader.catalog().relationship_type(&group.relationship_type);
        degrees.push((side, type_id));
        let degree = reader.expander(side, type_id).degree(id).unwrap();
        assert_eq!(group.relationships, degree);
        assert!(group.blocks > 0 && group.blocks <= degree);
    }
    let all = reader.expander(Direction::Outgoing, None).degree(id).unwrap()
        + reader.expander(Direction::Incoming, None).degree(id).unwrap();
    assert_eq!(node.adjacency.iter().map(|group| group.relationships).sum::<u64>(), all);
}

#[test]
fn a_node_is_its_cells() {
    let made = make(|txn| {
        txn.create_index("Person", "name", true).unwrap();
        let properties = [("name", Value::from("Ada")), ("age", 36.into()), ("ok", true.into())];
        let ada = txn.create_node(&["Person", "Admin"], &properties).unwrap();
        let bob = txn.create_node(&["Person"], &[("name", Value::from("Bob"))]).unwrap();
        for end in [ada, bob, bob] {
            txn.create_relationship(ada, "KNOWS", end, &[("since", 2019.into())]).unwrap();
        }
    });
    let snapshot = made.graph.read().unwrap();
    let node = snapshot.inspect_node(NodeId(0)).unwrap().unwrap();
    let expected = [
        "key length: 1 byte",
        "value length: 17 bytes",
        "  node: 0",
        "  labels: 2",
        "    label: Person",
        "    label: Admin",
        "  properties: 3",
        "    property key: name",
        "    value length: 4 bytes",
        "    property key: age",
        "    value length: 2 bytes",
        "    property key: ok",
        "    value length: 1 byte",
        "  name: type: string",
        "    name: 'Ada'",
        "  age: type: integer",
        "    age: 36",
        "  ok: true",
    ];
    let found = texts(&node.record.fields);
    assert_eq!(found, expected);
    assert_eq!(node.record.chain.len(), 1);
    assert_eq!(node.record.chain[0].key.as_deref(), Some("node 0"));
    let groups: Vec<_> = node.adjacency.iter().map(|g| (g.direction, g.relationships)).collect();
    assert_eq!(groups, [(Side::Out, 3), (Side::In, 1)]);
    let expected = [
        "key length: 5 bytes",
        "value length: 6 bytes",
        "  node: 0",
        "  side: out",
        "  type: KNOWS",
        "  first neighbour: node 0",
        "  first relationship: 0",
        "  pairs: 3, the first in the key",
        "  codes: widths in bytes: 1+1, 1+1",
        "    pair 2: +1: node 1, +1: relationship 1",
        "    pair 3: +0: node 1, +1: relationship 2",
    ];
    assert_eq!(texts(&node.adjacency[0].first.fields), expected);
    let entry = &node.indexes[0];
    assert_eq!((entry.index.as_str(), entry.unique), ("Person.name", true));
    assert_eq!(texts(&entry.cell.fields)[2..], ["  value: \"Ada\"", "  node: 0"]);
    let json = serde_json::to_value(&node).unwrap();
    assert_eq!(json["adjacency"][0]["direction"], "out");
    assert_eq!(json["adjacency"][0]["type"], "KNOWS");
    assert_eq!(json["record"]["chain"][0]["kind"], "leaf");
    assert_eq!(json["record"]["bytes"].as_str().map(str::len), Some(40));
    assert_shown(&made.graph);
}

#[test]
fn names_with_signs_stand_in_backquotes() {
    let made = make(|txn| {
        txn.create_index("v1.Person", "a=b", false).unwrap();
        txn.create_node(&["v1.Person"], &[("a=b", 1.into())]).unwrap();
    });
    let node = made.graph.read().unwrap().inspect_node(NodeId(0)).unwrap().unwrap();
    assert_eq!(node.indexes[0].index, "`v1.Person`.`a=b`");
}

#[test]
fn hubs_large_records_and_cut_keys_are_shown() {
    let made = make(|txn| {
        txn.create_index("N", "text", false).unwrap();
        let hub = txn.create_node(&["N"], &[("text", Value::from("h".repeat(3_000)))]).unwrap();
        let list: Vec<Value> = (0..9_000_i64).map(Value::Integer).collect();
        for n in 0..1_500_i64 {
            let other = txn.create_node(&["N"], &[("n", n.into())]).unwrap();
            txn.create_relationship(hub, "R", other, &[]).unwrap();
        }
        let long = Value::from("é".repeat(20_000));
        let properties = [("a", Value::List(list)), ("long", long)];
        let large = txn.create_node(&[], &properties).unwrap();
        txn.create_relationship(large, "R", hub, &properties).unwrap();
    });
    assert_shown(&made.graph);
    let snapshot = made.graph.read().unwrap();
    let hub = snapshot.inspect_node(NodeId(0)).unwrap().unwrap();
    let out = &hub.adjacency[0];
    assert_eq!(out.relationships, 1_500);
    assert!(out.blocks > 2, "{}", out.blocks);
    let pairs = out.first.fields.iter().filter(|field| field.name.starts_with("pair ")).count();
    assert_eq!(pairs, 63);
    let last = out.first.fields.last().unwrap();
    assert!(last.name.starts_with("pairs 65 to "), "{last:?}");
    let entry = texts(&hub.indexes[0].cell.fields);
    assert!(entry[2].starts_with("  value: \"hhh") && entry[2].ends_with("cut at 1015 bytes"));
    assert_eq!(entry[4], "  cut: the key has only the beginning of the value");
    assert!(hub.adjacency[0].first.chain.len() > 1);
    let large = snapshot.inspect_node(NodeId(1_501)).unwrap().unwrap().record.large.unwrap();
    assert!(large.cut && large.length > 40_000);
    assert!(texts(&large.fields).iter().any(|text| text.contains("further items: 8936 of 9000")));
    // The text begins behind the bytes shown, or lies across their end.
    assert!(large.fields.last().unwrap().len > 0);
}

#[test]
fn every_table_says_what_its_entries_mean() {
    let made = make(|txn| {
        txn.create_index("N", "k", false).unwrap();
        for n in 0..200_i64 {
            txn.create_node(&["N"], &[("k", n.into())]).unwrap();
        }
        for n in 0..100 {
            let since = [("since", 1.into())];
            txn.create_relationship(NodeId(n), "R", NodeId(n + 1), &since).unwrap();
        }
        txn.delete_relationship(RelationshipId(3)).unwrap();
    });
    assert_shown(&made.graph);
    let snapshot = made.graph.read().unwrap();
    let mut lines = BTreeSet::new();
    for page in 0..snapshot.txn().page_count() {
        let page = snapshot.inspect_page(page).unwrap().unwrap();
        let table = page.table.unwrap_or_default();
        lines.extend(
            page.slots.iter().map(|slot| format!("{table}: {} = {}", slot.key, slot.value)),
        );
    }
    for line in [
        "adjacency: node 7, out, R, node 8, relationship 7 = 1 relationship",
        "catalog: label, id 0 = nodes with it 200, name N",
        "catalog: relationship type, id 0 = relationships of it 99, name R",
        "catalog: property key, id 1 = not counted 0, name since",
        "catalog: index, id 0 = label N, unique no, properties 1, property key k",
        "catalog: counts, id 0 = next node 200, next relationship 100, nodes 200, \
         relationships 99, next index 1",
        "index.0: 7, node 7 = ",
        "labels: N, node 7 = ",
        "nodes: node 7 = :N {k: 7}",
        "relationship-properties: relationship 7 = {since: 1}",
        "relationships: relationship 0 = 64 relationships, 1 of them removed",
    ] {
        assert!(lines.contains(line), "no {line}: {lines:#?}");
    }
}

#[test]
fn a_damaged_record_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.hop");
    let graph = Graph::create(&path, &Options::default()).unwrap();
    let mut txn = graph.write().unwrap();
    txn.create_index("N", "k", false).unwrap();
    txn.create_node(&["N"], &[("k", 1.into())]).unwrap();
    txn.commit().unwrap();
    let mut txn = graph.store().write().unwrap();
    let nodes = txn.table(keys::NODES).unwrap().unwrap();
    let mut key = Vec::new();
    keys::node(&mut key, NodeId(0));
    txn.put(nodes, &key, &[1, 0, 1, 0, 2, 0x10]).unwrap();
    assert!(txn.commit().unwrap() > CommitTs(0));
    let node = graph.read().unwrap().inspect_node(NodeId(0)).unwrap().unwrap();
    let last = node.record.fields.last().unwrap();
    assert_eq!(last.value, "2 bytes should be here, 1 are");
    assert!(node.indexes.is_empty());
    assert!(graph.read().unwrap().reader().node(NodeId(0)).is_err());
}

/// What a meaning makes of bytes.
fn taken_apart(table: &str, key: &[u8], value: &[u8], goes_on: bool) -> [Vec<Field>; 2] {
    let catalog = crate::catalog::Catalog::default();
    let meaning = GraphMeaning { catalog: &catalog };
    let mut key_fields = Fields::of(key, goes_on);
    meaning.key(table, &mut key_fields);
    let mut value_fields = Fields::of(value, goes_on);
    meaning.value(table, key, &mut value_fields);
    let _texts = (meaning.key_text(table, key, goes_on), meaning.value_text(table, key, value));
    [key_fields.finish(), value_fields.finish()]
}

const TABLES: [&str; 8] = [
    keys::CATALOG,
    keys::NODES,
    keys::ADJACENCY,
    keys::RELATIONSHIPS,
    keys::RELATIONSHIP_PROPERTIES,
    keys::LABELS,
    "index.0",
    "another",
];

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    // Counts and lengths are mostly small.
    prop_oneof![vec(any::<u8>(), 0..60), vec(0..9_u8, 0..60), vec(0x40..0x44_u8, 0..12)]
}

proptest! {
    #[test]
    fn any_bytes_are_tiled(key in any_bytes(), value in any_bytes(), goes_on in any::<bool>()) {
        for table in TABLES {
            let [key_fields, value_fields] = taken_apart(table, &key, &value, goes_on);
            assert_tiles(&key_fields, key.len());
            assert_tiles(&value_fields, value.len());
        }
    }

    #[test]
    fn blocks_of_neighbours_say_their_pairs(
        ids in btree_set((prop_oneof![0..500_u64, any::<u64>()], prop_oneof![0..500_u64, any::<u64>()]), 1..90),
        node in any::<u64>(),
    ) {
        let pairs: Vec<_> = ids.into_iter().map(|(n, r)| (NodeId(n), RelationshipId(r))).collect();
        let mut key = Vec::new();
        keys::adjacency_prefix(&mut key, NodeId(node), Some(false), Some(TypeId(3)));
        keys::pair(&mut key, pairs[0]);
        let mut value = Vec::new();
        adjacency::encode(&pairs, &mut value);
        let [key_fields, fields] = taken_apart(keys::ADJACENCY, &key, &value, false);
        assert_tiles(&key_fields, key.len());
        assert_tiles(&fields, value.len());
        prop_assert!(is_whole(&key_fields) && is_whole(&fields), "{:?}", fields);
        for (index, pair) in pairs.iter().enumerate().take(64).skip(1) {
            let field = fields.iter().find(|f| f.name == format!("pair {}", index + 1)).unwrap();
            let node = format!(": node {},", pair.0);
            let relationship = format!(": relationship {}", pair.1);
            prop_assert!(field.value.contains(&node), "{} {}", field.value, node);
            prop_assert!(field.value.ends_with(&relationship), "{}", field.value);
        }
    }

    #[test]
    fn blocks_of_relationships_say_their_rows(
        rows in vec(proptest::option::weighted(0.8, (any::<u64>(), any::<u64>(), 0..5_u32)), 0..40),
        first in 0..1_000_000_u64,
    ) {
        let rows: Vec<_> = rows.into_iter().map(|row| row.map(|(start, end, type_id)| RelationshipRow {
            start: NodeId(start), end: NodeId(end), type_id: TypeId(type_id),
        })).collect();
        let mut key = Vec::new();
        keys::relationship(&mut key, RelationshipId(first));
        let mut value = Vec::new();
        relationships::encode(&rows, &mut value);
        let [_, fields] = taken_apart(keys::RELATIONSHIPS, &key, &value, false);
        assert_tiles(&fields, value.len());
        prop_assert_eq!(fields.len(), rows.len() + 1);
        for (id, (row, field)) in (first..).zip(rows.iter().zip(&fields[1..])) {
            prop_assert_eq!(&field.name, &format!("relationship {id}"));
            let expected = row.map_or("removed".into(), |row| format!(": from node {}, to node {}", row.start, row.end));
            prop_assert!(field.value.ends_with(&expected), "{}", field.value);
        }
    }

    #[test]
    fn any_graph_is_shown(
        nodes in vec((vec(0..4_usize, 0..3), vec((0..5_usize, any_value()), 0..5)), 1..20),
        relationships in vec((any::<usize>(), any::<usize>(), 0..3_usize, any_value()), 0..40),
    ) {
        const NAMES: [&str; 5] = ["A", "b.c", "D e", "f", "g"];
        let made = make(|txn| {
            txn.create_index("A", "f", false).unwrap();
            txn.create_index("b.c", "g", false).unwrap();
            let mut ids = Vec::new();
            for (labels, properties) in &nodes {
                let labels: Vec<&str> = labels.iter().map(|label| NAMES[*label]).collect();
                let mut names = BTreeSet::new();
                let new = properties.iter().filter(|(name, _)| names.insert(*name));
                let properties: Vec<_> = new.map(|(name, value)| (NAMES[*name], value.clone())).collect();
                ids.push(txn.create_node(&labels, &properties).unwrap());
            }
            for (start, end, type_name, value) in &relationships {
                let (start, end) = (ids[start % ids.len()], ids[end % ids.len()]);
                txn.create_relationship(start, NAMES[*type_name], end, &[("k", value.clone())]).unwrap();
            }
        });
        assert_shown(&made.graph);
    }
}
