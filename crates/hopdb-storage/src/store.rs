//! The store: named tables of sorted bytes in one file, with snapshots and one writer.
//!
//! ```
//! use hopdb_storage::{Options, Store, View};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let store = Store::create(&dir.path().join("x.hop"), &Options::default())?;
//! let mut txn = store.write()?;
//! let colours = txn.create_table("colours")?;
//! txn.put(colours, b"sky", b"blue")?;
//! txn.commit()?;
//! let snapshot = store.read();
//! let colours = snapshot.table("colours")?.expect("made above");
//! assert_eq!(snapshot.get(colours, b"sky")?.expect("put above").to_vec()?, b"blue");
//! store.close()?;
//! # Ok(())
//! # }
//! ```

mod bulk;
mod open;
mod view;

pub use bulk::Bulk;
pub use view::{Cursor, Found, Large, View};

use std::ops::Bound;
use std::path::{Path, PathBuf};

use crate::btree::delete::{self, Bounds};
use crate::btree::{self, PageSink, insert};
use crate::buffer::{PageRef, PageSource, PoolCounts};
use crate::check::{self, CheckReport};
use crate::codec::num::get_u64;
use crate::error::{Error, Result};
use crate::page::{CommitTs, DIRECTORY_ROOT, MIN_PAGE_SIZE, PageId, PageKind};
use crate::pager::IoCounts;
use crate::recovery::RecoveryReport;
use crate::sync::Arc;
use crate::txn::checkpoint;
use crate::txn::writer::{Savepoint, Writer};
use crate::txn::{Durability, Engine, Mode};

/// Frames from which on cursors keep the branches they passed pinned, and look into several leaves at a time.
/// Such a cursor holds some 40 frames: a hundred of them fit.
const FRAMES_TO_PIN_BRANCHES: usize = 4096;
/// Bytes of a directory entry: root page id and a reserved number.
const DIRECTORY_VALUE_LEN: usize = 16;

/// How a store is opened or created.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of page frames kept in memory; at least four frames. Default 256 MiB; they are taken as pages
    /// come in.
    pub cache_bytes: usize,
    /// Bytes of a page at creation: a power of two from 4,096 (the default) to 65,536.
    pub page_size: usize,
    /// Opens without writing anything: many processes may do so at a time with a file closed cleanly.
    pub read_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { cache_bytes: 256 << 20, page_size: MIN_PAGE_SIZE, read_only: false }
    }
}

/// A table of this store: valid for every transaction that sees the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    pub(crate) root: PageId,
}

/// Counts since the handle was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pages and syncs of the files.
    pub io: IoCounts,
    /// The buffer pool.
    pub pool: PoolCounts,
}

/// An open database file. Clones share it.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    engine: Arc<Engine>,
    recovery: Option<RecoveryReport>,
}

impl Store {
    /// Begins a snapshot of the newest commit.
    #[must_use]
    pub fn read(&self) -> ReadTxn {
        let engine = Arc::clone(&self.inner.engine);
        let (ts, pages) = engine.snapshots.begin();
        ReadTxn { ts, pages, engine }
    }

    /// Waits for its turn and begins the write transaction.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::Poisoned`], or a log that cannot be made.
    pub fn write(&self) -> Result<WriteTxn> {
        let writer = Writer::begin(&self.inner.engine)?;
        let durability = Durability::default();
        Ok(WriteTxn { writer, durability, store: Arc::clone(&self.inner) })
    }

    /// Writes every committed page to its place in the file, and keeps it in memory.
    ///
    /// # Errors
    /// Failed writes and syncs; the store then stops writing for good.
    pub fn flush(&self) -> Result<()> {
        self.inner.engine.check_writable()?;
        checkpoint::flush(&self.inner.engine)
    }

    /// Like [`Store::flush`], and forgets every page that nobody holds.
    ///
    /// # Errors
    /// As [`Store::flush`].
    pub fn clear_cache(&self) -> Result<()> {
        if self.inner.engine.mode != Mode::ReadOnly {
            self.flush()?;
        }
        self.inner.engine.pool.forget_clean();
        Ok(())
    }

    /// Writes every page of the newest commit to its place, so that recovery needs no commit up to it. Transactions go
    /// on meanwhile.
    ///
    /// # Errors
    /// As [`Store::flush`].
    pub fn checkpoint(&self) -> Result<()> {
        let engine = &self.inner.engine;
        engine.check_writable()?;
        checkpoint::run(engine)
    }

    /// Puts everything into the file, so that the file alone is the database, and closes it. Waits for a
    /// running write transaction. Other clones can read on, but not write.
    ///
    /// # Errors
    /// Failed writes and syncs: the next open recovers from the log.
    pub fn close(self) -> Result<()> {
        self.inner.close()
    }

    /// Gives a store made by [`Store::create_unnamed`] its name, whole and durable, and closes it.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`] when the name is taken; failed writes and syncs. Nothing is left then.
    pub fn persist(self, path: &Path) -> Result<()> {
        let engine = &self.inner.engine;
        assert!(engine.mode == Mode::Unnamed, "only a store without a name takes one");
        let state = engine.gate.enter();
        let done = checkpoint::close(engine, state.commit_ts);
        // Another clone must not write to a file that has a name, but no log.
        engine.pager.poison().close();
        engine.gate.leave(state);
        done?;
        open::link(engine, path)
    }

