//! Bytes that somebody made up, with checksums that hold: every call gives an answer or an error, none
//! panics, none runs without end.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fastrand::Rng;

use super::*;
use crate::codec::num::{get_u32, put_u32, put_u64};
use crate::inspect::PlainBytes;

/// A database with branches, large values, free pages and a few tables.
fn closed() -> SimFs {
    let (fs, store) = new_store(&frames(64));
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    for n in 0..600 {
        let len = if n % 100 == 9 { 9000 } else { 40 };
        txn.put(table, format!("key {n:06}").as_bytes(), &vec![byte(n); len]).unwrap();
    }
    txn.create_table("empty").unwrap();
    txn.commit().unwrap();
    put(&store, "u", b"a", &[1; 20_000]);
    put(&store, "u", b"a", b"1");
    store.close().unwrap();
    fs
}

/// A database that was not closed.
fn crashed(fs: &SimFs) -> SimFs {
    let store = open_with(fs, &frames(64)).unwrap();
    put(&store, "t", b"key 000300", &[1; 500]);
    put(&store, "u", b"b", &[2; 9000]);
    put(&store, "u", b"b", b"3");
    store.flush().unwrap();
    put(&store, "t", b"key 000301", b"");
    fs.after_crash_all_lost()
}

/// Calls everything; errors are fine.
fn use_all(fs: &SimFs) -> Result<()> {
    let store = open_with(fs, &frames(64))?;
    let snapshot = store.read();
    drop(snapshot.check());
    for name in snapshot.tables()? {
        let Some(table) = snapshot.table(&name)? else { continue };
        let mut cursor = snapshot.cursor(table);
        // Damaged trees can be walked in circles: branches share children.
        let mut left = 5000;
        let mut more = cursor.first();
        while matches!(more, Ok(true)) && left > 0 {
            drop(cursor.to_vec());
            more = cursor.next();
            left -= 1;
        }
        let mut more = cursor.last();
        for _ in 0..1000 {
            if !matches!(more, Ok(true)) {
                break;
            }
            more = cursor.prev();
        }
        for key in [&b"key 000100"[..], b"key 000109", b"a", b"zzz", b""] {
            drop(snapshot.inspect_cell(&name, key, &PlainBytes));
            drop(cursor.seek(key));
            drop(snapshot.get(table, key).and_then(|found| found.map(|f| f.to_vec()).transpose()));
        }
    }
    for id in 0..snapshot.page_count().min(200) {
        drop(snapshot.inspect_page(PageId(id), &PlainBytes));
    }
    drop(snapshot);
    for action in 0..6 {
        drop(change(&store, action));
    }
    drop(store.checkpoint());
    store.close()
}

fn change(store: &Store, action: u8) -> Result<()> {
    let mut txn = store.write()?;
    let Some(table) = txn.table("t")? else { return Ok(()) };
    match action {
        0 => {
            for n in 0..200 {
                txn.put(table, format!("key {:06}", n * 7).as_bytes(), &[1; 150])?;
            }
        }
        1 => drop(txn.delete_range(table, Bound::Included(b"key 0001"), Bound::Unbounded)?),
        2 => {
            for n in 0..300 {
                txn.delete(table, format!("key {:06}", n * 2).as_bytes())?;
            }
        }
        3 => drop(txn.put(table, b"large", &[1; 50_000])?),
        4 => drop(txn.create_table("new")?),
        _ => txn.drop_table("t")?,
    }
    txn.commit().map(drop)
}

fn assert_no_panic(what: &str, fs: &SimFs) {
    let outcome = catch_unwind(AssertUnwindSafe(|| drop(use_all(fs))));
    assert!(outcome.is_ok(), "{what}");
}

/// Numbers that are likely to break something.
fn evil(random: &mut Rng) -> u64 {
    match random.u8(0..6) {
        0 => 0,
        1 => u64::MAX >> random.u8(0..64),
        2 => random.u64(0..40),
        3 => 1 << random.u8(0..64),
        4 => random.u64(0..70_000),
        _ => random.u64(..),
    }
}

