//! redb.

use std::path::Path;

use ::redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use super::engines::{About, Store, locked_version};
use super::rows::Row;
use crate::Outcome;

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("t");
const CACHE_BYTES: usize = 256 << 20;

pub(super) struct Redb(Database);

impl Redb {
    pub(super) fn create(path: &Path) -> Outcome<Self> {
        Ok(Self(Database::builder().set_cache_size(CACHE_BYTES).create(path)?))
    }

    fn put<B: AsRef<[u8]>>(&self, rows: impl Iterator<Item = (B, B)>) -> Outcome<()> {
        let txn = self.0.begin_write()?;
        {
            let mut table = txn.open_table(TABLE)?;
            for (key, value) in rows {
                table.insert(key.as_ref(), value.as_ref())?;
            }
        }
        Ok(txn.commit()?)
    }
}

impl Store for Redb {
    fn about(&self) -> About {
        About {
            name: "redb",
            version: locked_version("redb"),
            settings: "256 MiB of cache; synced, the default",
            keeps_rows: true,
        }
    }

    fn load(&self, rows: &mut dyn Iterator<Item = Row>) -> Outcome<()> {
        self.put(rows)
    }

    fn commit(&self, rows: &[Row]) -> Outcome<()> {
        self.put(rows.iter().map(|(key, value)| (key, value)))
    }

    /// Every commit is where it stays.
    fn checkpoint(&self) -> Outcome<()> {
        Ok(())
    }

    fn get(&self, key: &[u8]) -> Outcome<Option<Vec<u8>>> {
        let txn = self.0.begin_read()?;
        let table = txn.open_table(TABLE)?;
        Ok(table.get(key)?.map(|found| found.value().to_vec()))
    }

    fn scan(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> Outcome<()> {
        let txn = self.0.begin_read()?;
        for entry in txn.open_table(TABLE)?.iter()? {
            let (key, value) = entry?;
            each(key.value(), value.value());
        }
        Ok(())
    }
}
