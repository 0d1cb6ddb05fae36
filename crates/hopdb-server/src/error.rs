//! Why a server does not start, or does not end well. What a client is told is in `failure`.

use std::io;
use std::net::SocketAddr;

/// The result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Any error of a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// Others than this machine could connect, and nobody said that they may.
    #[error("{address} can be reached from other machines")]
    Remote {
        /// The address.
        address: SocketAddr,
    },
    /// Others than this machine could connect, and there is no token.
    #[error("{address} can be reached from other machines, and there is no token")]
    NoToken {
        /// The address.
        address: SocketAddr,
    },
    /// A token is no token.
    #[error("the token {reason}")]
    BadToken {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The threads cannot be started.
    #[error("cannot start threads")]
    Threads(#[source] io::Error),
    /// The database could not be closed.
    #[error(transparent)]
    Database(#[from] hopdb::Error),
}
