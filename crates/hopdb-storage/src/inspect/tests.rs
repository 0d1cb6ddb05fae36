//! Pages of every kind, whole, damaged, free, and in memory only.

use std::path::Path;

use super::*;
use crate::io::sim::SimFs;
use crate::store::{Options, Store};
use crate::sync::Arc;

const PAGE: usize = 4096;
const NAME: &str = "x.hop";

fn open(fs: &SimFs) -> Store {
    let options = Options { cache_bytes: 64 * PAGE, ..Options::default() };
    Store::open_with(Arc::new(fs.clone()), Path::new(NAME), &options).unwrap()
}

/// A store, closed: a table with two levels and a large value, an empty one, and free pages.
fn closed() -> SimFs {
    let fs = SimFs::new(1);
    let options = Options::default();
    let store = Store::create_with(Arc::new(fs.clone()), Path::new(NAME), &options).unwrap();
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    for n in 0..600 {
        let len = if n == 7 { 50_000 } else { 40 };
        txn.put(table, format!("key {n:06}").as_bytes(), &vec![b'v'; len]).unwrap();
    }
    txn.create_table("empty").unwrap();
    let gone = txn.create_table("gone").unwrap();
    txn.put(gone, b"k", &[1; 20_000]).unwrap();
    txn.commit().unwrap();
    let mut txn = store.write().unwrap();
    txn.drop_table("gone").unwrap();
    txn.delete(table, b"key 000300").unwrap();
    txn.commit().unwrap();
    store.close().unwrap();
    fs
}

fn assert_tiles(fields: &[Field], len: usize) {
    let end = fields.iter().fold(0, |at, field| {
        assert_eq!(field.start, at, "{fields:?}");
        at + field.len
    });
    assert_eq!(end, len, "{fields:?}");
}

/// All pages, each held against the invariants.
fn pages(txn: &ReadTxn) -> Vec<Page> {
    let page = |id| {
        let page = txn.inspect_page(PageId(id), &PlainBytes).unwrap().unwrap();
        assert_eq!((page.page, page.bytes.0.len()), (id, PAGE));
        assert_tiles(&page.fields, PAGE);
        page
    };
    (0..txn.page_count()).map(page).collect()
}

fn value<'p>(page: &'p Page, name: &str) -> &'p str {
    &page.fields.iter().find(|field| field.name == name).unwrap().value
}

#[test]
fn pages_of_every_kind_are_taken_apart() {
    let store = open(&closed());
    let txn = store.read();
    let report = txn.check().unwrap();
    let pages = pages(&txn);
    let of_kind = |kind| pages.iter().filter(move |page| page.kind == kind);
    assert_eq!(of_kind(Kind::Header).map(|page| page.page).collect::<Vec<_>>(), [0, 1]);
    for (kind, same) in [
        (PageKind::Leaf, Kind::Leaf),
        (PageKind::Branch, Kind::Branch),
        (PageKind::Extent, Kind::Extent),
        (PageKind::AllocationMap, Kind::AllocationMap),
    ] {
        let counted = report.pages_by_kind[&kind];
        assert_eq!(of_kind(same).count() as u64, counted, "{kind:?}");
        assert!(counted > 0, "{kind:?}");
    }
    assert_eq!(of_kind(Kind::Free).count() as u64, report.free_pages);
    assert!(report.free_pages > 4);
    for page in pages.iter().filter(|page| page.page > 1 && page.kind != Kind::Free) {
        assert_eq!(value(page, "checksum"), "matches");
    }
    let tables: Vec<_> = of_kind(Kind::Leaf).map(|page| page.table.as_deref().unwrap()).collect();
    let leaves = |name| tables.iter().filter(|table| **table == name).count() as u64;
    assert_eq!(leaves("t"), report.tables["t"].leaf_pages);
    assert_eq!((leaves("empty"), leaves(DIRECTORY)), (1, 1));
    assert_eq!(of_kind(Kind::Branch).next().unwrap().table.as_deref(), Some("t"));
    assert_eq!(txn.inspect_page(PageId(txn.page_count()), &PlainBytes).unwrap(), None);
}

