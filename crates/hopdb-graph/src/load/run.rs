//! A whole load: into a new file that has no name until it is whole, so that whatever stops it (a bad row, a
//! full disk, an interrupt, a crash) leaves nothing behind.

use std::path::Path;
use std::time::Duration;

use hopdb_storage::{Options, Store};
use rustc_hash::FxHashMap;

use super::nodes::{self, LoadedNodes};
use super::plan::{LoadPlan, LoadReport, Phase, Progress};
use super::relationships;
use super::rows::RowReader;
use super::source::Source;
use crate::error::{GraphError, LoadError, Result};
use crate::graph::Graph;
use crate::ids::{LabelId, NodeId};
use crate::index::{not_unique, whole_key};
use crate::keys;
use crate::write::GraphTxn;

/// Rows between two looks at the progress.
pub(super) const CHECK_EVERY: u64 = 4096;

/// What all parts of a load need.
pub(super) struct Context<'a> {
    pub(super) plan: &'a LoadPlan,
    pub(super) source: &'a dyn Source,
    pub(super) progress: &'a Progress,
}

/// Loads the files of `plan` into a new graph at `path`.
///
/// # Errors
/// The first row that cannot be loaded ([`GraphError::Load`] names its place), a name that is taken, failed
/// reads and writes, [`GraphError::Interrupted`]. No file is left then.
pub fn load(
    path: &Path,
    options: &Options,
    plan: &LoadPlan,
    source: &dyn Source,
    progress: &Progress,
) -> Result<LoadReport> {
    let fs = std::sync::Arc::new(hopdb_storage::io::real::RealFs);
    load_with(fs, path, options, (plan, source, progress))
}

/// [`load`] on a given file system.
///
/// # Errors
/// As [`load`].
pub fn load_with(
    fs: std::sync::Arc<dyn hopdb_storage::io::FileSystem>,
    path: &Path,
    options: &Options,
    (plan, source, progress): (&LoadPlan, &dyn Source, &Progress),
) -> Result<LoadReport> {
    let mut watch = Watch { started: fs.now(), phases: Vec::new() };
    let exists = fs.exists(path).unwrap_or(false);
    if exists {
        return Err(hopdb_storage::Error::AlreadyExists(path.to_path_buf()).into());
    }
    let context = Context { plan, source, progress };
    let folder = path.parent().unwrap_or(Path::new(""));
    let store = Store::create_unnamed(std::sync::Arc::clone(&fs), folder, options)?;
    let graph = Graph::create_unnamed(store)?;
    let mut txn = graph.write()?;

    progress.enter(Phase::Nodes);
    let mut loaded = nodes::load(&context, &mut txn)?;
    progress.set_nodes(loaded.ids.node_count());
    watch.lap(fs.now());

    progress.enter(Phase::Relationships);
    let rows = relationships::read(&context, &mut txn, &mut loaded.ids)?;
    let node_count = loaded.ids.node_count();
    drop(std::mem::take(&mut loaded.ids));
    watch.lap(fs.now());

    progress.enter(Phase::Building);
    build_labels(&mut txn, &loaded.by_label)?;
    build_indexes(&context, &mut txn, &mut loaded)?;
    let relationships = rows.build(&mut txn)?;
    txn.catalog.counters.nodes = node_count;
    txn.catalog.counters.next_node = node_count;
    if progress.is_stopped() {
        return Err(GraphError::Interrupted);
    }
    watch.lap(fs.now());

    progress.enter(Phase::Syncing);
    txn.commit()?;
    graph.persist(path)?;
    watch.lap(fs.now());
    let counts = graph.store().counts();
    let file_bytes = graph.store().file_bytes()?;
    Ok(LoadReport {
        nodes: node_count,
        relationships,
        file_bytes,
        pages_read: counts.io.pages_read,
        pages_written: counts.io.pages_written,
        pages: file_bytes / graph.store().page_size() as u64,
        time: fs.now().saturating_sub(watch.started),
        phases: watch.phases(),
    })
}

struct Watch {
    started: Duration,
    phases: Vec<Duration>,
}

