//! All that can be asked of a database, with bounds: damaged trees can be walked in circles.

use std::ops::Bound;

use hopdb_storage::inspect::PlainBytes;
use hopdb_storage::io::sim::SimFs;
use hopdb_storage::{PageId, Result, Store, View};

use crate::{Opened, open};

/// Opens the database and asks all there is; what opening gave. Opened again afterwards, it is asked once more. Takes
/// `page` apart, which takes long: only one.
pub fn use_all(fs: &SimFs, page: u64) -> Opened {
    let store = open(fs).ok()?;
    let newest = store.visible_ts().0;
    drop(store.read().inspect_page(PageId(page), &PlainBytes));
    drop(read(&store));
    for action in 0..5 {
        drop(change(&store, action));
    }
    drop(store.checkpoint());
    drop(store.flush());
    drop(store.clear_cache());
    drop(read(&store));
    drop(store.close());
    if let Ok(store) = open(fs) {
        drop(read(&store));
    }
    Some(newest)
}

fn read(store: &Store) -> Result<()> {
    let snapshot = store.read();
    drop(snapshot.check());
    for name in snapshot.tables()?.iter().take(8) {
        let Some(table) = snapshot.table(name)? else { continue };
        let mut cursor = snapshot.cursor(table);
        let mut more = cursor.first();
        for _ in 0..1000 {
            if !matches!(more, Ok(true)) {
                break;
            }
            drop(cursor.to_vec());
            more = cursor.next();
        }
        let mut more = cursor.last();
        for _ in 0..500 {
            if !matches!(more, Ok(true)) {
                break;
            }
            more = cursor.prev();
        }
        for key in [&b"key 0100"[..], b"large", b"small", b"zzz", b""] {
            drop(snapshot.inspect_cell(name, key, &PlainBytes));
            drop(cursor.seek(key));
            drop(snapshot.get(table, key).and_then(|found| found.map(|f| f.to_vec()).transpose()));
        }
    }
    Ok(())
}

fn change(store: &Store, action: u8) -> Result<()> {
    let mut txn = store.write()?;
    let Some(table) = txn.table("t")? else { return Ok(()) };
    match action {
        0 => {
            for n in 0..40 {
                txn.put(table, format!("key {:04}", n * 7).as_bytes(), &[1; 150])?;
            }
        }
        1 => drop(txn.put(table, b"large", &[1; 9000])?),
        2 => {
            for n in 0..60 {
                txn.delete(table, format!("key {:04}", n * 2).as_bytes())?;
            }
        }
        3 => drop(txn.delete_range(table, Bound::Included(b"key 01"), Bound::Unbounded)?),
        _ => txn.drop_table("t")?,
    }
    txn.commit().map(drop)
}