    /// The newest commit that snapshots see.
    #[must_use]
    pub fn visible_ts(&self) -> CommitTs {
        self.inner.engine.snapshots.visible()
    }

    /// What recovery did when the store was opened; `None` when there was nothing to recover.
    #[must_use]
    pub fn recovery(&self) -> Option<RecoveryReport> {
        self.inner.recovery
    }

    /// Page, sync and pool counts since the store was opened.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let engine = &self.inner.engine;
        Counts { io: engine.pager.counts(), pool: engine.pool.counts() }
    }

    /// Resident pages that readers or the writer hold at this moment. Looks at every resident page: for
    /// people who watch, not for every request.
    #[must_use]
    pub fn pinned_pages(&self) -> usize {
        self.inner.engine.pool.pinned()
    }

    /// The file system that the store is on.
    #[must_use]
    pub fn file_system(&self) -> Arc<dyn crate::io::FileSystem> {
        Arc::clone(&self.inner.engine.fs)
    }

    /// Path of the file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.inner.engine.pager.path().to_path_buf()
    }

    /// Bytes of the file, the log not counted.
    ///
    /// # Errors
    /// The system's.
    pub fn file_bytes(&self) -> Result<u64> {
        self.inner.engine.pager.file_bytes()
    }

    /// Bytes of a page.
    #[must_use]
    pub fn page_size(&self) -> usize {
        self.inner.engine.pager.page_size()
    }
}

impl Inner {
    fn close(&self) -> Result<()> {
        self.engine.flusher.stop();
        self.engine.checkpointer.stop();
        self.engine.grower.stop();
        let state = self.engine.gate.enter();
        let done = match self.engine.check_writable() {
            Ok(()) if self.engine.mode == Mode::ReadWrite => {
                let done = checkpoint::close(&self.engine, state.commit_ts);
                // Another clone must not go on with a log that is gone.
                self.engine.pager.poison().close();
                done
            }
            Err(Error::ReadOnly) | Ok(()) => Ok(()),
            Err(error) => Err(error),
        };
        self.engine.gate.leave(state);
        // Whoever waits for room will find the store closed.
        self.engine.checkpointer.tell(true);
        done
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Whoever wants to know closes; here the log keeps what cannot be written.
        drop(self.close());
    }
}

fn pins_branches(engine: &Engine) -> bool {
    engine.pool.frames_max() >= FRAMES_TO_PIN_BRANCHES
}

/// A snapshot: one commit, whole, for as long as it lives.
#[derive(Debug)]
pub struct ReadTxn {
    pub(crate) engine: Arc<Engine>,
    ts: CommitTs,
    /// Pages of the file as of the commit.
    pub(crate) pages: u64,
}

impl ReadTxn {
    /// The commit it sees.
    #[must_use]
    pub fn commit_ts(&self) -> CommitTs {
        self.ts
    }

    /// Checks every page, every tree, and the allocation map.
    ///
    /// # Errors
    /// When the table directory itself cannot be read; all else is in the report.
    pub fn check(&self) -> Result<CheckReport> {
        let mut roots = vec![("(directory)".to_string(), DIRECTORY_ROOT)];
        for name in self.tables()? {
            let table = self.table(&name)?.ok_or_else(|| Error::TableMissing(name.clone()))?;
            roots.push((name, table.root));
        }
        Ok(check::check(self, &roots, self.pages, self.engine.pager.range_pages()))
    }
}

impl Drop for ReadTxn {
    fn drop(&mut self) {
        self.engine.snapshots.end(self.ts);
        self.engine.purge();
    }
}

impl PageSource for ReadTxn {
    #[inline]
    fn page(&self, id: PageId) -> Result<PageRef> {
        self.engine.pool.fetch(id, self.ts)
    }

    fn corrupt(&self, id: PageId, reason: String) -> Error {
        self.engine.pager.corrupt(id, reason)
    }
}

/// The write transaction: sees its own changes; dropped without commit it leaves nothing.
///
/// It goes on from the newest commit, which may not be visible yet.
#[derive(Debug)]
pub struct WriteTxn {
    // Goes before the store: the last handle closes it, and closing waits for the writer.
    writer: Writer,
    durability: Durability,
    store: Arc<Inner>,
}

impl PageSource for WriteTxn {
    fn page(&self, id: PageId) -> Result<PageRef> {
        self.writer.page(id)
    }

    fn corrupt(&self, id: PageId, reason: String) -> Error {
        self.writer.corrupt(id, reason)
    }
}

impl WriteTxn {
    /// The commit it goes on from.
    #[must_use]
    pub fn base_ts(&self) -> CommitTs {
        CommitTs(self.writer.ts().0 - 1)
    }

