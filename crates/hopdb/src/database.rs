//! Lifecycle: create, load, open, snapshots, transactions, close.

use std::path::Path;
use std::sync::Arc;

use hopdb_graph::export::{ExportReport, Progress as ExportProgress, RowFormat};
use hopdb_graph::load::{LoadPlan, LoadReport, Progress, source::FileSource};
use hopdb_graph::{Graph, Reader};
use hopdb_storage::{Counts, Durability, ReadTxn, RecoveryReport, Savepoint, WriteTxn};

use crate::error::{Error, Result};
use crate::{NodeId, RelationshipId, Value, inspect};

pub use hopdb_storage::Options;

/// An open database. Clones share it; any number of threads may read while one writes.
#[derive(Clone, Debug)]
pub struct Database {
    graph: Graph,
}

impl Database {
    /// Makes a new, empty database at `path` and opens it.
    ///
    /// # Errors
    /// The name is taken, or the system refuses. Nothing is left then.
    pub fn create(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Ok(Self { graph: Graph::create(path.as_ref(), options)? })
    }

    /// Opens the database at `path`; recovers it first when it was not closed. Does not read the nodes: the
    /// time does not grow with the graph.
    ///
    /// # Errors
    /// It is not there, in use, not a database, of another version, truncated or damaged.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Ok(Self { graph: Graph::open(path.as_ref(), options)? })
    }

    /// Loads CSV files into a new database at `path`, which is not there before the load is whole and durable.
    ///
    /// # Errors
    /// The first row that cannot be loaded, with its place; a name that is taken; a full disk; a stop asked for
    /// through `progress`. Nothing is left then.
    pub fn load(
        path: impl AsRef<Path>,
        options: &Options,
        plan: &LoadPlan,
        progress: &Progress,
    ) -> Result<LoadReport> {
        Ok(hopdb_graph::load::load(path.as_ref(), options, plan, &FileSource, progress)?)
    }

    /// Loads files into this database, in one transaction: readers see all of it or nothing.
    ///
    /// # Errors
    /// As [`Database::load`]; also nodes that a unique index does not take. Everything is as it was then.
    pub fn add(&self, plan: &LoadPlan, progress: &Progress) -> Result<LoadReport> {
        Ok(hopdb_graph::load::load_into(&self.graph, (plan, &FileSource, progress))?)
    }

    /// Begins a snapshot: one commit, whole, for as long as it lives. Never waits for the writer.
    ///
    /// # Errors
    /// Failed reads of the catalog.
    pub fn read(&self) -> Result<Snapshot> {
        Ok(Snapshot { inner: Arc::new(self.graph.read()?) })
    }

    /// Waits for its turn and begins the write transaction.
    ///
    /// # Errors
    /// The database is read-only, or a write failed before.
    pub fn write(&self) -> Result<Transaction> {
        Ok(Transaction { inner: self.graph.write()? })
    }

    /// Writes every committed page to its place, and keeps it in memory.
    ///
    /// # Errors
    /// Failed writes and syncs; the database then stops writing for good.
    pub fn flush(&self) -> Result<()> {
        Ok(self.graph.store().flush()?)
    }

    /// Like [`Database::flush`], and forgets every page that nobody holds.
    ///
    /// # Errors
    /// As [`Database::flush`].
    pub fn clear_cache(&self) -> Result<()> {
        Ok(self.graph.store().clear_cache()?)
    }

    /// Puts everything into the file, so that the file alone is the database, and closes it.
    ///
    /// # Errors
    /// Failed writes and syncs; the next open recovers from the log.
    pub fn close(self) -> Result<()> {
        Ok(self.graph.store().clone().close()?)
    }

    /// Page, sync and pool counts since the database was opened.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.graph.store().counts()
    }

    /// Resident pages that readers or the writer hold at this moment. Looks at every resident page: for
    /// people who watch, not for every request.
    #[must_use]
    pub fn pinned_pages(&self) -> usize {
        self.graph.store().pinned_pages()
    }

    /// What recovery did at the opening; `None` when the database was closed cleanly before.
    #[must_use]
    pub fn recovery(&self) -> Option<RecoveryReport> {
        self.graph.store().recovery()
    }

    /// Bytes of the file, the log not counted.
    ///
    /// # Errors
    /// The system's.
    pub fn file_bytes(&self) -> Result<u64> {
        Ok(self.graph.store().file_bytes()?)
    }

    /// Bytes of a page.
    #[must_use]
    pub fn page_size(&self) -> usize {
        self.graph.store().page_size()
    }
}

