//! The limit of the disk: the bytes of a commit's rows over those of a file that is there, and a sync. Keeps nothing.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;

use super::rows::Row;
use super::{About, Store};
use crate::Outcome;

const FILE_BYTES: usize = 64 << 20;

pub(super) struct Limit {
    file: File,
    at: Mutex<u64>,
}

impl Limit {
    pub(super) fn create(path: &Path) -> Outcome<Self> {
        let file = File::create_new(path)?;
        file.write_all_at(&vec![1; FILE_BYTES], 0)?;
        file.sync_all()?;
        Ok(Self { file, at: Mutex::new(0) })
    }
}

impl Store for Limit {
    fn about(&self) -> About {
        let settings = "overwrites as many bytes and syncs them, one commit at a time";
        About { name: "limit", version: "-".into(), settings }
    }

    fn load(&self, _: &mut dyn Iterator<Item = Row>) -> Outcome<()> {
        Ok(())
    }

    fn commit(&self, rows: &[Row]) -> Outcome<()> {
        let bytes: Vec<u8> =
            rows.iter().flat_map(|(key, value)| key.iter().chain(value).copied()).collect();
        let mut at = self.at.lock().map_err(|_| "a thread panicked")?;
        if *at + bytes.len() as u64 > FILE_BYTES as u64 {
            *at = 0;
        }
        self.file.write_all_at(&bytes, *at)?;
        *at += bytes.len() as u64;
        Ok(self.file.sync_data()?)
    }

    fn checkpoint(&self) -> Outcome<()> {
        Ok(())
    }

    fn get(&self, _: &[u8]) -> Outcome<Option<Vec<u8>>> {
        Ok(None)
    }
}
