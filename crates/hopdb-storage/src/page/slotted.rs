//! The slotted layout of tree pages: slots in key order at the front, cells at the back.
//!
//! A slot holds the offset of its cell and the *head* of its key: the first four bytes behind the prefix that
//! all keys of the page share. A search compares heads, all in a few cache lines, and looks into a cell only
//! when heads are equal: a two-hop walk takes half the time that it took with offsets alone.
//!
//! Leaf and branch cells share a head (`varint key length, varint second, key`), where `second` is twice
//! the value's length plus a flag in a leaf, and the child's page id in a branch. Nothing here knows
//! keys' meaning, splits or transactions.
//!
//! Invariants of a page that passed [`verify`]: every slot points into the cell area, every cell ends
//! inside the page and takes at most half of it, all together are no longer than the cell area, and `free`
//! is the gap between slots and cells.
//! All keys but a branch's first begin with the page's prefix, and every head is that of its key.

use std::cmp::Ordering;

use super::{
    HEADER_LEN, PageId, PageKind, count, free, kind, prefix_len, set_count, set_free,
    set_prefix_len,
};
use crate::codec::num::{get_u16, get_u32, put_u16, put_u32, to_u16, to_usize};
use crate::codec::varint;

/// Bytes of a slot.
pub(crate) const SLOT_LEN: usize = 6;
/// Bytes of a key's head.
const HEAD_LEN: usize = 4;

/// Most bytes of a key.
pub(crate) const fn max_key(page_size: usize) -> usize {
    page_size / 4
}

/// Most bytes of a value that lies in its leaf.
pub(crate) const fn max_inline_value(page_size: usize) -> usize {
    page_size / 4
}

/// Bytes that cells and slots can take in a page.
pub(crate) const fn capacity(page_size: usize) -> usize {
    page_size - HEADER_LEN
}

/// Makes an initialised page an empty tree page.
pub(crate) fn init(page: &mut [u8]) {
    set_count(page, 0);
    let gap = to_u16(page.len() - HEADER_LEN);
    set_free(page, gap);
}

#[inline]
fn slot_at(slot: usize) -> usize {
    HEADER_LEN + SLOT_LEN * slot
}

/// Where a slot's cell starts in the page.
#[inline]
pub(crate) fn cell_start(page: &[u8], slot: usize) -> usize {
    usize::from(get_u16(page, slot_at(slot)))
}

/// The head that a slot holds.
#[inline]
pub(crate) fn stored_head(page: &[u8], slot: usize) -> u32 {
    get_u32(page, slot_at(slot) + 2)
}

/// The head of a key behind `prefix` bytes: missing bytes count as zeros, so that a lesser head means a
/// lesser key, and equal heads mean nothing.
#[inline]
fn head_of(key: &[u8], prefix: usize) -> u32 {
    let rest = key.get(prefix..).unwrap_or_default();
    match rest.first_chunk::<HEAD_LEN>() {
        Some(head) => u32::from_be_bytes(*head),
        None => {
            let mut head = [0; HEAD_LEN];
            head[..rest.len()].copy_from_slice(rest);
            u32::from_be_bytes(head)
        }
    }
}

/// The first slot whose key counts: a branch's first does not.
#[inline]
fn first_keyed(page: &[u8]) -> usize {
    usize::from(kind(page) == PageKind::Branch)
}

/// Reads a varint that [`verify`] has passed.
#[inline(always)]
fn number(page: &[u8], at: &mut usize) -> u64 {
    let byte = page[*at];
    if byte < 0x80 {
        *at += 1;
        return u64::from(byte);
    }
    varint::get(page, at).unwrap_or(0)
}

/// Key length, second number and where the key starts.
#[inline]
fn cell_head(page: &[u8], slot: usize) -> (usize, u64, usize) {
    let mut at = cell_start(page, slot);
    let key_len = to_usize(number(page, &mut at));
    let second = number(page, &mut at);
    (key_len, second, at)
}

/// The key of a slot.
#[inline]
pub(crate) fn key(page: &[u8], slot: usize) -> &[u8] {
    let (len, _, at) = cell_head(page, slot);
    &page[at..at + len]
}

