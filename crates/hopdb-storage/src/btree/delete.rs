//! Taking entries out, one or a range, and giving back pages that empty.
//!
//! Lazy: a page is merged with its neighbour only when it is less than a quarter full and both together
//! leave room; a range delete merges nothing and frees what it covers.

use super::{LEVELS_MAX, PageSink, Step, descend, is_leaf, large};
use crate::buffer::PageSource;
use crate::error::Result;
use crate::page::{self, PageId, PageKind, slotted};

/// Removes `key`; whether it was there.
pub(crate) fn delete<S: PageSink>(sink: &mut S, root: PageId, key: &[u8]) -> Result<bool> {
    let (path, leaf) = descend(sink, root, key)?;
    let page = sink.page(leaf)?;
    let Ok(slot) = slotted::search(&page, key) else { return Ok(false) };
    free_large(sink, leaf, &page, slot)?;
    drop(page);
    slotted::remove(sink.page_mut(leaf)?, slot);
    mend(sink, root, path, leaf)?;
    Ok(true)
}

fn free_large<S: PageSink>(sink: &mut S, leaf: PageId, page: &[u8], slot: usize) -> Result<()> {
    let value = slotted::value(page, slot);
    if value.large {
        large::free(sink, leaf, &page[value.start..value.start + value.len])?;
    }
    Ok(())
}

/// Removes or merges `id` when it became empty or light, and so on up the path.
fn mend<S: PageSink>(
    sink: &mut S,
    root: PageId,
    mut path: Vec<Step>,
    mut id: PageId,
) -> Result<()> {
    while let Some(parent) = path.pop() {
        let page = sink.page(id)?;
        if page::count(&page) == 0 {
            drop(page);
            slotted::remove(sink.page_mut(parent.page)?, parent.slot);
            sink.free(id)?;
        } else if slotted::used(&page) >= slotted::capacity(page.len()) / 4 || !merge(sink, parent)?
        {
            return Ok(());
        }
        id = parent.page;
    }
    shorten(sink, root)
}

/// Merges the child that a step leads to with a neighbour; whether they were light enough.
fn merge<S: PageSink>(sink: &mut S, step: Step) -> Result<bool> {
    let parent = sink.page(step.page)?;
    let left = if step.slot + 1 < page::count(&parent) {
        step.slot
    } else if step.slot > 0 {
        step.slot - 1
    } else {
        return Ok(false);
    };
    let (left_id, right_id) = (slotted::child(&parent, left), slotted::child(&parent, left + 1));
    let (left_page, right_page) = (sink.page(left_id)?, sink.page(right_id)?);
    let alike = page::kind(&left_page) == page::kind(&right_page)
        && page::level(&left_page) == page::level(&right_page)
        && page::count(&right_page) > 0;
    if !alike {
        return Err(sink.corrupt(right_id, "it does not fit the page beside it".into()));
    }
    let separator = slotted::key(&parent, left + 1).to_vec();
    let together = slotted::used(&left_page) + slotted::used(&right_page) + separator.len() + 8;
    if together > slotted::capacity(left_page.len()) * 3 / 4 {
        return Ok(false);
    }
    drop(parent);
    let right = page::kind(&right_page);
    // The least separator of a branch is not kept in it: it comes back from the parent.
    let mut first = slotted::cell(&right_page, 0).to_vec();
    if right == PageKind::Branch {
        first.clear();
        slotted::branch_cell(&mut first, &separator, slotted::child(&right_page, 0));
    }
    let old_left = left_page.to_vec();
    drop(left_page);
    let cells = (0..page::count(&old_left))
        .map(|slot| slotted::cell(&old_left, slot))
        .chain(std::iter::once(first.as_slice()))
        .chain((1..page::count(&right_page)).map(|slot| slotted::cell(&right_page, slot)));
    slotted::fill(sink.page_mut(left_id)?, cells);
    slotted::remove(sink.page_mut(step.page)?, left + 1);
    sink.free(right_id)?;
    Ok(true)
}

