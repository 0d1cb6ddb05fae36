//! Durable, versioned, ordered bytes: the storage engine of HopDB.
//!
//! One file of pages, one write-ahead log beside it, B+trees in the pages, and snapshots over them.
//! Knows nothing of graphs, queries or sockets. Modules, low to high; each may use only those before it:
//! `sync · error · io · codec · page · wal · pager · buffer · btree · txn · checkpoint · recovery · check · store`.

pub mod codec;
pub mod io;
pub mod sync;
