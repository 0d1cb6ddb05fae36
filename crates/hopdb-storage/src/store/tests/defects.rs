//! One test for each defect that was found in the engine, so that none comes back.

use super::*;
use crate::io::sim::{Fault, Operation, OperationKind};

/// Pages written through are not published: what the pool still holds of an id's earlier life must go.
#[test]
fn an_id_used_again_for_a_large_value_does_not_show_its_earlier_page() {
    let (_fs, store) = new_store(&frames(64));
    put(&store, "t", b"a", &[1; 20_000]);
    store.clear_cache().unwrap();
    let old = store.read();
    put(&store, "t", b"a", b"small");
    // The old snapshot brings the freed pages back into the pool.
    assert_eq!(get(&old, "t", b"a").unwrap(), [1; 20_000]);
    drop(old);
    put(&store, "t", b"b", &[2; 20_000]);
    assert!(get(&store.read(), "t", b"b").unwrap() == [2; 20_000]);
    assert_sound(&store);
}

/// Pages allocated at the end of the file and given back in the same transaction were never written.
#[test]
fn pages_given_back_at_the_end_of_the_file_do_not_count() {
    let (fs, store) = new_store(&frames(64));
    put(&store, "t", b"a", b"1");
    let mut txn = store.write().unwrap();
    let table = txn.table("t").unwrap().unwrap();
    txn.put(table, b"b", &[3; 9000]).unwrap();
    txn.put(table, b"c", b"3").unwrap();
    txn.delete(table, b"b").unwrap();
    txn.commit().unwrap();
    let crashed = fs.after_crash_all_kept();
    let recovered = open_with(&crashed, &frames(64)).unwrap();
    assert_eq!(get(&recovered.read(), "t", b"c").unwrap(), b"3");
    assert_sound(&recovered);
    store.close().unwrap();
    assert_sound(&open_with(&fs, &frames(64)).unwrap());
}

/// The first record of the log has the LSN at which a database without a name stamped its pages.
#[test]
fn the_first_commit_after_a_load_survives_a_crash() {
    let fs = SimFs::new(1);
    let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
    let store = Store::create_unnamed(shared, Path::new(""), &frames(64)).unwrap();
    put(&store, "t", b"a", b"1");
    put(&store, "t", b"b", b"2");
    store.persist(Path::new(NAME)).unwrap();
    let store = open_with(&fs, &frames(64)).unwrap();
    put(&store, "t", b"c", b"3");
    put(&store, "t", b"d", b"4");
    let crashed = fs.after_crash_all_lost();
    let recovered = open_with(&crashed, &frames(64)).unwrap();
    assert_eq!(content(&recovered.read(), "t").len(), 4);
    assert_sound(&recovered);
}

/// A transaction may change more pages than the pool has frames.
#[test]
fn a_transaction_may_change_more_pages_than_there_are_frames() {
    let (_fs, store) = new_store(&frames(4));
    for round in 0..3u8 {
        let mut txn = store.write().unwrap();
        let table = table_of(&mut txn, "t");
        for n in 0..2000 {
            txn.put(table, &number(n), &[round; 100]).unwrap();
        }
        txn.commit().unwrap();
    }
    assert!(content(&store.read(), "t").values().all(|value| *value == [2; 100]));
    assert_sound(&store);
}

/// A pool full of pages that can never be written: what is not in it is read all the same.
#[test]
fn reads_go_on_when_nothing_can_be_written() {
    let mut poisoned = 0;
    for step in 1..40 {
        let (fs, store) = new_store(&frames(4));
        put(&store, "t", b"a", &[1; 900]);
        let mut txn = store.write().unwrap();
        let table = table_of(&mut txn, "t");
        for n in 0..40 {
            txn.put(table, &number(n), &[1; 900]).unwrap();
        }
        txn.commit().unwrap();
        store.checkpoint().unwrap();
        let before = content(&store.read(), "t");
        fs.fail_at(fs.steps() + step, Fault::FailedSync);
        let mut txn = store.write().unwrap();
        for n in [3, 13, 23, 33] {
            txn.put(table, &number(n), &[2; 900]).unwrap();
        }
        let acknowledged = txn.commit().is_ok();
        let snapshot = store.read();
        let found = content(&snapshot, "t");
        assert_eq!(found != before, acknowledged, "step {step}");
        assert!(snapshot.check().unwrap().problems.is_empty(), "step {step}");
        poisoned += usize::from(store.write().is_err());
    }
    assert!(poisoned > 2, "{poisoned}");
}

