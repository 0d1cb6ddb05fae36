//! SQLite by `rusqlite`: a table without row ids, WAL, synced at each commit, one connection a thread.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, ToSql, TransactionBehavior};

use super::rows::Row;
use super::{About, Store};
use crate::Outcome;

const PUT: &str = "INSERT OR REPLACE INTO t VALUES (?1, ?2)";

pub(super) struct Sqlite(PathBuf);

thread_local! {
    /// This thread's connection: the time of opening one is in the first commit of each thread.
    static CONNECTION: RefCell<Option<Connection>> = const { RefCell::new(None) };
}

impl Sqlite {
    pub(super) fn create(path: &Path) -> Outcome<Self> {
        let store = Self(path.to_path_buf());
        store.with(|connection| {
            Ok(connection
                .execute_batch("CREATE TABLE t(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID")?)
        })?;
        Ok(store)
    }

    fn put<B: ToSql>(&self, rows: impl Iterator<Item = (B, B)>) -> Outcome<()> {
        self.with(|connection| {
            // Takes the lock at once: one that is taken later cannot wait for another writer.
            let txn = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            {
                let mut put = txn.prepare_cached(PUT)?;
                for (key, value) in rows {
                    put.execute((key, value))?;
                }
            }
            Ok(txn.commit()?)
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Connection) -> Outcome<T>) -> Outcome<T> {
        CONNECTION.with_borrow_mut(|connection| {
            if connection.is_none() {
                let opened = Connection::open(&self.0)?;
                opened.execute_batch(
                    "PRAGMA busy_timeout = 60000; PRAGMA journal_mode = WAL;
                     PRAGMA synchronous = FULL; PRAGMA cache_size = -262144;",
                )?;
                *connection = Some(opened);
            }
            act(connection.as_mut().ok_or("no connection")?)
        })
    }
}

impl Store for Sqlite {
    fn about(&self) -> About {
        let settings = "WAL, synchronous FULL, 256 MiB of cache";
        About { name: "sqlite", version: rusqlite::version().into(), settings }
    }

    fn load(&self, rows: &mut dyn Iterator<Item = Row>) -> Outcome<()> {
        self.put(rows)
    }

    fn commit(&self, rows: &[Row]) -> Outcome<()> {
        self.put(rows.iter().map(|(key, value)| (key, value)))
    }

    fn checkpoint(&self) -> Outcome<()> {
        self.with(|connection| {
            Ok(connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))?)
        })
    }

    fn get(&self, key: &[u8]) -> Outcome<Option<Vec<u8>>> {
        self.with(|connection| {
            let mut get = connection.prepare_cached("SELECT v FROM t WHERE k = ?1")?;
            Ok(get.query_row((key,), |row| row.get(0)).optional()?)
        })
    }
}