    /// Says when the commit is durable; [`Durability::Sync`] when nothing is said.
    pub fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
    }

    /// Makes an empty table.
    ///
    /// # Errors
    /// [`Error::TableExists`], [`Error::KeyTooLarge`] for the name, failed reads.
    pub fn create_table(&mut self, name: &str) -> Result<Table> {
        if self.table(name)?.is_some() {
            return Err(Error::TableExists(name.into()));
        }
        btree::check_key(name.as_bytes(), self.writer.page_size())?;
        let root = self.writer.change(|writer| writer.allocate(PageKind::Leaf))?;
        self.writer.made_table(root);
        let mut value = [0; DIRECTORY_VALUE_LEN];
        value[..8].copy_from_slice(&root.0.to_le_bytes());
        self.put(Table { root: DIRECTORY_ROOT }, name.as_bytes(), &value)?;
        Ok(Table { root })
    }

    /// Removes a table and all it holds.
    ///
    /// # Errors
    /// [`Error::TableMissing`], failed reads.
    pub fn drop_table(&mut self, name: &str) -> Result<()> {
        let table = self.table(name)?.ok_or_else(|| Error::TableMissing(name.into()))?;
        self.writer.change(|writer| delete::free_tree(writer, table.root, 0))?;
        self.delete(Table { root: DIRECTORY_ROOT }, name.as_bytes())?;
        Ok(())
    }

    /// Sets the value of a key; whether the key is new.
    ///
    /// # Errors
    /// [`Error::KeyTooLarge`], failed reads, no space for a large value.
    pub fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<bool> {
        let birth = self.writer.ts();
        self.writer.change(|writer| insert::put(writer, table.root, key, value, birth))
    }

    /// Removes a key; whether it was there.
    ///
    /// # Errors
    /// Failed reads.
    pub fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.writer.change(|writer| delete::delete(writer, table.root, key))
    }

    /// Removes all keys within the bounds; gives their number.
    ///
    /// # Errors
    /// Failed reads.
    pub fn delete_range(
        &mut self,
        table: Table,
        low: Bound<&[u8]>,
        high: Bound<&[u8]>,
    ) -> Result<u64> {
        // The key right behind k is k with a zero byte.
        let behind = |key: &[u8]| [key, &[0]].concat();
        let low = match low {
            Bound::Included(key) => Some(key.to_vec()),
            Bound::Excluded(key) => Some(behind(key)),
            Bound::Unbounded => None,
        };
        let high = match high {
            Bound::Included(key) => Some(behind(key)),
            Bound::Excluded(key) => Some(key.to_vec()),
            Bound::Unbounded => None,
        };
        if let (Some(low), Some(high)) = (&low, &high)
            && low >= high
        {
            return Ok(0);
        }
        let bounds = Bounds { low: low.as_deref(), high: high.as_deref() };
        self.writer.change(|writer| delete::delete_range(writer, table.root, bounds))
    }

    /// Notes where the transaction is, so that it can go back to it. Savepoints nest.
    ///
    /// # Errors
    /// [`Error::LoadUnfinished`] while a bulk load has written pages; [`Error::CannotCommit`].
    pub fn savepoint(&mut self) -> Result<Savepoint> {
        self.writer.savepoint()
    }

    /// Undoes everything since a savepoint, failed operations too; the savepoint stays, those made after it go. Allocates
    /// nothing and does no I/O. Tables made since then are gone: their handles and bulk loads are refused with
    /// [`Error::RolledBack`].
    ///
    /// # Errors
    /// [`Error::SavepointMissing`]; nothing is changed then.
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        self.writer.roll_back_to(savepoint)
    }

    /// Forgets a savepoint and those made after it; the changes stay.
    ///
    /// # Errors
    /// [`Error::SavepointMissing`]; nothing is changed then.
    pub fn release(&mut self, savepoint: Savepoint) -> Result<()> {
        self.writer.release(savepoint)
    }

    /// Makes the changes durable, then visible, or as [`WriteTxn::set_durability`] says. On an error nothing is changed,
    /// unless the store is [`Error::Poisoned`]: then the next open tells.
    ///
    /// # Errors
    /// Failed writes and syncs, [`Error::CannotCommit`].
    pub fn commit(self) -> Result<CommitTs> {
        self.commit_then(|_| ())
    }

    /// Like [`WriteTxn::commit`]; calls `published` with the commit's timestamp when the next writer is about to be let
    /// in, which goes on from this commit. That is before it is durable and visible, and it may still fail to be.
    ///
    /// # Errors
    /// As [`WriteTxn::commit`].
    pub fn commit_then(self, published: impl FnOnce(CommitTs)) -> Result<CommitTs> {
        let Self { writer, durability, store } = self;
        let ts = writer.commit(durability, published)?;
        checkpoint::nudge(&store.engine);
        Ok(ts)
    }
}

fn directory_root(source: &impl PageSource, value: &[u8]) -> Result<Table> {
    if value.len() != DIRECTORY_VALUE_LEN {
        return Err(source.corrupt(DIRECTORY_ROOT, "a directory entry is damaged".into()));
    }
    Ok(Table { root: PageId(get_u64(value, 0)) })
}

#[cfg(test)]
mod tests;
