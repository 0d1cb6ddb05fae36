//! Transactions larger than memory: what they hold in it, what readers see meanwhile, what a fault leaves.

use super::*;
use crate::io::sim::Fault;

const ROWS: u32 = 24_000;

/// A store with a pool of `pool` frames and a table of so many rows, and what is in it.
fn filled(pool: usize, rows: u32) -> (SimFs, Store, Content) {
    let (fs, store) = new_store(&frames(pool));
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    let mut bulk = txn.bulk(table).unwrap();
    let mut content = Content::new();
    for n in 0..rows {
        content.insert(number(n).to_vec(), vec![byte(n); 100]);
        bulk.push(&mut txn, &number(n), &[byte(n); 100]).unwrap();
    }
    bulk.finish(&mut txn).unwrap();
    txn.commit().unwrap();
    store.checkpoint().unwrap();
    (fs, store, content)
}

fn updated(content: &Content) -> Content {
    content.iter().map(|(key, value)| (key.clone(), vec![!value[0]; 100])).collect()
}

/// Updates every row and looks at what is in memory.
fn update_all(store: &Store, txn: &mut WriteTxn, content: &Content) {
    let table = txn.table("t").unwrap().unwrap();
    for (key, value) in content {
        assert!(!txn.put(table, key, value).unwrap());
        assert_in_budget(store);
    }
    assert!(store.counts().pool.spilled > 100, "{:?}", store.counts().pool);
}

fn assert_in_budget(store: &Store) {
    let counts = store.counts().pool;
    assert!(counts.private <= 16.max(counts.frames_max / 4), "{counts:?}");
    assert!(counts.retained <= counts.frames_max, "{counts:?}");
    assert!(counts.resident <= counts.frames_max, "{counts:?}");
}

#[test]
fn every_row_of_a_table_ten_times_the_pool_is_updated() {
    let (fs, store, before) = filled(64, ROWS);
    let after = updated(&before);
    let old = store.read();
    let mut txn = store.write().unwrap();
    update_all(&store, &mut txn, &after);
    assert!(content(&txn, "t") == after);
    txn.commit().unwrap();
    assert_in_budget(&store);
    let counts = store.counts().pool;
    assert_eq!(counts.private, 0);
    assert!(counts.spilled > 500 && counts.retained == 64, "{counts:?}");
    assert!(content(&old, "t") == before);
    assert_eq!(old.check().unwrap().problems, []);
    assert!(content(&store.read(), "t") == after);
    assert_sound(&store);
    // Versions of several commits.
    let middle = store.read();
    let mut txn = store.write().unwrap();
    update_all(&store, &mut txn, &before);
    txn.commit().unwrap();
    assert!(content(&old, "t") == before && content(&middle, "t") == after);
    drop(middle);
    assert!(content(&old, "t") == before);
    drop(old);
    let counts = store.counts().pool;
    assert_eq!((counts.retained, counts.spilled), (0, 0));
    assert!(content(&store.read(), "t") == before);
    let recovered = open_with(&fs.after_crash_all_lost(), &frames(64)).unwrap();
    assert!(content(&recovered.read(), "t") == before);
    assert_sound(&recovered);
}

#[test]
fn such_an_update_is_rolled_back() {
    let (fs, store, before) = filled(64, ROWS);
    let bytes = store.file_bytes().unwrap();
    let mut txn = store.write().unwrap();
    update_all(&store, &mut txn, &updated(&before));
    let (steps, reads) = (fs.steps(), fs.reads());
    drop(txn);
    assert_eq!((fs.steps(), fs.reads()), (steps, reads), "it does no I/O");
    let counts = store.counts().pool;
    assert_eq!((counts.private, counts.spilled), (0, 0));
    assert!(content(&store.read(), "t") == before);
    assert_eq!(store.file_bytes().unwrap(), bytes);
    assert_sound(&store);
}

