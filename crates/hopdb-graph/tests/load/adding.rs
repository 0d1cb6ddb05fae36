//! Loads into a graph that is there: what comes of them, and that one that stops changes nothing.

use std::path::Path;
use std::sync::Arc;

use hopdb_graph::ids::NodeId;
use hopdb_graph::load::{LoadReport, Progress, load_into};
use hopdb_graph::{Graph, GraphError};
use hopdb_storage::io::sim::{Fault, SimFs};
use hopdb_storage::{Options, Store};
use hopdb_testkit::graph_model::GraphModel;

use super::files::{Load, Stopping, assert_like};

/// Nodes `a` and `b` of label `P`, found by a unique index, and a relationship between them.
fn before() -> (Load, GraphModel) {
    let load = Load::default()
        .file("n.csv", "id:ID,k:int\na,1\nb,2\n")
        .file("r.csv", ":START_ID,:END_ID\na,b\n")
        .nodes(&["P"], &["n.csv"])
        .relationships(Some("R"), &["r.csv"])
        .index("P", "id", true);
    let mut model = GraphModel::default();
    for (id, k) in [("a", 1_i64), ("b", 2)] {
        model.create_node(&["P"], &[("id", id.into()), ("k", k.into())]).unwrap();
    }
    model.create_index("P", "id", true).unwrap();
    model.create_relationship(NodeId(0), "R", NodeId(1), &[]).unwrap();
    (load, model)
}

/// Adds to [`before`], and holds the graph against a model.
fn adds(add: &Load, change: impl FnOnce(&mut GraphModel)) -> LoadReport {
    let (load, mut model) = before();
    let (_folder, graph) = load.gives(&model);
    let report = add.add(&graph).unwrap();
    change(&mut model);
    assert_like(&graph, &model);
    report
}

/// The error of adding to [`before`], which must change nothing.
fn refused(add: &Load) -> String {
    let (load, model) = before();
    let (_folder, graph) = load.gives(&model);
    let error = add.add(&graph).unwrap_err();
    assert_like(&graph, &model);
    error.to_string()
}

fn ends(header: &str) -> Load {
    Load::default().file("e.csv", format!("{header}\nb,a\n")).relationships(Some("S"), &["e.csv"])
}

#[test]
fn relationships_lead_to_nodes_that_were_there() {
    let back = |model: &mut GraphModel| {
        model.create_relationship(NodeId(1), "S", NodeId(0), &[]).unwrap();
    };
    let by = Some(("P".to_owned(), "id".to_owned()));
    let mut named = ends(":START_ID,:END_ID");
    (named.plan.start_nodes, named.plan.end_nodes) = (by.clone(), by.clone());
    adds(&named, back);
    adds(&ends("id:START_ID{label:P},id:END_ID{label:P}"), back);
    let with_nodes = ends(":START_ID,:END_ID").file("m.csv", "id:ID\n").nodes(&["P"], &["m.csv"]);
    adds(&with_nodes, back);
    assert_eq!(
        refused(&ends(":START_ID,:END_ID")),
        "e.csv:2: column 1 (:START_ID): no node file has the id \"b\"; --from-nodes and --to-nodes find \
         nodes that are there already"
    );
    assert_eq!(
        refused(&ends("k:START_ID{label:P},id:END_ID{label:P}")),
        "e.csv:1: column 1 (k:START_ID{label:P}): the graph has no unique index on P.k to find the nodes \
         by; make it by a load before this one, with --unique P.k"
    );
    named = named.file("e.csv", ":START_ID,:END_ID\nb,a\na,c\n");
    assert_eq!(
        refused(&named),
        "e.csv:3: column 2 (:END_ID): no node file has the id \"c\", and the index has no such node"
    );
}

/// Nodes `b`, which is there, and `c`, and relationships of both.
fn more() -> Load {
    Load::default()
        .file("m.csv", "id:ID,k:int\nb,3\nc,4\nc,5\n")
        .file("s.csv", ":START_ID,:END_ID\nb,c\nc,b\n")
        .nodes(&["P"], &["m.csv"])
        .relationships(Some("S"), &["s.csv"])
}

