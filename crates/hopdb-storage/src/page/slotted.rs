//! The slotted layout of tree pages: slots in key order at the front, cells at the back.
//!
//! Leaf and branch cells share a head (`varint key length, varint second, key`), where `second` is twice
//! the value's length plus a flag in a leaf, and the child's page id in a branch. Nothing here knows
//! keys' meaning, splits or transactions.
//!
//! Invariants of a page that passed [`verify`]: every slot points into the cell area, every cell ends
//! inside the page, and `free` is the gap between slots and cells.

use std::cmp::Ordering;

use super::{HEADER_LEN, PageId, PageKind, count, free, kind, set_count, set_free};
use crate::codec::num::{get_u16, put_u16, to_u16, to_usize};
use crate::codec::varint;

const SLOT_LEN: usize = 2;

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

#[inline]
fn cell_start(page: &[u8], slot: usize) -> usize {
    usize::from(get_u16(page, slot_at(slot)))
}

/// Reads a varint that [`verify`] has passed.
#[inline]
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
fn head(page: &[u8], slot: usize) -> (usize, u64, usize) {
    let mut at = cell_start(page, slot);
    let key_len = to_usize(number(page, &mut at));
    let second = number(page, &mut at);
    (key_len, second, at)
}

/// The key of a slot.
#[inline]
pub(crate) fn key(page: &[u8], slot: usize) -> &[u8] {
    let (len, _, at) = head(page, slot);
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
    let (key_len, second, at) = head(page, slot);
    RawValue { large: second & 1 == 1, start: at + key_len, len: to_usize(second >> 1) }
}

/// The child of a branch's slot.
#[inline]
pub(crate) fn child(page: &[u8], slot: usize) -> PageId {
    PageId(head(page, slot).1)
}

fn cell_len(page: &[u8], slot: usize) -> usize {
    let (key_len, second, at) = head(page, slot);
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
    let mut low = 0;
    let mut high = count(page);
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

/// The slot of a branch whose child may hold `wanted`.
#[inline]
pub(crate) fn search_branch(page: &[u8], wanted: &[u8]) -> usize {
    let mut low = 1;
    let mut high = count(page);
    while low < high {
        let middle = low.midpoint(high);
        if key(page, middle) <= wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low - 1
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
    let slots = count(page);
    let cell_area = slot_at(slots) + free(page);
    let start = cell_area - cell.len();
    page[start..cell_area].copy_from_slice(cell);
    page.copy_within(slot_at(slot)..slot_at(slots), slot_at(slot + 1));
    put_u16(page, slot_at(slot), to_u16(start));
    let gap = to_u16(free(page) - need);
    set_count(page, to_u16(slots + 1));
    set_free(page, gap);
    true
}

/// Takes a slot out; its cell becomes a hole.
pub(crate) fn remove(page: &mut [u8], slot: usize) {
    let slots = count(page);
    page.copy_within(slot_at(slot + 1)..slot_at(slots), slot_at(slot));
    let gap = to_u16(free(page) + SLOT_LEN);
    set_count(page, to_u16(slots - 1));
    set_free(page, gap);
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
    for slot in 0..slots {
        let start = cell_start(page, slot);
        if start < cell_area || !ends_inside(page, start) {
            return Err(format!("the cell of slot {slot} does not lie in the cell area"));
        }
    }
    Ok(())
}

fn ends_inside(page: &[u8], start: usize) -> bool {
    let mut at = start;
    let Some(key_len) = varint::get(page, &mut at) else { return false };
    let Some(second) = varint::get(page, &mut at) else { return false };
    let value_len = if kind(page) == PageKind::Leaf { second >> 1 } else { 0 };
    let room = (page.len() - at) as u64;
    key_len.checked_add(value_len).is_some_and(|len| len <= room)
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
        assert_eq!(n, 40);
        for _ in 0..20 {
            remove(&mut page, 3);
        }
        assert!(put(&mut page, &1000u32.to_be_bytes(), &[8; 1000]));
        verify(&page).unwrap();
        assert_eq!(count(&page), 21);
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
        page = good;
        let start = cell_start(&page, 0);
        page[start] = 0x7f;
        assert!(verify(&page).is_err());
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
