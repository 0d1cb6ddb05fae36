//! LMDB, by `heed`.
#![expect(unsafe_code, reason = "the binding's open is unsafe: nobody else may change the file")]

use std::fs;
use std::path::Path;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvOpenOptions};

use super::engines::{About, Store, locked_version};
use super::rows::Row;
use crate::Outcome;

/// Address space that the file may take.
const MAP_BYTES: usize = 32 << 30;

/// Open until the process ends: the binding's table borrows it.
pub(super) struct Lmdb {
    env: &'static Env,
    table: Database<'static, Bytes, Bytes>,
}

impl Lmdb {
    pub(super) fn create(path: &Path) -> Outcome<Self> {
        fs::create_dir_all(path)?;
        // SAFETY: the folder was made just now inside a temporary one that nobody else knows.
        let env = unsafe { EnvOpenOptions::new().map_size(MAP_BYTES).open(path)? };
        let env: &'static Env = Box::leak(Box::new(env));
        let txn = env.write_txn()?;
        let made = env.create_databases_and_commit(txn, |opener, txn| {
            opener.create_database(txn, None).map(CommitOrAbort::<_, ()>::Commit)
        });
        Ok(Self { env, table: made?.unwrap_commit() })
    }
}

impl Lmdb {
    fn put<B: AsRef<[u8]>>(&self, rows: impl Iterator<Item = (B, B)>) -> Outcome<()> {
        let mut txn = self.env.write_txn()?;
        for (key, value) in rows {
            self.table.put(&mut txn, key.as_ref(), value.as_ref())?;
        }
        Ok(txn.commit()?)
    }
}

impl Store for Lmdb {
    fn about(&self) -> About {
        let version = heed::lmdb_version();
        let version = format!("{}.{}.{}", version.major, version.minor, version.patch);
        About {
            name: "lmdb",
            version: format!("{version} (heed {})", locked_version("heed")),
            settings: "synced, the default; its cache is the system's",
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
        let txn = self.env.read_txn()?;
        Ok(self.table.get(&txn, key)?.map(<[u8]>::to_vec))
    }

    fn scan(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> Outcome<()> {
        let txn = self.env.read_txn()?;
        for entry in self.table.iter(&txn)? {
            let (key, value) = entry?;
            each(key, value);
        }
        Ok(())
    }
}