#[test]
fn such_an_update_goes_back_to_savepoints() {
    let (fs, store, before) = filled(64, ROWS);
    let after = updated(&before);
    let mut txn = store.write().unwrap();
    update_all(&store, &mut txn, &after);
    let outer = txn.savepoint().unwrap();
    // New pages, too.
    let table = txn.table("t").unwrap().unwrap();
    let more: Content = (ROWS..ROWS + 9000).map(|n| (number(n).to_vec(), vec![3; 100])).collect();
    for (key, value) in &more {
        assert!(txn.put(table, key, value).unwrap());
        assert_in_budget(&store);
    }
    let inner = txn.savepoint().unwrap();
    update_all(&store, &mut txn, &before);
    txn.delete_range(table, Bound::Included(&number(100)), Bound::Unbounded).unwrap();
    assert_in_budget(&store);
    let (steps, reads) = (fs.steps(), fs.reads());
    txn.rollback_to(inner).unwrap();
    assert_eq!((fs.steps(), fs.reads()), (steps, reads), "it does no I/O");
    let both: Content = after.clone().into_iter().chain(more).collect();
    assert!(content(&txn, "t") == both);
    update_all(&store, &mut txn, &before);
    txn.release(inner).unwrap();
    txn.rollback_to(outer).unwrap();
    assert!(content(&txn, "t") == after);
    txn.release(outer).unwrap();
    txn.commit().unwrap();
    assert!(content(&store.read(), "t") == after);
    assert_eq!(store.counts().pool.spilled, 0);
    assert_sound(&store);
}

#[test]
fn new_pages_go_to_their_places_and_not_to_the_scratch_file() {
    let (_fs, store) = new_store(&frames(64));
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    let written = store.counts().io.pages_written;
    let mut expected = Content::new();
    for n in 0..9000_u32 {
        let key = number(n.wrapping_mul(2_654_435_761)).to_vec();
        txn.put(table, &key, &[byte(n); 100]).unwrap();
        expected.insert(key, vec![byte(n); 100]);
        assert_in_budget(&store);
    }
    assert!(store.counts().pool.spilled < 8, "only the roots are old: {:?}", store.counts().pool);
    assert!(store.counts().io.pages_written > written + 200);
    assert!(content(&txn, "t") == expected);
    txn.commit().unwrap();
    assert!(content(&store.read(), "t") == expected);
    assert_sound(&store);
}

#[test]
fn every_row_is_deleted_while_a_snapshot_shows_them() {
    for one_by_one in [true, false] {
        let (_fs, store, before) = filled(64, ROWS);
        let old = store.read();
        let mut txn = store.write().unwrap();
        let table = txn.table("t").unwrap().unwrap();
        if one_by_one {
            for key in before.keys() {
                assert!(txn.delete(table, key).unwrap());
                assert_in_budget(&store);
            }
        } else {
            txn.delete_range(table, Bound::Unbounded, Bound::Unbounded).unwrap();
            assert_in_budget(&store);
        }
        txn.commit().unwrap();
        assert_in_budget(&store);
        assert!(content(&old, "t") == before);
        assert!(content(&store.read(), "t").is_empty());
        drop(old);
        assert_eq!((store.counts().pool.retained, store.counts().pool.spilled), (0, 0));
        assert_sound(&store);
    }
}

/// A new database has no log, and its pages have LSN 0.
#[test]
fn a_database_without_a_name_takes_them() {
    let fs = SimFs::new(1);
    let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
    let store = Store::create_unnamed(shared, Path::new(""), &frames(16)).unwrap();
    let fill = |fill: u8| {
        let mut txn = store.write().unwrap();
        let table = table_of(&mut txn, "t");
        for n in 0..5000 {
            txn.put(table, &number(n), &[fill; 100]).unwrap();
        }
        txn.commit().unwrap();
    };
    fill(1);
    fill(2);
    assert!(store.counts().pool.private == 0 && store.counts().pool.spilled == 0);
    store.persist(Path::new(NAME)).unwrap();
    let store = open_with(&fs, &frames(16)).unwrap();
    assert!(content(&store.read(), "t").values().all(|value| *value == [2; 100]));
    assert_sound(&store);
}

/// A disk for a fault: what was there, and what a transaction with savepoints makes of it.
fn faulty() -> (SimFs, Store, Content, Content) {
    let (fs, store, before) = filled(16, 2000);
    let after = updated(&before);
    (fs, store, before, after)
}

