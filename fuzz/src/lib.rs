//! What the targets of the storage engine share: a small database on a simulated disk, the bytes of an input put into
//! it, and all that can then be asked of it.
//!
//! Whatever the input is: every call gives an answer or an error, none panics, none runs without end. Checksums are made
//! right, or nothing behind them would be reached. Each target is a function here, so that the test in `tests` can
//! hold its seeds to what they should do.

pub mod header;
pub mod log;
pub mod page;
pub mod usage;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use hopdb_storage::io::sim::SimFs;
use hopdb_storage::{Options, Store, Table, View, WriteTxn};

/// The database's name on the simulated disk.
pub const NAME: &str = "x.hop";
/// The log's.
pub const LOG: &str = "x.hop-wal";
/// Bytes of a page.
pub const PAGE: usize = 4096;

/// What opening gave: `None` for an error, else the newest commit.
pub type Opened = Option<u64>;

/// The files of a database.
#[derive(Clone)]
pub struct Files {
    /// Pages.
    pub file: Vec<u8>,
    /// The log, which a closed database does not have.
    pub log: Option<Vec<u8>>,
}

impl Files {
    /// A disk with these files.
    pub fn disk(&self) -> SimFs {
        let fs = SimFs::new(1);
        fs.write_file(NAME, &self.file);
        if let Some(log) = &self.log {
            fs.write_file(LOG, log);
        }
        fs
    }
}

fn options() -> Options {
    Options { cache_bytes: 64 * PAGE, ..Options::default() }
}

/// Opens the database of a disk.
pub fn open(fs: &SimFs) -> hopdb_storage::Result<Store> {
    Store::open_with(Arc::new(fs.clone()), Path::new(NAME), &options())
}

fn commit(store: &Store, change: impl Fn(&mut WriteTxn)) {
    let mut txn = store.write().expect("nothing failed");
    change(&mut txn);
    txn.commit().expect("nothing failed");
}

fn table(txn: &WriteTxn, name: &str) -> Table {
    txn.table(name).expect("a sound database").expect("made before")
}

fn put(txn: &mut WriteTxn, name: &str, key: &[u8], value: &[u8]) {
    let table = table(txn, name);
    txn.put(table, key, value).expect("a sound database");
}

/// Makes the database, and goes on with it; each commit is small, so that the log's records are.
fn make() -> (Files, Files) {
    // The file's id is drawn from it: the same seeds in every process.
    fastrand::seed(1);
    let fs = SimFs::new(1);
    let shared = Arc::new(fs.clone());
    let store = Store::create_with(shared, Path::new(NAME), &options()).expect("an empty disk");
    commit(&store, |txn| {
        for name in ["t", "u", "empty"] {
            txn.create_table(name).expect("a new name");
        }
        for n in 0..300u16 {
            let value = vec![n.to_le_bytes()[0]; if n % 100 == 9 { 9000 } else { 30 }];
            put(txn, "t", format!("key {n:04}").as_bytes(), &value);
        }
    });
    store.close().expect("nothing failed");
    let closed = Files { file: fs.file_bytes(NAME).expect("the file"), log: None };

    let store = open(&fs).expect("a sound database");
    commit(&store, |txn| put(txn, "t", b"key 0100", &[1; 100]));
    commit(&store, |txn| put(txn, "u", b"large", &[2; 5000]));
    commit(&store, |txn| {
        let table = table(txn, "u");
        txn.delete(table, b"large").expect("a sound database");
        put(txn, "u", b"small", b"3");
    });
    let survivor = fs.after_crash_all_lost();
    let bytes = |name| survivor.file_bytes(name).expect("a durable file");
    (closed, Files { file: bytes(NAME), log: Some(bytes(LOG)) })
}

fn both() -> &'static (Files, Files) {
    static FILES: OnceLock<(Files, Files)> = OnceLock::new();
    FILES.get_or_init(make)
}

/// A database that was closed.
pub fn closed() -> &'static Files {
    &both().0
}

/// The same, with three more commits in the log.
pub fn crashed() -> &'static Files {
    &both().1
}

/// Reads a number, zeros behind the end.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    for (to, from) in number.iter_mut().zip(bytes.iter().skip(at)) {
        *to = *from;
    }
    u64::from_le_bytes(number)
}

/// Writes bytes as far as there is room.
pub(crate) fn overlay(onto: &mut [u8], at: usize, bytes: &[u8]) {
    onto.iter_mut().skip(at).zip(bytes).for_each(|(to, from)| *to = *from);
}
