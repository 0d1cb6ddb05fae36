//! fjall, synced at every commit.

use std::path::Path;

use ::fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::rows::Row;
use super::{About, Store};
use crate::Outcome;

const CACHE_BYTES: u64 = 256 << 20;

pub(super) struct Fjall {
    database: Database,
    table: Keyspace,
}

impl Fjall {
    pub(super) fn create(path: &Path) -> Outcome<Self> {
        let database = Database::builder(path).cache_size(CACHE_BYTES).open()?;
        let table = database.keyspace("t", KeyspaceCreateOptions::default)?;
        Ok(Self { database, table })
    }
}

impl Store for Fjall {
    fn about(&self) -> About {
        About {
            name: "fjall",
            version: "3.1".into(),
            settings: "SyncData at each commit; 256 MiB of cache",
        }
    }

    fn load(&self, rows: &mut dyn Iterator<Item = Row>) -> Outcome<()> {
        for (key, value) in rows {
            self.table.insert(key, value)?;
        }
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }

    fn commit(&self, rows: &[Row]) -> Outcome<()> {
        let mut batch = self.database.batch().durability(Some(PersistMode::SyncData));
        for (key, value) in rows {
            batch.insert(&self.table, &key[..], &value[..]);
        }
        Ok(batch.commit()?)
    }

    /// Its tables are written and merged whenever it likes: nothing to wait for by itself.
    fn checkpoint(&self) -> Outcome<()> {
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }

    fn get(&self, key: &[u8]) -> Outcome<Option<Vec<u8>>> {
        Ok(self.table.get(key)?.map(|found| found.to_vec()))
    }
}
