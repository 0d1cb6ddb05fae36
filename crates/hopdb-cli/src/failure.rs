//! Everything that ends a command early: the message, the way out, and the exit code.
//!
//! Messages go to standard error as `error: …`, with what lies behind them, and `hint: …` where there is a way
//! out. The one place that maps kinds of errors to exit codes is [`Failure::exit_code`].

use crate::screen::tell;
use std::error::Error as _;
use std::io;

use hopdb::kv::Error as StoreError;
use hopdb::{ErrorKind, GraphError};
use hopdb_server::Error as ServerError;

/// Why a command did not end well.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The database said no.
    #[error(transparent)]
    Database(#[from] hopdb::Error),
    /// The server did not start, or did not end well.
    #[error(transparent)]
    Server(ServerError),
    /// What the user wrote cannot be taken as it is.
    #[error("{message}")]
    Input { message: String, hint: Option<String> },
    /// All went well, but there is nothing to show.
    #[error("{message}")]
    NothingFound { message: String, hint: Option<String> },
    /// A check found problems, which were told already.
    #[error("the database has problems")]
    ProblemsFound,
    /// A file of the user's could not be read or written.
    #[error("cannot {action}")]
    Io { action: String, source: io::Error },
    /// Standard output is gone or broken.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
    /// The user stopped the command.
    #[error("interrupted; nothing was left behind")]
    Interrupted,
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Database(error) => Self::Database(error),
            other => Self::Server(other),
        }
    }
}

impl From<GraphError> for Failure {
    fn from(error: GraphError) -> Self {
        Self::Database(error.into())
    }
}

impl Failure {
    /// Bad input with a way out.
    pub(crate) fn input(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Input { message: message.into(), hint: Some(hint.into()) }
    }

    /// A file of the user's: `action` completes "cannot …".
    pub(crate) fn io(action: impl Into<String>, source: io::Error) -> Self {
        Self::Io { action: action.into(), source }
    }

    /// The exit code: see `hop --help`.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            // Whoever reads the output has seen enough.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::ProblemsFound | Self::NothingFound { .. } => 1,
            Self::Input { .. } => 2,
            Self::Server(ServerError::Listen { .. } | ServerError::Threads(_)) => 3,
            Self::Server(_) => 2,
            Self::Io { .. } | Self::Output(_) => 3,
            Self::Interrupted => 130,
            Self::Database(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::Conflict | ErrorKind::InvalidInput => 2,
                ErrorKind::WrongFormat | ErrorKind::Corruption => 4,
                ErrorKind::Interrupted => 130,
                _ => 3,
            },
        }
    }

    /// Says on standard error what happened; nothing where all was said or nobody listens.
    pub(crate) fn tell(&self) {
        match self {
            Self::ProblemsFound => {}
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            _ => {
                tell(format_args!("error: {}", self.message()));
                if let Some(hint) = self.hint() {
                    tell(format_args!("hint: {hint}"));
                }
            }
        }
    }

    /// The message with its causes, each said once.
    fn message(&self) -> String {
        let mut message = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !message.contains(&text) {
                message = format!("{message}: {text}");
            }
            cause = error.source();
        }
        message
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Input { hint, .. } | Self::NothingFound { hint, .. } => hint.clone(),
            Self::Server(error) => server_hint(error).map(str::to_owned),
            Self::Database(error) => database_hint(error.graph_error()).map(str::to_owned),
            _ => None,
        }
    }
}

fn server_hint(error: &ServerError) -> Option<&'static str> {
    match error {
        ServerError::Listen { source, .. } => match source.kind() {
            io::ErrorKind::AddrInUse => Some(
                "another program has the port: choose one with --listen, as in 127.0.0.1:7475; port 0 takes a free one",
            ),
            io::ErrorKind::AddrNotAvailable => Some("this machine has no such address"),
            io::ErrorKind::PermissionDenied => Some("ports below 1024 are the system's"),
            _ => None,
        },
        ServerError::Remote { .. } | ServerError::NoToken { .. } => Some(
            "listen on 127.0.0.1; or say --allow-remote, with a token in a file given by --token-file",
        ),
        ServerError::BadToken { .. } => {
            Some("a new one: head -c 24 /dev/urandom | base64 > token; chmod 600 token")
        }
        _ => None,
    }
}

fn database_hint(error: &GraphError) -> Option<&'static str> {
    match error {
        GraphError::Storage(error) => store_hint(error),
        GraphError::Load(_) => {
            Some("nothing was loaded: there is no new database, and an old one is as it was")
        }
        GraphError::IndexWithoutNodes { .. } => {
            Some("an index is written Label.property, with a label that the loaded nodes have")
        }
        GraphError::IndexExists { .. } => {
            Some("it takes in what is added as well: leave out its --index or --unique")
        }
        GraphError::FolderTaken { .. } => {
            Some("an export fills a new or empty folder: choose another name")
        }
        GraphError::ExportFile { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
            Some("free some space, and run the command again")
        }
        GraphError::Decode(_) => Some("`hop check` lists what is damaged"),
        _ => None,
    }
}

fn store_hint(error: &StoreError) -> Option<&'static str> {
    match error {
        StoreError::Io { source, .. } => match source.kind() {
            io::ErrorKind::NotFound => {
                Some("is the path right? `hop load` and `hop demo` make databases")
            }
            io::ErrorKind::PermissionDenied => {
                Some("look at the rights of the file and its folder")
            }
            io::ErrorKind::IsADirectory => Some("name the file in it"),
            io::ErrorKind::StorageFull => Some("free some space, and run the command again"),
            _ => None,
        },
        StoreError::AlreadyExists(_) => Some(
            "a load makes a new database: choose another name, remove the file, or add to it by --add",
        ),
        StoreError::NotADatabase { .. } => {
            Some("`hop load` makes a database from CSV files; see `hop load --help`")
        }
        StoreError::Unsupported { .. } => {
            Some("use the version of hop that wrote it, or load the data again")
        }
        StoreError::Locked { .. } => {
            Some("close the other program: readers can share a file, but a writer has it alone")
        }
        StoreError::PoolExhausted { .. } => Some("give it more with --cache-bytes"),
        StoreError::CorruptPage { .. } | StoreError::CorruptLog { .. } => {
            Some("restore the file from a copy; `hop check` names what else is damaged")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_causes_once() {
        let source = io::Error::new(io::ErrorKind::NotFound, "gone");
        let failure = Failure::io("read a.csv", source);
        assert_eq!(failure.message(), "cannot read a.csv: gone");
        assert_eq!(failure.exit_code(), 3);
        let failure = Failure::from(GraphError::NotAGraph { table: "nodes" });
        assert_eq!(failure.exit_code(), 4);
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!(failure.exit_code(), 0);
    }
}