#[test]
fn the_way_to_a_cell_is_that_of_a_cursor() {
    let store = open(&closed());
    let txn = store.read();
    let table = txn.table("t").unwrap().unwrap();
    for n in [0, 7, 299, 301, 599] {
        let key = format!("key {n:06}").into_bytes();
        let cell = txn.inspect_cell("t", &key, &PlainBytes).unwrap().unwrap();
        let mut cursor = txn.cursor(table);
        assert!(cursor.seek_exact(&key).unwrap());
        let way: Vec<_> = cell.chain.iter().map(|step| (PageId(step.page), step.slot)).collect();
        assert_eq!(way, cursor.chain());
        assert_eq!(cell.chain.len(), 2);
        assert!(cell.chain[0].slots > 1 && cell.chain[0].free_bytes > 0);
        let leaf = txn.inspect_page(PageId(cell.chain[1].page), &PlainBytes).unwrap().unwrap();
        let bytes = &cell.bytes.0;
        assert_eq!(&leaf.bytes.0[cell.offset..cell.offset + bytes.len()], bytes.as_slice());
        assert_tiles(&cell.fields, bytes.len());
        let slot = &leaf.slots[cell.chain[1].slot];
        assert_eq!((slot.offset, slot.len), (cell.offset, bytes.len()));
        assert_eq!(Some(&slot.key), cell.chain[1].key.as_ref());
    }
    let slots = &txn.inspect_page(table.root, &PlainBytes).unwrap().unwrap().slots;
    assert_eq!(slots[0].key, "(all keys below)");
    assert_eq!(slots[1].value, format!("page {}", slots[1].child.unwrap()));
    for (table, key) in [("t", "key 000300"), ("empty", "a"), ("none", "a")] {
        let missing = txn.inspect_cell(table, key.as_bytes(), &PlainBytes).unwrap();
        assert_eq!(missing, None, "{table} {key}");
    }
    let entry = txn.inspect_cell(DIRECTORY, b"t", &PlainBytes).unwrap().unwrap();
    assert!(
        entry.fields.iter().any(|f| f.name == "root page" && f.value == table.root.to_string())
    );
}

#[test]
fn a_large_value_is_shown_from_its_start() {
    let store = open(&closed());
    let cell = store.read().inspect_cell("t", b"key 000007", &PlainBytes).unwrap().unwrap();
    let large = cell.large.unwrap();
    assert_eq!((large.length, large.bytes.0.len(), large.cut), (50_000, LARGE_BYTES_MAX, true));
    assert_tiles(&large.fields, LARGE_BYTES_MAX);
    assert_eq!(large.extents.iter().map(|extent| extent.pages).sum::<u64>(), 13);
    let first = store.read().inspect_page(PageId(large.extents[0].first_page), &PlainBytes);
    let first = first.unwrap().unwrap();
    assert_eq!(first.bytes.0[48..100], large.bytes.0[..52]);
    let small = store.read().inspect_cell("t", b"key 000008", &PlainBytes).unwrap().unwrap();
    assert_eq!(small.large, None);
}

#[test]
fn a_damaged_page_says_so() {
    let fs = closed();
    let bytes = fs.file_bytes(NAME).unwrap();
    let (leaf, kinds) = {
        let store = open(&fs);
        let found = pages(&store.read());
        let leaf = found.iter().find(|page| page.level == 0 && page.slots.len() > 20).unwrap().page;
        (leaf, found.iter().map(|page| page.kind).collect::<Vec<_>>())
    };
    for id in [leaf, 3] {
        let mut damaged = bytes.clone();
        damaged[usize::try_from(id).unwrap() * PAGE + 3000] ^= 1;
        let fs = closed();
        fs.write_file(NAME, &damaged);
        let store = open(&fs);
        let txn = store.read();
        let page = txn.inspect_page(PageId(id), &PlainBytes).unwrap().unwrap();
        assert_eq!(value(&page, "checksum"), "does not match the bytes behind it");
        let reason = "the page is damaged: its checksum does not match";
        assert_eq!(value(&page, "(not decoded)"), reason);
        assert_eq!(page.kind, kinds[usize::try_from(id).unwrap()]);
        assert_tiles(&page.fields, PAGE);
        assert!(page.slots.is_empty());
        // The others are shown nevertheless, even where the map that tells which are free is gone.
        assert_eq!(pages(&txn).len(), kinds.len());
    }
    let mut damaged = bytes;
    damaged[usize::try_from(leaf).unwrap() * PAGE + 40] = 77;
    fs.write_file(NAME, &damaged);
    let store = open(&fs);
    let error = store.read().inspect_page(PageId(leaf), &PlainBytes).unwrap_err().to_string();
    assert!(error.contains(&format!("page {leaf} of")), "{error}");
}

#[test]
fn a_snapshot_shows_what_it_sees() {
    let fs = closed();
    let store = open(&fs);
    let before = store.read();
    let shown = before.inspect_cell("t", b"key 000100", &PlainBytes).unwrap().unwrap();
    let mut txn = store.write().unwrap();
    let table = txn.table("t").unwrap().unwrap();
    txn.put(table, b"key 000100", b"new").unwrap();
    txn.commit().unwrap();
    assert_eq!(before.inspect_cell("t", b"key 000100", &PlainBytes).unwrap(), Some(shown.clone()));
    let after = store.read().inspect_cell("t", b"key 000100", &PlainBytes).unwrap().unwrap();
    assert_ne!(after.bytes, shown.bytes);
    let id = PageId(after.chain[1].page);
    let old = before.inspect_page(id, &PlainBytes).unwrap().unwrap();
    let new = store.read().inspect_page(id, &PlainBytes).unwrap().unwrap();
    assert_eq!(value(&old, "checksum"), "matches");
    assert!(value(&new, "checksum").starts_with("older than this version"));
    assert_ne!(value(&old, "begin"), value(&new, "begin"));
}