#[test]
fn the_id_of_a_refused_node_leads_to_the_node_that_was_there() {
    let change = |model: &mut GraphModel| {
        model.create_node(&["P"], &[("id", "c".into()), ("k", 4_i64.into())]).unwrap();
        model.create_relationship(NodeId(1), "S", NodeId(2), &[]).unwrap();
        model.create_relationship(NodeId(2), "S", NodeId(1), &[]).unwrap();
    };
    let mut load = more();
    load.plan.bad_rows.tolerance = 2;
    assert_eq!(adds(&load, change).bad_rows, 2);
    let mut load = more();
    load.plan.bad_rows.skip_duplicate_nodes = true;
    let report = adds(&load, change);
    assert_eq!((report.bad_rows, report.skipped_nodes, report.nodes), (0, 2, 1));
    assert_eq!(
        refused(&more()),
        "m.csv:2: column 1 (id:ID): node 1 with label P has id = 'b' already"
    );
}

#[test]
fn another_unique_value_is_no_id() {
    let load = || Load::default().file("m.csv", "k:ID,id\n1,b\n").nodes(&["P"], &["m.csv"]);
    let mut lenient = load();
    lenient.plan.bad_rows.skip_duplicate_nodes = true;
    let says = "m.csv:2: column 2 (id): node 1 with label P has id = 'b' already";
    assert_eq!((refused(&load()), refused(&lenient)), (says.into(), says.into()));
}

#[test]
fn indexes_come_with_nodes_that_are_added() {
    let load = || Load::default().file("m.csv", "id:ID,k:int\nc,2\n").nodes(&["P"], &["m.csv"]);
    adds(&load().index("P", "k", false), |model| {
        model.create_node(&["P"], &[("id", "c".into()), ("k", 2_i64.into())]).unwrap();
        model.create_index("P", "k", false).unwrap();
    });
    let error = refused(&load().index("P", "k", true));
    assert!(error.contains("label P has k = 2 already"), "{error}");
    assert_eq!(refused(&load().index("P", "id", true)), "there is an index on P.id already");
}

#[test]
fn numbers_of_nodes_go_on_behind_those_that_are_there() {
    let mut load = Load::default()
        .file("m.csv", ":ID,k:int\n5,9\n,8\n")
        .file("s.csv", ":START_ID,:END_ID\n5,0\n1,5\n")
        .nodes(&["Q"], &["m.csv"])
        .relationships(Some("S"), &["s.csv"]);
    load.plan.id_type = hopdb_graph::load::IdType::Actual;
    let (first, model) = before();
    let (_folder, graph) = first.gives(&model);
    assert_eq!(load.add(&graph).unwrap().nodes, 2);
    let snapshot = graph.read().unwrap();
    assert!(snapshot.check().unwrap().is_clean());
    for (id, k) in [(5, 9_i64), (6, 8)] {
        let key = snapshot.reader().catalog().property_key("k").unwrap();
        assert_eq!(snapshot.reader().property(NodeId(id), key).unwrap(), Some(k.into()));
    }
    let load = load.file("m.csv", ":ID,k:int\n1,9\n");
    assert_eq!(
        load.add(&graph).unwrap_err().to_string(),
        "m.csv:2: column 1 (:ID): \"1\" does not ascend: with --id-type actual 7 or more must come here; \
         sort the rows, or use --id-type integer"
    );
}

#[test]
fn a_stop_anywhere_changes_nothing() {
    let rows: String = (0..9_000).map(|id| format!("n{id},{id}\n")).collect();
    let pairs: String = (0..9_000).map(|id| format!("n{id},a\n")).collect();
    let add = || {
        Load::default()
            .file("m.csv", format!("id:ID,k:int\n{rows}"))
            .file("s.csv", format!(":START_ID,:END_ID\n{pairs}"))
            .nodes(&["P"], &["m.csv"])
            .relationships(Some("S"), &["s.csv"])
    };
    assert!(
        refused(&add().file("m.csv", format!("id:ID,k:int\n{rows}z,z\n")))
            .starts_with("m.csv:9002:")
    );
    assert!(
        refused(&add().file("s.csv", format!(":START_ID,:END_ID\n{pairs}z,a\n")))
            .starts_with("s.csv:9002:")
    );
    let (load, model) = before();
    let (_folder, graph) = load.gives(&model);
    let files = add();
    for (file, at_end) in [("m.csv", false), ("m.csv", true), ("s.csv", false), ("s.csv", true)] {
        let progress = Arc::new(Progress::default());
        let source = Stopping { load: &files, progress: Arc::clone(&progress), file, at_end };
        let done = load_into(&graph, (&files.plan, &source, &progress));
        assert!(matches!(done, Err(GraphError::Interrupted)), "{file}: {done:?}");
        assert_like(&graph, &model);
    }
    // And the graph takes the whole of it afterwards.
    assert_eq!(files.add(&graph).unwrap().relationships, 9_000);
    assert!(graph.read().unwrap().check().unwrap().is_clean());
}

