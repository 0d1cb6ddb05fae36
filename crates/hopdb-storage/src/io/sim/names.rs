//! The names in one simulated directory, and how paths are taken apart.
//!
//! Invariant: the `durable` names with all `pending` changes applied in order are the `current` names.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Number of a file, for as long as the disk lives.
pub(super) type FileId = u64;

/// `path` without `.`: what the maps are keyed by.
pub(super) fn normalize(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// Directory and name of a normalized path.
pub(super) fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    match (path.parent(), path.file_name()) {
        (Some(directory), Some(name)) => Ok((directory, name)),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// One change of a directory's names.
#[derive(Clone, Debug)]
pub(super) enum NameChange {
    Add(OsString, FileId),
    Remove(OsString),
    Rename(OsString, OsString),
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<OsString, FileId>) {
        match self {
            Self::Add(name, file) => {
                names.insert(name.clone(), *file);
            }
            Self::Remove(name) => {
                names.remove(name);
            }
            Self::Rename(from, to) => {
                if let Some(file) = names.remove(from) {
                    names.insert(to.clone(), file);
                }
            }
        }
    }
}

/// The names of one directory.
#[derive(Debug, Default)]
pub(super) struct Directory {
    pub(super) current: BTreeMap<OsString, FileId>,
    durable: BTreeMap<OsString, FileId>,
    pending: Vec<NameChange>,
}

impl Directory {
    /// A directory in which `names` are durable.
    pub(super) fn with_names(names: BTreeMap<OsString, FileId>) -> Self {
        Self { current: names.clone(), durable: names, pending: Vec::new() }
    }

    pub(super) fn change(&mut self, change: NameChange) {
        change.apply(&mut self.current);
        self.pending.push(change);
    }

    pub(super) fn sync(&mut self) {
        self.durable.clone_from(&self.current);
        self.pending.clear();
    }

    pub(super) fn pending_count(&self) -> usize {
        self.pending.len()
    }

    /// The durable names and the first `count` pending changes.
    pub(super) fn names_after(&self, count: usize) -> BTreeMap<OsString, FileId> {
        let mut names = self.durable.clone();
        for change in &self.pending[..count] {
            change.apply(&mut names);
        }
        names
    }

    pub(super) fn files(&self) -> impl Iterator<Item = FileId> {
        let added = self.pending.iter().filter_map(|change| match change {
            NameChange::Add(_, file) => Some(*file),
            _ => None,
        });
        self.current.values().chain(self.durable.values()).copied().chain(added)
    }
}