/// The handle that a transaction came from may go before the transaction.
#[test]
fn a_transaction_keeps_its_store_open() {
    let (fs, store) = new_store(&frames(64));
    let mut txn = store.write().unwrap();
    drop(store);
    let table = txn.create_table("t").unwrap();
    txn.put(table, b"a", b"1").unwrap();
    txn.commit().unwrap();
    assert_eq!(fs.paths(), [Path::new(NAME)], "closed with the transaction");
    assert_eq!(get(&open_with(&fs, &frames(64)).unwrap().read(), "t", b"a").unwrap(), b"1");
}

/// An operation that failed half way leaves private pages that must not be committed.
#[test]
fn a_transaction_with_a_failed_operation_cannot_commit() {
    let (fs, store) = new_store(&frames(4));
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    for n in 0..3000 {
        txn.put(table, &number(n), &[1; 100]).unwrap();
    }
    txn.commit().unwrap();
    store.clear_cache().unwrap();
    let before = content(&store.read(), "t");
    store.clear_cache().unwrap();
    let mut txn = store.write().unwrap();
    let table = txn.table("t").unwrap().unwrap();
    let len = store.file_bytes().unwrap();
    fs.fail_reads(NAME, 8 * PAGE as u64..len);
    txn.delete_range(table, Bound::Included(&number(100)), Bound::Unbounded).unwrap_err();
    txn.commit().unwrap_err();
    let fs = fs.after_crash_all_kept();
    fs.write_file("y.hop", fs.file_bytes(NAME).unwrap());
    fs.write_file("y.hop-wal", fs.file_bytes("x.hop-wal").unwrap());
    let shared: Arc<dyn FileSystem> = Arc::new(fs);
    let store = Store::open_with(shared, Path::new("y.hop"), &frames(64)).unwrap();
    assert!(content(&store.read(), "t") == before);
    assert_sound(&store);
}

/// An unfinished bulk load has written pages that nothing leads to.
#[test]
fn an_unfinished_bulk_load_cannot_be_committed() {
    let (_fs, store) = new_store(&frames(64));
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    let mut bulk = txn.bulk(table).unwrap();
    for n in 0..1000 {
        bulk.push(&mut txn, &number(n), &[1; 100]).unwrap();
    }
    drop(bulk);
    txn.commit().unwrap_err();
    assert_sound(&store);
}

/// A table that got entries since the load began is an error, not a panic.
#[test]
fn a_bulk_load_into_a_table_that_has_entries_by_then_is_refused() {
    let (_fs, store) = new_store(&frames(64));
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    let mut bulk = txn.bulk(table).unwrap();
    bulk.push(&mut txn, b"a", b"1").unwrap();
    txn.put(table, b"b", b"2").unwrap();
    assert!(matches!(bulk.finish(&mut txn), Err(Error::TableExists(_))));
}

/// With one header slot damaged nobody knows whether the other is the newest: an older one would bring
/// back an older state over newer pages.
#[test]
fn a_damaged_header_slot_is_told() {
    for slot in [0, PAGE as u64] {
        let (fs, store) = new_store(&frames(64));
        put(&store, "t", b"a", b"1");
        store.checkpoint().unwrap();
        put(&store, "t", b"b", b"2");
        let crashed = fs.after_crash_all_kept();
        crashed.corrupt(NAME, slot + 70, 1);
        match open_with(&crashed, &frames(64)) {
            Err(Error::CorruptPage { page, .. }) => assert_eq!(page, slot / PAGE as u64),
            other => panic!("{other:?}"),
        }
    }
}

/// The open database of `clean`, at which this is done while its last header goes astray.
fn without_last_header(clean: &SimFs, work: impl Fn(&Store)) -> SimFs {
    let run = |fs: &SimFs| {
        let store = open_with(fs, &frames(64)).unwrap();
        work(&store);
        store
    };
    let dry = clean.after_crash_all_kept();
    dry.set_trace(true);
    let _store = run(&dry);
    let is_header =
        |operation: &&Operation| (operation.kind, operation.len) == (OperationKind::Write, 128);
    let header = dry.trace().iter().rfind(is_header).unwrap().step;
    let fs = clean.after_crash_all_kept();
    fs.misdirect_at(header, 1 << 20);
    let _store = run(&fs);
    fs.after_crash_all_kept()
}

