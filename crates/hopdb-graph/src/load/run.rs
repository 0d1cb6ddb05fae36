//! A whole load: into a new file that has no name until it is whole, or into a graph that is there, in one
//! transaction. Whatever stops it (a bad row, a full disk, an interrupt, a crash) leaves all as it was.
//!
//! Memory: the plan's budget is shared out by [`Memory`]. The id map must fit it; what is sorted goes to disk past
//! its share; blocks under way and the page cache take fixed shares.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hopdb_storage::io::FileSystem;
use hopdb_storage::{Options, Store};

use super::again;
use super::bad_rows::BadRows;
use super::blocks::{Part, RowRules};
use super::header::{IdType, Role};
use super::ids::Ids;
use super::node_rows::NodeColumns;
use super::node_tables::NodeTables;
use super::nodes;
use super::ordered::{Load, beside};
use super::parts;
use super::plan::{LoadPlan, LoadReport, Phase, Progress};
use super::relationships::{self, IdProperties};
use super::source::Source;
use super::spill::Scratch;
use super::tables;
use crate::catalog::Catalog;
use crate::error::{GraphError, Result};
use crate::graph::{Graph, Snapshot};
use crate::write::GraphTxn;

/// What all parts of a load need.
pub(super) struct Context<'a> {
    pub(super) plan: &'a LoadPlan,
    pub(super) source: &'a dyn Source,
    pub(super) progress: &'a Progress,
    pub(super) rules: RowRules,
    pub(super) memory: Memory,
    pub(super) scratch: Scratch,
    pub(super) into_existing: bool,
    /// Number of the first node of the load.
    pub(super) first_node: u64,
    /// Whether what is wrong with nodes has ended the load: whoever reads on stops.
    nodes_failed: AtomicBool,
    /// Columns of the files whose headers are names alone, as far as those were read.
    pub(super) columns: Mutex<Vec<String>>,
}

impl<'a> Context<'a> {
    fn new(
        (plan, source, progress): (&'a LoadPlan, &'a dyn Source, &'a Progress),
        scratch: Scratch,
        before: Option<u64>,
    ) -> Self {
        let rules = RowRules {
            dialect: plan.dialect,
            fields: plan.field_rules(),
            ignore_extra_columns: plan.fields.ignore_extra_columns,
            bad_max: plan.bad_rows.tolerance,
            dangling_counts: !plan.bad_rows.skip_bad_relationships,
        };
        Self {
            plan,
            source,
            progress,
            rules,
            memory: Memory { bytes: plan.memory_bytes },
            scratch,
            into_existing: before.is_some(),
            first_node: before.unwrap_or(0),
            nodes_failed: AtomicBool::new(false),
            columns: Mutex::default(),
        }
    }

    pub(super) fn check_stopped(&self) -> Result<()> {
        // A wish to stop: nothing is ordered by it.
        let stopped = self.progress.is_stopped() || self.nodes_failed.load(Ordering::Relaxed);
        if stopped { Err(GraphError::Interrupted) } else { Ok(()) }
    }
}

/// The memory of a load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    bytes: usize,
}

impl Memory {
    /// Least budget of a load: below it there is no room for blocks under way.
    const BYTES_MIN: usize = 64 << 20;

    /// The program, its threads with what their allocators keep, blocks under way, pages on their way to the file.
    const FIXED_BYTES: usize = 32 << 20;

    /// A share of which there are few: for the page cache, for indexes, and what sorting always has.
    fn share(self) -> usize {
        self.bytes / 8
    }

    fn cache_bytes(self, wanted: usize) -> usize {
        wanted.min(self.share())
    }

    /// What may be under way between threads; as much again comes of it there.
    pub(super) fn under_way(self) -> Load {
        Load::of_bytes((self.bytes / 32).max(2 << 20))
    }

    /// For all indexes together, while nodes and relationships are read.
    pub(super) fn index_bytes(self) -> usize {
        self.share()
    }

