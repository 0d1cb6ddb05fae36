//! Checkpoints beside writers and readers, the recycled log, and a disk that is full.

use std::thread;

use super::gated::{DurableWrites, GatedFs, Syncs};
use super::*;
use crate::error::Error;

fn log_len(fs: &SimFs) -> usize {
    fs.file_bytes("x.hop-wal").unwrap().len()
}

/// A store with the table `t` of 2,000 rows, on a disk whose syncs of the page file can be held up.
fn gated() -> (GatedFs, Store) {
    gated_on(GatedFs::new(NAME))
}

fn gated_on(fs: GatedFs) -> (GatedFs, Store) {
    let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
    let store = Store::create_with(shared, Path::new(NAME), &frames(1024)).unwrap();
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    for n in 0..2000 {
        txn.put(table, &number(n), &[1; 100]).unwrap();
    }
    txn.commit().unwrap();
    store.checkpoint().unwrap();
    (fs, store)
}

/// While the page file is being synced, transactions begin, commit and are read.
#[test]
fn a_checkpoint_holds_up_nobody_while_it_syncs() {
    let (fs, store) = gated();
    put(&store, "t", b"before", b"1");
    fs.gate.set(Syncs::Wait);
    let checkpointed = store.clone();
    let checkpoint = thread::spawn(move || checkpointed.checkpoint());
    fs.gate.until_held();
    for round in 0..20u8 {
        put(&store, "t", b"beside", &[round; 500]);
        assert_eq!(get(&store.read(), "t", b"beside").unwrap(), [round; 500]);
    }
    // Its redo point is not there yet: all that was acknowledged is, and it stays so when it is.
    let crashed = open_with(&fs.disk.after_crash_all_lost(), &frames(64)).unwrap();
    assert_eq!(get(&crashed.read(), "t", b"beside").unwrap(), [19; 500]);
    fs.gate.set(Syncs::Pass);
    checkpoint.join().unwrap().unwrap();
    let crashed = open_with(&fs.disk.after_crash_all_lost(), &frames(64)).unwrap();
    let commits = crashed.recovery().unwrap().commits;
    assert_eq!(commits, 20, "from the redo point on");
    assert_eq!(get(&crashed.read(), "t", b"beside").unwrap(), [19; 500]);
    assert_sound(&crashed);
}

/// The images of pages are on their way to the log file, which commits are written to beside.
#[test]
fn a_commit_does_not_wait_for_the_images_of_a_checkpoint() {
    let (fs, store) =
        gated_on(GatedFs { durable_writes: DurableWrites::Pass, ..GatedFs::new("-wal") });
    fs.gate.set(Syncs::Wait);
    put(&store, "t", b"before", b"1");
    let checkpointed = store.clone();
    let checkpoint = thread::spawn(move || checkpointed.checkpoint());
    fs.gate.until_held();
    put(&store, "t", b"beside", b"2");
    let crashed = open_with(&fs.disk.after_crash_all_lost(), &frames(64)).unwrap();
    assert_eq!(get(&crashed.read(), "t", b"before").unwrap(), b"1");
    assert_eq!(get(&crashed.read(), "t", b"beside").unwrap(), b"2");
    fs.gate.set(Syncs::Pass);
    checkpoint.join().unwrap().unwrap();
    assert_sound(&store);
}

/// A checkpoint does not wait for a reader, nor a reader for a checkpoint.
#[test]
fn a_checkpoint_does_not_touch_what_an_old_snapshot_sees() {
    let (_fs, store) = gated();
    let old = store.read();
    for n in 0..2000 {
        put(&store, "t", &number(n), &[2; 100]);
    }
    store.checkpoint().unwrap();
    store.clear_cache().unwrap();
    assert!(content(&old, "t").values().all(|value| value == &[1; 100]));
    assert!(content(&store.read(), "t").values().all(|value| value == &[2; 100]));
}

