//! The store as its users see it, on the simulated disk: tables, transactions, snapshots, loads.

mod api;
mod checkpoints;
mod defects;
mod gated;
mod group;
mod hostile;
mod large;
mod opening;
mod savepoints;
mod space;

use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use crate::codec::num::{get_u64, to_usize};
use crate::io::FileSystem;
use crate::io::sim::SimFs;

const NAME: &str = "x.hop";
const PAGE: usize = 4096;

type Content = BTreeMap<Vec<u8>, Vec<u8>>;

/// Options for a pool of `frames` pages of 4 KiB.
fn frames(frames: usize) -> Options {
    Options { cache_bytes: frames * PAGE, ..Options::default() }
}

fn create_with(fs: &SimFs, options: &Options) -> Store {
    Store::create_with(Arc::new(fs.clone()), Path::new(NAME), options).unwrap()
}

fn open_with(fs: &SimFs, options: &Options) -> Result<Store> {
    Store::open_with(Arc::new(fs.clone()), Path::new(NAME), options)
}

/// A new disk with a new store on it.
fn new_store(options: &Options) -> (SimFs, Store) {
    let fs = SimFs::new(1);
    let store = create_with(&fs, options);
    (fs, store)
}

/// The table of this name, which is made when it is not there.
fn table_of(txn: &mut WriteTxn, name: &str) -> Table {
    match txn.table(name).unwrap() {
        Some(table) => table,
        None => txn.create_table(name).unwrap(),
    }
}

/// Commits one entry into a table, which is made when it is not there.
fn put(store: &Store, table: &str, key: &[u8], value: &[u8]) -> CommitTs {
    let mut txn = store.write().unwrap();
    let table = table_of(&mut txn, table);
    txn.put(table, key, value).unwrap();
    txn.commit().unwrap()
}

fn get(view: &impl View, table: &str, key: &[u8]) -> Option<Vec<u8>> {
    let table = view.table(table).unwrap().unwrap();
    view.get(table, key).unwrap().map(|found| found.to_vec().unwrap())
}

/// All entries of a table.
fn content(view: &impl View, table: &str) -> Content {
    let table = view.table(table).unwrap().unwrap();
    let mut cursor = view.cursor(table);
    let mut found = Content::new();
    let mut more = cursor.first().unwrap();
    while more {
        found.insert(cursor.key().unwrap().to_vec(), cursor.to_vec().unwrap());
        more = cursor.next().unwrap();
    }
    found
}

/// Fails unless the newest commit is whole and no page leaked.
fn assert_sound(store: &Store) -> CheckReport {
    let report = store.read().check().unwrap();
    assert_eq!(report.problems, []);
    report
}

/// Byte of a log at which its records begin.
fn records_at(log: &[u8]) -> usize {
    4096 + PAGE * to_usize(get_u64(log, 32))
}

fn number(n: u32) -> [u8; 4] {
    n.to_be_bytes()
}

/// A byte that differs from one number to the next.
fn byte(n: u32) -> u8 {
    n.to_le_bytes()[0]
}
