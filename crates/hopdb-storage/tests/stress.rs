//! Threads: snapshots are read while a writer commits and another thread flushes, forgets and checkpoints,
//! all in a handful of frames.
//!
//! What must hold in every snapshot: the sums of two tables are opposite, and both name the same commit.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test with threads")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hopdb_storage::io::sim::SimFs;
use hopdb_storage::{Options, Result, Store, Table, View, WriteTxn};

const KEYS: u32 = 300;
const TABLES: [&str; 2] = ["credit", "debit"];

/// A number, padded to a length that the key and the round decide: some values are large.
fn padded(number: i64, key: u32, round: u32) -> Vec<u8> {
    let len = match (key + round) % 29 {
        0 => 9000,
        n => 8 + n as usize * 10,
    };
    let mut bytes = vec![number.to_le_bytes()[0]; len];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    bytes
}

fn number(bytes: &[u8]) -> i64 {
    let number = i64::from_be_bytes(bytes[..8].try_into().unwrap());
    assert!(
        bytes[8..].iter().all(|byte| *byte == number.to_le_bytes()[0]),
        "bytes of another value"
    );
    number
}

fn read_number(view: &impl View, table: Table, key: u32) -> Result<i64> {
    let found = view.get(table, &key.to_be_bytes())?.unwrap();
    Ok(number(&found.to_vec()?))
}

/// Sum of a table's numbers, and the commit it names under a key of its own.
fn sum(view: &impl View, name: &str) -> Result<(i64, i64)> {
    let table = view.table(name)?.unwrap();
    let mut cursor = view.cursor(table);
    let (mut total, mut commit, mut count) = (0, 0, 0);
    let mut more = cursor.first()?;
    while more {
        let found = number(&cursor.to_vec()?);
        if cursor.key() == Some(b"commit") {
            commit = found;
        } else {
            total += found;
            count += 1;
        }
        more = cursor.next()?;
    }
    assert_eq!(count, KEYS, "keys of {name}");
    Ok((total, commit))
}

fn begin(store: &Store) -> WriteTxn {
    store.write().unwrap()
}

fn fill(store: &Store) {
    let mut txn = begin(store);
    for name in TABLES {
        let table = txn.create_table(name).unwrap();
        for key in 0..KEYS {
            txn.put(table, &key.to_be_bytes(), &padded(0, key, 0)).unwrap();
        }
        txn.put(table, b"commit", &padded(0, 0, 1)).unwrap();
    }
    txn.commit().unwrap();
}

/// Moves an amount from one table to the other under some keys.
fn transfer(store: &Store, round: u32, random: &mut fastrand::Rng) -> Result<()> {
    let mut txn = begin(store);
    let tables = TABLES.map(|name| txn.table(name).unwrap().unwrap());
    for _ in 0..random.u32(1..6) {
        let (key, amount) = (random.u32(0..KEYS), random.i64(-50..50));
        for (table, amount) in [(tables[0], amount), (tables[1], -amount)] {
            let new = read_number(&txn, table, key)? + amount;
            if random.u8(0..8) == 0 {
                txn.delete(table, &key.to_be_bytes())?;
            }
            txn.put(table, &key.to_be_bytes(), &padded(new, key, round))?;
        }
    }
    for table in tables {
        txn.put(table, b"commit", &padded(i64::from(round), 0, 1))?;
    }
    if random.u8(0..10) == 0 {
        drop(txn);
        return transfer(store, round, random);
    }
    txn.commit()?;
    Ok(())
}

fn read(store: &Store, done: &AtomicBool, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut last = 0;
    while !done.load(Ordering::Relaxed) {
        let snapshot = store.read();
        for _ in 0..random.u32(1..3) {
            let [credit, debit] = TABLES.map(|name| sum(&snapshot, name).unwrap());
            assert_eq!(credit.0, -debit.0, "snapshot {}", snapshot.commit_ts());
            assert_eq!(credit.1, debit.1, "snapshot {}", snapshot.commit_ts());
            assert!(credit.1 >= last, "snapshots do not go back");
            last = credit.1;
        }
    }
}

fn maintain(store: &Store, done: &AtomicBool) {
    let mut random = fastrand::Rng::with_seed(99);
    while !done.load(Ordering::Relaxed) {
        match random.u8(0..3) {
            0 => store.flush().unwrap(),
            1 => store.clear_cache().unwrap(),
            _ => store.checkpoint().unwrap(),
        }
    }
}

/// Says that all is done when it goes, so that a panic of the writer does not leave the others running.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn run(frames: usize, readers: u64, rounds: u32) {
    let fs: Arc<SimFs> = Arc::new(SimFs::new(1));
    let options = Options { cache_bytes: frames * 4096, ..Options::default() };
    let store = Store::create_with(Arc::clone(&fs) as _, Path::new("x.hop"), &options).unwrap();
    fill(&store);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _done = Done(&done);
        for reader in 0..readers {
            let (store, done) = (&store, &done);
            scope.spawn(move || read(store, done, reader));
        }
        scope.spawn(|| maintain(&store, &done));
        let mut random = fastrand::Rng::with_seed(frames as u64);
        for round in 1..=rounds {
            transfer(&store, round, &mut random).unwrap();
        }
    });
    assert_eq!(store.read().check().unwrap().problems, []);
    assert_eq!(store.counts().pool.retained, 0);
    let crashed: Arc<SimFs> = Arc::new(fs.after_crash_all_lost());
    let recovered = Store::open_with(crashed, Path::new("x.hop"), &options).unwrap();
    assert_eq!(sum(&recovered.read(), TABLES[0]).unwrap().1, i64::from(rounds));
    assert_eq!(recovered.read().check().unwrap().problems, []);
}

#[test]
fn snapshots_are_whole_while_all_goes_on_in_sixteen_frames() {
    run(16, 3, 2000);
}

#[test]
fn one_reader_and_one_writer_get_by_with_six_frames() {
    run(6, 1, 2000);
}
