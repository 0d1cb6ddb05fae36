//! Good files against the graph that they describe.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hopdb_graph::Graph;
use hopdb_graph::error::LoadError;
use hopdb_graph::ids::NodeId;
use hopdb_graph::load::json_lines::JsonLines;
use hopdb_graph::load::table::{Table, TableFormat};
use hopdb_graph::value::{Date, DateTime, Value};
use hopdb_storage::Options;
use hopdb_testkit::graph_model::GraphModel;

use super::files::{Load, assert_like};

#[test]
fn every_type_array_and_quoted_newline() {
    let header = "id:ID,b:byte,s:short,i:int,l:long,f:float,d:double,t:boolean,x,c:char,y:bytes,\
                  day:date,at:datetime,ls:long[],xs:string[],:IGNORE,:LABEL\n";
    let row = "a,-128,32767, 5 ,9223372036854775807,1.5,NaN,TRUE,\"two\nlines, \"\"quoted\"\"\",ü,\
               0x00ff,2024-02-29,2024-02-29T12:00:00+01:00,1;-2;3,a;;b,ignored,P;Q; P \n";
    let load = Load::default()
        .file("n.csv", format!("{header}{row}b,,,,,,,,,,,,,,,,\n"))
        .nodes(&["P"], &["n.csv"]);
    let mut model = GraphModel::default();
    let properties = [
        ("id", "a".into()),
        ("b", (-128_i64).into()),
        ("s", 32_767_i64.into()),
        ("i", 5_i64.into()),
        ("l", i64::MAX.into()),
        ("f", 1.5.into()),
        ("d", f64::NAN.into()),
        ("t", true.into()),
        ("x", "two\nlines, \"quoted\"".into()),
        ("c", "ü".into()),
        ("y", vec![0_u8, 255].into()),
        ("day", Date::from_days(19_782).unwrap().into()),
        ("at", DateTime::new(1_709_204_400, 0, 3_600).unwrap().into()),
        ("ls", Value::List(vec![1_i64.into(), (-2_i64).into(), 3_i64.into()])),
        ("xs", Value::List(vec!["a".into(), "".into(), "b".into()])),
    ];
    model.create_node(&["P", "Q"], &properties).unwrap();
    model.create_node(&["P"], &[("id", "b".into())]).unwrap();
    load.gives(&model);
}

#[test]
fn groups_header_files_packed_files_and_id_spaces() {
    let load = Load::default()
        .file("people-header.csv", ":ID(Person),name\n")
        .file("people-1.csv", "1,Ada\n2,Bob\n")
        .gzip("people-2.csv.gz", "x,Cy\n")
        .file("towns.csv", ":ID(Town),:LABEL,size:int\n1,Town;Big,7\n2,,8\n")
        .file("nameless.csv", "name\nNobody\n")
        .file("lives-header.csv", ":START_ID(Person),since:int,:END_ID(Town)\n")
        .gzip("lives.csv.gz", "2,1999,1\n1,,1\n")
        .file("any.csv", ":TYPE,:START_ID(Person),:END_ID(Person)\nKNOWS,1,x\n,x,x\nLIKES,1,2\n")
        .nodes(&["Person"], &["people-header.csv", "people-1.csv", "people-2.csv.gz"])
        .nodes(&[], &["towns.csv"])
        .nodes(&["N", "Person"], &["nameless.csv"])
        .relationships(Some("LIVES_IN"), &["lives-header.csv", "lives.csv.gz"])
        .relationships(Some("SELF"), &["any.csv"])
        .index("Person", "name", true)
        .index("Town", "size", false);
    let mut model = GraphModel::default();
    for name in ["Ada", "Bob", "Cy"] {
        model.create_node(&["Person"], &[("name", name.into())]).unwrap();
    }
    model.create_node(&["Town", "Big"], &[("size", 7_i64.into())]).unwrap();
    model.create_node(&[], &[("size", 8_i64.into())]).unwrap();
    model.create_node(&["N", "Person"], &[("name", "Nobody".into())]).unwrap();
    // Numbered by start, type in the order they are met, end.
    let mut relationship = |start, name, end, since: Option<i64>| {
        let since: Vec<_> = since.map(|since| ("since", since.into())).into_iter().collect();
        model.create_relationship(NodeId(start), name, NodeId(end), &since).unwrap();
    };
    relationship(0, "LIVES_IN", 3, None);
    relationship(0, "KNOWS", 2, None);
    relationship(0, "LIKES", 1, None);
    relationship(1, "LIVES_IN", 3, Some(1999));
    relationship(2, "SELF", 2, None);
    model.create_index("Person", "name", true).unwrap();
    model.create_index("Town", "size", false).unwrap();
    load.gives(&model);
}

#[test]
fn nothing_at_all_and_headers_alone_make_an_empty_graph() {
    Load::default().gives(&GraphModel::default());
    Load::default()
        .file("n.csv", ":ID\n")
        .file("r.csv", ":START_ID,:END_ID\n")
        .nodes(&[], &["n.csv"])
        .relationships(Some("R"), &["r.csv"])
        .gives(&GraphModel::default());
}

