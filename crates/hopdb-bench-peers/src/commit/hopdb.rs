//! HopDB's key-value store.

use std::path::Path;

use ::hopdb::kv::{self, Options, View};

use super::rows::Row;
use super::{About, Store};
use crate::Outcome;

const TABLE: &str = "t";

pub(super) struct HopDb(kv::Store);

impl HopDb {
    pub(super) fn create(path: &Path) -> Outcome<Self> {
        let store = kv::Store::create(path, &Options::default())?;
        let mut txn = store.write()?;
        txn.create_table(TABLE)?;
        txn.commit()?;
        Ok(Self(store))
    }
}

impl Store for HopDb {
    fn about(&self) -> About {
        let version = env!("CARGO_PKG_VERSION").into();
        About { name: "hopdb", version, settings: "defaults: 256 MiB of pages" }
    }

    fn load(&self, rows: &mut dyn Iterator<Item = Row>) -> Outcome<()> {
        let mut all: Vec<Row> = rows.collect();
        all.sort_unstable();
        let mut txn = self.0.write()?;
        let table = txn.table(TABLE)?.ok_or("the table is gone")?;
        let mut bulk = txn.bulk(table)?;
        for (key, value) in &all {
            bulk.push(&mut txn, key, value)?;
        }
        bulk.finish(&mut txn)?;
        txn.commit()?;
        Ok(())
    }

    fn commit(&self, rows: &[Row]) -> Outcome<()> {
        let mut txn = self.0.write()?;
        let table = txn.table(TABLE)?.ok_or("the table is gone")?;
        for (key, value) in rows {
            txn.put(table, key, value)?;
        }
        txn.commit()?;
        Ok(())
    }

    fn checkpoint(&self) -> Outcome<()> {
        Ok(self.0.checkpoint()?)
    }

    fn get(&self, key: &[u8]) -> Outcome<Option<Vec<u8>>> {
        let snapshot = self.0.read();
        let table = snapshot.table(TABLE)?.ok_or("the table is gone")?;
        Ok(snapshot.get(table, key)?.map(|found| found.to_vec()).transpose()?)
    }
}
