//! What can go wrong in the engine, split by who must act.

use std::io;
use std::path::{Path, PathBuf};

/// The engine's result.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the storage engine. Page ids, LSNs and timestamps are the raw numbers of the file format.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused a call on a file.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried, as a verb phrase: `read page 7 of`.
        action: String,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not a HopDB database.
    #[error("{} is not a HopDB database: {reason}", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// The file is a HopDB database of a version or with features that this build does not know.
    #[error("{} has {found}; this build reads {supported}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What the file has: `format version 9`.
        found: String,
        /// What this build knows.
        supported: String,
    },
    /// The file is shorter than its header says.
    #[error("{} is truncated: {actual} bytes where its header promises {expected}; restore it from a copy", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Bytes by the header.
        expected: u64,
        /// Bytes there are.
        actual: u64,
    },
    /// A page's bytes are not what was written.
    #[error("page {page} of {} is damaged: {reason}", path.display())]
    CorruptPage {
        /// The file.
        path: PathBuf,
        /// The page id.
        page: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The log's bytes are not what was written.
    #[error("the log {} is damaged at LSN {lsn}: {reason}", path.display())]
    CorruptLog {
        /// The log file.
        path: PathBuf,
        /// Where.
        lsn: u64,
        /// What is wrong there.
        reason: String,
    },
    /// The database was not closed and its log is not there.
    #[error("{} was not closed cleanly and its log {} is missing; put the log back beside it", path.display(), log.display())]
    LogMissing {
        /// The database.
        path: PathBuf,
        /// Where the log should be.
        log: PathBuf,
    },
    /// The database must be opened for writing once, to recover it.
    #[error("{} was not closed cleanly; open it once for writing to recover it", .0.display())]
    NeedsRecovery(PathBuf),
    /// Another process, or another handle of this one, has the database open.
    #[error("{} is in use by {}", path.display(), user(*holder))]
    Locked {
        /// The database.
        path: PathBuf,
        /// The process that has it open, where the system tells.
        holder: Option<u32>,
    },
    /// The name is taken.
    #[error("{} exists already", .0.display())]
    AlreadyExists(PathBuf),
    /// Every frame of the pool is pinned.
    #[error(
        "the page cache is full: all {frames} frames are pinned ({pinned} pinned, {dirty} dirty); give it more memory or hold fewer references"
    )]
    PoolExhausted {
        /// Frames the budget allows.
        frames: usize,
        /// Frames pinned when room was sought.
        pinned: usize,
        /// Frames that wait to be written.
        dirty: usize,
    },
    /// The handle was opened read-only.
    #[error("the database is open read-only")]
    ReadOnly,
    /// A write or a sync failed before: what is on disk is unknown until the file is opened again.
    #[error("writing stopped for good after: {0}; reads go on, reopen the database to write")]
    Poisoned(String),
    /// A transaction cannot be committed, only rolled back: an operation of it failed half way, or a bulk
    /// load was not finished.
    #[error("the transaction can only be rolled back: {0}")]
    CannotCommit(&'static str),
    /// The transaction has no such savepoint open.
    #[error(
        "the transaction has no such savepoint: it is another one's, or was released or rolled past"
    )]
    SavepointMissing,
    /// A savepoint was to be made while a bulk load is under way.
    #[error("a savepoint cannot be made before the bulk load is finished")]
    LoadUnfinished,
    /// A handle from inside a savepoint that the transaction went back to.
    #[error("{0} was rolled back with a savepoint")]
    RolledBack(&'static str),
    /// A snapshot asked for a version that is gone: a defect of the engine, never silent.
    #[error("no version of page {page} for the snapshot at commit {snapshot}")]
    VersionMissing {
        /// The page id.
        page: u64,
        /// The snapshot's commit timestamp.
        snapshot: u64,
    },
    /// The key is longer than a quarter of a page.
    #[error("a key of {len} bytes is longer than the {max} that a page allows")]
    KeyTooLarge {
        /// Bytes of the key.
        len: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// Keys given to a bulk load must ascend.
    #[error("keys of a bulk load must ascend: entry {entry} does not")]
    KeysNotAscending {
        /// Which entry, from 0.
        entry: u64,
    },
    /// No table has this name.
    #[error("there is no table {0:?}")]
    TableMissing(String),
    /// A table has this name already.
    #[error("there is a table {0:?} already")]
    TableExists(String),
    /// An option's value makes no sense.
    #[error("option {option}: {reason}")]
    InvalidOption {
        /// The option's name.
        option: &'static str,
        /// Why not.
        reason: String,
    },
}

/// A process as messages name it.
fn user(holder: Option<u32>) -> String {
    match holder {
        Some(pid) if pid == std::process::id() => {
            "this process already: clones of one handle share it".into()
        }
        Some(pid) => format!("process {pid}"),
        None => "another process".into(),
    }
}

impl Error {
    /// Whether the disk is full.
    pub(crate) fn is_full_disk(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull)
    }

    /// Wraps what the system said about `path`.
    pub(crate) fn io(action: impl Into<String>, path: &Path, source: io::Error) -> Self {
        Self::Io { action: action.into(), path: path.to_path_buf(), source }
    }

    /// Whether the call was refused before it changed anything.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::KeyTooLarge { .. }
                | Self::KeysNotAscending { .. }
                | Self::TableMissing(_)
                | Self::TableExists(_)
                | Self::RolledBack(_)
        )
    }

    /// Whether the bytes on disk are at fault.
    #[must_use]
    pub fn is_corruption(&self) -> bool {
        matches!(self, Self::CorruptPage { .. } | Self::CorruptLog { .. } | Self::Truncated { .. })
    }
}
