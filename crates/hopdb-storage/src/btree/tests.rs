//! Trees against `BTreeMap`, over pages in memory.

use super::cursor::Cursor;
use super::delete::Bounds;
use super::verify::Visitor;
use super::*;
use crate::buffer::PageRef;
use crate::page::{CommitTs, HEADER_LEN, init};
use std::collections::{BTreeMap, BTreeSet};

const PAGE: usize = 4096;
const ROOT: PageId = PageId(0);
const BIRTH: CommitTs = CommitTs(1);

/// Pages in memory; counts none, evicts none.
struct Pages {
    pages: BTreeMap<PageId, PageRef>,
    next: u64,
    page_size: usize,
}

impl Pages {
    fn new(page_size: usize) -> Self {
        let mut pages = Self { pages: BTreeMap::new(), next: 0, page_size };
        pages.allocate(PageKind::Leaf).unwrap();
        pages
    }

    /// Verifies the tree, that no page leaks, and gives its statistics.
    fn verify(&self) -> verify::TreeStatistics {
        #[derive(Default)]
        struct Found(BTreeSet<PageId>, Vec<String>);
        impl Visitor for Found {
            fn page(&mut self, id: PageId, _: PageKind) {
                assert!(self.0.insert(id), "page {id} is reached twice");
            }
            fn unreadable(&mut self, id: PageId, error: &Error) {
                self.1.push(format!("page {id}: {error}"));
            }
            fn problem(&mut self, id: PageId, what: String) {
                self.1.push(format!("page {id}: {what}"));
            }
        }
        let mut found = Found::default();
        let statistics = verify::verify(self, ROOT, &mut found);
        assert_eq!(found.1, Vec::<String>::new());
        assert_eq!(found.0, self.pages.keys().copied().collect(), "no page leaks");
        statistics
    }
}

impl PageSource for Pages {
    fn page(&self, id: PageId) -> Result<PageRef> {
        Ok(self.pages[&id].clone())
    }
    fn corrupt(&self, id: PageId, reason: String) -> Error {
        Error::CorruptPage { path: "memory".into(), page: id.0, reason }
    }
}

impl PageSink for Pages {
    fn page_size(&self) -> usize {
        self.page_size
    }
    fn page_mut(&mut self, id: PageId) -> Result<&mut [u8]> {
        Ok(self.pages.get_mut(&id).unwrap().make_mut())
    }
    fn allocate(&mut self, kind: PageKind) -> Result<PageId> {
        let id = self.allocate_id(false)?;
        let mut bytes = vec![0; self.page_size].into_boxed_slice();
        init(&mut bytes, id, kind, BIRTH);
        slotted::init(&mut bytes);
        self.pages.insert(id, PageRef::new(bytes));
        Ok(id)
    }
    fn allocate_id(&mut self, _: bool) -> Result<PageId> {
        self.next += 1;
        Ok(PageId(self.next - 1))
    }
    fn write_through(&mut self, page: Box<[u8]>) -> Result<()> {
        self.pages.insert(crate::page::id(&page), PageRef::new(page));
        Ok(())
    }
    fn free(&mut self, id: PageId) -> Result<()> {
        assert!(self.pages.remove(&id).is_some(), "page {id} is freed once");
        Ok(())
    }
}

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn value_at(pages: &Pages, cursor: &Cursor<'_, Pages>) -> Vec<u8> {
    let (page, slot) = cursor.position().unwrap();
    let raw = slotted::value(page, slot);
    let bytes = &page[raw.start..raw.start + raw.len];
    if !raw.large {
        return bytes.to_vec();
    }
    let descriptor = large::Descriptor::decode(bytes).unwrap();
    let mut value = vec![0; usize::try_from(descriptor.len).unwrap()];
    assert_eq!(descriptor.read_at(pages, pages.page_size, 0, &mut value).unwrap(), value.len());
    value
}

fn all(pages: &Pages) -> Model {
    let mut cursor = Cursor::new(pages, ROOT, false);
    let mut found = Model::new();
    let mut more = cursor.first().unwrap();
    while more {
        found.insert(cursor.key().unwrap().to_vec(), value_at(pages, &cursor));
        more = cursor.next().unwrap();
    }
    found
}

