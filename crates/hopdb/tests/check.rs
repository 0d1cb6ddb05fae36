//! The check must be able to fail: tables are broken on purpose, below the graph, and each damage is named.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

use hopdb::kv::codec::key::KeyWriter;
use hopdb::kv::codec::{ordered, varint};
use hopdb::kv::{Store, View, WriteTxn};
use hopdb::{CheckReport, Database, NodeId, Options, Value};

const TYPE: u64 = 0;
const OUT: u64 = 0;
const IN: u64 = 1;

/// Five nodes :A with k = their id, indexed; relationships 0: 0 to 1, 1: 1 to 2, 2: 2 to itself.
fn make(path: &Path) {
    let database = Database::create(path, &Options::default()).unwrap();
    let mut txn = database.write().unwrap();
    txn.create_index("A", "k", true).unwrap();
    txn.create_index("A", "same", false).unwrap();
    txn.create_index("A", "long", false).unwrap();
    let long = Value::from("z".repeat(2_000));
    for id in 0..5_i64 {
        let node = txn.create_node(&["A"], &[("k", id.into())]).unwrap();
        if id >= 3 {
            txn.set_property(node, "same", &1_i64.into()).unwrap();
            txn.set_property(node, "long", &long).unwrap();
        }
    }
    for (start, end) in [(0, 1), (1, 2), (2, 2)] {
        let since = [("since", Value::from(start))];
        txn.create_relationship(NodeId(start as u64), "R", NodeId(end), &since).unwrap();
    }
    txn.commit().unwrap();
    assert!(database.read().unwrap().check().unwrap().is_clean());
    database.close().unwrap();
}

struct Breaker {
    txn: WriteTxn,
}

impl Breaker {
    fn put(&mut self, table: &str, key: &[u8], value: &[u8]) {
        let table = self.txn.table(table).unwrap().unwrap();
        self.txn.put(table, key, value).unwrap();
    }

    fn delete(&mut self, table: &str, key: &[u8]) {
        let table = self.txn.table(table).unwrap().unwrap();
        assert!(self.txn.delete(table, key).unwrap(), "the key was there");
    }
}

fn ids(ids: &[u64]) -> Vec<u8> {
    let mut key = Vec::new();
    ids.iter().for_each(|id| ordered::put(&mut key, *id));
    key
}

fn varints(numbers: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    numbers.iter().for_each(|number| varint::put(&mut out, *number));
    out
}

fn index_key(value: i64, node: u64) -> Vec<u8> {
    let mut key = Vec::new();
    KeyWriter::new(&mut key).integer(value).id(node);
    key
}

fn broken(break_it: impl FnOnce(&mut Breaker)) -> CheckReport {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.hop");
    make(&path);
    let store = Store::open(&path, &Options::default()).unwrap();
    let mut breaker = Breaker { txn: store.write().unwrap() };
    break_it(&mut breaker);
    breaker.txn.commit().unwrap();
    store.close().unwrap();
    let database = Database::open(&path, &Options::default()).unwrap();
    let report = database.read().unwrap().check().unwrap();
    assert!(report.store.problems.is_empty(), "{:?}", report.store.problems);
    assert_eq!(report.is_clean(), report.problems.is_empty());
    report
}

fn assert_named(break_it: impl FnOnce(&mut Breaker), expected: &[&str]) {
    assert_eq!(broken(break_it).problems, expected);
}

#[test]
fn missing_and_extra_entries_of_adjacency() {
    assert_named(
        |b| b.delete("adjacency", &ids(&[0, OUT, TYPE, 1, 0])),
        &["relationship 0: not among those out of node 0"],
    );
    assert_named(
        |b| b.delete("adjacency", &ids(&[1, IN, TYPE, 0, 0])),
        &["relationship 0: not among those into node 1"],
    );
    assert_named(
        |b| b.delete("adjacency", &ids(&[2, IN, TYPE, 1, 1])),
        &[
            "relationship 1: not among those into node 2",
            "relationship 2: not among those into node 2",
        ],
    );
    assert_named(
        |b| b.put("adjacency", &ids(&[0, OUT, TYPE, 4, 99]), &[2]),
        &["relationship 99: listed among those out of node 0, without such a row"],
    );
    // Another type than the row has.
    assert_named(
        |b| {
            b.delete("adjacency", &ids(&[0, OUT, TYPE, 1, 0]));
            b.put("adjacency", &ids(&[0, OUT, 7, 1, 0]), &[2]);
        },
        &[
            "relationship 0: not among those out of node 0",
            "relationship 0: listed among those out of node 0, without such a row",
        ],
    );
}