/// Takes levels off a root branch that has one child or none.
fn shorten<S: PageSink>(sink: &mut S, root: PageId) -> Result<()> {
    loop {
        let page = sink.page(root)?;
        if page::kind(&page) != PageKind::Branch || page::count(&page) > 1 {
            return Ok(());
        }
        if page::count(&page) == 0 {
            let bytes = sink.page_mut(root)?;
            page::set_kind(bytes, PageKind::Leaf);
            page::set_level(bytes, 0);
            slotted::fill(bytes, std::iter::empty());
            return Ok(());
        }
        let child_id = slotted::child(&page, 0);
        let child = sink.page(child_id)?.to_vec();
        let bytes = sink.page_mut(root)?;
        page::set_kind(bytes, page::kind(&child));
        page::set_level(bytes, page::level(&child));
        slotted::fill(bytes, (0..page::count(&child)).map(|slot| slotted::cell(&child, slot)));
        sink.free(child_id)?;
    }
}

/// Bounds of a range: from `low` on, up to but not including `high`; `None` is no bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds<'k> {
    pub(crate) low: Option<&'k [u8]>,
    pub(crate) high: Option<&'k [u8]>,
}

/// Removes all entries within `bounds`; gives their number.
pub(crate) fn delete_range<S: PageSink>(
    sink: &mut S,
    root: PageId,
    bounds: Bounds<'_>,
) -> Result<u64> {
    let removed = delete_within(sink, root, bounds, 0)?;
    shorten(sink, root)?;
    Ok(removed)
}

fn delete_within<S: PageSink>(
    sink: &mut S,
    id: PageId,
    bounds: Bounds<'_>,
    depth: usize,
) -> Result<u64> {
    let page = sink.page(id)?;
    if is_leaf(sink, id, &page, depth)? {
        let place = |key: &[u8]| slotted::search(&page, key).unwrap_or_else(|slot| slot);
        let from = bounds.low.map_or(0, place);
        let to = bounds.high.map_or(page::count(&page), place).max(from);
        for slot in from..to {
            free_large(sink, id, &page, slot)?;
        }
        drop(page);
        for slot in (from..to).rev() {
            slotted::remove(sink.page_mut(id)?, slot);
        }
        return Ok((to - from) as u64);
    }
    let first = bounds.low.map_or(0, |key| slotted::search_branch(&page, key));
    let last = bounds
        .high
        .map_or(page::count(&page) - 1, |key| slotted::search_branch(&page, key))
        .max(first);
    let children: Vec<PageId> = (first..=last).map(|slot| slotted::child(&page, slot)).collect();
    drop(page);
    let mut removed = 0;
    for (index, child) in children.iter().enumerate().rev() {
        let slot = first + index;
        let part = Bounds {
            low: bounds.low.filter(|_| slot == first),
            high: bounds.high.filter(|_| slot == last),
        };
        if part.low.is_none() && part.high.is_none() {
            removed += free_tree(sink, *child, depth + 1)?;
            slotted::remove(sink.page_mut(id)?, slot);
            continue;
        }
        removed += delete_within(sink, *child, part, depth + 1)?;
        if page::count(&sink.page(*child)?) == 0 {
            sink.free(*child)?;
            slotted::remove(sink.page_mut(id)?, slot);
        }
    }
    Ok(removed)
}

/// Frees a page and all below it, large values too; gives the number of entries.
pub(crate) fn free_tree<S: PageSink>(sink: &mut S, id: PageId, depth: usize) -> Result<u64> {
    assert!(depth <= LEVELS_MAX, "checked on the way down");
    // A copy: a page for each level would be more than a small pool has frames.
    let page = sink.page(id)?.to_vec();
    let mut entries = 0;
    if is_leaf(sink, id, &page, depth)? {
        entries = page::count(&page) as u64;
        for slot in 0..page::count(&page) {
            free_large(sink, id, &page, slot)?;
        }
    } else {
        for slot in 0..page::count(&page) {
            entries += free_tree(sink, slotted::child(&page, slot), depth + 1)?;
        }
    }
    sink.free(id)?;
    Ok(entries)
}

/// Whether a tree has no entry.
pub(crate) fn is_empty<S: PageSource>(source: &S, root: PageId) -> Result<bool> {
    let page = source.page(root)?;
    Ok(page::kind(&page) == PageKind::Leaf && page::count(&page) == 0)
}
