//! Files in memory, and the plan to load them.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use hopdb_graph::load::source::{ReadSeek, Source};
use hopdb_graph::load::{
    IndexFor, LoadPlan, LoadReport, NodeFiles, Progress, RelationshipFiles, load, load_into,
};
use hopdb_graph::{Graph, GraphError};
use hopdb_storage::Options;
use hopdb_testkit::graph_model::GraphModel;

/// A load of files in memory.
#[derive(Default)]
pub(crate) struct Load {
    files: BTreeMap<PathBuf, Vec<u8>>,
    pub(crate) plan: LoadPlan,
    pub(crate) progress: Progress,
}

impl Load {
    pub(crate) fn file(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.insert(name.into(), bytes.into());
        self
    }

    pub(crate) fn gzip(self, name: &str, text: &str) -> Self {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        self.file(name, encoder.finish().unwrap())
    }

    pub(crate) fn nodes(mut self, labels: &[&str], files: &[&str]) -> Self {
        let labels = labels.iter().map(ToString::to_string).collect();
        let files = files.iter().map(PathBuf::from).collect();
        self.plan.nodes.push(NodeFiles { labels, files });
        self
    }

    pub(crate) fn relationships(mut self, name: Option<&str>, files: &[&str]) -> Self {
        let relationship_type = name.map(Into::into);
        let files = files.iter().map(PathBuf::from).collect();
        self.plan.relationships.push(RelationshipFiles { relationship_type, files });
        self
    }

    pub(crate) fn index(mut self, label: &str, property: &str, unique: bool) -> Self {
        let (label, property) = (label.into(), property.into());
        self.plan.indexes.push(IndexFor { label, property, unique });
        self
    }

    pub(crate) fn run(&self, path: &Path) -> Result<LoadReport, GraphError> {
        load(path, &Options::default(), &self.plan, self, &self.progress)
    }

    /// Loads into a graph that is there.
    pub(crate) fn add(&self, graph: &Graph) -> Result<LoadReport, GraphError> {
        load_into(graph, (&self.plan, self, &self.progress))
    }

    /// The error of a load that must leave nothing behind.
    pub(crate) fn error(&self) -> GraphError {
        let folder = tempfile::tempdir().unwrap();
        let error = self.run(&folder.path().join("x.hop")).unwrap_err();
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?} after {error}");
        error
    }

    pub(crate) fn refused(&self) -> String {
        self.error().to_string()
    }

    /// Loads, and holds the graph against a model.
    pub(crate) fn gives(&self, model: &GraphModel) -> (tempfile::TempDir, Graph) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.hop");
        let report = self.run(&path).unwrap();
        assert_eq!(report.nodes, model.nodes().len() as u64);
        assert_eq!(report.relationships, model.relationships().len() as u64);
        assert_eq!(report.pages_read, 0);
        assert_eq!(self.progress.nodes(), report.nodes);
        assert_eq!(self.progress.relationships(), report.relationships);
        let graph = Graph::open(&path, &Options::default()).unwrap();
        assert_like(&graph, model);
        (folder, graph)
    }
}

pub(crate) fn assert_like(graph: &Graph, model: &GraphModel) {
    let snapshot = graph.read().unwrap();
    model.assert_like(snapshot.reader());
    let report = snapshot.check().unwrap();
    assert!(report.is_clean(), "{:?} {:?}", report.problems, report.store.problems);
}

impl Source for Load {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(self.open_seek(path)?))
    }

    fn open_seek(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        let bytes = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(io::Cursor::new(bytes.clone())))
    }

    fn len(&self, path: &Path) -> Option<u64> {
        self.files.get(path).map(|bytes| bytes.len() as u64)
    }
}

/// Stops the load when a file is opened, or read to its end.
pub(crate) struct Stopping<'l> {
    pub(crate) load: &'l Load,
    pub(crate) progress: std::sync::Arc<Progress>,
    pub(crate) file: &'static str,
    pub(crate) at_end: bool,
}

impl Source for Stopping<'_> {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        let inner = self.load.open(path)?;
        if path != Path::new(self.file) {
            return Ok(inner);
        }
        if !self.at_end {
            self.progress.stop();
        }
        let end = StopAtEnd { inner, progress: self.progress.clone() };
        Ok(Box::new(end))
    }

    fn open_seek(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        self.load.open_seek(path)
    }

    fn len(&self, path: &Path) -> Option<u64> {
        self.load.len(path)
    }
}

struct StopAtEnd {
    inner: Box<dyn Read + Send>,
    progress: std::sync::Arc<Progress>,
}

impl Read for StopAtEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if count == 0 {
            self.progress.stop();
        }
        Ok(count)
    }
}