#[test]
fn damaged_and_disordered_blocks_of_adjacency() {
    assert_named(
        |b| b.put("adjacency", &ids(&[0, OUT, TYPE, 1, 0]), &[18]),
        &[
            "node 0: a block of relationships: the bytes end too early",
            "relationship 0: not among those out of node 0",
        ],
    );
    // The same pair in two blocks of one list.
    let problems =
        broken(|b| b.put("adjacency", &ids(&[0, OUT, TYPE, 0, 5]), &[4, 0, 1, 9])).problems;
    assert!(problems.contains(&"node 0: its relationships do not ascend".into()), "{problems:?}");
    assert_named(|b| b.put("adjacency", &[0], &[2]), &["table adjacency: a block is damaged"]);
    // Where only the hashes tell: the list has the right number of the wrong pairs.
    assert_named(
        |b| {
            b.delete("adjacency", &ids(&[1, OUT, TYPE, 2, 1]));
            b.put("adjacency", &ids(&[1, OUT, TYPE, 3, 1]), &[2]);
        },
        &[
            "relationship 1: not among those out of node 1",
            "relationship 1: listed among those out of node 1, without such a row",
        ],
    );
}

#[test]
fn missing_extra_and_damaged_rows_of_relationships() {
    let gone = [
        "the catalog counts 3 relationships :R, there are 0",
        "the catalog counts 3 relationships, there are 0",
        "relationship 0: listed among those out of node 0, without such a row",
        "relationship 1: listed among those out of node 1, without such a row",
        "relationship 0: listed among those into node 1, without such a row",
        "relationship 2: listed among those out of node 2, without such a row",
        "relationship 1: listed among those into node 2, without such a row",
        "relationship 2: listed among those into node 2, without such a row",
    ];
    let without_row =
        [0, 1, 2].map(|id| format!("properties of relationship {id}, which is not there"));
    let all: Vec<&str> = gone.into_iter().chain(without_row.iter().map(String::as_str)).collect();
    assert_named(|b| b.delete("relationships", &ids(&[0])), &all);
    let damage = "the block of relationships from 0 on: the bytes end too early";
    let told = broken(|b| b.put("relationships", &ids(&[0]), &[3, 1])).problems;
    assert_eq!(told[0], damage);
    assert_named(
        |b| b.put("relationships", &ids(&[1]), &[1, 0]),
        &[
            "the block of relationships from 1 on: it begins before the end of the last",
            "properties of relationship 1, which is not there",
            "properties of relationship 2, which is not there",
        ],
    );
    // One row in three that is of another type.
    let told = broken(|b| b.put("relationships", &ids(&[0]), &[3, 1, 0, 1, 6, 2, 2, 1, 2, 2]));
    let expected = [
        "1 relationships have type 5 without a name",
        "relationship 1: not among those out of node 1",
    ];
    for what in expected {
        assert!(told.problems.iter().any(|problem| problem == what), "{what}: {:?}", told.problems);
    }
    assert_named(
        |b| b.put("relationship-properties", &ids(&[50]), &[0]),
        &["properties of relationship 50, which is not there"],
    );
    assert_named(
        |b| b.put("relationship-properties", &ids(&[0]), &[1, 0, 1, 0xff]),
        &["relationship 0: its property 0: unknown value tag 255"],
    );
}

#[test]
fn missing_and_extra_entries_of_labels() {
    assert_named(|b| b.delete("labels", &ids(&[0, 3])), &["node 3: not listed under its label 0"]);
    assert_named(
        |b| b.put("labels", &ids(&[0, 77]), &[]),
        &["node 77 is listed under label 0 it lacks"],
    );
    assert_named(|b| b.put("labels", &[0], &[]), &["table labels: a key is damaged"]);
}

