//! Whole exports, loaded again: any graph comes back equal; what fails leaves nothing.
#![expect(clippy::disallowed_methods, reason = "a test, which looks into folders")]

use std::collections::BTreeSet;
use std::path::Path;

use hopdb_storage::Options;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::graph::Graph;
use crate::load::names::{split_names, whole_name};
use crate::load::source::FileSource;
use crate::load::{IdType, IndexFor, LoadPlan, NodeFiles, RelationshipFiles, load};
use crate::value::tests::any_value;
use crate::value::{Coordinates, Vector};

/// Properties, by positions of names.
type Keyed = Vec<(usize, Value)>;

/// What a graph is made of; positions are taken modulo what there is.
#[derive(Clone, Debug)]
struct Parts {
    names: Vec<String>,
    /// Labels and properties, by positions of names.
    nodes: Vec<(Vec<usize>, Keyed)>,
    /// Start, end, type, properties.
    relationships: Vec<(usize, usize, usize, Keyed)>,
    /// Label, property.
    indexes: Vec<(usize, usize)>,
}

/// A key that no other name is: each node's has a value of its own.
const TAG: &str = "number of the node";

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => "[A-Za-z]{1,8}",
        2 => "[`:;,=.(){}\\[\\]\"'\\\\\n\r\t\0 aA@#*?\u{a0}\u{feff}]{1,6}",
        1 => ".{1,20}",
        1 => prop::sample::select(vec![
            "ID", "a:ID", ":LABEL", "a:int", "int[]", "a:IGNORE", "START_ID:int", "a:int{x:1}", "a(b)", "-", "--",
            "a[]", "`", "``", "\\n", "\r\n", "other", "Other", "OTHER",
        ])
        .prop_map(str::to_owned),
    ]
}

fn any_string() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[\",;'`\n\r\t\0 a\\\\]{0,6}".prop_map(Value::String),
        vec("[\",;\n a]{0,3}".prop_map(Value::String), 0..4).prop_map(Value::List),
        vec(any::<i64>().prop_map(Value::Integer), 0..4).prop_map(Value::List),
        vec("[a1]".prop_map(Value::String), 0..2).prop_map(Value::List),
    ]
}

fn any_parts() -> impl Strategy<Value = Parts> {
    let value =
        || prop_oneof![any_value().prop_filter("stored", |value| !value.is_null()), any_string()];
    let properties = move || vec((0..9_usize, value()), 0..5);
    let node = (vec(0..5_usize, 0..3), properties());
    let relationship = (any::<usize>(), any::<usize>(), 0..5_usize, properties());
    let indexes = vec((0..9_usize, 0..9_usize), 0..4);
    (vec(any_name(), 9), vec(node, 0..12), vec(relationship, 0..12), indexes).prop_map(
        |(names, nodes, relationships, indexes)| Parts { names, nodes, relationships, indexes },
    )
}

impl Parts {
    fn properties<'p>(&'p self, properties: &'p [(usize, Value)]) -> Vec<(&'p str, Value)> {
        let mut keys = BTreeSet::new();
        let new = properties.iter().filter(|(key, _)| keys.insert(&self.names[*key]));
        new.map(|(key, value)| (&*self.names[*key], value.clone())).collect()
    }

    fn build(&self, path: &Path) -> Graph {
        let graph = Graph::create(path, &Options::default()).unwrap();
        let mut txn = graph.write().unwrap();
        let mut ids = Vec::new();
        for (tag, (labels, properties)) in (0_i64..).zip(&self.nodes) {
            let labels: Vec<&str> = labels.iter().map(|label| &*self.names[*label]).collect();
            let mut properties = self.properties(properties);
            properties.push((TAG, tag.into()));
            ids.push(txn.create_node(&labels, &properties).unwrap());
        }
        for (start, end, type_name, properties) in &self.relationships {
            let Some(count) = (!ids.is_empty()).then_some(ids.len()) else { break };
            let (start, end) = (ids[start % count], ids[end % count]);
            let properties = self.properties(properties);
            txn.create_relationship(start, &self.names[*type_name], end, &properties).unwrap();
        }
        for (label, property) in &self.indexes {
            let (label, property) = (&self.names[*label], &self.names[*property]);
            let has_index = |label: &str, txn: &crate::write::GraphTxn| {
                let catalog = txn.reader().catalog();
                let id = catalog.label(label);
                catalog.indexes().iter().any(|index| Some(index.label) == id)
            };
            if !has_index(label, &txn) {
                txn.create_index(label, property, false).unwrap();
                txn.create_index(label, TAG, true).unwrap();
            }
        }
        txn.commit().unwrap();
        graph
    }
}