/// A value as it lies in a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawValue {
    /// Whether the bytes are the descriptor of a large value.
    pub(crate) large: bool,
    /// First byte in the page.
    pub(crate) start: usize,
    /// Bytes.
    pub(crate) len: usize,
}

/// The value of a leaf's slot.
#[inline]
pub(crate) fn value(page: &[u8], slot: usize) -> RawValue {
    let (key_len, second, at) = cell_head(page, slot);
    RawValue { large: second & 1 == 1, start: at + key_len, len: to_usize(second >> 1) }
}

/// The child of a branch's slot.
#[inline]
pub(crate) fn child(page: &[u8], slot: usize) -> PageId {
    PageId(cell_head(page, slot).1)
}

fn cell_len(page: &[u8], slot: usize) -> usize {
    let (key_len, second, at) = cell_head(page, slot);
    let value_len = if kind(page) == PageKind::Leaf { to_usize(second >> 1) } else { 0 };
    at - cell_start(page, slot) + key_len + value_len
}

/// A whole cell.
pub(crate) fn cell(page: &[u8], slot: usize) -> &[u8] {
    let start = cell_start(page, slot);
    &page[start..start + cell_len(page, slot)]
}

/// The key of a cell that stands alone.
pub(crate) fn key_of_cell(cell: &[u8]) -> &[u8] {
    let mut at = 0;
    let key_len = to_usize(number(cell, &mut at));
    number(cell, &mut at);
    &cell[at..at + key_len]
}

/// Finds `wanted` in a leaf: its slot, or the slot where it would go.
#[inline]
pub(crate) fn search(page: &[u8], wanted: &[u8]) -> Result<usize, usize> {
    search_from(page, 0, wanted)
}

/// The slot of a branch whose child may hold `wanted`.
#[inline]
pub(crate) fn search_branch(page: &[u8], wanted: &[u8]) -> usize {
    match search_from(page, 1, wanted) {
        Ok(slot) => slot,
        Err(slot) => slot - 1,
    }
}

/// Whether `wanted` lies between the first and the last key of a leaf.
#[inline]
pub(crate) fn covers(page: &[u8], wanted: &[u8]) -> bool {
    let slots = count(page);
    if slots == 0 || compare_prefix(page, 0, wanted) != Ordering::Equal {
        return false;
    }
    let head = head_of(wanted, prefix_len(page));
    let order = |slot| stored_head(page, slot).cmp(&head).then_with(|| key(page, slot).cmp(wanted));
    order(0) != Ordering::Greater && order(slots - 1) != Ordering::Less
}

/// Searches the slots from `first` on: by heads, then by keys among those with the same head.
#[inline]
fn search_from(page: &[u8], first: usize, wanted: &[u8]) -> Result<usize, usize> {
    let slots = count(page);
    if first >= slots {
        return Err(first);
    }
    let head = head_of(wanted, prefix_len(page));
    let mut low = first_head(page, first..slots, |other| other < head);
    // Whether `wanted` has the prefix at all is seen at the key found, whose cell is looked into anyway.
    match compare_prefix(page, low.min(slots - 1), wanted) {
        Ordering::Equal => {}
        Ordering::Less => return Err(first),
        Ordering::Greater => return Err(slots),
    }
    if low == slots || stored_head(page, low) != head {
        return Err(low);
    }
    // Mostly one key has the head; where many do, they are searched by their keys.
    let mut high = low + 1;
    if high < slots && stored_head(page, high) == head {
        high = first_head(page, high..slots, |other| other <= head);
    }
    while low < high {
        let middle = low.midpoint(high);
        match key(page, middle).cmp(wanted) {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return Ok(middle),
        }
    }
    Err(low)
}

/// The first slot of the range whose head is not `before`; its end when all are. Without branches on the
/// heads, which no processor could foresee.
#[inline(always)]
fn first_head(page: &[u8], range: std::ops::Range<usize>, before: impl Fn(u32) -> bool) -> usize {
    let heads = &page[slot_at(range.start)..slot_at(range.end)];
    let head = |slot: usize| get_u32(heads, SLOT_LEN * slot + 2);
    let mut base = 0;
    let mut left = range.len();
    while left > 1 {
        let half = left / 2;
        base += std::hint::select_unpredictable(before(head(base + half - 1)), half, 0);
        left -= half;
    }
    range.start + base + usize::from(left == 1 && before(head(base)))
}