fn random_key(random: &mut fastrand::Rng) -> Vec<u8> {
    let len = match random.u8(0..20) {
        0 => 1024,
        1 => random.usize(0..1025),
        _ => random.usize(0..6),
    };
    (0..len).map(|_| random.u8(b'a'..b'e')).collect()
}

fn random_value(random: &mut fastrand::Rng) -> Vec<u8> {
    let len = match random.u8(0..40) {
        0 => random.usize(0..30_000),
        1 => 1024,
        _ => random.usize(0..200),
    };
    let fill = random.u8(..);
    vec![fill; len]
}

#[test]
fn random_changes_agree_with_a_map() {
    for seed in 0..8 {
        let mut random = fastrand::Rng::with_seed(seed);
        let page_size = if seed == 7 { 65536 } else { PAGE };
        let mut pages = Pages::new(page_size);
        let mut model = Model::new();
        for step in 0..4000 {
            let key = random_key(&mut random);
            match random.u8(0..100) {
                0..55 => {
                    let value = random_value(&mut random);
                    let new = insert::put(&mut pages, ROOT, &key, &value, BIRTH).unwrap();
                    assert_eq!(new, model.insert(key, value).is_none());
                }
                55..97 => {
                    let was_there = delete::delete(&mut pages, ROOT, &key).unwrap();
                    assert_eq!(was_there, model.remove(&key).is_some());
                }
                _ => {
                    let mut bounds = [key, random_key(&mut random)];
                    bounds.sort();
                    let [low, high] = bounds;
                    let kept = random.u8(0..4);
                    let range = Bounds {
                        low: (kept != 0).then_some(&low[..]),
                        high: (kept != 1).then_some(&high[..]),
                    };
                    let removed = delete::delete_range(&mut pages, ROOT, range).unwrap();
                    let before = model.len();
                    model.retain(|key, _| kept != 0 && *key < low || kept != 1 && *key >= high);
                    assert_eq!(removed, (before - model.len()) as u64);
                }
            }
            if step % 250 == 0 {
                assert_eq!(pages.verify().entries, model.len() as u64);
                assert!(all(&pages) == model);
            }
        }
        for key in model.keys() {
            assert!(delete::delete(&mut pages, ROOT, key).unwrap());
        }
        let statistics = pages.verify();
        assert_eq!((statistics.entries, statistics.leaf_pages, statistics.depth), (0, 1, 1));
    }
}

#[test]
fn cursors_move_as_a_map_ranges() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut pages = Pages::new(PAGE);
    let mut model = Model::new();
    for _ in 0..3000 {
        let key = random_key(&mut random);
        let value = random_value(&mut random);
        insert::put(&mut pages, ROOT, &key, &value, BIRTH).unwrap();
        model.insert(key, value);
    }
    let keys: Vec<&Vec<u8>> = model.keys().collect();
    for pin_branches in [false, true] {
        let mut cursor = Cursor::new(&pages, ROOT, pin_branches);
        for _ in 0..3000 {
            let key = random_key(&mut random);
            let at = keys.partition_point(|other| **other < key);
            let exact = keys.get(at).is_some_and(|other| **other == key);
            let mut at = match random.u8(0..5) {
                0 => {
                    assert_eq!(cursor.seek_exact(&key).unwrap(), exact);
                    exact.then_some(at)
                }
                1 => {
                    let floor = if exact { Some(at) } else { at.checked_sub(1) };
                    assert_eq!(cursor.seek_floor(&key).unwrap(), floor.is_some());
                    floor
                }
                2 => {
                    assert!(cursor.first().unwrap());
                    Some(0)
                }
                3 => {
                    assert!(cursor.last().unwrap());
                    Some(keys.len() - 1)
                }
                _ => {
                    assert_eq!(cursor.seek(&key).unwrap(), at < keys.len());
                    (at < keys.len()).then_some(at)
                }
            };
            for _ in 0..random.usize(0..30) {
                assert_eq!(cursor.key(), at.map(|at| keys[at].as_slice()));
                let Some(now) = at else { break };
                at = if random.bool() {
                    cursor.next().unwrap();
                    Some(now + 1).filter(|next| *next < keys.len())
                } else {
                    cursor.prev().unwrap();
                    now.checked_sub(1)
                };
            }
        }
    }
}

