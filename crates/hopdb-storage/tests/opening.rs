//! Who may open a database, and what is found after a close that did not come to its end.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test with threads and folders of its own"
)]

use std::path::Path;
use std::sync::{Arc, Barrier};
use std::thread;

use hopdb_storage::io::sim::{Fault, SimFs};
use hopdb_storage::{Error, Options, Result, Store, View};

const NAME: &str = "data/x.hop";

fn open(fs: &SimFs, read_only: bool) -> Result<Store> {
    let options = Options { cache_bytes: 64 << 12, read_only, ..Options::default() };
    Store::open_with(Arc::new(fs.clone()), Path::new(NAME), &options)
}

fn put(store: &Store, key: u8) -> Result<()> {
    let mut txn = store.write()?;
    let table = match txn.table("t")? {
        Some(table) => table,
        None => txn.create_table("t")?,
    };
    txn.put(table, &[key], &[key; 100])?;
    txn.commit().map(drop)
}

/// How many of the keys 0, 1, … are there.
fn keys(store: &Store) -> Result<u8> {
    let snapshot = store.read();
    assert_eq!(snapshot.check()?.problems, []);
    let Some(table) = snapshot.table("t")? else { return Ok(0) };
    let mut count = 0;
    while snapshot.get(table, &[count])?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// A database with five keys, open.
fn open_database() -> (SimFs, Store) {
    let fs = SimFs::new(1);
    let options = Options { cache_bytes: 64 << 12, ..Options::default() };
    let store = Store::create_with(Arc::new(fs.clone()), Path::new(NAME), &options).unwrap();
    (0..5).for_each(|key| put(&store, key).unwrap());
    (fs, store)
}

fn bytes(fs: &SimFs) -> Vec<Option<Vec<u8>>> {
    fs.paths().iter().map(|path| fs.file_bytes(path)).collect()
}

#[test]
fn a_reader_of_a_file_that_was_not_closed_is_told_what_to_do() {
    let (fs, _store) = open_database();
    let fs = fs.after_crash_all_lost();
    let before = bytes(&fs);
    let error = open(&fs, true).unwrap_err();
    assert!(matches!(error, Error::NeedsRecovery(_)));
    let says = "data/x.hop was not closed cleanly; open it once for writing to recover it";
    assert_eq!(error.to_string(), says);
    assert!(bytes(&fs) == before, "a reader changes nothing");
    assert_eq!(fs.steps(), 0);
    // What it says helps.
    open(&fs, false).unwrap().close().unwrap();
    let (first, second) = (open(&fs, true).unwrap(), open(&fs, true).unwrap());
    assert_eq!((keys(&first).unwrap(), keys(&second).unwrap()), (5, 5));
}

/// After a close cut at any step, on every disk that this may leave, a reader sees all or is sent for a writer, and
/// changes nothing; the writer finds all.
#[test]
fn a_close_that_was_cut_is_ended_by_the_next_writer() {
    let (mut told, mut seen) = (0, 0);
    for step in 1.. {
        let (fs, store) = open_database();
        fs.crash_at_step(fs.steps() + step);
        if store.close().is_ok() {
            assert!(step > 5, "a close takes some steps");
            break;
        }
        for disk in fs.every_crash(10) {
            let before = bytes(&disk);
            match open(&disk, true) {
                Err(Error::NeedsRecovery(_)) => told += 1,
                Ok(store) => {
                    assert_eq!(keys(&store).unwrap(), 5);
                    seen += 1;
                }
                Err(error) => panic!("step {step}: {error}"),
            }
            assert!(bytes(&disk) == before && disk.steps() == 0, "step {step}");
            let store = open(&disk, false).unwrap();
            assert_eq!(keys(&store).unwrap(), 5);
            put(&store, 5).unwrap();
            store.close().unwrap();
            assert_eq!(disk.paths(), [Path::new(NAME)]);
            assert_eq!(keys(&open(&disk, true).unwrap()).unwrap(), 6);
        }
    }
    assert!(told > 5 && seen > 1, "{told} {seen}");
}

#[test]
fn a_close_that_failed_is_ended_by_the_same_process() {
    for fault in [Fault::Eio, Fault::NoSpace, Fault::ShortWrite] {
        let mut failed = 0;
        for step in 1..30 {
            let (fs, store) = open_database();
            fs.fail_at(fs.steps() + step, fault);
            match store.close() {
                Ok(()) => {}
                Err(Error::Io { .. }) => failed += 1,
                Err(error) => panic!("{fault:?} at step {step}: {error}"),
            }
            let store = open(&fs, false).unwrap();
            assert_eq!(keys(&store).unwrap(), 5, "{fault:?} at step {step}");
            store.close().unwrap();
            assert_eq!(fs.paths(), [Path::new(NAME)]);
            assert_eq!(keys(&open(&fs.after_crash_all_lost(), true).unwrap()).unwrap(), 5);
        }
        assert!(failed > 5, "{fault:?}: {failed}");
    }
}

#[test]
fn of_many_who_open_at_once_one_gets_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.hop");
    Store::create(&path, &Options::default()).unwrap().close().unwrap();
    let (start, end) = (Barrier::new(8), Barrier::new(8));
    let open = || {
        start.wait();
        let opened = Store::open(&path, &Options::default());
        // Nobody closes before all have tried.
        end.wait();
        match opened {
            Ok(_) => true,
            Err(Error::Locked { holder, .. }) => {
                assert_eq!(holder, Some(std::process::id()));
                false
            }
            Err(error) => panic!("{error}"),
        }
    };
    let won = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won).count()
    });
    assert_eq!(won, 1);
    Store::open(&path, &Options::default()).unwrap();
}

/// A lock is the file's, whatever name it was opened by.
#[test]
fn another_name_of_an_open_file_does_not_open_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let [path, link, symlink] = ["x.hop", "link.hop", "symlink.hop"].map(|n| folder.path().join(n));
    let store = Store::create(&path, &Options::default()).unwrap();
    put(&store, 0).unwrap();
    std::fs::hard_link(&path, &link).unwrap();
    std::os::unix::fs::symlink(&path, &symlink).unwrap();
    for name in [&link, &symlink] {
        for read_only in [false, true] {
            let options = Options { read_only, ..Options::default() };
            assert!(matches!(Store::open(name, &options), Err(Error::Locked { .. })), "{name:?}");
        }
    }
    store.close().unwrap();
    for name in [&link, &symlink, &path] {
        assert_eq!(keys(&Store::open(name, &Options::default()).unwrap()).unwrap(), 1);
    }
}

/// The log lies beside the name that the file was opened by: by another one it is missed, not passed over.
#[test]
fn a_file_that_was_not_closed_misses_its_log_by_another_name() {
    let (fs, _store) = open_database();
    let fs = fs.after_crash_all_kept();
    let folder = tempfile::tempdir().unwrap();
    let [path, link] = ["x.hop", "link.hop"].map(|name| folder.path().join(name));
    std::fs::write(&path, fs.file_bytes(NAME).unwrap()).unwrap();
    std::fs::write(folder.path().join("x.hop-wal"), fs.file_bytes("data/x.hop-wal").unwrap())
        .unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    match Store::open(&link, &Options::default()) {
        Err(Error::LogMissing { log, .. }) => assert!(log.ends_with("link.hop-wal")),
        other => panic!("{other:?}"),
    }
    assert_eq!(keys(&Store::open(&path, &Options::default()).unwrap()).unwrap(), 5);
}
