//! HopDB over HTTP: a JSON API to look at a graph and to change it, and the page that shows it.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use hopdb_server::{Options, Server};
//!
//! let db = hopdb::Database::open("friends.hop", &hopdb::Options::default())?;
//! let server = Server::bind(db, Options::new("127.0.0.1:7474".parse()?))?;
//! let stop = server.stopper();
//! // `stop.stop()` from another thread, or from a signal handler, ends it.
//! server.run()?;
//! # Ok(())
//! # }
//! ```
//!
//! Modules, each using those before it only:
//! - [`limits`], [`error`]: what a client may cost; why a server does not start.
//! - `failure`, `watch`, `work`: why a request fails; threads for the database's work.
//! - `answers`: the bytes of answers. `values`, `shapes`, `query`: what goes over the wire, in and out.
//! - `gate`, `log`: who may ask at all; what is told of it.
//! - `page`: the files of the page.
//! - `api`: the endpoints. `paced`, `serve`: connections, from the first to the last.
//!
//! Depends on the crate `hopdb` alone. A request waits for the work of another for some milliseconds at most while
//! threads are free, and reads a snapshot of its own.

#![expect(
    clippy::disallowed_methods,
    reason = "a door: it has clocks for its time limits, and threads by its runtime"
)]

mod answers;
mod api;
pub mod error;
mod failure;
mod gate;
pub mod limits;
mod log;
mod paced;
mod page;
mod query;
mod serve;
mod shapes;
mod values;
mod watch;
mod work;

pub use error::Error;
pub use gate::Token;
pub use limits::Limits;
pub use log::Log;
pub use serve::{Options, Server, Stopper};