impl Watch {
    fn lap(&mut self, now: Duration) {
        let before: Duration = self.phases.iter().sum();
        self.phases.push(now.saturating_sub(self.started).saturating_sub(before));
    }

    fn phases(&self) -> [Duration; 4] {
        let mut phases = [Duration::ZERO; 4];
        phases.iter_mut().zip(&self.phases).for_each(|(to, from)| *to = *from);
        phases
    }
}

fn build_labels(txn: &mut GraphTxn, by_label: &[Vec<NodeId>]) -> Result<()> {
    let mut bulk = txn.txn.bulk(txn.shared.tables.labels)?;
    let mut key = Vec::new();
    for (label, nodes) in (0..).map(LabelId).zip(by_label) {
        for node in nodes {
            key.clear();
            keys::label(&mut key, label, *node);
            bulk.push(&mut txn.txn, &key, &[])?;
        }
        txn.catalog.count_label(label, nodes.len() as u64);
    }
    bulk.finish(&mut txn.txn)?;
    Ok(())
}

fn build_indexes(
    context: &Context<'_>,
    txn: &mut GraphTxn,
    loaded: &mut LoadedNodes,
) -> Result<()> {
    for (index, wanted) in loaded.indexes.iter_mut().zip(&context.plan.indexes) {
        let nodes = txn.catalog.label(&wanted.label).map_or(0, |label| label.0 as usize);
        let known = context.plan.nodes.iter().any(|group| group.labels.contains(&wanted.label));
        if !known && loaded.by_label.get(nodes).is_none_or(Vec::is_empty) {
            return Err(GraphError::IndexWithoutNodes { label: wanted.label.clone() });
        }
        let twice = index.sort();
        index.build(txn)?;
        let twice = match twice {
            Some(nodes) => Some(nodes),
            None => first_equal(txn, index.cut_alike())?,
        };
        if let Some([first, second]) = twice {
            return Err(duplicate(context, txn, first, second)?);
        }
    }
    Ok(())
}

/// The first two nodes of a group whose indexed values are equal behind the cut.
fn first_equal(txn: &GraphTxn, groups: Vec<Vec<NodeId>>) -> Result<Option<[NodeId; 2]>> {
    let Some(index) = txn.catalog.indexes.last() else { return Ok(None) };
    for group in groups {
        let mut seen: FxHashMap<Vec<u8>, NodeId> = FxHashMap::default();
        for node in group {
            let value = txn.reader().property(node, index.property)?;
            let Some(value) = value else { continue };
            if let Some(first) = seen.insert(whole_key(&value), node) {
                return Ok(Some([first, node]));
            }
        }
    }
    Ok(None)
}

/// The error for a value that a unique index has twice: names the second node's row.
fn duplicate(
    context: &Context<'_>,
    txn: &GraphTxn,
    first: NodeId,
    second: NodeId,
) -> Result<GraphError> {
    let index = txn.catalog.indexes.last().expect("the index was made just now");
    let value = txn.reader().property(second, index.property)?.unwrap_or(crate::value::Value::Null);
    let reason = not_unique(&txn.catalog, index, &value, first).to_string();
    Ok(match place_of(context, second)? {
        Some(place) => {
            let first = match place_of(context, first)? {
                Some(place) => format!(" ({}:{})", place.file.display(), place.line),
                None => String::new(),
            };
            LoadError { reason: reason + &first, ..place }.into()
        }
        None => not_unique(&txn.catalog, index, &value, first),
    })
}

/// Reads the node files again, up to the row that a node came from; `None` when one of them can be read only
/// once, as a pipe.
pub(super) fn place_of(context: &Context<'_>, node: NodeId) -> Result<Option<LoadError>> {
    let mut files = context.plan.nodes.iter().flat_map(|group| &group.files);
    if files.any(|file| context.source.len(file).is_none()) {
        return Ok(None);
    }
    let mut number = 0;
    for group in &context.plan.nodes {
        let (dialect, counter) = (context.plan.dialect, std::sync::Arc::default());
        let mut rows = RowReader::open(context.source, &group.files, dialect, counter)?;
        while let Some(row) = rows.next_row()? {
            if number == node.0 {
                return Ok(Some(row.error("")));
            }
            number += 1;
        }
    }
    Ok(None)
}
