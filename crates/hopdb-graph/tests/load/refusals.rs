//! Bad files: the message names the place, and nothing is left.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use hopdb_graph::GraphError;
use hopdb_graph::load::source::{ReadSeek, Source};
use hopdb_graph::load::{Progress, load};
use hopdb_storage::Options;

use super::files::{Load, Stopping};

fn node_file(text: impl Into<Vec<u8>>) -> Load {
    Load::default().file("n.csv", text).nodes(&["A"], &["n.csv"])
}

fn relationship_file(text: &str) -> Load {
    node_file(":ID\n1\n2\n").file("r.csv", text).relationships(None, &["r.csv"])
}

#[test]
fn rows_of_nodes() {
    let refused = |text: &str| node_file(text).refused();
    assert_eq!(
        refused("id:ID,k:int\n1,5\n2,five\n"),
        "n.csv:3: column 2 (k:int): \"five\" is not an int: character 1 is 'f'"
    );
    assert_eq!(
        refused("id:ID,k\n\"1\n\",5\n2\n"),
        "n.csv:4: expected 2 columns, found 1; is the delimiter right?"
    );
    assert_eq!(
        refused("id:ID(P)\n1\n2\n1\n"),
        "n.csv:4: column 1 (id:ID(P)): the id \"1\" is taken in the id space P: n.csv:2 has it"
    );
    assert!(refused("id:ID,k\n1,\"open\n2,3\n").starts_with("n.csv:2: a quote opened"));
    assert!(refused("").starts_with("n.csv: it is empty"));
    assert!(
        refused("k:integre\n")
            .starts_with("n.csv:1: column 1 (k:integre): \"integre\" is not a type")
    );
    let long = "l".repeat(256);
    assert_eq!(
        refused(&format!("k,:LABEL\n1,{long}\n")),
        format!(
            "n.csv:2: column 2 (:LABEL): {:?} cannot be the name of a label: it is longer than 255 bytes",
            &long[..40]
        )
    );
    assert_eq!(
        refused(&format!("k,{long}\n")),
        format!(
            "n.csv:1: column 2 ({long}): {:?} cannot be the name of a property key: it is longer than 255 bytes",
            &long[..40]
        )
    );
    let error = node_file(b"k\nb\xffd\n".to_vec()).refused();
    assert!(error.starts_with("n.csv:2: column 1 (k):") && error.contains("UTF-8"), "{error}");
    let error = Load::default().nodes(&[], &["no.csv"]).refused();
    assert_eq!(error, "no.csv: there is no such file; is the path right?");
}

#[test]
fn rows_of_relationships() {
    let refused = |text: &str| relationship_file(text).refused();
    assert_eq!(
        refused(":START_ID,:END_ID,:TYPE\n1,2,R\n1,3,R\n"),
        "r.csv:3: column 2 (:END_ID): no node file has the id \"3\""
    );
    assert_eq!(
        refused(":START_ID(P),:END_ID,:TYPE\n1,2,R\n"),
        "r.csv:2: column 1 (:START_ID(P)): no node file has the id \"1\" in the id space P"
    );
    assert_eq!(
        refused(":START_ID,:END_ID,:TYPE\n1,2,\n"),
        "r.csv:2: column 3 (:TYPE): the relationship has no type"
    );
    assert!(refused(":START_ID,:END_ID\n1,2\n").starts_with("r.csv:1: no relationship type"));
    assert!(refused(":START_ID,:TYPE\n1,R\n").starts_with("r.csv:1: the header has no :END_ID"));
    assert_eq!(
        refused(":START_ID,:END_ID,:TYPE,w:date\n1,2,R,2024-02-30\n")
            .split_once(" is not ")
            .unwrap()
            .0,
        "r.csv:2: column 4 (w:date): \"2024-02-30\""
    );
    assert_eq!(
        refused(":START_ID,:END_ID,:TYPE\n1,2,R,x\n"),
        "r.csv:2: expected 3 columns, found 4; --ignore-extra-columns leaves the further ones out"
    );
}