/// One commit of the database. Clones share it.
#[derive(Clone, Debug)]
pub struct Snapshot {
    inner: Arc<hopdb_graph::Snapshot>,
}

impl Snapshot {
    /// Reads the graph: nodes, relationships, walks, look-ups.
    #[must_use]
    pub fn reader(&self) -> Reader<'_, ReadTxn> {
        self.inner.reader()
    }

    /// Checks every page, every table, every index and both sides of every relationship.
    ///
    /// # Errors
    /// A table cannot be walked at all; all else is in the report.
    pub fn check(&self) -> Result<crate::CheckReport> {
        Ok(self.inner.check()?)
    }

    /// Walks every page and every table, without holding the graph's tables against one another: what kinds of
    /// pages there are, and what is wrong with any.
    ///
    /// # Errors
    /// As [`Snapshot::check`].
    pub fn check_pages(&self) -> Result<hopdb_storage::CheckReport> {
        Ok(self.inner.txn().check()?)
    }

    /// Writes the graph into a folder that is new or empty, as files of a format, with a file `load.args` that tells
    /// `hop load` how to make an equal graph of them.
    ///
    /// # Errors
    /// The folder is not empty; a file cannot be written; a stop asked for through `progress`; failed reads,
    /// damage. Nothing is left then.
    pub fn export(
        &self,
        folder: impl AsRef<Path>,
        format: &dyn RowFormat,
        progress: &ExportProgress,
    ) -> Result<ExportReport> {
        Ok(hopdb_graph::export::export(&self.inner, folder.as_ref(), format, progress)?)
    }

    /// The cells in the file that make up a node, with the ways to them; `None` when there is none with this id.
    ///
    /// # Errors
    /// Failed reads, damaged pages on the ways, damaged keys of relationships. A damaged record is shown as one.
    pub fn inspect_node(&self, id: NodeId) -> Result<Option<inspect::Node>> {
        Ok(self.inner.inspect_node(id)?)
    }

    /// A page of the file taken apart; `None` when there are fewer, see [`Snapshot::page_count`]. One that is damaged
    /// is shown as its bytes, with what is wrong.
    ///
    /// # Errors
    /// Failed reads; a damaged page of no known kind.
    pub fn inspect_page(&self, page: u64) -> Result<Option<inspect::Page>> {
        Ok(self.inner.inspect_page(page)?)
    }

    /// Pages of the file as of the commit, headers and free ones included.
    #[must_use]
    pub fn page_count(&self) -> u64 {
        self.inner.txn().page_count()
    }

    /// The nodes with a label whose property equals a value, by names; none when a name is unknown.
    ///
    /// # Errors
    /// Failed reads, damage.
    pub fn find(&self, label: &str, property: &str, value: &Value) -> Result<Vec<NodeId>> {
        let reader = self.reader();
        let names = reader.catalog().label(label).zip(reader.catalog().property_key(property));
        match names {
            Some((label, property)) => Ok(reader.find(label, property, value)?),
            None => Ok(Vec::new()),
        }
    }
}

/// The write transaction: sees its own changes; dropped without commit it leaves nothing.
#[derive(Debug)]
pub struct Transaction {
    inner: hopdb_graph::GraphTxn,
}

