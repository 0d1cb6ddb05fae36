//! A seeded script of what is done to a store: transactions, snapshots, checkpoints, reopenings.
//!
//! The script is drawn beforehand from its seed alone, so that a run that crashed can be repeated and cut
//! at another step.

use std::ops::Bound;

use fastrand::Rng;
use hopdb_storage::Options;

use super::model::{Entries, Value};

/// One change of a transaction.
#[derive(Clone, Debug)]
pub enum Change {
    /// Makes an empty table.
    CreateTable(String),
    /// Removes a table.
    DropTable(String),
    /// Sets a value.
    Put(String, Vec<u8>, Value),
    /// Removes a key.
    Delete(String, Vec<u8>),
    /// Removes the keys of a range.
    DeleteRange(String, Bound<Vec<u8>>, Bound<Vec<u8>>),
    /// Builds a new table bottom-up.
    Bulk(String, Entries),
    /// Makes a savepoint.
    Savepoint,
    /// Goes back to one of the open savepoints: the number, modulo how many there are.
    RollbackTo(usize),
    /// Releases one of them, named likewise.
    Release(usize),
}

/// One step of the script.
#[derive(Clone, Debug)]
pub enum Action {
    /// A transaction that commits, and is durable then.
    Commit(Vec<Change>),
    /// A transaction that commits, and does not wait for the disk.
    CommitLater(Vec<Change>),
    /// A transaction that is dropped.
    Rollback(Vec<Change>),
    /// Begins a snapshot and holds it.
    Hold,
    /// Holds a snapshot against the model's state of its commit.
    Look,
    /// Does so with the oldest snapshot, and ends it.
    Release,
    /// `Store::flush`.
    Flush,
    /// `Store::clear_cache`.
    ClearCache,
    /// `Store::checkpoint`.
    Checkpoint,
    /// Closes the store and opens it again.
    Reopen,
}

impl Action {
    /// Its name in a report.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Commit(_) => "commit",
            Self::CommitLater(_) => "commit later",
            Self::Rollback(_) => "rollback",
            Self::Hold => "hold",
            Self::Look => "look",
            Self::Release => "release",
            Self::Flush => "flush",
            Self::ClearCache => "clear cache",
            Self::Checkpoint => "checkpoint",
            Self::Reopen => "reopen",
        }
    }
}

/// What is done to one store.
#[derive(Clone, Debug)]
pub struct Script {
    /// How the store is made and opened.
    pub options: Options,
    /// What is committed before the store gets its name; `None` when it is made with its name.
    pub loads: Option<Vec<Vec<Change>>>,
    /// What follows.
    pub actions: Vec<Action>,
}

/// What sort of changes a script prefers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taste {
    /// One value in so many is large.
    pub(super) large_in: u8,
    /// How many keys of a shape there are: with few, values are replaced again and again.
    pub(super) keys: u16,
}

const TABLES: [&str; 4] = ["people", "post", "knows", "x"];

/// Whether a range holds a key.
#[must_use]
pub fn contains(low: &Bound<Vec<u8>>, high: &Bound<Vec<u8>>, key: &[u8]) -> bool {
    let above = match low {
        Bound::Included(low) => key >= low.as_slice(),
        Bound::Excluded(low) => key > low.as_slice(),
        Bound::Unbounded => true,
    };
    let below = match high {
        Bound::Included(high) => key <= high.as_slice(),
        Bound::Excluded(high) => key < high.as_slice(),
        Bound::Unbounded => true,
    };
    above && below
}

impl Script {
    /// The script of a seed.
    #[must_use]
    pub fn draw(seed: u64, actions: usize) -> Self {
        let mut random = Rng::with_seed(seed);
        let page_size = match random.u8(0..12) {
            0 => 65_536,
            1 => 16_384,
            2 => 8192,
            _ => 4096,
        };
        let frames = [4, 5, 8, 16, 64, 1024][random.usize(0..6)];
        let taste = Taste {
            large_in: if random.u8(0..3) == 0 { 4 } else { 40 },
            keys: if random.u8(0..3) == 0 { 12 } else { 500 },
        };
        let options = Options { cache_bytes: frames * page_size, page_size, read_only: false };
        let loads = (random.u8(0..4) == 0).then(|| {
            let mut loads = vec![vec![Change::Bulk(TABLES[0].into(), entries(&mut random, taste))]];
            loads.extend((0..random.usize(0..3)).map(|_| transaction(&mut random, taste)));
            loads
        });
        let actions = (0..actions).map(|_| action(&mut random, taste)).collect();
        Self { options, loads, actions }
    }
}