/// Where `wanted` stands to the keys as far as their common prefix goes; slot `keyed` has a key.
#[inline]
fn compare_prefix(page: &[u8], keyed: usize, wanted: &[u8]) -> Ordering {
    let prefix_len = prefix_len(page);
    if prefix_len == 0 {
        return Ordering::Equal;
    }
    let prefix = &key(page, keyed)[..prefix_len];
    match wanted.get(..prefix_len) {
        Some(start) => start.cmp(prefix),
        None if wanted > prefix => Ordering::Greater,
        None => Ordering::Less,
    }
}

/// Bytes of a cache line, on the machines that matter.
const CACHE_LINE: usize = 64;

/// Loads the header and all slots of a page into the processor's caches. Called for several pages one
/// behind the other, their loads overlap, where searches would wait for each in turn.
#[inline]
pub(crate) fn touch_slots(page: &[u8]) {
    let end = slot_at(count(page)).min(page.len());
    let sum = (0..end).step_by(CACHE_LINE).fold(0, |sum: u8, at| sum ^ page[at]);
    std::hint::black_box(sum);
}

/// Loads the beginning of a slot's cell, likewise.
#[inline]
pub(crate) fn touch_cell(page: &[u8], slot: usize) {
    if slot < count(page) {
        let start = cell_start(page, slot);
        let next = (start + CACHE_LINE).min(page.len() - 1);
        std::hint::black_box(page[start] ^ page[next]);
    }
}

/// Appends a leaf cell to `out`.
pub(crate) fn leaf_cell(out: &mut Vec<u8>, key: &[u8], value: &[u8], large: bool) {
    varint::put(out, key.len() as u64);
    varint::put(out, (value.len() as u64) << 1 | u64::from(large));
    out.extend_from_slice(key);
    out.extend_from_slice(value);
}

/// Appends a branch cell to `out`.
pub(crate) fn branch_cell(out: &mut Vec<u8>, separator: &[u8], child: PageId) {
    varint::put(out, separator.len() as u64);
    varint::put(out, child.0);
    out.extend_from_slice(separator);
}

/// Bytes taken by slots and cells, holes not counted.
pub(crate) fn used(page: &[u8]) -> usize {
    (0..count(page)).map(|slot| SLOT_LEN + cell_len(page, slot)).sum()
}

/// Bytes that a cell of this length takes with its slot.
pub(crate) const fn footprint(cell_len: usize) -> usize {
    SLOT_LEN + cell_len
}

/// Puts a cell before `slot`; `false` when the page has no room for it.
pub(crate) fn insert(page: &mut [u8], slot: usize, cell: &[u8]) -> bool {
    let need = footprint(cell.len());
    if free(page) < need {
        if capacity(page.len()) - used(page) < need {
            return false;
        }
        compact(page);
    }
    let new_key = key_of_cell(cell);
    admit_key(page, slot, new_key);
    let slots = count(page);
    let cell_area = slot_at(slots) + free(page);
    let start = cell_area - cell.len();
    page[start..cell_area].copy_from_slice(cell);
    page.copy_within(slot_at(slot)..slot_at(slots), slot_at(slot + 1));
    put_u16(page, slot_at(slot), to_u16(start));
    put_u32(page, slot_at(slot) + 2, head_of(new_key, prefix_len(page)));
    let gap = to_u16(free(page) - need);
    set_count(page, to_u16(slots + 1));
    set_free(page, gap);
    true
}

/// Shortens the common prefix to what a key about to go before `slot` shares.
fn admit_key(page: &mut [u8], slot: usize, new_key: &[u8]) {
    let first = first_keyed(page);
    if prefix_len(page) == 0 || slot < first || first >= count(page) {
        return;
    }
    let prefix = &key(page, first)[..prefix_len(page)];
    let shared = common_len(prefix, new_key);
    if shared < prefix.len() {
        set_heads(page, shared);
    }
}

fn common_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Takes the longest prefix that all keys share, and sets the heads behind it. Inserts alone never lengthen
/// the prefix.
pub(crate) fn refresh_heads(page: &mut [u8]) {
    let (first, slots) = (first_keyed(page), count(page));
    // Keys ascend: what the first and the last share, all share.
    let shared =
        if first + 1 < slots { common_len(key(page, first), key(page, slots - 1)) } else { 0 };
    set_heads(page, shared);
}

