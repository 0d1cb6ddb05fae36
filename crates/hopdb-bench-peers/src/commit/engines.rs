//! What a store is to the suite: loaded, committed to, asked. Each engine's adapter is a file of its own.
//!
//! An adapter does what its engine's documentation advises for durable commits, and nothing to help or hinder it
//! beside that. No clock runs in here.

use std::path::Path;

use super::fjall::Fjall;
use super::hopdb::HopDb;
use super::limit::Limit;
use super::lmdb::Lmdb;
use super::redb::Redb;
use super::rows::Row;
use super::sqlite::Sqlite;
use crate::Outcome;

/// The engines, in the order in which they take turns.
pub(crate) const ENGINES: [&str; 6] = ["hopdb", "lmdb", "redb", "sqlite", "fjall", "limit"];

/// A store with one table.
pub(super) trait Store: Sync {
    /// Name, version, and settings that matter.
    fn about(&self) -> About;
    /// Puts rows in as they come, in one transaction where the store has them; need not be durable.
    fn load(&self, rows: &mut dyn Iterator<Item = Row>) -> Outcome<()>;
    /// Commits the rows; durable when it returns.
    fn commit(&self, rows: &[Row]) -> Outcome<()>;
    /// Brings what was committed to where it stays.
    fn checkpoint(&self) -> Outcome<()>;
    /// Waits until nothing goes on in the background, so that the next engine has the machine to itself.
    fn settle(&self) -> Outcome<()> {
        Ok(())
    }
    /// The value of a key.
    fn get(&self, key: &[u8]) -> Outcome<Option<Vec<u8>>>;
    /// All rows.
    fn scan(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> Outcome<()>;
}

/// What a record says of an engine.
pub(super) struct About {
    pub(super) name: &'static str,
    pub(super) version: String,
    pub(super) settings: &'static str,
    /// Whether it answers: the limit of the disk keeps nothing.
    pub(super) keeps_rows: bool,
}

/// Makes an empty store of the engine of this name at `path`.
pub(super) fn create(name: &str, path: &Path) -> Outcome<Box<dyn Store>> {
    Ok(match name {
        "hopdb" => Box::new(HopDb::create(path, None)?),
        "lmdb" => Box::new(Lmdb::create(path)?),
        "redb" => Box::new(Redb::create(path)?),
        "sqlite" => Box::new(Sqlite::create(path)?),
        "fjall" => Box::new(Fjall::create(path)?),
        "limit" => Box::new(Limit::create(path)?),
        _ => return Err(format!("{name} is none of {ENGINES:?}").into()),
    })
}

/// The version of a crate that this program was built with.
pub(super) fn locked_version(name: &str) -> String {
    let lock = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock"));
    let package = format!("name = \"{name}\"\nversion = \"");
    let version = lock.split_once(&package).and_then(|(_, rest)| rest.split_once('"'));
    version.map_or_else(|| "unknown".into(), |(version, _)| version.into())
}

#[cfg(test)]
mod tests {
    use super::super::rows::{Contents, Stream};
    use super::*;

    #[test]
    fn versions_come_from_the_lock_file() {
        assert!(locked_version("redb").starts_with("4."));
        assert_eq!(locked_version("no-such-crate"), "unknown");
    }

    #[test]
    fn every_engine_gives_back_what_was_put_in() {
        let folder = tempfile::tempdir().unwrap();
        let loaded: Vec<Row> = (0..300).map(|index| Stream::LOADED.row(index)).collect();
        let new = Stream::new("test", 0, 0).row(0);
        let changed = (loaded[7].0.clone(), b"changed".to_vec());
        let mut expected = Contents::default();
        let kept = loaded.iter().enumerate().filter(|(index, _)| *index != 7).map(|(_, row)| row);
        kept.chain([&new, &changed]).for_each(|(key, value)| expected.add(key, value));
        for name in ENGINES {
            let store = create(name, &folder.path().join(name)).unwrap();
            store.load(&mut loaded.clone().into_iter()).unwrap();
            store.commit(&[new.clone(), changed.clone()]).unwrap();
            store.checkpoint().unwrap();
            store.settle().unwrap();
            let mut contents = Contents::default();
            store.scan(&mut |key, value| contents.add(key, value)).unwrap();
            if store.about().keeps_rows {
                assert_eq!(contents, expected, "{name}");
                assert_eq!(store.get(&new.0).unwrap(), Some(new.1.clone()), "{name}");
                assert_eq!(store.get(b"missing").unwrap(), None, "{name}");
            } else {
                assert_eq!(contents, Contents::default());
            }
        }
    }
}