impl Script {
    /// The same, but every commit waits for the disk.
    pub(super) fn with_waiting_commits(&self) -> Self {
        let waiting = |action: &Action| match action {
            Action::CommitLater(changes) => Action::Commit(changes.clone()),
            other => other.clone(),
        };
        Self { actions: self.actions.iter().map(waiting).collect(), ..self.clone() }
    }
}

fn action(random: &mut Rng, taste: Taste) -> Action {
    match random.u8(0..100) {
        0..32 => Action::Commit(transaction(random, taste)),
        32..46 => Action::CommitLater(transaction(random, taste)),
        46..52 => Action::Rollback(transaction(random, taste)),
        52..61 => Action::Hold,
        61..69 => Action::Look,
        69..77 => Action::Release,
        77..80 => Action::Flush,
        80..90 => Action::ClearCache,
        90..95 => Action::Checkpoint,
        _ => Action::Reopen,
    }
}

/// The changes of a transaction: mostly few, in tables that mostly exist.
pub(super) fn transaction(random: &mut Rng, taste: Taste) -> Vec<Change> {
    let count = match random.u8(0..10) {
        0 => random.usize(100..400),
        1..4 => random.usize(10..60),
        _ => random.usize(1..10),
    };
    let name = |random: &mut Rng| TABLES[random.usize(0..TABLES.len())].to_string();
    let mut changes = vec![Change::CreateTable(name(random))];
    for _ in 0..count {
        let table = name(random);
        changes.push(match random.u16(0..1000) {
            0..4 => Change::DropTable(table),
            4..10 => Change::Bulk(table, entries(random, taste)),
            10..20 => Change::CreateTable(table),
            20..30 => Change::Savepoint,
            30..36 => Change::RollbackTo(random.usize(0..8)),
            36..40 => Change::Release(random.usize(0..8)),
            40..80 => {
                let mut ends = [key(random, taste), key(random, taste)];
                ends.sort();
                let [low, high] = ends;
                Change::DeleteRange(table, bound(random, low), bound(random, high))
            }
            80..300 => Change::Delete(table, key(random, taste)),
            _ => Change::Put(table, key(random, taste), value(random, taste)),
        });
    }
    changes
}

fn bound(random: &mut Rng, key: Vec<u8>) -> Bound<Vec<u8>> {
    match random.u8(0..9) {
        0 => Bound::Unbounded,
        1..5 => Bound::Included(key),
        _ => Bound::Excluded(key),
    }
}

/// Keys from few enough that they meet again, of several shapes and lengths.
fn key(random: &mut Rng, taste: Taste) -> Vec<u8> {
    match random.u8(0..20) {
        0 => vec![random.u8(0..3); random.usize(0..1025)],
        1..8 => format!("person/{:05}", random.u16(0..taste.keys)).into_bytes(),
        8..12 => vec![(random.u16(0..taste.keys) % 256).to_le_bytes()[0], random.u8(0..4)],
        _ => u32::from(random.u16(0..taste.keys)).to_be_bytes().to_vec(),
    }
}

fn value(random: &mut Rng, taste: Taste) -> Value {
    let len = match random.u8(0..taste.large_in) {
        0 => random.usize(0..40_000),
        1 => random.usize(1000..1050),
        2..6 => random.usize(0..1000),
        _ => random.usize(0..80),
    };
    Value { len, tag: random.u64(..) }
}

fn entries(random: &mut Rng, taste: Taste) -> Entries {
    let count = match random.u8(0..4) {
        0 => random.usize(0..3),
        1 => random.usize(0..1000),
        _ => random.usize(0..100),
    };
    (0..count).map(|_| (key(random, taste), value(random, taste))).collect()
}
