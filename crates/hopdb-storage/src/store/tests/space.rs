//! Frames, pages, counts and files: what things take.

use super::*;

/// Data many times the pool, in the smallest pool there is.
#[test]
fn four_frames_are_enough() {
    let (_fs, store) = new_store(&frames(1));
    assert_eq!(store.counts().pool.frames_max, 4);
    let mut expected = Content::new();
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..20 {
        let mut txn = store.write().unwrap();
        let table = table_of(&mut txn, "t");
        for _ in 0..200 {
            let key = number(random.u32(0..3000)).to_vec();
            let value = vec![random.u8(..); random.usize(0..300)];
            txn.put(table, &key, &value).unwrap();
            expected.insert(key, value);
        }
        txn.commit().unwrap();
        let counts = store.counts().pool;
        assert!(counts.resident <= 4 + counts.dirty, "{counts:?}");
    }
    assert!(content(&store.read(), "t") == expected);
    let counts = store.counts();
    assert!(counts.io.pages_read > 0 && counts.pool.evictions > 0, "{counts:?}");
    assert!(counts.pool.resident <= 4, "{counts:?}");
    assert_sound(&store);
}

#[test]
fn counts_say_what_happened() {
    let (_fs, store) = new_store(&frames(64));
    put(&store, "t", b"a", b"1");
    put(&store, "t", b"a", b"2");
    let before = store.counts();
    assert_eq!((before.io.log_syncs, before.pool.retained), (2, 0));
    assert!(before.pool.dirty > 0);
    store.flush().unwrap();
    let flushed = store.counts();
    assert_eq!(flushed.pool.dirty, 0);
    assert_eq!(flushed.pool.resident, before.pool.resident, "a flush keeps pages");
    assert_eq!(flushed.io.pages_written, before.io.pages_written + before.pool.dirty as u64);
    assert_eq!(flushed.io.data_syncs, before.io.data_syncs + 1);
    store.clear_cache().unwrap();
    assert_eq!(store.counts().pool.resident, 0);
    let read = store.counts().io.pages_read;
    // The directory, and the table's only page.
    assert_eq!(get(&store.read(), "t", b"a").unwrap(), b"2");
    assert_eq!(store.counts().io.pages_read, read + 2);
    let hits = store.counts().pool.hits;
    assert_eq!(get(&store.read(), "t", b"a").unwrap(), b"2");
    assert_eq!(store.counts().io.pages_read, read + 2);
    assert!(store.counts().pool.hits >= hits + 2);
}

#[test]
fn freed_pages_are_used_again() {
    let (_fs, store) = new_store(&frames(16));
    let fill = |round: u8| {
        let mut txn = store.write().unwrap();
        let table = table_of(&mut txn, "t");
        for n in 0..2000 {
            txn.put(table, &number(n), &vec![round; if n % 40 == 0 { 9000 } else { 100 }]).unwrap();
        }
        txn.commit().unwrap();
    };
    let clear = |round: u32| {
        let mut txn = store.write().unwrap();
        let table = txn.table("t").unwrap().unwrap();
        match round % 3 {
            0 => assert_eq!(
                txn.delete_range(table, Bound::Unbounded, Bound::Unbounded).unwrap(),
                2000
            ),
            1 => (0..2000).for_each(|n| assert!(txn.delete(table, &number(n)).unwrap())),
            _ => txn.drop_table("t").unwrap(),
        }
        txn.commit().unwrap();
    };
    fill(0);
    let mut bytes = Vec::new();
    for round in 0..9 {
        clear(round);
        fill(byte(round));
        bytes.push(store.file_bytes().unwrap());
        assert_sound(&store);
    }
    // What a transaction frees, it cannot use itself: the first rounds may grow the file.
    assert_eq!(bytes[2], bytes[8], "{bytes:?}");
}

#[test]
fn large_values_overwritten_again_and_again_do_not_grow_the_file() {
    let (_fs, store) = new_store(&frames(16));
    for round in 0..30u8 {
        put(&store, "t", b"a", &vec![round; 100_000]);
    }
    let pages = store.file_bytes().unwrap() / PAGE as u64;
    assert!(pages < 3 * 25 + 10, "{pages} pages");
    let report = assert_sound(&store);
    assert_eq!(report.pages_by_kind[&PageKind::Extent], 25);
    assert_eq!(report.pages, pages);
}

/// An idle snapshot keeps what it sees, not all that came after it.
#[test]
fn an_old_snapshot_does_not_stop_the_reuse_of_later_pages() {
    let (_fs, store) = new_store(&frames(16));
    put(&store, "t", b"a", &[9; 50_000]);
    let old = store.read();
    for round in 0..30u8 {
        put(&store, "t", b"b", &vec![round; 50_000]);
        put(&store, "t", b"a", &[round; 10]);
    }
    assert_eq!(get(&old, "t", b"a").unwrap(), [9; 50_000]);
    assert!(store.counts().pool.retained < 10, "{:?}", store.counts().pool);
    drop(old);
    assert_eq!(get(&store.read(), "t", b"b").unwrap(), [29; 50_000]);
    assert_sound(&store);
}

#[test]
fn the_log_starts_again_at_a_checkpoint() {
    let (fs, store) = new_store(&frames(64));
    let log_bytes = || fs.file_bytes("x.hop-wal").unwrap().len();
    put(&store, "t", b"a", b"1");
    let len = log_bytes();
    for _ in 0..20 {
        put(&store, "t", b"a", &[7; 1000]);
        store.checkpoint().unwrap();
    }
    assert_eq!(log_bytes(), len);
    let recovered = open_with(&fs.after_crash_all_lost(), &frames(64)).unwrap();
    assert_eq!(recovered.recovery().unwrap().commits, 0);
    assert_eq!(get(&recovered.read(), "t", b"a").unwrap(), [7; 1000]);
}

/// The allocation map has a page for each range of the file; the second range begins at page 32,384.
#[test]
fn a_file_of_more_than_one_range_keeps_its_accounts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.hop");
    let shared: Arc<dyn FileSystem> = Arc::new(crate::io::real::RealFs);
    let store = Store::create_unnamed(shared, dir.path(), &frames(64)).unwrap();
    let small = store.read();
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    let value = vec![7; 32_000 * (PAGE - 48)];
    txn.put(table, b"first", &value).unwrap();
    txn.put(table, b"second", &value[..1000 * (PAGE - 48)]).unwrap();
    txn.commit().unwrap();
    let report = assert_sound(&store);
    assert_eq!(report.pages_by_kind[&PageKind::AllocationMap], 2);
    assert_eq!(small.check().unwrap().problems, [], "a snapshot from before has the pages of then");
    drop(small);
    store.persist(&path).unwrap();
    let store = Store::open(&path, &frames(64)).unwrap();
    put(&store, "t", b"third", &value[..600 * (PAGE - 48)]);
    let mut txn = store.write().unwrap();
    txn.delete(table, b"second").unwrap();
    txn.commit().unwrap();
    let report = assert_sound(&store);
    put(&store, "t", b"fourth", &value[..900 * (PAGE - 48)]);
    assert_eq!(assert_sound(&store).pages, report.pages, "freed pages of both ranges");
}
