//! SQLite by `rusqlite`: a table without row ids, WAL, synced at each commit.
//!
//! Threads share one connection, since SQLite has one writer at a time: connections of their own would sleep and ask
//! again until the lock is free.

use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use rusqlite::{Connection, OptionalExtension, ToSql};

use super::engines::{About, Store};
use super::rows::Row;
use crate::Outcome;

const PUT: &str = "INSERT OR REPLACE INTO t VALUES (?1, ?2)";

pub(super) struct Sqlite(Mutex<Connection>);

impl Sqlite {
    pub(super) fn create(path: &Path) -> Outcome<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -262144;
             CREATE TABLE t(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID",
        )?;
        Ok(Self(Mutex::new(connection)))
    }

    fn connection(&self) -> Outcome<MutexGuard<'_, Connection>> {
        Ok(self.0.lock().map_err(|_| "a thread panicked")?)
    }

    fn put<B: ToSql>(&self, rows: impl Iterator<Item = (B, B)>) -> Outcome<()> {
        let mut connection = self.connection()?;
        let txn = connection.transaction()?;
        {
            let mut put = txn.prepare_cached(PUT)?;
            for (key, value) in rows {
                put.execute((key, value))?;
            }
        }
        Ok(txn.commit()?)
    }
}

impl Store for Sqlite {
    fn about(&self) -> About {
        let settings = "WAL, synchronous FULL, 256 MiB of cache; one connection for all threads";
        About { name: "sqlite", version: rusqlite::version().into(), settings, keeps_rows: true }
    }

    fn load(&self, rows: &mut dyn Iterator<Item = Row>) -> Outcome<()> {
        self.put(rows)
    }

    fn commit(&self, rows: &[Row]) -> Outcome<()> {
        self.put(rows.iter().map(|(key, value)| (key, value)))
    }

    fn checkpoint(&self) -> Outcome<()> {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        Ok(self.connection()?.query_row(checkpoint, (), |_| Ok(()))?)
    }

    fn get(&self, key: &[u8]) -> Outcome<Option<Vec<u8>>> {
        let connection = self.connection()?;
        let mut get = connection.prepare_cached("SELECT v FROM t WHERE k = ?1")?;
        Ok(get.query_row((key,), |row| row.get(0)).optional()?)
    }

    fn scan(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> Outcome<()> {
        let connection = self.connection()?;
        let mut all = connection.prepare("SELECT k, v FROM t")?;
        let mut rows = all.query(())?;
        while let Some(row) = rows.next()? {
            each(row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?);
        }
        Ok(())
    }
}
