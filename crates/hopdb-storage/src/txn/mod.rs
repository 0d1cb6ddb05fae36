//! Transactions: snapshots that readers see, the one writer, and what a commit does.
//!
//! **Words.** *Commit timestamp*: number of a commit. *Published*: its pages are heads, and the next writer goes on
//! from them. *Visible*: the newest published commit such that none up to it waits to be durable; snapshots begin there.
//! *Active*: a snapshot that has not ended; the visible commit, and those published after it, count as active.
//! *Quarantine*: page ids freed by a commit that an active snapshot may still read.
//!
//! **Invariants.**
//! 1. One writer at a time: it holds the [`gate::WriterState`] until its commit is published, or rolls back.
//! 2. A commit is visible only after the log records of every commit up to it that is to wait ([`Durability::Sync`]) are
//!    durable (I10, I11); it is published before, and the writers behind it share one sync of the log.
//! 3. An older version `[b, c)` stays while some active snapshot s has `b <= s < c` (I5); the same holds for
//!    the id of a page born at b and freed at c, and c must be durable (I12).
//! 4. A page born in a transaction is either whole in the log before the commit record, or in its place and synced;
//!    until then nothing durable refers to it. A committed page changes in memory and in the log only.
//! 5. Rolling back, all or to a savepoint, drops private memory, allocates nothing and does no I/O (I13).

pub(crate) mod allocation;
pub(crate) mod checkpoint;
pub(crate) mod delta;
pub(crate) mod flusher;
pub(crate) mod gate;
mod private;
pub(crate) mod snapshots;
pub(crate) mod worker;
pub(crate) mod writer;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::buffer::Pool;
use crate::error::{Error, Result};
use crate::io::FileSystem;
use crate::mutants::Mutant;
use crate::page::Lsn;
use crate::pager::Pager;
use crate::sync::Arc;
use checkpoint::Checkpointer;
use flusher::Flusher;
use gate::Gate;
use snapshots::Snapshots;
use worker::Worker;

/// When a commit is durable: survives a crash of the process or the machine.
///
/// Whatever is chosen, a crash keeps a commit only with all before it, and each whole; and what is not durable yet can
/// be read already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When it returns.
    #[default]
    Sync,
    /// Within this time after it returned, or with a later commit.
    Async {
        /// The longest time.
        max_delay: Duration,
    },
    /// With a later commit, a checkpoint or the close, or when a mebibyte of records has gathered.
    None,
}

/// What a handle may do with its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Read only.
    ReadOnly,
    /// Read and write, with a log.
    ReadWrite,
    /// A file without a name: written without a log, since a crash leaves nothing of it.
    Unnamed,
}

/// All that the transactions of one open file share.
pub(crate) struct Engine {
    pub(crate) fs: Arc<dyn FileSystem>,
    pub(crate) pager: Arc<Pager>,
    pub(crate) pool: Pool,
    pub(crate) snapshots: Snapshots,
    pub(crate) gate: Gate,
    pub(crate) flusher: Flusher,
    pub(crate) checkpointer: Checkpointer,
    /// Makes the log longer.
    pub(crate) grower: Worker,
    pub(crate) log_path: PathBuf,
    pub(crate) mode: Mode,
}

impl fmt::Debug for Engine {
    /// In a line: the pool alone would fill pages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("path", &self.pager.path())
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Fails when the handle does not write.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.mode == Mode::ReadOnly {
            return Err(Error::ReadOnly);
        }
        self.pager.poison().check()
    }

    /// Makes everything below `lsn` durable, and the commits visible that have been waiting for it.
    pub(crate) fn flush_log(&self, lsn: Lsn) -> Result<()> {
        let Some(wal) = self.pager.wal() else { return Ok(()) };
        let mut advanced = false;
        wal.flush(lsn, |durable| advanced = self.snapshots.set_durable(durable))?;
        if advanced {
            self.purge();
        }
        Ok(())
    }

    /// Drops older versions that no snapshot needs.
    pub(crate) fn purge(&self) {
        if self.pool.has_retained() {
            let needs = |begin, end| self.snapshots.needs(begin, end);
            self.pool.purge(|begin, end| needs(begin, end) && !Mutant::PurgeTooEarly.is_on());
        }
    }
}
