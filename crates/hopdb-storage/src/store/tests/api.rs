//! Tables, transactions and snapshots.

use super::*;

#[test]
fn tables_are_made_listed_and_dropped() {
    let (_fs, store) = new_store(&frames(64));
    let mut txn = store.write().unwrap();
    assert_eq!(txn.tables().unwrap(), Vec::<String>::new());
    assert_eq!(txn.table("b").unwrap(), None);
    let b = txn.create_table("b").unwrap();
    txn.create_table("a").unwrap();
    assert!(matches!(txn.create_table("b"), Err(Error::TableExists(name)) if name == "b"));
    assert!(matches!(txn.drop_table("c"), Err(Error::TableMissing(name)) if name == "c"));
    assert!(matches!(txn.create_table(&"n".repeat(1025)), Err(Error::KeyTooLarge { .. })));
    assert_eq!(txn.table("b").unwrap(), Some(b));
    txn.commit().unwrap();
    assert_eq!(store.read().tables().unwrap(), ["a", "b"]);
    let mut txn = store.write().unwrap();
    txn.drop_table("a").unwrap();
    assert_eq!(txn.tables().unwrap(), ["b"]);
    txn.commit().unwrap();
    assert_eq!(store.read().tables().unwrap(), ["b"]);
    assert_sound(&store);
}

#[test]
fn a_refused_call_does_not_spoil_the_transaction() {
    let (_fs, store) = new_store(&frames(64));
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    txn.create_table("t").unwrap_err();
    txn.create_table(&"n".repeat(2000)).unwrap_err();
    txn.drop_table("u").unwrap_err();
    txn.put(table, &[1; 1025], b"").unwrap_err();
    txn.put(table, &[1; 1024], b"v").unwrap();
    txn.commit().unwrap();
    assert_eq!(content(&store.read(), "t").len(), 1);
    assert_sound(&store);
}

#[test]
fn values_of_every_length_come_back() {
    for page_size in [4096, 8192, 16_384, 32_768, 65_536] {
        let (_fs, store) =
            new_store(&Options { page_size, cache_bytes: 8 * page_size, ..Options::default() });
        let quarter = page_size / 4;
        let chunk = page_size - 48;
        let lengths = [
            0,
            1,
            quarter - 1,
            quarter,
            quarter + 1,
            chunk - 1,
            chunk,
            chunk + 1,
            2 * chunk,
            page_size,
            40 * page_size + 7,
        ];
        let mut expected = Content::new();
        let mut txn = store.write().unwrap();
        let table = txn.create_table("t").unwrap();
        for len in lengths {
            for key_len in [4, quarter] {
                let mut key = vec![7; key_len];
                key[..4].copy_from_slice(&number(u32::try_from(len).unwrap()));
                let value: Vec<u8> = (0..u32::try_from(len).unwrap())
                    .map(|n: u32| byte(n % 251 * n % 253))
                    .collect();
                assert!(txn.put(table, &key, &value).unwrap());
                expected.insert(key, value);
            }
        }
        txn.commit().unwrap();
        assert!(content(&store.read(), "t") == expected);
        store.clear_cache().unwrap();
        assert!(content(&store.read(), "t") == expected);
        assert_sound(&store);
    }
}

#[test]
fn large_values_are_read_in_pieces() {
    let (_fs, store) = new_store(&frames(8));
    let value: Vec<u8> = (0..100_000u32).map(|n| (n % 253) as u8).collect();
    put(&store, "t", b"big", &value);
    put(&store, "t", b"small", b"small");
    let snapshot = store.read();
    let table = snapshot.table("t").unwrap().unwrap();
    let found = snapshot.get(table, b"big").unwrap().unwrap();
    assert_eq!(found.inline(), None);
    let large = found.large().unwrap().unwrap();
    assert_eq!((large.len(), large.is_empty()), (100_000, false));
    for (offset, len, expected) in
        [(0, 10, 10), (4040, 20, 20), (99_990, 20, 10), (100_000, 5, 0), (u64::MAX, 5, 0)]
    {
        let mut buf = vec![0; len];
        assert_eq!(large.read_at(offset, &mut buf).unwrap(), expected);
        if expected > 0 {
            let start = usize::try_from(offset).unwrap();
            assert_eq!(buf[..expected], value[start..start + expected]);
        }
    }
    let mut joined = Vec::new();
    large.chunks(|chunk| joined.extend_from_slice(chunk)).unwrap();
    assert!(joined == value);
    let small = snapshot.get(table, b"small").unwrap().unwrap();
    assert_eq!(small.inline(), Some(&b"small"[..]));
    assert!(small.large().unwrap().is_none());
    assert!(snapshot.get(table, b"none").unwrap().is_none());
}

