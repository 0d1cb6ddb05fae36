//! Building a tree bottom-up from ascending keys: each page is filled once, handed on, and forgotten.

use super::{PageSink, check_key, large, separator};
use crate::error::{Error, Result};
use crate::page::{self, CommitTs, PageId, PageKind, slotted};

/// How full pages are made, in percent of their capacity: room for a few later entries.
const FILL_PERCENT: usize = 95;

/// The open page of one level.
#[derive(Debug)]
struct Level {
    page: Box<[u8]>,
    /// Separator of the open page in its parent.
    separator: Vec<u8>,
}

/// Builds the tree at an empty root. Nothing is seen of it before [`BulkBuilder::finish`].
#[derive(Debug)]
pub(crate) struct BulkBuilder {
    root: PageId,
    birth: CommitTs,
    levels: Vec<Level>,
    last_key: Vec<u8>,
    cell: Vec<u8>,
    entries: u64,
}

impl BulkBuilder {
    /// A builder for the empty tree at `root`.
    pub(crate) fn new(root: PageId, birth: CommitTs) -> Self {
        Self { root, birth, levels: Vec::new(), last_key: Vec::new(), cell: Vec::new(), entries: 0 }
    }

    /// Whether no entry was pushed.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Appends an entry; its key is above all before.
    pub(crate) fn push<S: PageSink>(
        &mut self,
        sink: &mut S,
        key: &[u8],
        value: &[u8],
    ) -> Result<()> {
        let page_size = sink.page_size();
        check_key(key, page_size)?;
        if self.entries > 0 && key <= self.last_key.as_slice() {
            return Err(Error::KeysNotAscending { entry: self.entries });
        }
        self.cell.clear();
        if large::is_large(key.len(), value.len(), page_size) {
            let descriptor = large::write(sink, value, self.birth)?;
            slotted::leaf_cell(&mut self.cell, key, &descriptor, true);
        } else {
            slotted::leaf_cell(&mut self.cell, key, value, false);
        }
        if self.levels.is_empty() {
            self.levels.push(self.level(0, page_size, Vec::new()));
        }
        if !append(&mut self.levels[0].page, &self.cell) {
            let separator = separator(&self.last_key, key).to_vec();
            self.turn_page(sink, 0, separator)?;
            assert!(append(&mut self.levels[0].page, &self.cell), "a cell fits an empty page");
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        self.entries += 1;
        Ok(())
    }

    fn level(&self, level: usize, page_size: usize, separator: Vec<u8>) -> Level {
        let mut page = vec![0; page_size].into_boxed_slice();
        let kind = if level == 0 { PageKind::Leaf } else { PageKind::Branch };
        page::init(&mut page, PageId(0), kind, self.birth);
        page::set_level(&mut page, u8::try_from(level).unwrap_or(u8::MAX));
        slotted::init(&mut page);
        Level { page, separator }
    }

    /// Finishes the open page of a level and opens the next, whose separator is `separator`.
    fn turn_page<S: PageSink>(
        &mut self,
        sink: &mut S,
        level: usize,
        separator: Vec<u8>,
    ) -> Result<()> {
        let next = self.level(level, sink.page_size(), separator);
        let full = std::mem::replace(&mut self.levels[level], next);
        self.close_page(sink, level, full)
    }

    fn close_page<S: PageSink>(&mut self, sink: &mut S, level: usize, full: Level) -> Result<()> {
        let Level { mut page, separator } = full;
        let id = sink.allocate_id(false)?;
        page::set_id(&mut page, id);
        slotted::refresh_heads(&mut page);
        sink.write_through(page)?;
        let mut cell = Vec::with_capacity(separator.len() + 12);
        slotted::branch_cell(&mut cell, &separator, id);
        if self.levels.len() == level + 1 {
            self.levels.push(self.level(level + 1, sink.page_size(), Vec::new()));
        }
        if !append(&mut self.levels[level + 1].page, &cell) {
            self.turn_page(sink, level + 1, separator)?;
            assert!(append(&mut self.levels[level + 1].page, &cell), "a cell fits an empty page");
        }
        Ok(())
    }

    /// Closes the open pages and makes the topmost the root; gives the number of entries.
    pub(crate) fn finish<S: PageSink>(mut self, sink: &mut S) -> Result<u64> {
        let mut level = 0;
        while level + 1 < self.levels.len() {
            let next = self.level(level, sink.page_size(), Vec::new());
            let last = std::mem::replace(&mut self.levels[level], next);
            self.close_page(sink, level, last)?;
            level += 1;
        }
        let Some(Level { page: top, .. }) = self.levels.pop() else { return Ok(0) };
        let root = sink.page_mut(self.root)?;
        assert!(page::count(root) == 0, "a bulk load starts from an empty tree");
        page::set_kind(root, page::kind(&top));
        page::set_level(root, page::level(&top));
        slotted::fill(root, (0..page::count(&top)).map(|slot| slotted::cell(&top, slot)));
        Ok(self.entries)
    }
}

/// Appends a cell unless the page is as full as it should get.
fn append(page: &mut [u8], cell: &[u8]) -> bool {
    let slots = page::count(page);
    let reserve = slotted::capacity(page.len()) * (100 - FILL_PERCENT) / 100;
    if slots > 0 && page::free(page) < slotted::footprint(cell.len()) + reserve {
        return false;
    }
    slotted::insert(page, slots, cell)
}