/// A header that went astray leaves the older one valid; the log, which carries the newer salt, tells.
#[test]
fn a_lost_header_is_told_by_the_log() {
    let (clean, store) = new_store(&frames(64));
    store.close().unwrap();
    let crashed = without_last_header(&clean, |store| {
        put(store, "t", b"a", b"1");
    });
    for read_only in [false, true] {
        match open_with(&crashed, &Options { read_only, ..frames(64) }) {
            Err(Error::CorruptPage { page: 0 | 1, .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// An older redo point is as good as a newer one while the log still has all from there on; where it was written over,
/// synced records behind the hole tell.
#[test]
fn a_lost_redo_point_is_told_when_the_log_has_gone_on() {
    let (clean, store) = new_store(&frames(64));
    store.close().unwrap();
    let mut outcomes = [0, 0];
    for more in 1..40u8 {
        let crashed = without_last_header(&clean, |store| {
            put(store, "t", b"a", b"1");
            store.checkpoint().unwrap();
            // Less than what makes another checkpoint due, and at times past the end of the kept log.
            for n in 0..more {
                put(store, "t", &[n], &[n; 900]);
            }
        });
        match open_with(&crashed, &frames(64)) {
            Ok(store) => {
                assert_eq!(content(&store.read(), "t").len(), usize::from(more) + 1);
                assert_sound(&store);
                outcomes[0] += 1;
            }
            Err(Error::CorruptLog { .. }) => outcomes[1] += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(outcomes.iter().all(|count| *count > 0), "{outcomes:?}");
}

/// Space for the log is asked for in large steps; when the disk has only a little left, that must do.
#[test]
fn a_commit_fits_into_the_last_bytes_of_the_disk() {
    let (fs, store) = new_store(&frames(64));
    fs.set_capacity(64 << 10);
    put(&store, "t", b"a", b"1");
    let recovered = open_with(&fs.after_crash_all_lost(), &frames(64)).unwrap();
    assert_eq!(get(&recovered.read(), "t", b"a").unwrap(), b"1");
}

/// A clone of a store that took its name must not write to the file without a log.
#[test]
fn a_clone_of_a_persisted_store_does_not_write() {
    let fs = SimFs::new(1);
    let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
    let store = Store::create_unnamed(shared, Path::new(""), &frames(64)).unwrap();
    put(&store, "t", b"a", b"1");
    let clone = store.clone();
    store.persist(Path::new(NAME)).unwrap();
    assert!(matches!(clone.write(), Err(Error::Poisoned(_))));
    assert_eq!(get(&clone.read(), "t", b"a").unwrap(), b"1");
}

/// After a failed sync the system shows bytes that it will never write. A process that opens the database
/// again reads a log tail, or a header, that is gone when the power fails; what it builds on them must not
/// cost what was durable.
#[test]
fn what_a_failed_sync_forgot_is_not_built_upon() {
    let mut failed = 0;
    for fault in 1..16 {
        for cut in 1..16 {
            let (fs, store) = new_store(&frames(64));
            put(&store, "t", b"a", b"1");
            fs.fail_at(fs.steps() + fault, Fault::FailedSync);
            let mut txn = store.write().unwrap();
            let table = txn.table("t").unwrap().unwrap();
            txn.put(table, b"b", &[2; 2000]).unwrap();
            let committed = txn.commit().and_then(|_| store.checkpoint());
            failed += usize::from(committed.is_err());
            drop(store);
            fs.crash_at_step(fs.steps() + cut);
            drop(open_with(&fs, &frames(64)));
            let recovered = open_with(&fs.after_crash_all_lost(), &frames(64))
                .unwrap_or_else(|error| panic!("fault {fault}, cut {cut}: {error}"));
            assert_eq!(get(&recovered.read(), "t", b"a").unwrap(), b"1");
            assert_sound(&recovered);
        }
    }
    assert!(failed > 15 * 4, "{failed}");
}