#[test]
fn ranges_are_deleted_with_every_kind_of_bound() {
    use Bound::{Excluded, Included, Unbounded};
    let (k2, k5) = (number(2), number(5));
    type Case<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>, &'a [u32]);
    let cases: [Case<'_>; 8] = [
        (Included(&k2), Included(&k5), &[0, 1, 6, 7]),
        (Excluded(&k2), Excluded(&k5), &[0, 1, 2, 5, 6, 7]),
        (Included(&k2), Excluded(&k5), &[0, 1, 5, 6, 7]),
        (Unbounded, Excluded(&k2), &[2, 3, 4, 5, 6, 7]),
        (Excluded(&k5), Unbounded, &[0, 1, 2, 3, 4, 5]),
        (Unbounded, Unbounded, &[]),
        (Included(&k5), Excluded(&k5), &[0, 1, 2, 3, 4, 5, 6, 7]),
        (Included(&k5), Included(&k2), &[0, 1, 2, 3, 4, 5, 6, 7]),
    ];
    for (low, high, left) in cases {
        let (_fs, store) = new_store(&frames(64));
        let mut txn = store.write().unwrap();
        let table = txn.create_table("t").unwrap();
        for n in 0..8 {
            // Some of the values are large, and their pages must come back.
            txn.put(table, &number(n), &vec![1; 1000 * (n as usize % 3)]).unwrap();
        }
        let removed = txn.delete_range(table, low, high).unwrap();
        assert_eq!(removed, 8 - left.len() as u64);
        txn.commit().unwrap();
        let found: Vec<Vec<u8>> = content(&store.read(), "t").into_keys().collect();
        let expected: Vec<Vec<u8>> = left.iter().map(|n| number(*n).to_vec()).collect();
        assert_eq!(found, expected);
        assert_sound(&store);
    }
}

#[test]
fn a_snapshot_sees_one_commit_whole_while_the_writer_goes_on() {
    let (_fs, store) = new_store(&frames(8));
    put(&store, "t", b"kept", b"kept");
    let mut snapshots = Vec::new();
    for round in 0..12u32 {
        let mut txn = store.write().unwrap();
        let table = txn.table("t").unwrap().unwrap();
        for n in 0..200 {
            let len = if n % 50 == round { 9000 } else { 60 };
            txn.put(table, &number(n * (round + 1) % 400), &vec![byte(round); len]).unwrap();
        }
        let low = number(round * 10);
        let high = number(round * 10 + 5);
        txn.delete_range(table, Bound::Included(&low), Bound::Excluded(&high)).unwrap();
        txn.commit().unwrap();
        let snapshot = store.read();
        let seen = content(&snapshot, "t");
        snapshots.push((snapshot, seen));
        if round % 3 == 0 {
            store.clear_cache().unwrap();
        }
        if round % 4 == 3 {
            let (snapshot, seen) = snapshots.remove(1);
            assert!(content(&snapshot, "t") == seen);
        }
    }
    for (snapshot, seen) in &snapshots {
        assert!(content(snapshot, "t") == *seen, "commit {}", snapshot.commit_ts());
        assert_eq!(snapshot.check().unwrap().problems, []);
    }
    assert!(store.counts().pool.retained > 0);
    drop(snapshots);
    assert_eq!(store.counts().pool.retained, 0, "nobody needs an older version");
    assert_sound(&store);
}

#[test]
fn a_snapshot_begins_at_the_last_commit_and_numbers_ascend() {
    let (_fs, store) = new_store(&frames(64));
    let first = put(&store, "t", b"a", b"1");
    assert_eq!(store.read().commit_ts(), first);
    let txn = store.write().unwrap();
    assert_eq!(store.read().commit_ts(), first);
    assert_eq!(txn.commit().unwrap(), first, "nothing was changed");
    assert_eq!(put(&store, "t", b"a", b"2").0, first.0 + 1);
}

#[test]
fn a_dropped_transaction_leaves_nothing() {
    let (fs, store) = new_store(&frames(8));
    put(&store, "t", b"a", b"1");
    let before = content(&store.read(), "t");
    for _ in 0..3 {
        let mut txn = store.write().unwrap();
        let table = txn.table("t").unwrap().unwrap();
        txn.delete(table, b"a").unwrap();
        txn.put(table, b"big", &[1; 3_000_000]).unwrap();
        let other = txn.create_table("other").unwrap();
        let mut bulk = txn.bulk(other).unwrap();
        for n in 0..5000 {
            bulk.push(&mut txn, &number(n), &[2; 100]).unwrap();
        }
        bulk.finish(&mut txn).unwrap();
        assert_eq!(content(&txn, "other").len(), 5000);
        drop(txn);
        assert!(content(&store.read(), "t") == before);
        assert_eq!(store.read().tables().unwrap(), ["t"]);
        assert_sound(&store);
    }
    store.close().unwrap();
    let pages = fs.file_bytes(NAME).unwrap().len() / PAGE;
    assert!(pages < 10, "{pages} pages: what was rolled back is cut off");
}