impl Transaction {
    /// Reads the graph with this transaction's changes.
    #[must_use]
    pub fn reader(&self) -> Reader<'_, WriteTxn> {
        self.inner.reader()
    }

    /// Notes where the transaction is, so that it can go back to it. Savepoints nest.
    ///
    /// ```
    /// # use hopdb::{Database, Options};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let db = Database::create(folder.path().join("x.hop"), &Options::default())?;
    /// let mut txn = db.write()?;
    /// txn.create_index("Person", "name", true)?;
    /// txn.create_node(&["Person"], &[("name", "Ada".into())])?;
    /// let before = txn.savepoint()?;
    /// txn.create_node(&["Person"], &[("name", "Ada".into())]).unwrap_err();
    /// txn.rollback_to(before)?;
    /// txn.commit()?;
    /// assert_eq!(db.read()?.reader().catalog().node_count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A change failed before: go back to a savepoint, or drop the transaction.
    pub fn savepoint(&mut self) -> Result<Savepoint> {
        Ok(self.inner.savepoint()?)
    }

    /// Undoes everything since a savepoint, a change that failed too. The savepoint stays, those made after it go; ids
    /// given out since then are given out again. Allocates no memory and touches no file, so it cannot fail half-way.
    ///
    /// # Errors
    /// The savepoint is another transaction's, or was released or rolled past. Nothing is changed then.
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        Ok(self.inner.rollback_to(savepoint)?)
    }

    /// Forgets a savepoint and those made after it; the changes stay.
    ///
    /// # Errors
    /// As [`Transaction::rollback_to`].
    pub fn release(&mut self, savepoint: Savepoint) -> Result<()> {
        Ok(self.inner.release(savepoint)?)
    }

    /// Makes a node; null properties are left out.
    ///
    /// # Errors
    /// Bad names or values, a unique index, failed reads. Drop the transaction then, or go back to a savepoint.
    pub fn create_node(&mut self, labels: &[&str], properties: &[(&str, Value)]) -> Result<NodeId> {
        Ok(self.inner.create_node(labels, properties)?)
    }

    /// Sets a property of a node; null removes it.
    ///
    /// # Errors
    /// As [`Transaction::create_node`], and when there is no such node.
    pub fn set_property(&mut self, node: NodeId, key: &str, value: &Value) -> Result<()> {
        Ok(self.inner.set_property(node, key, value)?)
    }

    /// Gives a node a label.
    ///
    /// # Errors
    /// As [`Transaction::set_property`].
    pub fn add_label(&mut self, node: NodeId, label: &str) -> Result<()> {
        Ok(self.inner.add_label(node, label)?)
    }

    /// Takes a label from a node, if it has it.
    ///
    /// # Errors
    /// There is no such node; failed reads.
    pub fn remove_label(&mut self, node: NodeId, label: &str) -> Result<()> {
        Ok(self.inner.remove_label(node, label)?)
    }

    /// Deletes a node that has no relationships.
    ///
    /// # Errors
    /// There is no such node, or it has relationships; failed reads.
    pub fn delete_node(&mut self, node: NodeId) -> Result<()> {
        Ok(self.inner.delete_node(node)?)
    }

    /// Deletes a node and all its relationships.
    ///
    /// # Errors
    /// There is no such node; failed reads.
    pub fn detach_delete_node(&mut self, node: NodeId) -> Result<()> {
        Ok(self.inner.detach_delete_node(node)?)
    }

    /// Makes a relationship; null properties are left out.
    ///
    /// # Errors
    /// An end is no node, bad names or values, failed reads.
    pub fn create_relationship(
        &mut self,
        start: NodeId,
        relationship_type: &str,
        end: NodeId,
        properties: &[(&str, Value)],
    ) -> Result<RelationshipId> {
        Ok(self.inner.create_relationship(start, relationship_type, end, properties)?)
    }

    /// Sets a property of a relationship; null removes it.
    ///
    /// # Errors
    /// There is no such relationship, bad names or values, failed reads.
    pub fn set_relationship_property(
        &mut self,
        relationship: RelationshipId,
        key: &str,
        value: &Value,
    ) -> Result<()> {
        Ok(self.inner.set_relationship_property(relationship, key, value)?)
    }

    /// Deletes a relationship.
    ///
    /// # Errors
    /// There is no such relationship; failed reads.
    pub fn delete_relationship(&mut self, relationship: RelationshipId) -> Result<()> {
        Ok(self.inner.delete_relationship(relationship)?)
    }

    /// Makes an index over the nodes with a label by a property, and fills it.
    ///
    /// # Errors
    /// There is one already, a unique one would have a value twice, bad names, failed reads.
    pub fn create_index(&mut self, label: &str, property: &str, unique: bool) -> Result<()> {
        Ok(self.inner.create_index(label, property, unique)?)
    }

    /// Removes an index.
    ///
    /// # Errors
    /// There is none; failed reads.
    pub fn drop_index(&mut self, label: &str, property: &str) -> Result<()> {
        Ok(self.inner.drop_index(label, property)?)
    }

    /// Says when the commit is durable; when it returns, if nothing is said.
    pub fn set_durability(&mut self, durability: Durability) {
        self.inner.set_durability(durability);
    }

    /// Makes the changes durable, then visible, or as [`Transaction::set_durability`] says.
    ///
    /// # Errors
    /// A change failed before; failed writes and syncs.
    pub fn commit(self) -> Result<()> {
        self.inner.commit().map_err(Error::from)
    }
}