/// Overwrites some bytes: anywhere, in the header, in the first slots, or of a cell.
fn spoil(page: &mut [u8], random: &mut Rng) {
    for _ in 0..random.usize(1..4) {
        let width = [1, 2, 4, 8][random.usize(0..4)];
        let at = match random.u8(0..4) {
            0 => random.usize(8..page.len() - width),
            1 => random.usize(16..48),
            2 => random.usize(48..80),
            // A varint of a cell or of a descriptor.
            _ => random.usize(page.len() - 1000..page.len() - width),
        };
        let bytes = evil(random).to_le_bytes();
        page[at..at + width].copy_from_slice(&bytes[..width]);
    }
}

#[test]
fn pages_with_right_checksums_and_wrong_content_do_not_panic() {
    let fs = closed();
    let bytes = fs.file_bytes(NAME).unwrap();
    let mut random = Rng::with_seed(1);
    for case in 0..1500 {
        let mut bytes = bytes.clone();
        let page = random.usize(2..bytes.len() / PAGE);
        let range = page * PAGE..(page + 1) * PAGE;
        spoil(&mut bytes[range.clone()], &mut random);
        crate::page::seal(&mut bytes[range]);
        let damaged = fs.after_crash_all_kept();
        damaged.write_file(NAME, &bytes);
        assert_no_panic(&format!("case {case}, page {page}"), &damaged);
    }
}

#[test]
fn headers_with_right_checksums_and_wrong_content_do_not_panic() {
    let closed = closed();
    let crashed = crashed(&closed.after_crash_all_kept());
    let mut random = Rng::with_seed(2);
    for case in 0..400 {
        let fs = if random.bool() { &closed } else { &crashed };
        let mut bytes = fs.file_bytes(NAME).unwrap();
        for slot in [0, PAGE] {
            let at = slot + random.usize(12..113);
            put_u64(&mut bytes, at.min(slot + 112), evil(&mut random));
            let sum = xxhash_rust::xxh3::xxh3_64(&bytes[slot..slot + 120]);
            put_u64(&mut bytes, slot + 120, sum);
        }
        let damaged = fs.after_crash_all_kept();
        damaged.write_file(NAME, &bytes);
        assert_no_panic(&format!("case {case}"), &damaged);
    }
}

/// Where the records of a log begin.
fn records(log: &[u8]) -> Vec<usize> {
    let mut at = records_at(log);
    let mut found = Vec::new();
    while at + 40 < log.len() && get_u32(log, at) != 0 {
        found.push(at);
        at += (40 + get_u32(log, at + 4) as usize).next_multiple_of(8);
    }
    found
}

#[test]
fn records_with_right_checksums_and_wrong_content_do_not_panic() {
    let fs = crashed(&closed());
    let log = fs.file_bytes("x.hop-wal").unwrap();
    let starts = records(&log);
    assert!(starts.len() > 10);
    let mut random = Rng::with_seed(3);
    for case in 0..1000 {
        let mut log = log.clone();
        let start = starts[random.usize(0..starts.len())];
        let end = start + 40 + get_u32(&log, start + 4) as usize;
        for _ in 0..random.usize(1..3) {
            let width = [1, 2, 8][random.usize(0..3)];
            let from = if random.u8(0..4) == 0 { start + 24 } else { start + 40 };
            let at = random.usize(from..end).min(end - width);
            let bytes = evil(&mut random).to_le_bytes();
            log[at..at + width].copy_from_slice(&bytes[..width]);
        }
        let sum = crc32c::crc32c(&log[start + 4..end]);
        put_u32(&mut log, start, sum);
        let damaged = fs.after_crash_all_kept();
        damaged.write_file("x.hop-wal", &log);
        assert_no_panic(&format!("case {case}, record at {start}"), &damaged);
    }
}