#[test]
fn a_transaction_sees_its_own_changes() {
    let (_fs, store) = new_store(&frames(8));
    put(&store, "t", b"a", b"1");
    let mut txn = store.write().unwrap();
    let table = txn.table("t").unwrap().unwrap();
    assert!(!txn.put(table, b"a", b"2").unwrap());
    assert!(txn.put(table, b"big", &[7; 50_000]).unwrap());
    assert_eq!(get(&txn, "t", b"a").unwrap(), b"2");
    assert_eq!(get(&txn, "t", b"big").unwrap(), [7; 50_000]);
    assert!(txn.delete(table, b"a").unwrap());
    assert!(!txn.delete(table, b"a").unwrap());
    assert_eq!(get(&txn, "t", b"a"), None);
    assert_eq!(get(&store.read(), "t", b"a").unwrap(), b"1");
    txn.commit().unwrap();
    assert_eq!(get(&store.read(), "t", b"a"), None);
}

#[test]
fn tables_are_built_side_by_side() {
    let (_fs, store) = new_store(&frames(8));
    let mut txn = store.write().unwrap();
    let tables = ["a", "b"].map(|name| txn.create_table(name).unwrap());
    let mut loads = tables.map(|table| txn.bulk(table).unwrap());
    for n in 0..3000 {
        for load in &mut loads {
            load.push(&mut txn, &number(n), &vec![byte(n); if n % 500 == 3 { 7000 } else { 50 }])
                .unwrap();
        }
    }
    assert!(matches!(
        loads[0].push(&mut txn, &number(7), b""),
        Err(Error::KeysNotAscending { entry: 3000 })
    ));
    for load in loads {
        assert_eq!(load.finish(&mut txn).unwrap(), 3000);
    }
    // What was built can be changed before it is committed.
    txn.put(tables[0], &number(5000), b"new").unwrap();
    txn.delete(tables[1], &number(3)).unwrap();
    txn.commit().unwrap();
    assert_eq!(content(&store.read(), "a").len(), 3001);
    assert_eq!(content(&store.read(), "b").len(), 2999);
    assert_eq!(store.read().statistics(tables[1]).entries, 2999);
    let report = assert_sound(&store);
    assert_eq!(report.tables["a"].entries, 3001);
    let txn = store.write().unwrap();
    assert!(matches!(txn.bulk(tables[0]), Err(Error::TableExists(_))));
}

#[test]
fn cursors_walk_both_ways_and_name_their_pages() {
    let (_fs, store) = new_store(&frames(8));
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    for n in 0..1000 {
        txn.put(table, &number(2 * n), &number(n)).unwrap();
    }
    txn.commit().unwrap();
    let snapshot = store.read();
    let mut cursor = snapshot.cursor(table);
    assert_eq!((cursor.key(), cursor.inline()), (None, None));
    assert!(!cursor.next().unwrap() && !cursor.prev().unwrap());
    assert!(cursor.seek(&number(501)).unwrap());
    assert_eq!(cursor.key(), Some(&number(502)[..]));
    assert_eq!(cursor.inline(), Some(&number(251)[..]));
    assert!(cursor.prev().unwrap());
    assert_eq!(cursor.key(), Some(&number(500)[..]));
    assert!(!cursor.seek_exact(&number(501)).unwrap());
    assert!(cursor.seek_floor(&number(501)).unwrap());
    assert_eq!(cursor.key(), Some(&number(500)[..]));
    assert!(cursor.chain().len() >= 2);
    assert!(cursor.last().unwrap());
    assert!(!cursor.next().unwrap());
    assert!(cursor.large().unwrap().is_none());
    assert!(cursor.first().unwrap());
    let mut count = 1;
    while cursor.next().unwrap() {
        count += 1;
    }
    assert_eq!(count, 1000);
}

#[test]
fn the_second_writer_waits_for_the_first() {
    let (_fs, store) = new_store(&frames(64));
    put(&store, "t", b"n", &number(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let mut txn = store.write().unwrap();
                    let table = txn.table("t").unwrap().unwrap();
                    let old = get(&txn, "t", b"n").unwrap();
                    let n = u32::from_be_bytes(old.try_into().unwrap());
                    txn.put(table, b"n", &number(n + 1)).unwrap();
                    txn.commit().unwrap();
                }
            });
        }
    });
    assert_eq!(get(&store.read(), "t", b"n").unwrap(), number(200));
}