fn set_heads(page: &mut [u8], prefix: usize) {
    set_prefix_len(page, to_u16(prefix));
    for slot in first_keyed(page)..count(page) {
        let head = head_of(key(page, slot), prefix);
        put_u32(page, slot_at(slot) + 2, head);
    }
}

/// Whether prefix and heads are those of the keys.
pub(crate) fn heads_are_right(page: &[u8]) -> bool {
    let prefix = prefix_len(page);
    let mut keyed = first_keyed(page)..count(page);
    let Some(first) = keyed.clone().next() else { return true };
    keyed.all(|slot| {
        let its_key = key(page, slot);
        its_key.get(..prefix) == key(page, first).get(..prefix)
            && its_key.len() >= prefix
            && stored_head(page, slot) == head_of(its_key, prefix)
    })
}

/// Takes a slot out; its cell becomes a hole.
pub(crate) fn remove(page: &mut [u8], slot: usize) {
    let slots = count(page);
    page.copy_within(slot_at(slot + 1)..slot_at(slots), slot_at(slot));
    let gap = to_u16(free(page) + SLOT_LEN);
    set_count(page, to_u16(slots - 1));
    set_free(page, gap);
    if slots - 1 <= first_keyed(page) {
        // No key is left that has the prefix, and the next may be shorter than it.
        set_prefix_len(page, 0);
    }
}

/// Overwrites a leaf's value by one of the same length and kind; `false` when it does not fit so.
pub(crate) fn overwrite(page: &mut [u8], slot: usize, new: &[u8], large: bool) -> bool {
    let old = value(page, slot);
    if old.len != new.len() || old.large != large {
        return false;
    }
    page[old.start..old.start + old.len].copy_from_slice(new);
    true
}

fn compact(page: &mut [u8]) {
    let old = page.to_vec();
    fill(page, (0..count(&old)).map(|slot| cell(&old, slot)));
}

/// Replaces the page's content by `cells`, in this order. They must fit.
pub(crate) fn fill<'a>(page: &mut [u8], cells: impl Iterator<Item = &'a [u8]>) {
    let mut end = page.len();
    let mut slots = 0;
    for cell in cells {
        let start = end - cell.len();
        assert!(slot_at(slots + 1) <= start, "cells do not fit into the page");
        page[start..end].copy_from_slice(cell);
        put_u16(page, slot_at(slots), to_u16(start));
        end = start;
        slots += 1;
    }
    set_count(page, to_u16(slots));
    let gap = end - slot_at(slots);
    page[slot_at(slots)..end].fill(0);
    set_free(page, to_u16(gap));
    refresh_heads(page);
}

/// Holds slots and cells of a page read from the file against the layout.
pub(crate) fn verify(page: &[u8]) -> Result<(), String> {
    let slots = count(page);
    let cell_area = slot_at(slots) + free(page);
    if cell_area > page.len() {
        return Err(format!("{slots} slots and a gap of {} bytes do not fit", free(page)));
    }
    if kind(page) == PageKind::Branch && slots == 0 {
        return Err("a branch has no child".into());
    }
    let mut cells = 0;
    for slot in 0..slots {
        let start = cell_start(page, slot);
        match checked_cell_len(page, start) {
            Some(len) if start >= cell_area => cells += len,
            _ => return Err(format!("the cell of slot {slot} does not lie in the cell area")),
        }
        if slot >= first_keyed(page) && cell_head(page, slot).0 < prefix_len(page) {
            return Err(format!("the key of slot {slot} is shorter than the prefix of all keys"));
        }
    }
    if slots <= first_keyed(page) && prefix_len(page) > 0 {
        return Err("it has a prefix, but no keys".into());
    }
    if cells > page.len() - cell_area {
        return Err("its cells are longer than the cell area".into());
    }
    Ok(())
}