#[test]
fn many_scans_give_what_one_by_one_gives() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut pages = Pages::new(PAGE);
    let mut model = Model::new();
    for round in 0..20 {
        for _ in 0..round * 20 {
            let (key, value) = (random_key(&mut random), random_value(&mut random));
            insert::put(&mut pages, ROOT, &key, &value, BIRTH).unwrap();
            model.insert(key, value);
        }
        for pin_branches in [false, true] {
            let mut keys = cursor::Keys::new();
            let wanted: Vec<(Vec<u8>, usize)> = (0..random.usize(0..40))
                .map(|_| (random_key(&mut random), random.usize(1..60)))
                .collect();
            wanted.iter().for_each(|(key, _)| keys.push(|out| out.extend_from_slice(key)));
            let mut found: Vec<Vec<Vec<u8>>> = vec![Vec::new(); wanted.len()];
            Cursor::new(&pages, ROOT, pin_branches)
                .scan_many(&keys, |index, page, slot| {
                    found[index].push(slotted::key(page, slot).to_vec());
                    Ok::<_, Error>(found[index].len() < wanted[index].1)
                })
                .unwrap();
            for ((key, limit), found) in wanted.iter().zip(found) {
                let expected: Vec<Vec<u8>> =
                    model.range(key.clone()..).take(*limit).map(|(key, _)| key.clone()).collect();
                assert_eq!(found, expected);
            }
        }
    }
}

#[test]
fn a_bulk_load_equals_puts_and_fills_pages() {
    for entries in [0, 1, 2, 100, 20_000] {
        let mut pages = Pages::new(PAGE);
        let mut builder = bulk::BulkBuilder::new(ROOT, BIRTH);
        let mut model = Model::new();
        for n in 0u32..entries {
            let key = n.to_be_bytes().to_vec();
            let value = vec![7; if n % 1000 == 5 { 9000 } else { 60 }];
            builder.push(&mut pages, &key, &value).unwrap();
            model.insert(key, value);
        }
        assert_eq!(builder.finish(&mut pages).unwrap(), u64::from(entries));
        let statistics = pages.verify();
        assert!(all(&pages) == model);
        if entries == 20_000 {
            let pages = statistics.leaf_pages + statistics.branch_pages;
            let fill = statistics.used_bytes as f64 / (pages as f64 * (PAGE - HEADER_LEN) as f64);
            assert!(fill > 0.93, "pages are {fill} full");
        }
        // The tree goes on as any other.
        assert!(insert::put(&mut pages, ROOT, b"later", b"1", BIRTH).unwrap());
        pages.verify();
    }
}

#[test]
fn bulk_keys_must_ascend() {
    let mut pages = Pages::new(PAGE);
    let mut builder = bulk::BulkBuilder::new(ROOT, BIRTH);
    builder.push(&mut pages, b"b", b"").unwrap();
    for key in [b"b", b"a"] {
        match builder.push(&mut pages, key, b"") {
            Err(Error::KeysNotAscending { entry: 1 }) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn ascending_puts_fill_pages() {
    let mut pages = Pages::new(PAGE);
    for n in 0u32..20_000 {
        insert::put(&mut pages, ROOT, &n.to_be_bytes(), &[1; 60], BIRTH).unwrap();
    }
    let statistics = pages.verify();
    let fill =
        statistics.used_bytes as f64 / (statistics.leaf_pages as f64 * (PAGE - HEADER_LEN) as f64);
    assert!(fill > 0.95, "pages are {fill} full");
}

#[test]
fn a_key_longer_than_a_quarter_page_is_refused() {
    let mut pages = Pages::new(PAGE);
    insert::put(&mut pages, ROOT, &[1; 1024], b"", BIRTH).unwrap();
    match insert::put(&mut pages, ROOT, &[1; 1025], b"", BIRTH) {
        Err(Error::KeyTooLarge { len: 1025, max: 1024 }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_page_of_another_kind_in_a_tree_is_corruption() {
    let mut pages = Pages::new(PAGE);
    for n in 0u32..2000 {
        insert::put(&mut pages, ROOT, &n.to_be_bytes(), &[1; 60], BIRTH).unwrap();
    }
    let child = slotted::child(&pages.page(ROOT).unwrap(), 0);
    crate::page::set_kind(pages.page_mut(child).unwrap(), PageKind::Extent);
    let mut cursor = Cursor::new(&pages, ROOT, false);
    match cursor.seek(&[0]) {
        Err(Error::CorruptPage { page, .. }) => assert_eq!(page, child.0),
        other => panic!("{other:?}"),
    }
}