/// Everything in the graph but numbers, in an order of its own.
fn canonical(graph: &Graph) -> Vec<String> {
    let snapshot = graph.read().unwrap();
    let reader = snapshot.reader();
    let shown = |properties: &[(std::sync::Arc<str>, Value)]| {
        let mut shown: Vec<String> = properties.iter().map(|entry| format!("{entry:?}")).collect();
        shown.sort();
        shown
    };
    let mut all = Vec::new();
    let mut ids = Vec::new();
    reader
        .for_each_node(|id| {
            ids.push(id);
            Ok(())
        })
        .unwrap();
    let tag = |id| reader.property(id, reader.catalog().property_key(TAG).unwrap()).unwrap();
    for id in ids {
        let node = reader.node(id).unwrap().unwrap();
        let mut labels = node.labels.clone();
        labels.sort();
        all.push(format!("node {labels:?} {:?}", shown(&node.properties)));
    }
    let mut ids = Vec::new();
    reader
        .for_each_relationship(|id, _| {
            ids.push(id);
            Ok(())
        })
        .unwrap();
    for id in ids {
        let found = reader.relationship(id).unwrap().unwrap();
        let (start, end, of) = (tag(found.start), tag(found.end), &found.relationship_type);
        all.push(format!("relationship {start:?} {of:?} {end:?} {:?}", shown(&found.properties)));
    }
    for index in reader.catalog().indexes() {
        let label = reader.catalog().label_name(index.label);
        let property = reader.catalog().property_key_name(index.property);
        all.push(format!("index {label:?} {property:?} {}", index.unique));
    }
    all.sort();
    all
}

/// The plan that the options in a folder make, read as `hop load` reads them.
fn plan(folder: &Path) -> LoadPlan {
    let mut plan = LoadPlan { memory_bytes: 64 << 20, ..LoadPlan::default() };
    let text = std::fs::read_to_string(folder.join(ARGUMENTS_FILE)).unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (option, value) = line.split_once('=').unwrap();
        let named = || {
            let file = value.rsplit('=').next().unwrap();
            let name = value[..value.len() - file.len()].strip_suffix('=');
            (name, vec![folder.join(file)])
        };
        match option {
            "--id-type" => plan.id_type = value.parse::<IdType>().unwrap(),
            "--nodes" => {
                let (names, files) = named();
                let labels = names.map(|names| split_names(names, ':').unwrap());
                plan.nodes.push(NodeFiles { labels: labels.unwrap_or_default(), files });
            }
            "--relationships" => {
                let (name, files) = named();
                let relationship_type = name.map(|name| whole_name(name).unwrap().into_owned());
                plan.relationships.push(RelationshipFiles { relationship_type, files });
            }
            "--index" | "--unique" => {
                let mut dots = value.match_indices('.');
                let at = dots.find(|(at, _)| whole_name(&value[..*at]).is_ok()).unwrap().0;
                plan.indexes.push(IndexFor {
                    label: whole_name(&value[..at]).unwrap().into(),
                    property: whole_name(&value[at + 1..]).unwrap().into(),
                    unique: option == "--unique",
                });
            }
            other => panic!("{other}"),
        }
    }
    plan
}

/// CSV that holds little, so that files are shared and values go as text.
#[derive(Debug)]
struct Narrow {
    files_max: usize,
    fits: bool,
}

impl RowFormat for Narrow {
    fn extension(&self) -> &'static str {
        "csv"
    }

    fn files_max(&self) -> usize {
        self.files_max
    }

    fn fits(&self, _: &str, _: &Value) -> bool {
        self.fits
    }

    fn create(&self, path: &Path, columns: &[FileColumn]) -> std::io::Result<Box<dyn RowWriter>> {
        Csv { gzip: false }.create(path, columns)
    }
}

/// Loads an export again.
fn loaded(folder: &Path, path: &Path) -> Graph {
    let progress = crate::load::Progress::default();
    load(path, &Options::default(), &plan(folder), &FileSource, &progress)
        .unwrap_or_else(|error| panic!("{error}\n{}", texts(folder)));
    Graph::open(path, &Options::default()).unwrap()
}

fn texts(folder: &Path) -> String {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: std::path::PathBuf| {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        format!("{}:\n{text}\n", path.display())
    };
    files.map(text).collect()
}

fn assert_comes_back(parts: &Parts, format: &dyn RowFormat) {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let graph = parts.build(&path("a.hop"));
    let before = canonical(&graph);
    let snapshot = graph.read().unwrap();
    let report = export(&snapshot, &path("out"), format, &Progress::default()).unwrap();
    assert_eq!(report.nodes, parts.nodes.len() as u64);
    let mut names: Vec<String> = report.files;
    names.sort();
    let mut found: Vec<String> = std::fs::read_dir(path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, names);
    let again = loaded(&path("out"), &path("b.hop"));
    assert_eq!(canonical(&again), before, "{}", texts(&path("out")));
}