/// The length of the cell at `start`, when it ends inside the page and is as short as cells must be.
fn checked_cell_len(page: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let key_len = varint::get(page, &mut at)?;
    let second = varint::get(page, &mut at)?;
    let value_len = if kind(page) == PageKind::Leaf { second >> 1 } else { 0 };
    if key_len > max_key(page.len()) as u64 || value_len > page.len() as u64 {
        return None;
    }
    let end = at + to_usize(key_len) + to_usize(value_len);
    (end <= page.len() && footprint(end - start) <= capacity(page.len()) / 2).then_some(end - start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{CommitTs, init as init_page};

    fn leaf() -> Vec<u8> {
        let mut page = vec![0; 4096];
        init_page(&mut page, PageId(9), PageKind::Leaf, CommitTs(1));
        init(&mut page);
        page
    }

    fn put(page: &mut [u8], key: &[u8], value: &[u8]) -> bool {
        let mut cell = Vec::new();
        leaf_cell(&mut cell, key, value, false);
        let slot = search(page, key).unwrap_err();
        insert(page, slot, &cell)
    }

    #[test]
    fn holes_are_used_again_before_a_page_is_full() {
        let mut page = leaf();
        let mut n = 0u32;
        while put(&mut page, &n.to_be_bytes(), &[7; 90]) {
            n += 1;
        }
        assert_eq!(n, 39);
        for _ in 0..20 {
            remove(&mut page, 3);
        }
        assert!(put(&mut page, &1000u32.to_be_bytes(), &[8; 1000]));
        verify(&page).unwrap();
        assert_eq!(count(&page), 20);
        let slot = search(&page, &1000u32.to_be_bytes()).unwrap();
        let at = value(&page, slot);
        assert_eq!(&page[at.start..at.start + at.len], &[8; 1000]);
    }

    #[test]
    fn damaged_layouts_are_told() {
        let mut page = leaf();
        assert!(put(&mut page, b"a", b"1"));
        let good = page.clone();
        verify(&page).unwrap();
        put_u16(&mut page, slot_at(0), 4095);
        assert!(verify(&page).is_err());
        page = good.clone();
        set_count(&mut page, 3000);
        assert!(verify(&page).is_err());
        page = good.clone();
        let start = cell_start(&page, 0);
        page[start] = 0x7f;
        assert!(verify(&page).is_err());
        // Two slots on one cell.
        page = good;
        assert!(put(&mut page, b"b", &[2; 100]));
        let start = to_u16(cell_start(&page, 1));
        put_u16(&mut page, slot_at(0), start);
        assert!(verify(&page).is_err());
    }

    #[test]
    fn a_branch_that_lost_its_keys_takes_shorter_ones() {
        let mut page = vec![0; 4096];
        init_page(&mut page, PageId(9), PageKind::Branch, CommitTs(1));
        let cell = |separator: &[u8], child| {
            let mut cell = Vec::new();
            branch_cell(&mut cell, separator, PageId(child));
            cell
        };
        let cells = [cell(b"", 10), cell(b"prefix 1", 11), cell(b"prefix 2", 12)];
        fill(&mut page, cells.iter().map(Vec::as_slice));
        assert_eq!(prefix_len(&page), 7);
        remove(&mut page, 2);
        remove(&mut page, 0);
        assert!(insert(&mut page, 1, &cell(b"b", 13)));
        verify(&page).unwrap();
        assert!(heads_are_right(&page));
        let found = [&b"a"[..], b"b", b"c"].map(|key| child(&page, search_branch(&page, key)).0);
        assert_eq!(found, [11, 13, 13]);
    }

    #[test]
    fn branch_search_takes_the_last_separator_not_above() {
        let mut page = vec![0; 4096];
        init_page(&mut page, PageId(9), PageKind::Branch, CommitTs(1));
        let cells: Vec<Vec<u8>> = [(&b""[..], 10), (b"g", 11), (b"m", 12)]
            .iter()
            .map(|(separator, child)| {
                let mut cell = Vec::new();
                branch_cell(&mut cell, separator, PageId(*child));
                cell
            })
            .collect();
        fill(&mut page, cells.iter().map(Vec::as_slice));
        let found: Vec<u64> = [&b"a"[..], b"g", b"h", b"m", b"z"]
            .iter()
            .map(|key| child(&page, search_branch(&page, key)).0)
            .collect();
        assert_eq!(found, [10, 11, 11, 12, 12]);
    }
}