const PATH: &str = "/data/x.hop";

fn on_disk(fs: &SimFs) -> Graph {
    let fs = Arc::new(fs.clone());
    Graph::over(Store::open_with(fs, Path::new(PATH), &Options::default()).unwrap()).unwrap()
}

/// A disk with [`before`] on it.
fn disk(seed: u64) -> (SimFs, GraphModel) {
    let (load, model) = before();
    let fs = SimFs::new(seed);
    let progress = Progress::default();
    let made = Arc::new(fs.clone());
    let plan = (&load.plan, &load as &dyn hopdb_graph::load::source::Source, &progress);
    hopdb_graph::load::load_with(made, Path::new(PATH), &Options::default(), plan).unwrap();
    (fs, model)
}

fn larger() -> Load {
    let rows: String = (0..300).map(|id| format!("n{id},{}\n", "v".repeat(100))).collect();
    let pairs: String = (0..300).map(|id| format!("n{id},b\n")).collect();
    Load::default()
        .file("m.csv", format!("id:ID,v\n{rows}"))
        .file("s.csv", format!(":START_ID,:END_ID\n{pairs}"))
        .nodes(&["P"], &["m.csv"])
        .relationships(Some("S"), &["s.csv"])
}

#[test]
fn a_failing_disk_leaves_the_graph_as_it_was_or_whole() {
    let add = larger();
    let (fs, _) = disk(0);
    let graph = on_disk(&fs);
    let first = fs.steps();
    add.add(&graph).unwrap();
    let last = fs.steps();
    assert!(last > first + 3, "too few steps to test with");
    let mut whole = 0;
    for fault in [Fault::NoSpace, Fault::Eio, Fault::FailedSync] {
        for step in first + 1..=last {
            let (fs, model) = disk(step);
            let graph = on_disk(&fs);
            fs.fail_at(step, fault);
            let done = add.add(&graph);
            drop(graph);
            let graph = on_disk(&fs);
            let snapshot = graph.read().unwrap();
            assert!(snapshot.check().unwrap().is_clean(), "step {step}, {fault:?}: {done:?}");
            if snapshot.reader().catalog().node_count() > 2 {
                whole += 1;
            } else {
                assert!(done.is_err(), "step {step}, {fault:?}");
                drop(snapshot);
                assert_like(&graph, &model);
            }
        }
    }
    assert!(whole < (last - first) * 2, "{whole} of {}", 3 * (last - first));
}

#[test]
fn a_disk_that_is_full_is_an_error_and_changes_nothing() {
    let add = larger();
    let (fs, _) = disk(0);
    let size = |fs: &SimFs| fs.file_bytes(PATH).unwrap().len() as u64;
    let (small, graph) = (size(&fs), on_disk(&fs));
    add.add(&graph).unwrap();
    drop(graph);
    let large = size(&fs);
    for capacity in (small..large).step_by(8_192) {
        let (fs, model) = disk(capacity);
        let graph = on_disk(&fs);
        fs.set_capacity(capacity);
        let error = add.add(&graph).unwrap_err();
        assert!(matches!(error, GraphError::Storage(_)), "{capacity} bytes: {error}");
        drop(graph);
        fs.set_capacity(u64::MAX);
        assert_like(&on_disk(&fs), &model);
    }
}

#[test]
fn nodes_that_others_make_before_the_turn_of_a_load_are_kept() {
    let (load, model) = before();
    let (_folder, graph) = load.gives(&model);
    let add = Load::default().file("m.csv", "k\n1\n2\n").nodes(&["Q"], &["m.csv"]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..100 {
                let mut txn = graph.write().unwrap();
                txn.create_node(&["O"], &[]).unwrap();
                txn.commit().unwrap();
            }
        });
        for _ in 0..20 {
            add.add(&graph).unwrap();
        }
    });
    let snapshot = graph.read().unwrap();
    let report = snapshot.check().unwrap();
    assert!(report.is_clean(), "{:?} {:?}", report.problems, report.store.problems);
    assert_eq!(snapshot.reader().catalog().node_count(), 2 + 100 + 20 * 2);
}
