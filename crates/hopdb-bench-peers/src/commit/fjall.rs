//! fjall, synced at every commit.

use std::path::Path;
use std::thread;
use std::time::Duration;

use ::fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::engines::{About, Store, locked_version};
use super::rows::Row;
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
            version: locked_version("fjall"),
            settings: "SyncData at each commit; 256 MiB of cache",
            keeps_rows: true,
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

    /// It does not tell when it is done: quiet for half a second counts.
    fn settle(&self) -> Outcome<()> {
        let mut quiet = 0;
        while quiet < 10 {
            thread::sleep(Duration::from_millis(50));
            let busy = self.database.outstanding_flushes() + self.database.active_compactions();
            quiet = if busy == 0 { quiet + 1 } else { 0 };
        }
        Ok(())
    }

    fn get(&self, key: &[u8]) -> Outcome<Option<Vec<u8>>> {
        Ok(self.table.get(key)?.map(|found| found.to_vec()))
    }

    fn scan(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> Outcome<()> {
        for entry in self.table.iter() {
            let (key, value) = entry.into_inner()?;
            each(&key, &value);
        }
        Ok(())
    }
}
