//! Durable, versioned, ordered bytes: the storage engine of HopDB.
//!
//! One file of pages, one write-ahead log beside it, B+trees in the pages, and snapshots over them.
//! Knows nothing of graphs, queries or sockets. Modules, low to high; each may use only those before it:
//! `sync · mutants · error · io · codec · page · wal · pager · scratch · buffer · btree · txn · recovery · check · store · inspect`.
//!
//! Start at [`Store`].

#![cfg_attr(
    test,
    expect(clippy::disallowed_methods, reason = "tests use threads and folders of their own")
)]

mod btree;
mod buffer;
mod check;
pub mod codec;
mod error;
pub mod inspect;
pub mod io;
#[doc(hidden)]
pub mod mutants;
mod page;
mod pager;
mod recovery;
mod scratch;
mod store;
pub mod sync;
mod txn;
mod wal;

pub use btree::cursor::Keys;
pub use btree::verify::TreeStatistics;
pub use buffer::PoolCounts;
pub use check::{CheckReport, Problem};
pub use error::{Error, Result};
pub use page::{CommitTs, Lsn, PageId, PageKind};
pub use pager::IoCounts;
pub use pager::header::FORMAT_VERSION;
pub use recovery::RecoveryReport;
pub use store::{
    Bulk, Counts, Cursor, Found, Large, Options, ReadTxn, Store, Table, View, WriteTxn,
};
pub use txn::Durability;
pub use txn::writer::Savepoint;