/// `PROPTEST_CASES` asks for more.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn any_graph_comes_back(parts in any_parts(), gzip: bool) {
        assert_comes_back(&parts, &Csv { gzip });
    }

    #[test]
    fn any_graph_comes_back_from_few_columns(parts in any_parts(), files_max in 2..5_usize, fits: bool) {
        assert_comes_back(&parts, &Narrow { files_max, fits });
    }
}

#[test]
fn a_key_with_many_kinds_shares_a_column() {
    let vector = |length: usize| Vector::new(Coordinates::Integer8(vec![1; length])).unwrap();
    let node = |length| (vec![0], vec![(0, vector(length).into())]);
    let text = (vec![0], vec![(0, "it's".into())]);
    let nodes = (1..30).map(node).chain([text]).collect();
    let names = vec!["a".to_owned()];
    let parts = Parts { names, nodes, relationships: Vec::new(), indexes: Vec::new() };
    assert_comes_back(&parts, &Csv::default());
}

fn small() -> Parts {
    let nodes = (0..20).map(|at| (vec![0], vec![(1, Value::Integer(at))])).collect();
    let relationships = (0..20).map(|at| (at, at + 1, 2, Vec::new())).collect();
    let names = ["Person", "age", "KNOWS"].map(str::to_owned).to_vec();
    Parts { names, nodes, relationships, indexes: vec![(0, 1)] }
}

#[test]
fn files_are_nice_to_read() {
    let place = tempfile::tempdir().unwrap();
    let graph = small().build(&place.path().join("a.hop"));
    let out = place.path().join("out");
    export(&graph.read().unwrap(), &out, &Csv::default(), &Progress::default()).unwrap();
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let start = format!(":ID,age:long,{TAG}:long\n0,0,0\n1,1,1\n");
    assert!(read("nodes-Person.csv").starts_with(&start));
    assert!(read("relationships-KNOWS.csv").starts_with(":START_ID,:END_ID\n0,1\n"));
    let options = format!(
        "--id-type=integer\n--nodes=Person=nodes-Person.csv\n\
         --relationships=KNOWS=relationships-KNOWS.csv\n--index=Person.age\n--unique=Person.{TAG}\n"
    );
    assert!(read(ARGUMENTS_FILE).ends_with(&options), "{}", read(ARGUMENTS_FILE));
}

#[test]
fn a_folder_that_holds_something_is_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let graph = small().build(&place.path().join("a.hop"));
    let refused =
        export(&graph.read().unwrap(), place.path(), &Csv::default(), &Progress::default());
    assert!(matches!(refused, Err(GraphError::FolderTaken { .. })));
    assert!(place.path().join("a.hop").is_file());
}

/// Fails at a row.
#[derive(Debug)]
struct Failing;

impl RowFormat for Failing {
    fn extension(&self) -> &'static str {
        "csv"
    }

    fn files_max(&self) -> usize {
        9
    }

    fn fits(&self, _: &str, _: &Value) -> bool {
        true
    }

    fn create(&self, path: &Path, columns: &[FileColumn]) -> std::io::Result<Box<dyn RowWriter>> {
        let inner = Csv::default().create(path, columns)?;
        Ok(Box::new(FailingWriter { inner, left: 15 }))
    }
}

struct FailingWriter {
    inner: Box<dyn RowWriter>,
    left: u32,
}

impl RowWriter for FailingWriter {
    fn write(&mut self, row: &mut [Value]) -> std::io::Result<()> {
        self.left -= 1;
        match self.left {
            0 => Err(std::io::ErrorKind::StorageFull.into()),
            _ => self.inner.write(row),
        }
    }

    fn finish(self: Box<Self>) -> std::io::Result<()> {
        self.inner.finish()
    }
}

#[test]
fn what_fails_or_is_stopped_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let graph = small().build(&place.path().join("a.hop"));
    let snapshot = graph.read().unwrap();
    let out = place.path().join("out");
    let failed = export(&snapshot, &out, &Failing, &Progress::default());
    assert!(matches!(failed, Err(GraphError::ExportFile { .. })), "{failed:?}");
    assert!(!out.exists());
    let progress = Progress::default();
    progress.stop();
    std::fs::create_dir(&out).unwrap();
    let stopped = export(&snapshot, &out, &Csv::default(), &progress);
    assert!(matches!(stopped, Err(GraphError::Interrupted)));
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0, "the folder was there before");
}