#[test]
fn long_values_are_unique_behind_the_cut_of_their_keys() {
    let long = |end: &str| format!("{}{end}", "v".repeat(3_000));
    let rows = [long("a"), long("b"), long("c"), "v".repeat(1_000)];
    let load = Load::default()
        .file("n.csv", format!("k\n{}\n", rows.join("\n")))
        .nodes(&["A"], &["n.csv"])
        .index("A", "k", true);
    let mut model = GraphModel::default();
    for row in &rows {
        model.create_node(&["A"], &[("k", row.as_str().into())]).unwrap();
    }
    model.create_index("A", "k", true).unwrap();
    load.gives(&model);
}

/// A random graph: rows in any order, parallel and self relationships, a hub.
fn random_load(seed: u64) -> (Load, GraphModel) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (nodes, rows) = (120_u64, 1_500);
    let mut model = GraphModel::default();
    let mut text = String::from("id:ID,:LABEL,k:int\n");
    for id in 0..nodes {
        let label = random.choice(["A", "B", "A;B", ""]).unwrap();
        let k = random.i64(0..40);
        text += &format!("n{id},{label},{k}\n");
        let labels: Vec<&str> = label.split(';').filter(|label| !label.is_empty()).collect();
        model.create_node(&labels, &[("id", format!("n{id}").into()), ("k", k.into())]).unwrap();
    }
    model.create_index("B", "k", false).unwrap();
    let types = ["R", "S", "T"];
    let mut relationships = Vec::new();
    // The types are met in their order, so that their ids are their places.
    let mut file = String::from(":START_ID,:TYPE,:END_ID,w:int\n");
    for row in 0..rows {
        let start = if random.bool() { 7 } else { random.u64(0..nodes) };
        let end = if random.u8(0..4) == 0 { 7 } else { random.u64(0..nodes) };
        let name = if row < 3 { row } else { random.usize(0..3) };
        let weight = random.bool().then(|| random.i64(0..100));
        let shown = weight.map(|weight| weight.to_string()).unwrap_or_default();
        file += &format!("n{start},{},n{end},{shown}\n", types[name]);
        relationships.push((start, name, end, row, weight));
    }
    relationships.sort_unstable();
    for (start, name, end, _, weight) in relationships {
        let weight: Vec<_> = weight.map(|weight| ("w", weight.into())).into_iter().collect();
        model.create_relationship(NodeId(start), types[name], NodeId(end), &weight).unwrap();
    }
    let load = Load::default()
        .file("n.csv", text)
        .file("r.csv", file)
        .nodes(&[], &["n.csv"])
        .relationships(None, &["r.csv"])
        .index("B", "k", false);
    (load, model)
}

#[test]
fn a_loaded_graph_is_that_of_the_same_changes_and_goes_on_with_them() {
    for seed in 0..2 {
        let (load, mut model) = random_load(seed);
        let (folder, graph) = load.gives(&model);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut txn = graph.write().unwrap();
        let made = txn.create_node(&["B", "New"], &[("k", 1_i64.into())]).unwrap();
        assert_eq!(model.create_node(&["B", "New"], &[("k", 1_i64.into())]), Ok(made));
        for _ in 0..300 {
            let [start, end] = [NodeId(7), NodeId(random.u64(0..=made.0))];
            let row = txn.create_relationship(start, "S", end, &[]).unwrap();
            assert_eq!(model.create_relationship(start, "S", end, &[]), Ok(row));
            let gone = hopdb_graph::ids::RelationshipId(random.u64(0..row.0));
            let done = txn.delete_relationship(gone);
            assert_eq!(done.is_ok(), model.delete_relationship(gone).is_ok());
        }
        txn.set_property(NodeId(0), "k", &Value::Null).unwrap();
        model.set_property(NodeId(0), "k", &Value::Null).unwrap();
        txn.detach_delete_node(NodeId(9)).unwrap();
        model.detach_delete_node(NodeId(9)).unwrap();
        txn.commit().unwrap();
        assert_like(&graph, &model);
        drop(graph);
        let graph = Graph::open(&folder.path().join("x.hop"), &Options::default()).unwrap();
        assert_like(&graph, &model);
    }
}

/// JSON lines, counting how often a file is opened.
#[derive(Debug, Default)]
struct Counting(AtomicUsize);

impl TableFormat for Counting {
    fn open(&self, path: &Path) -> Result<Option<Box<dyn Table>>, LoadError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        JsonLines.open(path)
    }
}

#[test]
fn files_of_values_are_opened_once() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.json", "b.json"].map(|name| folder.path().join(name));
    for (file, name) in files.iter().zip(["a", "b"]) {
        std::fs::write(file, format!("{{\"name\":\"{name}\"}}\n")).unwrap();
    }
    let names = files.each_ref().map(|file| file.to_str().unwrap());
    let format = Arc::new(Counting::default());
    let mut load = Load::default().nodes(&["A"], &names);
    load.plan.formats = vec![format.clone()];
    let mut model = GraphModel::default();
    for name in ["a", "b"] {
        model.create_node(&["A"], &[("name", name.into())]).unwrap();
    }
    load.gives(&model);
    assert_eq!(format.0.load(Ordering::Relaxed), 2);
}
