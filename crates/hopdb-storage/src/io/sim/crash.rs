//! What is left of the disk after a crash.
//!
//! Reads the old disk and builds a new one; the old one stays as it was, so that one run can be crashed
//! under many seeds.

use std::path::Path;

use fastrand::Rng;

use super::choices::{Choice, Torn};
use super::content::{Content, SECTOR_LEN, pieces};
use super::disk::Disk;
use super::inode::{Change, Inode, Pending, Progress};
use super::names::Directory;

/// The odds of a change are `keep` in this many.
const ODDS: u8 = 8;

/// What decides over changes that were not durable.
pub(super) enum Chance {
    AllLost,
    AllKept,
    Seeded(Rng),
    Chosen(Choice),
}

/// The end of one change.
enum Survival {
    Kept,
    Lost,
    Torn,
}

impl Chance {
    /// How many of `count` pending name changes survive, from the first on.
    fn prefix(&mut self, directory: &Path, count: usize) -> usize {
        match self {
            Self::Chosen(choice) => choice.names.get(directory).map_or(count, |chosen| *chosen),
            Self::AllLost => 0,
            Self::AllKept => count,
            Self::Seeded(rng) => rng.usize(0..=count),
        }
    }

    /// The odds for one file's changes: some files lose nearly all, some nearly nothing, since even odds
    /// would hardly ever show a long list with one hole.
    fn keep(&mut self) -> u8 {
        match self {
            Self::AllLost => 0,
            Self::AllKept | Self::Chosen(_) => ODDS,
            Self::Seeded(rng) => rng.u8(0..=ODDS),
        }
    }

    fn survival(&mut self, number: u64, keep: u8) -> Survival {
        match self {
            Self::Chosen(choice) => match &choice.torn {
                Some(torn) if torn.number == number => Survival::Torn,
                _ if choice.kept.contains(&number) => Survival::Kept,
                _ => Survival::Lost,
            },
            Self::AllLost => Survival::Lost,
            Self::AllKept => Survival::Kept,
            Self::Seeded(rng) => match (rng.u8(0..ODDS) < keep, rng.bool()) {
                (true, _) => Survival::Kept,
                (false, true) => Survival::Lost,
                (false, false) => Survival::Torn,
            },
        }
    }

    /// Of a torn write.
    fn sector_survives(&mut self, sector: usize) -> bool {
        match self {
            Self::Chosen(Choice { torn: Some(Torn { sectors, .. }), .. }) => {
                sectors.contains(&sector)
            }
            Self::AllLost | Self::Chosen(_) => false,
            Self::AllKept => true,
            Self::Seeded(rng) => rng.bool(),
        }
    }
}

impl Disk {
    /// The disk after a crash now: everything on it is durable, nothing is open or locked.
    pub(super) fn survivors(&self, chance: &mut Chance) -> Self {
        let mut disk = Self::new(self.capacity);
        disk.next_file = self.next_file;
        disk.durable_writes = self.durable_writes;
        for (path, directory) in &self.directories {
            let names = directory.names_after(chance.prefix(path, directory.pending_count()));
            for (name, file) in &names {
                // A file with two names is decided once.
                if !disk.files.contains_key(file) {
                    let old = self.file(*file);
                    let mut inode = Inode::new(path.join(name), path);
                    inode.settle(surviving_content(old, chance));
                    inode.unreadable.clone_from(&old.unreadable);
                    disk.files.insert(*file, inode);
                }
            }
            disk.directories.insert(path.clone(), Directory::with_names(names));
        }
        disk
    }
}

fn surviving_content(inode: &Inode, chance: &mut Chance) -> Content {
    let mut content = inode.durable.clone();
    let keep = chance.keep();
    for Pending { number, change, progress } in &inode.pending {
        let survival = match progress {
            Progress::Durable => Survival::Kept,
            Progress::Dirty | Progress::InFlight | Progress::Forgotten => {
                chance.survival(*number, keep)
            }
        };
        match survival {
            Survival::Kept => change.apply(&mut content),
            Survival::Lost => {}
            Survival::Torn => tear(change, &mut content, chance),
        }
    }
    content
}

/// Applies the sectors of a write that made it; a change of length cannot be torn and is lost.
fn tear(change: &Change, content: &mut Content, chance: &mut Chance) {
    let Change::Write { offset, bytes } = change else {
        return;
    };
    for (sector, piece) in pieces(*offset, bytes.len(), SECTOR_LEN).enumerate() {
        if chance.sector_survives(sector) {
            let position = offset + piece.range.start as u64;
            content.write(&bytes[piece.range], position);
        }
    }
}