#[test]
fn unique_values_name_both_rows() {
    let files = || {
        Load::default()
            .file("a.csv", "k\n\"line\nbreak\"\n5\n")
            .file("b.csv", "k,:LABEL\n6,A\n5,B\n5,A\n")
            .nodes(&["A"], &["a.csv"])
            .nodes(&[], &["b.csv"])
    };
    assert_eq!(
        files().index("A", "k", true).refused(),
        "b.csv:4: node 1 with label A has k = '5' already (a.csv:4)"
    );
    files().index("A", "k", false).gives(&{
        let mut model = hopdb_testkit::graph_model::GraphModel::default();
        for (label, k) in [("A", "line\nbreak"), ("A", "5"), ("A", "6"), ("B", "5"), ("A", "5")] {
            model.create_node(&[label], &[("k", k.into())]).unwrap();
        }
        model.create_index("A", "k", false).unwrap();
        model
    });
    // Behind the cut of a key, and where only the last of the list tells 1 from 1.0, which are one.
    let long = "v".repeat(3_000);
    let text = format!("k\n{long}a\n{long}b\n{long}a\n");
    let error = node_file(text).index("A", "k", true).refused();
    assert!(error.starts_with("n.csv:4: node 0 with label A has k = 'vvvv"), "{error}");
    assert!(error.ends_with("… already (n.csv:2)"), "{error}");
    let ones = "2;".repeat(700) + "1";
    let error = Load::default()
        .file("n.csv", format!("k:long[]\n{}\n", ones))
        .file("m.csv", format!("k:double[]\n{}\n", ones))
        .nodes(&["A"], &["n.csv"])
        .nodes(&["A"], &["m.csv"])
        .index("A", "k", true)
        .refused();
    assert!(error.starts_with("m.csv:2: node 0 with label A has k = [2"), "{error}");
}

#[test]
fn plans_that_make_no_sense() {
    let load = || node_file("k\n1\n");
    assert_eq!(
        load().index("B", "k", false).refused(),
        "no loaded node has the label \"B\" that an index was asked for"
    );
    let twice = load().index("A", "k", false).index("A", "k", true).refused();
    assert_eq!(twice, "there is an index on A.k already");
    assert!(load().index("", "k", false).refused().contains("it is empty"));
    assert!(load().nodes(&[""], &["n.csv"]).refused().contains("it is empty"));
    assert!(load().nodes(&[], &[]).refused().contains("no file is named"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.hop");
    std::fs::write(&path, "taken").unwrap();
    let error = load().run(&path).unwrap_err();
    assert!(matches!(error, GraphError::Storage(hopdb_storage::Error::AlreadyExists(_))));
    assert_eq!(std::fs::read(&path).unwrap(), b"taken");
    assert!(load().run(&folder.path().join("no/x.hop")).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_stop_anywhere_leaves_nothing() {
    let rows: String = (0..9_000).map(|id| format!("{id}\n")).collect();
    let pairs: String = (0..9_000).map(|id| format!("{id},{}\n", id / 2)).collect();
    let files = Load::default()
        .file("n.csv", format!(":ID\n{rows}"))
        .file("r.csv", format!(":START_ID,:END_ID\n{pairs}"))
        .nodes(&["A"], &["n.csv"])
        .relationships(Some("R"), &["r.csv"]);
    for (file, at_end) in [("n.csv", false), ("n.csv", true), ("r.csv", false), ("r.csv", true)] {
        let progress = Arc::new(Progress::default());
        let source = Stopping { load: &files, progress: Arc::clone(&progress), file, at_end };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.hop");
        let done = load(&path, &Options::default(), &files.plan, &source, &progress);
        assert!(matches!(done, Err(GraphError::Interrupted)), "{file}: {done:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{file}");
        assert!(progress.relationships() < 9_000 || at_end);
        assert!(!Path::new(file).exists());
    }
}

/// Files of nodes, the second of which begins with a row too long to be held.
struct LongRow;

impl Source for LongRow {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        match path == Path::new("first.csv") {
            true => Ok(Box::new(&b"name\nx\n"[..])),
            false => Ok(Box::new(io::repeat(b'y').take(257 << 20).chain(&b"\nz\n"[..]))),
        }
    }

    fn open_seek(&self, _: &Path) -> io::Result<Box<dyn ReadSeek>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn len(&self, _: &Path) -> Option<u64> {
        Some(1)
    }
}

#[test]
fn a_first_row_that_is_too_long_is_not_cut() {
    let files = Load::default().nodes(&["A"], &["first.csv", "second.csv"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.hop");
    let done = load(&path, &Options::default(), &files.plan, &LongRow, &files.progress);
    let error = done.unwrap_err().to_string();
    assert!(error.starts_with("second.csv:1: the row that begins here is longer"), "{error}");
}

#[test]
fn a_missing_end_comes_before_a_wrong_property_whatever_its_id_is() {
    for id in ["7", "x"] {
        let load = Load::default()
            .file("n.csv", ":ID\n1\n")
            .file("r.csv", format!(":START_ID,:END_ID,w:int\n1,{id},y\n"))
            .nodes(&[], &["n.csv"])
            .relationships(Some("R"), &["r.csv"]);
        let expected = format!("r.csv:2: column 2 (:END_ID): no node file has the id \"{id}\"");
        assert_eq!(load.refused(), expected);
    }
}
