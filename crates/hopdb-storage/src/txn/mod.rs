//! Transactions: snapshots that readers see, the one writer, and what a commit does.
//!
//! **Words.** *Commit timestamp*: number of a commit. *Visible*: the newest commit that is durable and
//! published; snapshots begin there. *Active*: a snapshot that has not ended; the visible commit counts as
//! active. *Quarantine*: page ids freed by a commit that an active snapshot may still read.
//!
//! **Invariants.**
//! 1. One writer at a time: it holds the [`gate::WriterState`] until it commits or rolls back.
//! 2. A commit is published only after its log record is durable, so every snapshot is durable (I10, I11).
//! 3. An older version `[b, c)` stays while some active snapshot s has `b <= s < c` (I5); the same holds for
//!    the id of a page born at b and freed at c (I12).
//! 4. A page born in a transaction is in its place and synced before the commit record; until then nothing
//!    durable refers to it. A committed page changes in memory and in the log only.
//! 5. Rolling back drops private memory and does no I/O (I13).

pub(crate) mod allocation;
pub(crate) mod delta;
pub(crate) mod gate;
pub(crate) mod snapshots;
pub(crate) mod writer;

use std::fmt;
use std::path::PathBuf;

use crate::buffer::Pool;
use crate::error::{Error, Result};
use crate::io::FileSystem;
use crate::pager::Pager;
use crate::sync::Arc;
use gate::Gate;
use snapshots::Snapshots;

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

    /// Drops older versions that no snapshot needs.
    pub(crate) fn purge(&self) {
        if self.pool.has_retained() {
            self.pool.purge(|begin, end| self.snapshots.needs(begin, end));
        }
    }
}