#[test]
fn missing_extra_and_doubled_entries_of_indexes() {
    assert_named(|b| b.delete("index.0", &index_key(2, 2)), &["node 2: not in index 0 with 2"]);
    assert_named(
        |b| b.put("index.0", &index_key(9, 3), &[]),
        &["index 0: an entry of node 3 is wrong"],
    );
    assert_named(
        |b| b.put("index.0", &index_key(3, 44), &[]),
        &["index 0: an entry of node 44 is wrong"],
    );
    assert_named(|b| b.put("index.0", &[0], &[]), &["index 0: a key is damaged"]);
    assert_named(|b| b.put("index.0", &index_key(3, 3), &[1]), &["index 0: a key is damaged"]);
    // The catalog calls an index unique that was not made so; a whole key, and a cut one.
    for (index, property) in [(1, 1), (2, 2)] {
        assert_named(
            |b| b.put("catalog", &ids(&[4, index]), &varints(&[0, 1, 1, property])),
            &[&format!("index {index}: nodes 3 and 4 have one value")],
        );
    }
}

#[test]
fn wrong_counts_and_ids() {
    let label = |count| [varints(&[count]), b"A".to_vec()].concat();
    assert_named(
        |b| b.put("catalog", &ids(&[1, 0]), &label(9)),
        &["the catalog counts 9 nodes :A, there are 5"],
    );
    let name = [varints(&[2]), b"R".to_vec()].concat();
    assert_named(
        |b| b.put("catalog", &ids(&[2, 0]), &name),
        &["the catalog counts 2 relationships :R, there are 3"],
    );
    let counters = |numbers: [u64; 5]| {
        move |b: &mut Breaker| b.put("catalog", &ids(&[5, 0]), &varints(&numbers))
    };
    assert_named(counters([5, 3, 4, 3, 3]), &["the catalog counts 4 nodes, there are 5"]);
    assert_named(counters([5, 3, 5, 8, 3]), &["the catalog counts 8 relationships, there are 3"]);
    assert_named(counters([4, 3, 5, 3, 3]), &["node 4: its id was never given out"]);
    assert_named(counters([5, 2, 5, 3, 3]), &["relationship 2: its id was never given out"]);
    // Numbers that are only large take no memory.
    assert_named(counters([u64::MAX, u64::MAX, 5, 3, 3]), &[]);
}

#[test]
fn missing_and_damaged_nodes() {
    assert_named(
        |b| b.delete("nodes", &ids(&[0])),
        &[
            "the catalog counts 5 nodes, there are 4",
            "the catalog counts 5 nodes :A, there are 4",
            "node 0 is listed under label 0 it lacks",
            "index 0: an entry of node 0 is wrong",
            "relationship 0: its end 0 is no node",
        ],
    );
    // Damage in one record is named, and all else is checked on.
    assert_named(
        |b| {
            b.put("nodes", &ids(&[3]), &[0xff]);
            b.delete("adjacency", &ids(&[0, OUT, TYPE, 1, 0]));
        },
        &[
            "node 3: its record: the bytes end too early",
            "the catalog counts 5 nodes :A, there are 4",
            "relationship 0: not among those out of node 0",
        ],
    );
    let record = |property: &[u8]| [&[1, 0, 1][..], property].concat();
    let told = |bytes: Vec<u8>| broken(|b| b.put("nodes", &ids(&[1]), &bytes)).problems.remove(0);
    assert_eq!(told(record(&[0, 1, 0xff])), "node 1: its property 0: unknown value tag 255");
    assert_eq!(told(record(&[9, 1, 2])), "node 1: its property key 9 has no name");
    assert_eq!(told(record(&[0, 1, 1])), "node 1: its property 0 is null");
    assert_eq!(told(record(&[0, 9, 1])), "node 1: its properties: the bytes end too early");
    assert_eq!(told(vec![1, 8, 0]), "node 1: its label 8 has no name");
    assert_named(
        |b| b.put("nodes", &[0], &[]),
        &["table nodes: a key is no node id", "the catalog counts 5 nodes, there are 6"],
    );
}
