//! A graph in its store: opening, snapshots, the write transaction.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use hopdb_storage::{CommitTs, Options, ReadTxn, Store, View};

use crate::catalog::Catalog;
use crate::error::Result;
use crate::read::Reader;
use crate::tables::Tables;
use crate::write::GraphTxn;

/// What all handles of an open graph share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) tables: Tables,
    /// Catalogs of the newest commits that this process made or read, ascending: of the visible one, and of those
    /// that are not yet.
    latest: RwLock<Vec<(CommitTs, Arc<Catalog>)>>,
}

impl Shared {
    /// Keeps the catalog of a commit, and lets those go that no new snapshot will ask for.
    pub(crate) fn remember(&self, ts: CommitTs, catalog: Arc<Catalog>) {
        let visible = self.store.visible_ts();
        let mut latest = self.latest.write().unwrap_or_else(PoisonError::into_inner);
        latest.retain(|(other, _)| *other >= visible && *other != ts);
        let at = latest.partition_point(|(other, _)| *other < ts);
        latest.insert(at, (ts, catalog));
    }

    /// The catalog as of a commit, which `view` sees: one kept, or the stored one.
    fn catalog<V: View>(&self, ts: CommitTs, view: &V) -> Result<Arc<Catalog>> {
        {
            let latest = self.latest.read().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, catalog)) = latest.iter().find(|(other, _)| *other == ts) {
                return Ok(Arc::clone(catalog));
            }
        }
        let catalog = Arc::new(Catalog::load(view, self.tables.catalog)?);
        self.remember(ts, Arc::clone(&catalog));
        Ok(catalog)
    }
}

/// An open graph. Clones share it.
#[derive(Clone, Debug)]
pub struct Graph {
    shared: Arc<Shared>,
}

impl Graph {
    /// Makes a new, empty graph at `path` and opens it.
    ///
    /// # Errors
    /// Those of [`Store::create`]; nothing is left then.
    pub fn create(path: &Path, options: &Options) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let fs = Arc::new(hopdb_storage::io::real::RealFs);
        let graph = Self::create_unnamed(Store::create_unnamed(fs, folder, options)?)?;
        graph.persist(path)?;
        Self::open(path, options)
    }

    /// Makes an empty graph in a new store that has no name yet.
    pub(crate) fn create_unnamed(store: Store) -> Result<Self> {
        let mut txn = store.write()?;
        let tables = Tables::create(&mut txn)?;
        let ts = txn.commit()?;
        let latest = RwLock::new(vec![(ts, Arc::default())]);
        Ok(Self { shared: Arc::new(Shared { store, tables, latest }) })
    }

    /// Gives a graph that was made without a name its file.
    pub(crate) fn persist(&self, path: &Path) -> Result<()> {
        Ok(self.shared.store.clone().persist(path)?)
    }

    /// Opens the graph at `path`. Reads the names, not the nodes: the time does not grow with the graph.
    ///
    /// # Errors
    /// Those of [`Store::open`], [`crate::GraphError::NotAGraph`], damage.
    pub fn open(path: &Path, options: &Options) -> Result<Self> {
        Self::over(Store::open(path, options)?)
    }

    /// The graph in an open store.
    ///
    /// # Errors
    /// [`crate::GraphError::NotAGraph`], damage, failed reads.
    pub fn over(store: Store) -> Result<Self> {
        let txn = store.read();
        let tables = Tables::open(&txn)?;
        let catalog = Arc::new(Catalog::load(&txn, tables.catalog)?);
        let latest = RwLock::new(vec![(txn.commit_ts(), catalog)]);
        drop(txn);
        Ok(Self { shared: Arc::new(Shared { store, tables, latest }) })
    }

    /// Begins a snapshot of the newest commit.
    ///
    /// # Errors
    /// Failed reads of the catalog.
    pub fn read(&self) -> Result<Snapshot> {
        let txn = self.shared.store.read();
        let catalog = self.shared.catalog(txn.commit_ts(), &txn)?;
        Ok(Snapshot { shared: Arc::clone(&self.shared), txn, catalog })
    }

    /// Waits for its turn and begins the write transaction.
    ///
    /// # Errors
    /// Those of [`Store::write`], failed reads of the catalog.
    pub fn write(&self) -> Result<GraphTxn> {
        let txn = self.shared.store.write()?;
        let catalog = self.shared.catalog(txn.base_ts(), &txn)?;
        Ok(GraphTxn::new(Arc::clone(&self.shared), txn, catalog))
    }

    /// The store below.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.shared.store
    }
}

/// One commit of the graph, whole, for as long as it lives.
#[derive(Debug)]
pub struct Snapshot {
    shared: Arc<Shared>,
    txn: ReadTxn,
    catalog: Arc<Catalog>,
}

impl Snapshot {
    /// Reads the graph.
    #[must_use]
    pub fn reader(&self) -> Reader<'_, ReadTxn> {
        Reader { view: &self.txn, tables: &self.shared.tables, catalog: &self.catalog }
    }

    /// The snapshot of the store below.
    #[must_use]
    pub fn txn(&self) -> &ReadTxn {
        &self.txn
    }
}