/// A failed sync of the page file stops writing, and loses nothing: the redo point stays.
#[test]
fn a_checkpoint_whose_sync_fails_leaves_the_redo_point() {
    let (fs, store) = gated();
    put(&store, "t", b"a", b"1");
    fs.gate.set(Syncs::Fail);
    assert!(matches!(store.checkpoint(), Err(Error::Io { .. })));
    assert!(matches!(store.write(), Err(Error::Poisoned(_))));
    assert_eq!(get(&store.read(), "t", b"a").unwrap(), b"1");
    let crashed = open_with(&fs.disk.after_crash_all_lost(), &frames(64)).unwrap();
    assert_eq!(crashed.recovery().unwrap().commits, 1);
    assert_eq!(get(&crashed.read(), "t", b"a").unwrap(), b"1");
}

/// The log of a store that is written to without end is as long as it was.
#[test]
fn the_log_does_not_grow_with_the_commits() {
    let (fs, store) = new_store(&frames(64));
    let mut lens = Vec::new();
    for round in 0..3000u32 {
        put(&store, "t", &number(round % 300), &[byte(round); 400]);
        if round % 1000 == 999 {
            lens.push(log_len(&fs));
        }
    }
    // What is kept, an image area of four pages, and at most one commit beyond.
    assert!(lens.iter().all(|len| *len < 4096 + 4 * PAGE + (64 << 10) + (8 << 10)), "{lens:?}");
    let recovered = open_with(&fs.after_crash_all_lost(), &frames(64)).unwrap();
    assert_eq!(content(&recovered.read(), "t").len(), 300);
    assert!(recovered.recovery().unwrap().commits < 300);
    assert_sound(&recovered);
}

/// One large commit makes the log longer; the next checkpoints make it short again.
#[test]
fn a_log_that_grew_for_one_commit_shrinks() {
    let (fs, store) = new_store(&frames(512));
    let fill = |byte: u8| {
        let mut txn = store.write().unwrap();
        let table = table_of(&mut txn, "t");
        for n in 0..40_000 {
            txn.put(table, &number(n), &[byte; 100]).unwrap();
        }
        txn.commit().unwrap();
    };
    fill(1);
    store.checkpoint().unwrap();
    // What is kept, and an image area of 32 pages.
    let short = 4096 + 32 * PAGE + (512 << 10);
    assert!(log_len(&fs) <= short);
    // Every page is logged.
    fill(2);
    assert!(log_len(&fs) > short + (1 << 20), "{short} {}", log_len(&fs));
    let recovered = open_with(&fs.after_crash_all_lost(), &frames(64)).unwrap();
    assert!(content(&recovered.read(), "t").values().all(|value| value == &[2; 100]));
    for _ in 0..3 {
        store.checkpoint().unwrap();
        put(&store, "t", b"more", b"1");
    }
    store.checkpoint().unwrap();
    assert!(log_len(&fs) <= short, "{short} {}", log_len(&fs));
    assert_sound(&store);
}

/// Threads of their own take the steps on a real disk; nothing waits for ever, and the pool stays within bounds.
#[test]
fn checkpoints_run_by_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(&dir.path().join(NAME), &frames(256)).unwrap();
    for round in 0..2000u32 {
        let mut txn = store.write().unwrap();
        let table = table_of(&mut txn, "t");
        for n in 0..5 {
            txn.put(table, &number((round * 7919 + n * 104_729) % 20_000), &[byte(round); 300])
                .unwrap();
        }
        txn.set_durability(Durability::None);
        txn.commit().unwrap();
        let pool = store.counts().pool;
        assert!(pool.dirty <= 256 / 4 * 3 + 40, "{pool:?}");
    }
    assert!(store.counts().io.data_syncs > 3, "{:?}", store.counts());
    assert_sound(&store);
    store.close().unwrap();
}

