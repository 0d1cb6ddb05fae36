//! The limit of the disk: the bytes of commits' rows over those of a file that is there, and a sync. Keeps nothing.
//!
//! One sync serves all who wait when it begins, as no more is needed of it: a thread that finds nobody writing writes
//! and syncs what has gathered.

use std::fs::File;
use std::mem;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Condvar, Mutex};

use super::engines::{About, Store};
use super::rows::Row;
use crate::Outcome;

const FILE_BYTES: usize = 64 << 20;
const PANICKED: &str = "a thread panicked";

#[derive(Default)]
struct State {
    pending: Vec<u8>,
    at: u64,
    /// Commits that came, and of them those that are on disk.
    asked: u64,
    durable: u64,
    /// Whether a thread writes and syncs.
    leader: bool,
}

pub(super) struct Limit {
    file: File,
    state: Mutex<State>,
    written: Condvar,
}

impl Limit {
    pub(super) fn create(path: &Path) -> Outcome<Self> {
        let file = File::create_new(path)?;
        file.write_all_at(&vec![1; FILE_BYTES], 0)?;
        file.sync_all()?;
        Ok(Self { file, state: Mutex::default(), written: Condvar::new() })
    }
}

impl Store for Limit {
    fn about(&self) -> About {
        let settings = "overwrites as many bytes of a file and syncs them, once for all who wait";
        About { name: "limit", version: "-".into(), settings, keeps_rows: false }
    }

    fn load(&self, _: &mut dyn Iterator<Item = Row>) -> Outcome<()> {
        Ok(())
    }

    fn commit(&self, rows: &[Row]) -> Outcome<()> {
        let mut state = self.state.lock().map_err(|_| PANICKED)?;
        rows.iter().for_each(|(key, value)| {
            state.pending.extend_from_slice(key);
            state.pending.extend_from_slice(value);
        });
        state.asked += 1;
        let mine = state.asked;
        while state.durable < mine {
            if state.leader {
                state = self.written.wait(state).map_err(|_| PANICKED)?;
                continue;
            }
            state.leader = true;
            let (bytes, upto) = (mem::take(&mut state.pending), state.asked);
            if state.at + bytes.len() as u64 > FILE_BYTES as u64 {
                state.at = 0;
            }
            let at = state.at;
            state.at += bytes.len() as u64;
            drop(state);
            let done = self.file.write_all_at(&bytes, at).and_then(|()| self.file.sync_data());
            state = self.state.lock().map_err(|_| PANICKED)?;
            (state.leader, state.durable) = (false, upto);
            self.written.notify_all();
            done?;
        }
        Ok(())
    }

    fn checkpoint(&self) -> Outcome<()> {
        Ok(())
    }

    fn get(&self, _: &[u8]) -> Outcome<Option<Vec<u8>>> {
        Ok(None)
    }

    fn scan(&self, _: &mut dyn FnMut(&[u8], &[u8])) -> Outcome<()> {
        Ok(())
    }
}
