//! All that a crash may leave of the disk, one after the other, where chance would draw.
//!
//! Only lists what may survive; what is left then is the business of [`super::crash`].

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::PathBuf;

use super::content::{SECTOR_LEN, pieces};
use super::disk::Disk;
use super::inode::{Change, Progress};

/// One outcome of a crash.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    /// How many of a directory's pending names survive, from the first on.
    pub(super) names: BTreeMap<PathBuf, usize>,
    /// Numbers of the pending changes that survive whole.
    pub(super) kept: BTreeSet<u64>,
    pub(super) torn: Option<Torn>,
}

/// A write of which some sectors survive.
#[derive(Clone, Debug)]
pub(super) struct Torn {
    /// Number of the change.
    pub(super) number: u64,
    /// Which, counted from the write's first.
    pub(super) sectors: Range<usize>,
}

impl Disk {
    /// The outcomes of a crash now; with more than `changes_max` pending changes only some.
    pub(super) fn choices(&self, changes_max: usize) -> Vec<Choice> {
        let pending = self.pending();
        let numbers: Vec<u64> = pending.keys().copied().collect();
        let mut subsets = subsets(&numbers, changes_max);
        subsets
            .extend(pending.iter().flat_map(|(number, sectors)| torn(*number, *sectors, &numbers)));
        self.surviving_names().iter().flat_map(|names| with_names(names, &subsets)).collect()
    }

    /// A number that tells different disks apart, unless chance wills it.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for path in self.paths() {
            path.hash(&mut hasher);
            let file = self.find(&path).expect("a name leads to a file");
            self.file(file).cached.bytes().hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Numbers of the changes that are not durable, ascending, with how many sectors each writes.
    fn pending(&self) -> BTreeMap<u64, usize> {
        let pending = self.files.values().flat_map(|file| &file.pending);
        let open = pending.filter(|pending| pending.progress != Progress::Durable);
        open.map(|pending| (pending.number, sectors(&pending.change))).collect()
    }

    /// The ways in which the pending names of all directories may survive.
    fn surviving_names(&self) -> Vec<BTreeMap<PathBuf, usize>> {
        let mut all = vec![BTreeMap::new()];
        for (path, directory) in &self.directories {
            let with = |names: &BTreeMap<PathBuf, usize>| -> Vec<_> {
                let counts = 0..=directory.pending_count();
                let chosen = |count| {
                    names.iter().map(|(p, c)| (p.clone(), *c)).chain([(path.clone(), count)])
                };
                counts.map(|count| chosen(count).collect()).collect()
            };
            all = all.iter().flat_map(with).collect();
        }
        all
    }
}

fn with_names(names: &BTreeMap<PathBuf, usize>, choices: &[Choice]) -> Vec<Choice> {
    let with = |choice: &Choice| Choice { names: names.clone(), ..choice.clone() };
    choices.iter().map(with).collect()
}

fn sectors(change: &Change) -> usize {
    match change {
        Change::Write { offset, bytes } => pieces(*offset, bytes.len(), SECTOR_LEN).count(),
        Change::SetLen(_) | Change::Reserve(_) => 0,
    }
}

/// All subsets of the newest `changes_max` changes, with the older ones all kept, and all lost.
fn subsets(numbers: &[u64], changes_max: usize) -> Vec<Choice> {
    let (older, newest) = numbers.split_at(numbers.len().saturating_sub(changes_max));
    let mut choices = Vec::new();
    for older in [older, &[]] {
        for subset in 0..1_u64 << newest.len() {
            let newest = newest.iter().enumerate().filter(|(bit, _)| subset >> bit & 1 == 1);
            let kept = older.iter().chain(newest.map(|(_, number)| number)).copied().collect();
            choices.push(Choice { kept, ..Choice::default() });
        }
    }
    choices
}

/// Every way in which a write of so many sectors may be torn once, beside three fates of the others.
fn torn(number: u64, sectors: usize, numbers: &[u64]) -> Vec<Choice> {
    let others: [BTreeSet<u64>; 3] = [
        numbers.iter().copied().filter(|other| *other < number).collect(),
        numbers.iter().copied().filter(|other| *other != number).collect(),
        BTreeSet::new(),
    ];
    let parts = (1..sectors).flat_map(|sector| [0..sector, sector..sectors]);
    let mut choices = Vec::new();
    for sectors in parts {
        for kept in &others {
            let torn = Some(Torn { number, sectors: sectors.clone() });
            choices.push(Choice { kept: kept.clone(), torn, ..Choice::default() });
        }
    }
    choices
}
