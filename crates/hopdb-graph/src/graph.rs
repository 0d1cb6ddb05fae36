//! A graph in its store: opening, snapshots, the write transaction.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use hopdb_storage::{CommitTs, Options, ReadTxn, Store};

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
    /// The catalog of the newest commit that this process made or read.
    latest: RwLock<(CommitTs, Arc<Catalog>)>,
}

impl Shared {
    /// Keeps a catalog, unless a newer one is kept.
    pub(crate) fn remember(&self, ts: CommitTs, catalog: Arc<Catalog>) {
        let mut latest = self.latest.write().unwrap_or_else(PoisonError::into_inner);
        if latest.0 <= ts {
            *latest = (ts, catalog);
        }
    }

    /// The catalog as a snapshot sees it: the one kept, or the stored one.
    fn catalog(&self, txn: &ReadTxn) -> Result<Arc<Catalog>> {
        {
            let latest = self.latest.read().unwrap_or_else(PoisonError::into_inner);
            if latest.0 == txn.commit_ts() {
                return Ok(Arc::clone(&latest.1));
            }
        }
        let catalog = Arc::new(Catalog::load(txn, self.tables.catalog)?);
        self.remember(txn.commit_ts(), Arc::clone(&catalog));
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
        let latest = RwLock::new((ts, Arc::default()));
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
        let latest = RwLock::new((txn.commit_ts(), catalog));
        drop(txn);
        Ok(Self { shared: Arc::new(Shared { store, tables, latest }) })
    }

    /// Begins a snapshot of the newest commit.
    ///
    /// # Errors
    /// Failed reads of the catalog.
    pub fn read(&self) -> Result<Snapshot> {
        let txn = self.shared.store.read();
        let catalog = self.shared.catalog(&txn)?;
        Ok(Snapshot { shared: Arc::clone(&self.shared), txn, catalog })
    }

    /// Waits for its turn and begins the write transaction.
    ///
    /// # Errors
    /// Those of [`Store::write`], failed reads of the catalog.
    pub fn write(&self) -> Result<GraphTxn> {
        let txn = self.shared.store.write()?;
        // No other writer commits now: the newest snapshot is what this transaction begins from.
        let catalog = self.shared.catalog(&self.shared.store.read())?;
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