/// A full disk fails the transaction that needs space; deletes go on, reads too, and so does the next process.
#[test]
fn on_a_full_disk_deletes_still_work() {
    for capacity in [600 << 10, 700 << 10, 830 << 10, 1001 << 10] {
        let (fs, store) = new_store(&frames(64));
        fs.set_capacity(capacity);
        let mut rows = 0u32;
        let full = loop {
            let mut txn = store.write().unwrap();
            let table = table_of(&mut txn, "t");
            let put =
                (0..10).try_for_each(|n| txn.put(table, &number(rows + n), &[7; 1500]).map(drop));
            match put.and_then(|()| txn.commit().map(drop)) {
                Ok(()) => rows += 10,
                Err(error) => break error,
            }
        };
        assert!(matches!(full, Error::Io { .. }), "{full:?}");
        assert!(rows > 100, "{rows}");
        let delete = |store: &Store, range: std::ops::Range<u32>| {
            for n in range {
                let mut txn = store.write().unwrap();
                let table = txn.table("t").unwrap().unwrap();
                assert!(txn.delete(table, &number(n)).unwrap());
                txn.commit().unwrap_or_else(|error| panic!("{capacity}: {n}: {error:?}"));
            }
        };
        delete(&store, 0..40);
        assert_eq!(content(&store.read(), "t").len(), rows as usize - 40);
        // The next process finds the disk as full as it is.
        let crashed = fs.after_crash_all_kept();
        let recovered = open_with(&crashed, &frames(64)).unwrap();
        delete(&recovered, 40..80);
        assert_sound(&recovered);
        recovered.close().unwrap();
        delete(&store, 40..80);
        store.close().unwrap();
        let reopened = open_with(&fs, &frames(64)).unwrap();
        delete(&reopened, 80..100);
        assert_sound(&reopened);
    }
}

/// Who waits for room when the store is closed, by another handle, gets an answer.
#[test]
fn a_close_wakes_those_who_wait_for_room() {
    let (fs, store) = gated();
    fs.gate.set(Syncs::Wait);
    // Two large commits fill the log while the checkpoint that the first gives cause for hangs in its sync.
    let writer = store.clone();
    let writing = thread::spawn(move || {
        for round in 0..100u8 {
            let mut txn = writer.write()?;
            let table = txn.table("t")?.unwrap();
            for n in 0..2000 {
                txn.put(table, &number(n), &[round; 100])?;
            }
            txn.commit()?;
        }
        Ok::<_, Error>(())
    });
    fs.gate.until_held();
    let closing = thread::spawn(move || store.close());
    thread::yield_now();
    fs.gate.set(Syncs::Pass);
    closing.join().unwrap().unwrap();
    assert!(matches!(writing.join().unwrap(), Ok(()) | Err(Error::Poisoned(_))));
}

/// A transaction larger than the log may be fails half way in it, twice, and then nothing waits for what it left there.
#[test]
fn what_a_failed_transaction_left_in_the_log_holds_up_nobody() {
    let (fs, store) = gated();
    let mut txn = store.write().unwrap();
    let table = txn.table("t").unwrap().unwrap();
    for n in 2000..30_000 {
        txn.put(table, &number(n), &[1; 100]).unwrap();
    }
    txn.commit().unwrap();
    store.checkpoint().unwrap();
    let mut txn = store.write().unwrap();
    for n in 0..30_000 {
        txn.put(table, &number(n), &[2; 100]).unwrap();
    }
    fs.disk.set_capacity(0);
    assert!(matches!(txn.commit(), Err(Error::Io { .. })));
    for n in 0..10 {
        let mut txn = store.write().unwrap();
        assert!(txn.delete(table, &number(n)).unwrap());
        txn.commit().unwrap();
    }
    let recovered = open_with(&fs.disk.after_crash_all_lost(), &frames(64)).unwrap();
    let content = content(&recovered.read(), "t");
    assert_eq!(content.len(), 30_000 - 10);
    assert!(content.values().all(|value| value == &[1; 100]));
    assert_sound(&recovered);
}
