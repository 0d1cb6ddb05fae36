//! B+trees over pages: keys and values as bytes, in `memcmp` order.
//!
//! **Words.** *Leaf page*: cells of keys and values. *Branch page*: cells of separators and children; the
//! child of slot `i` holds the keys from separator `i` up to, not including, separator `i + 1`. *Large
//! value*: one that lies in extents of its own. *Level*: 0 for leaves.
//!
//! **Invariants** (held by `verify`, tested against `BTreeMap`):
//! 1. A tree's root page never changes its id, so whoever knows the id knows the tree in every snapshot.
//! 2. Keys ascend strictly within and across leaves; each lies within the separators above it.
//! 3. All leaves are at level 0, each branch one above its children; only a root leaf may be empty.
//! 4. Two cells always fit into a page: a cell takes at most half of it. So a split always succeeds.
//! 5. Every page is reached from one parent only.

pub(crate) mod bulk;
pub(crate) mod cursor;
pub(crate) mod delete;
pub(crate) mod insert;
pub(crate) mod large;
pub(crate) mod verify;

#[cfg(test)]
mod tests;

use crate::buffer::PageSource;
use crate::error::{Error, Result};
use crate::page::{PageId, PageKind, slotted};

/// Most levels of a tree: a deeper one is damaged (a loop of pages).
pub(crate) const LEVELS_MAX: usize = 48;

/// A source of pages that takes changes: a write transaction.
pub(crate) trait PageSink: PageSource {
    /// Bytes of a page.
    fn page_size(&self) -> usize;
    /// A page of this transaction to change; the first call makes the private copy.
    fn page_mut(&mut self, id: PageId) -> Result<&mut [u8]>;
    /// Allocates a page that is empty but for its header.
    fn allocate(&mut self, kind: PageKind) -> Result<PageId>;
    /// Allocates the id of a page that will be given to [`PageSink::write_through`]. With `at_end` it
    /// comes from the end of the file, so that ids follow one another.
    fn allocate_id(&mut self, at_end: bool) -> Result<PageId>;
    /// Takes a whole page, header included, that need not stay in memory.
    fn write_through(&mut self, page: Box<[u8]>) -> Result<()>;
    /// Gives a page back at commit.
    fn free(&mut self, id: PageId) -> Result<()>;
}

/// One step from the root to a leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) page: PageId,
    pub(crate) slot: usize,
}

/// Goes down to the leaf that may hold `key`: the branches passed and the leaf's id.
pub(crate) fn descend<S: PageSource>(
    source: &S,
    root: PageId,
    key: &[u8],
) -> Result<(Vec<Step>, PageId)> {
    let mut path = Vec::new();
    let mut id = root;
    loop {
        let page = source.page(id)?;
        if is_leaf(source, id, &page, path.len())? {
            return Ok((path, id));
        }
        let slot = slotted::search_branch(&page, key);
        path.push(Step { page: id, slot });
        id = slotted::child(&page, slot);
    }
}

/// Whether a page met on the way down is a leaf; an error when it is not even a tree page.
#[inline]
pub(crate) fn is_leaf<S: PageSource>(
    source: &S,
    id: PageId,
    page: &[u8],
    depth: usize,
) -> Result<bool> {
    match crate::page::kind(page) {
        PageKind::Leaf => Ok(true),
        PageKind::Branch if depth < LEVELS_MAX => Ok(false),
        PageKind::Branch => Err(source.corrupt(id, "its tree has too many levels".into())),
        kind => Err(source.corrupt(id, format!("a tree leads to it, but its kind is {kind:?}"))),
    }
}

/// Fails when a key is longer than a page allows.
pub(crate) fn check_key(key: &[u8], page_size: usize) -> Result<()> {
    let max = slotted::max_key(page_size);
    if key.len() > max { Err(Error::KeyTooLarge { len: key.len(), max }) } else { Ok(()) }
}

/// The shortest bytes that are above `left` and not above `right`; `left < right`.
pub(crate) fn separator<'a>(left: &[u8], right: &'a [u8]) -> &'a [u8] {
    let common = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    &right[..right.len().min(common + 1)]
}