    /// What is left for sorting beside an id map.
    pub(super) fn sort_bytes(self, ids: usize) -> usize {
        self.bytes.saturating_sub(ids + 2 * self.share() + Self::FIXED_BYTES).max(4 << 20)
    }

    /// What the id map may take.
    fn ids_bytes(self) -> usize {
        self.bytes - 3 * self.share() - Self::FIXED_BYTES.min(self.bytes / 2)
    }

    /// # Errors
    /// The id map does not fit.
    pub(super) fn check_ids(self, bytes: usize) -> Result<()> {
        if bytes <= self.ids_bytes() {
            return Ok(());
        }
        Err(GraphError::OutOfMemoryBudget {
            what: "the ids of the nodes need",
            budget: self.bytes as u64,
        })
    }

    fn check(self) -> Result<()> {
        if self.bytes >= Self::BYTES_MIN {
            return Ok(());
        }
        Err(GraphError::OutOfMemoryBudget {
            what: "a load needs 64 MiB, which is",
            budget: self.bytes as u64,
        })
    }
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
    let fs = Arc::new(hopdb_storage::io::real::RealFs);
    load_with(fs, path, options, (plan, source, progress))
}

/// [`load`] on a given file system.
///
/// # Errors
/// As [`load`].
pub fn load_with(
    fs: Arc<dyn FileSystem>,
    path: &Path,
    options: &Options,
    (plan, source, progress): (&LoadPlan, &dyn Source, &Progress),
) -> Result<LoadReport> {
    let mut watch = Watch::new(&*fs);
    if fs.exists(path).unwrap_or(false) {
        return Err(hopdb_storage::Error::AlreadyExists(path.to_path_buf()).into());
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let scratch = Scratch::new(Arc::clone(&fs), folder);
    let context = Context::new((plan, source, progress), scratch, None);
    context.memory.check()?;
    let cache_bytes = context.memory.cache_bytes(options.cache_bytes);
    let options = Options { cache_bytes, ..options.clone() };
    let store = Store::create_unnamed(Arc::clone(&fs), folder, &options)?;
    let graph = Graph::create_unnamed(store)?;
    let mut report = run(&context, (graph.write()?, None), &mut watch, |txn| {
        progress.enter(Phase::Syncing);
        txn.commit()?;
        graph.persist(path)
    })?;
    report_file(&mut report, &graph);
    watch.report(&mut report);
    Ok(report)
}

/// Loads the files of `plan` into a graph that is there, in one transaction.
///
/// # Errors
/// As [`load`]; also nodes against a unique index. The graph is as it was then.
pub fn load_into(
    graph: &Graph,
    (plan, source, progress): (&LoadPlan, &dyn Source, &Progress),
) -> Result<LoadReport> {
    let fs = graph.store().file_system();
    let mut watch = Watch::new(&*fs);
    let path = graph.store().path();
    let scratch = Scratch::new(Arc::clone(&fs), path.parent().unwrap_or(Path::new("")));
    // Whoever has the turn to write may still make nodes: numbers are looked at in the load's own.
    let txn = graph.write()?;
    let before = Arc::new(graph.read()?);
    let context =
        Context::new((plan, source, progress), scratch, Some(txn.catalog.counters.next_node));
    context.memory.check()?;
    let mut report = run(&context, (txn, Some(before)), &mut watch, |txn| {
        progress.enter(Phase::Syncing);
        txn.commit()
    })?;
    report_file(&mut report, graph);
    watch.report(&mut report);
    Ok(report)
}

/// The load itself in a transaction, up to its end, with the graph that was there before.
fn run(
    context: &Context<'_>,
    (mut txn, before): (GraphTxn, Option<Arc<Snapshot>>),
    watch: &mut Watch<'_>,
    end: impl FnOnce(GraphTxn) -> Result<()>,
) -> Result<LoadReport> {
    let mut report = LoadReport::default();
    let plan = context.plan;
    let mut bad_rows = BadRows::new(&plan.bad_rows)?;
    let actual = plan.id_type == IdType::Actual;
    let mut ids = Ids::new(context.first_node, actual, before);

    let mut tables = NodeTables::new(context, &mut txn)?;
    let inserts = matches!(tables, NodeTables::Insert);
    let mut parts = nodes::open(context, &mut txn, &mut ids, &mut report.guessed)?;
    let kept = id_properties(&parts, &txn);
    let opened = (&mut ids, &kept);
    let mut relationship_parts =
        relationships::open(context, &mut txn, opened, &mut report.guessed)?;
    parts::check_columns(context)?;
    if let Some(file) = &plan.again {
        let (rows, origins) = again::rows(context, file)?;
        bad_rows.set_origins(origins);
        again::replace(file, rows, &mut parts, &mut relationship_parts)?;
    }
    watch.lap(Phase::Looking);

    context.progress.enter(Phase::Nodes);
    report.nodes = nodes::read(context, parts, (&mut txn, &mut ids), &mut tables, &mut bad_rows)?;
    txn.catalog_mut().counters.nodes += report.nodes;
    txn.catalog_mut().counters.next_node = ids.end();
    watch.lap(Phase::Nodes);

    context.progress.enter(Phase::Relationships);
    let all_good = bad_rows.count() == 0;
    let mut names = Catalog::clone(&txn.catalog);
    let read =
        || relationships::read(context, relationship_parts, (&mut names, &ids), &mut bad_rows);
    // Labels and indexes are written meanwhile; what is wrong with them comes first.
    let (rows, finished) = beside(read, || {
        let finished = tables.finish(context, &mut txn, all_good);
        context.nodes_failed.store(finished.is_err(), Ordering::Relaxed);
        finished
    });
    finished?;
    let rows = rows?;
    for (name, _) in names.relationship_types() {
        txn.catalog_mut().type_or_new(name);
    }
    drop(ids);
    watch.lap(Phase::Relationships);

    context.progress.enter(Phase::Building);
    report.relationships = match inserts {
        true => tables::insert(context, &rows, &mut txn)?,
        false => tables::build(context, rows, &mut txn)?,
    };
    context.check_stopped()?;
    bad_rows.finish(&mut report)?;
    watch.lap(Phase::Building);
    end(txn)?;
    watch.lap(Phase::Syncing);
    report.spilled_bytes = context.scratch.bytes();
    Ok(report)
}

/// The properties that hold ids, by id space and label: how nodes that were there before may be found.
fn id_properties(parts: &[Part<NodeColumns>], txn: &GraphTxn) -> IdProperties {
    let mut found = IdProperties::new();
    for part in parts {
        let Some(Role::Id { space, property: Some(property), label }) =
            part.columns.ids.first().map(|column| &column.role)
        else {
            continue;
        };
        let labels = part.columns.labels.iter();
        let labels = labels.filter_map(|label| txn.catalog.label_name(*label));
        for label in label.iter().map(|label| &**label).chain(labels.map(|label| &**label)) {
            found.push((space.clone(), label.to_owned(), property.clone()));
        }
    }
    found
}

fn report_file(report: &mut LoadReport, graph: &Graph) {
    let counts = graph.store().counts();
    // The load is durable by now, whatever the file system says of its length.
    report.file_bytes = graph.store().file_bytes().unwrap_or(0);
    report.pages_read = counts.io.pages_read;
    report.pages_written = counts.io.pages_written;
    report.pages = report.file_bytes / graph.store().page_size() as u64;
}

/// Takes the time of each phase.
struct Watch<'f> {
    fs: &'f dyn FileSystem,
    started: Duration,
    last: Duration,
    phases: [Duration; Phase::ALL.len()],
}

impl<'f> Watch<'f> {
    fn new(fs: &'f dyn FileSystem) -> Self {
        let now = fs.now();
        Self { fs, started: now, last: now, phases: Default::default() }
    }

    fn lap(&mut self, phase: Phase) {
        let now = self.fs.now();
        self.phases[phase as usize] += now.saturating_sub(self.last);
        self.last = now;
    }

    fn report(&self, report: &mut LoadReport) {
        report.time = self.fs.now().saturating_sub(self.started);
        report.phases = self.phases;
    }
}
