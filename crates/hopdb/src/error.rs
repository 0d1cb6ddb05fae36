//! The error of the public API: what went wrong, and who can do something about it.

use hopdb_graph::GraphError;
use hopdb_storage::Error as StoreError;

/// The result of the public API.
pub type Result<T> = std::result::Result<T, Error>;

/// Any error of HopDB. [`Error::kind`] says who must act; `Display` says what happened.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] GraphError);

/// Who must act on an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file, node, relationship, table or index is not there.
    NotFound,
    /// The name is taken, or a unique value is.
    Conflict,
    /// The input (a row, a name, a value, an option) cannot be taken as it is.
    InvalidInput,
    /// The file is another format or version, or no graph.
    WrongFormat,
    /// The bytes on disk are damaged: restore from a copy.
    Corruption,
    /// Another process has the file open, or it must be opened for writing first.
    Busy,
    /// The memory given is too small for what was asked.
    OutOfMemory,
    /// The handle does not write (any more).
    ReadOnly,
    /// The operating system refused: a full disk, a permission, a broken device.
    Io,
    /// The caller asked to stop.
    Interrupted,
}

impl Error {
    /// Who must act.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &self.0 {
            GraphError::Storage(error) => store_kind(error),
            GraphError::Decode(_) | GraphError::Damaged { .. } => ErrorKind::Corruption,
            GraphError::NotAGraph { .. } => ErrorKind::WrongFormat,
            GraphError::NodeMissing(_)
            | GraphError::RelationshipMissing(_)
            | GraphError::IndexMissing { .. } => ErrorKind::NotFound,
            GraphError::NodeHasRelationships(_)
            | GraphError::NotUnique { .. }
            | GraphError::IndexExists { .. }
            | GraphError::FolderTaken { .. } => ErrorKind::Conflict,
            GraphError::ExportFile { .. } => ErrorKind::Io,
            GraphError::Interrupted => ErrorKind::Interrupted,
            _ => ErrorKind::InvalidInput,
        }
    }

    /// Whether the same call may succeed later without anybody changing anything.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self.kind(), ErrorKind::Busy | ErrorKind::OutOfMemory)
            && !matches!(self.0, GraphError::Storage(StoreError::NeedsRecovery(_)))
    }

    /// Whether the database must be opened for writing once, to recover it.
    #[must_use]
    pub fn needs_recovery(&self) -> bool {
        matches!(self.0, GraphError::Storage(StoreError::NeedsRecovery(_)))
    }

    /// The error of the graph layer.
    #[must_use]
    pub fn graph_error(&self) -> &GraphError {
        &self.0
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self(GraphError::Storage(error))
    }
}

fn store_kind(error: &StoreError) -> ErrorKind {
    match error {
        StoreError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            ErrorKind::NotFound
        }
        StoreError::NotADatabase { .. } | StoreError::Unsupported { .. } => ErrorKind::WrongFormat,
        StoreError::Truncated { .. }
        | StoreError::CorruptPage { .. }
        | StoreError::CorruptLog { .. }
        | StoreError::VersionMissing { .. }
        | StoreError::LogMissing { .. } => ErrorKind::Corruption,
        StoreError::NeedsRecovery(_) | StoreError::Locked { .. } => ErrorKind::Busy,
        StoreError::AlreadyExists(_) | StoreError::TableExists(_) => ErrorKind::Conflict,
        StoreError::PoolExhausted { .. } => ErrorKind::OutOfMemory,
        StoreError::ReadOnly | StoreError::Poisoned(_) => ErrorKind::ReadOnly,
        StoreError::TableMissing(_) => ErrorKind::NotFound,
        StoreError::SavepointMissing | StoreError::RolledBack(_) => ErrorKind::NotFound,
        StoreError::LoadUnfinished
        | StoreError::KeyTooLarge { .. }
        | StoreError::KeysNotAscending { .. }
        | StoreError::InvalidOption { .. } => ErrorKind::InvalidInput,
        _ => ErrorKind::Io,
    }
}
