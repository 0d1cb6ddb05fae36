//! HopDB's key-value store.

use std::path::Path;

use ::hopdb::Durability;
use ::hopdb::kv::{self, Options, Table, View};

use super::engines::{About, Store};
use super::rows::Row;
use crate::Outcome;

const TABLE: &str = "t";

pub(super) struct HopDb {
    store: kv::Store,
    table: Table,
}

impl HopDb {
    /// A new store; with as much memory for pages, where it is said.
    pub(super) fn create(path: &Path, cache_bytes: Option<usize>) -> Outcome<Self> {
        let store = kv::Store::create(path, &options(cache_bytes))?;
        let mut txn = store.write()?;
        let table = txn.create_table(TABLE)?;
        txn.commit()?;
        Ok(Self { store, table })
    }

    /// Opens, and recovers where that is needed.
    pub(super) fn open(path: &Path, cache_bytes: Option<usize>) -> Outcome<Self> {
        let store = kv::Store::open(path, &options(cache_bytes))?;
        let table = store.read().table(TABLE)?.ok_or("the table is gone")?;
        Ok(Self { store, table })
    }

    pub(super) fn described() -> About {
        let version = env!("CARGO_PKG_VERSION").into();
        let settings = "defaults: 256 MiB of pages";
        About { name: "hopdb", version, settings, keeps_rows: true }
    }

    pub(super) fn store(&self) -> &kv::Store {
        &self.store
    }

    /// The value that a snapshot sees.
    pub(super) fn get_in(&self, snapshot: &kv::ReadTxn, key: &[u8]) -> Outcome<Option<Vec<u8>>> {
        Ok(snapshot.get(self.table, key)?.map(|found| found.to_vec()).transpose()?)
    }

    /// One transaction.
    pub(super) fn put<B: AsRef<[u8]>>(
        &self,
        rows: impl Iterator<Item = (B, B)>,
        durability: Durability,
    ) -> Outcome<()> {
        let mut txn = self.store.write()?;
        txn.set_durability(durability);
        for (key, value) in rows {
            txn.put(self.table, key.as_ref(), value.as_ref())?;
        }
        txn.commit()?;
        Ok(())
    }

    /// The first keys.
    pub(super) fn keys(&self, count: u64) -> Outcome<Vec<Vec<u8>>> {
        let snapshot = self.store.read();
        let mut cursor = snapshot.cursor(self.table);
        let mut keys = Vec::new();
        let mut there = cursor.first()?;
        while there && (keys.len() as u64) < count {
            keys.push(cursor.key().ok_or("no key")?.to_vec());
            there = cursor.next()?;
        }
        Ok(keys)
    }

    /// Fills the empty table in the order of the keys, as a load by HopDB does.
    pub(super) fn bulk(&self, rows: impl Iterator<Item = Row>) -> Outcome<()> {
        let mut all: Vec<Row> = rows.collect();
        all.sort_unstable();
        let mut txn = self.store.write()?;
        let mut bulk = txn.bulk(self.table)?;
        for (key, value) in &all {
            bulk.push(&mut txn, key, value)?;
        }
        bulk.finish(&mut txn)?;
        txn.commit()?;
        Ok(())
    }
}

fn options(cache_bytes: Option<usize>) -> Options {
    let defaults = Options::default();
    Options { cache_bytes: cache_bytes.unwrap_or(defaults.cache_bytes), ..defaults }
}

impl Store for HopDb {
    fn about(&self) -> About {
        Self::described()
    }

    fn load(&self, rows: &mut dyn Iterator<Item = Row>) -> Outcome<()> {
        self.put(rows, Durability::Sync)
    }

    fn commit(&self, rows: &[Row]) -> Outcome<()> {
        self.put(rows.iter().map(|(key, value)| (key, value)), Durability::Sync)
    }

    fn checkpoint(&self) -> Outcome<()> {
        Ok(self.store.checkpoint()?)
    }

    fn get(&self, key: &[u8]) -> Outcome<Option<Vec<u8>>> {
        self.get_in(&self.store.read(), key)
    }

    fn scan(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> Outcome<()> {
        let snapshot = self.store.read();
        let mut cursor = snapshot.cursor(self.table);
        let mut there = cursor.first()?;
        while there {
            let (key, value) = (cursor.key().ok_or("no key")?, cursor.inline().ok_or("no value")?);
            each(key, value);
            there = cursor.next()?;
        }
        Ok(())
    }
}
