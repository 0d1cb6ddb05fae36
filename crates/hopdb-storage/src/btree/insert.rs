//! Putting entries in, and splitting the pages that are full.

use super::{PageSink, Step, check_key, descend, large, separator};
use crate::error::Result;
use crate::page::{self, CommitTs, PageId, PageKind, slotted};

/// Sets the value of `key`; whether the key is new.
pub(crate) fn put<S: PageSink>(
    sink: &mut S,
    root: PageId,
    key: &[u8],
    value: &[u8],
    birth: CommitTs,
) -> Result<bool> {
    check_key(key, sink.page_size())?;
    // First of all: it is refused when there is no such tree.
    let (mut path, leaf) = descend(sink, root, key)?;
    let is_large = large::is_large(key.len(), value.len(), sink.page_size());
    let descriptor;
    let value = if is_large {
        descriptor = large::write(sink, value, birth)?;
        &descriptor
    } else {
        value
    };
    let page = sink.page(leaf)?;
    let (slot, new) = match slotted::search(&page, key) {
        Err(slot) => (slot, true),
        Ok(slot) => {
            let old = slotted::value(&page, slot);
            if old.large {
                large::free(sink, leaf, &page[old.start..old.start + old.len])?;
            }
            drop(page);
            if slotted::overwrite(sink.page_mut(leaf)?, slot, value, is_large) {
                return Ok(false);
            }
            slotted::remove(sink.page_mut(leaf)?, slot);
            (slot, false)
        }
    };
    let mut cell = Vec::with_capacity(key.len() + value.len() + 8);
    slotted::leaf_cell(&mut cell, key, value, is_large);
    insert_cell(sink, &mut path, leaf, slot, &cell)?;
    Ok(new)
}

/// Puts a cell before `slot` of a page, splitting pages from there up as far as needed.
fn insert_cell<S: PageSink>(
    sink: &mut S,
    path: &mut Vec<Step>,
    id: PageId,
    slot: usize,
    cell: &[u8],
) -> Result<()> {
    if slotted::insert(sink.page_mut(id)?, slot, cell) {
        return Ok(());
    }
    let old = sink.page(id)?.to_vec();
    let mut cells: Vec<&[u8]> = (0..page::count(&old)).map(|i| slotted::cell(&old, i)).collect();
    cells.insert(slot, cell);
    let at = split_at(&cells, slot, old.len());
    let (left, right) = cells.split_at(at);
    let separator = separator_of(&old, left, right);
    match path.pop() {
        Some(parent) => {
            let right_id = filled_page(sink, &old, right)?;
            slotted::fill(sink.page_mut(id)?, left.iter().copied());
            let mut up = Vec::new();
            slotted::branch_cell(&mut up, &separator, right_id);
            insert_cell(sink, path, parent.page, parent.slot + 1, &up)
        }
        None => {
            let left_id = filled_page(sink, &old, left)?;
            let right_id = filled_page(sink, &old, right)?;
            let mut cells = [Vec::new(), Vec::new()];
            slotted::branch_cell(&mut cells[0], &[], left_id);
            slotted::branch_cell(&mut cells[1], &separator, right_id);
            let root = sink.page_mut(id)?;
            page::set_kind(root, PageKind::Branch);
            page::set_level(root, page::level(&old) + 1);
            slotted::fill(root, cells.iter().map(Vec::as_slice));
            Ok(())
        }
    }
}

/// A new page of the kind and level of `like`, with these cells.
fn filled_page<S: PageSink>(sink: &mut S, like: &[u8], cells: &[&[u8]]) -> Result<PageId> {
    let id = sink.allocate(page::kind(like))?;
    let bytes = sink.page_mut(id)?;
    page::set_level(bytes, page::level(like));
    slotted::fill(bytes, cells.iter().copied());
    Ok(id)
}

/// Where to split: behind everything when the new cell comes last, so that ascending keys fill pages;
/// else where both sides weigh about the same.
fn split_at(cells: &[&[u8]], new: usize, page_size: usize) -> usize {
    let weight = |cell: &&[u8]| slotted::footprint(cell.len());
    if new + 1 == cells.len() {
        return new;
    }
    let total: usize = cells.iter().map(weight).sum();
    let capacity = slotted::capacity(page_size);
    let mut left = 0;
    let mut best = (usize::MAX, 1);
    for (index, cell) in cells.iter().enumerate().take(cells.len() - 1) {
        left += weight(cell);
        let right = total - left;
        if left <= capacity && right <= capacity {
            best = best.min((left.abs_diff(right), index + 1));
        }
    }
    assert!(best.0 != usize::MAX, "two cells always fit into a page");
    best.1
}

fn separator_of(like: &[u8], left: &[&[u8]], right: &[&[u8]]) -> Vec<u8> {
    let first = slotted::key_of_cell(right[0]);
    if page::kind(like) == PageKind::Branch {
        return first.to_vec();
    }
    separator(slotted::key_of_cell(left[left.len() - 1]), first).to_vec()
}