/// Updates all rows, some of them behind a savepoint that is rolled back, and adds some.
fn transact(store: &Store, after: &Content) -> Result<()> {
    let mut txn = store.write()?;
    let table = txn.table("t")?.expect("it is there");
    for (key, value) in after {
        txn.put(table, key, value)?;
    }
    let savepoint = txn.savepoint()?;
    for n in 5000..5600 {
        txn.put(table, &number(n), &[1; 100])?;
    }
    for key in after.keys().take(300) {
        txn.delete(table, key)?;
    }
    txn.rollback_to(savepoint)?;
    txn.commit().map(drop)
}

fn is_expected(error: &Error) -> bool {
    matches!(error, Error::Io { .. } | Error::Poisoned(_) | Error::CannotCommit(_))
}

/// After a fault: the store goes on with what was there, or refuses; and a crash leaves the one state or the other.
fn assert_outlived(scene: &str, fs: &SimFs, store: Store, states: (&Content, &Content)) {
    let (before, after) = states;
    let crashed = fs.after_crash_all_lost();
    if store.write().is_ok() {
        assert!(content(&store.read(), "t") == *before, "{scene}");
        assert_eq!(store.counts().pool.private, 0, "{scene}");
        assert_sound(&store);
        transact(&store, after).unwrap_or_else(|error| panic!("{scene}: {error}"));
        assert!(content(&store.read(), "t") == *after, "{scene}");
        assert_sound(&store);
    }
    drop(store);
    let recovered = open_with(&crashed, &frames(16)).unwrap();
    let found = content(&recovered.read(), "t");
    assert!(found == *before || found == *after, "{scene}");
    assert_sound(&recovered);
}

#[test]
fn a_fault_at_any_step_fails_the_transaction_alone_or_poisons() {
    let (fs, store, _, after) = faulty();
    let start = fs.steps();
    transact(&store, &after).unwrap();
    let steps = fs.steps() - start;
    assert!(steps > 100, "{steps}");
    let mut failed = 0;
    for (kind, fault) in [Fault::Eio, Fault::NoSpace, Fault::ShortWrite].into_iter().enumerate() {
        for step in (1 + kind as u64..=steps).step_by(3) {
            let (fs, store, before, after) = faulty();
            fs.fail_at(fs.steps() + step, fault);
            let scene = format!("{fault:?} at step {step} of {steps}");
            match transact(&store, &after) {
                Ok(()) => assert!(content(&store.read(), "t") == after, "{scene}"),
                Err(error) => {
                    assert!(is_expected(&error), "{scene}: {error}");
                    failed += 1;
                    assert_outlived(&scene, &fs, store, (&before, &after));
                }
            }
        }
    }
    assert!(failed > 50, "{failed}");
}

#[test]
fn a_failed_read_fails_the_transaction_alone_or_poisons() {
    let (fs, store, _, after) = faulty();
    let start = fs.reads();
    transact(&store, &after).unwrap();
    let reads = fs.reads() - start;
    assert!(reads > 100, "{reads}");
    for read in (1..=reads).step_by(usize::try_from(reads / 100).unwrap()) {
        let (fs, store, before, after) = faulty();
        fs.fail_read_at(fs.reads() + read);
        let scene = format!("read {read} of {reads}");
        if let Err(error) = transact(&store, &after) {
            assert!(is_expected(&error), "{scene}: {error}");
            assert_outlived(&scene, &fs, store, (&before, &after));
        }
    }
}

/// A full disk is found by the transaction that does not fit; then there is space again.
#[test]
fn a_full_disk_fails_the_transaction_alone() {
    for room in (0..1_600_000).step_by(100_000) {
        let (fs, store, before, after) = faulty();
        let used: usize = fs.paths().iter().map(|path| fs.file_bytes(path).unwrap().len()).sum();
        fs.set_capacity(used as u64 + room);
        let done = transact(&store, &after);
        fs.set_capacity(u64::MAX);
        if let Err(error) = done {
            assert!(is_expected(&error), "room for {room}: {error}");
            assert!(store.write().is_ok(), "room for {room}: a full disk is no reason to refuse");
            assert_outlived(&format!("room for {room}"), &fs, store, (&before, &after));
        }
    }
}
