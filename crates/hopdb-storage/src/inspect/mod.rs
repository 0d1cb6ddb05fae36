//! Looking at the file as it lies: one page taken apart, the way from a root to a cell, a cell's bytes.
//!
//! For people and tools that show how a database lies on disk; nothing else builds on it. It reads only. Pages that
//! are in use are read through the snapshot and its pool, so that what is shown is what that snapshot sees; headers
//! and free pages, which no snapshot has, are read from the file.
//!
//! What keys and values mean is not known here: a [`Meaning`] says it, table by table. The directory's are.
//!
//! Invariants: bytes and fields belong together, and fields tile their bytes ([`Fields`]). A damaged page is shown as
//! one, with what is wrong with it; no bytes lead to a panic.

mod cells;
mod fields;
mod layout;

#[cfg(test)]
mod tests;

pub use fields::{Field, Fields, Hex};

use serde::Serialize;

use cells::Meant;

use crate::btree::large::Descriptor;
use crate::btree::{LEVELS_MAX, descend, is_leaf};
use crate::buffer::PageSource;
use crate::error::{Error, Result};
use crate::page::{self, DIRECTORY_ROOT, PageId, PageKind, slotted};
use crate::store::{ReadTxn, View};
use crate::txn::allocation;

/// Name of the table of tables, which has none in the file.
pub const DIRECTORY: &str = "directory";
/// Most bytes of a large value that are shown.
pub const LARGE_BYTES_MAX: usize = 16 << 10;

/// What a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One of the two header slots.
    Header,
    /// Not in use.
    Free,
    /// One bit a page: in use or not.
    AllocationMap,
    /// Leaf of a B+tree.
    Leaf,
    /// Inner page of a B+tree.
    Branch,
    /// Part of a large value.
    Extent,
}

impl From<PageKind> for Kind {
    fn from(kind: PageKind) -> Self {
        match kind {
            PageKind::Free => Self::Free,
            PageKind::AllocationMap => Self::AllocationMap,
            PageKind::Leaf => Self::Leaf,
            PageKind::Branch => Self::Branch,
            PageKind::Extent => Self::Extent,
        }
    }
}

/// What the keys and values of tables mean. All of it is total: any bytes can come.
pub trait Meaning {
    /// Takes a key apart. Where the fields go on, the key is a separator, which may be cut short.
    fn key(&self, table: &str, key: &mut Fields<'_>);
    /// Takes apart the value of `key`.
    fn value(&self, table: &str, key: &[u8], value: &mut Fields<'_>);
    /// A key in a line; with `cut`, of a separator.
    fn key_text(&self, table: &str, key: &[u8], cut: bool) -> String;
    /// The value of `key` in a line.
    fn value_text(&self, table: &str, key: &[u8], value: &[u8]) -> String;
}

/// The meaning that any table has: bytes.
#[derive(Clone, Copy, Debug)]
pub struct PlainBytes;

impl Meaning for PlainBytes {
    fn key(&self, _: &str, key: &mut Fields<'_>) {
        key.take_rest("key", fields::preview(key.rest()));
    }

    fn value(&self, _: &str, _: &[u8], value: &mut Fields<'_>) {
        value.take_rest("value", fields::preview(value.rest()));
    }

    fn key_text(&self, _: &str, key: &[u8], _: bool) -> String {
        fields::preview(key)
    }

    fn value_text(&self, _: &str, _: &[u8], value: &[u8]) -> String {
        fields::preview(value)
    }
}

/// A page taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Page {
    /// Its id.
    pub page: u64,
    /// What it is.
    pub kind: Kind,
    /// Of a tree page: 0 for leaves, parents one more than their children; 0 of others.
    pub level: u8,
    /// The table whose tree it is in; `None` for pages of no tree, and where that cannot be found out.
    pub table: Option<String>,
    /// All its bytes.
    pub bytes: Hex,
    /// Fields that tile them: header, slots, gap, cells and holes of a tree page.
    pub fields: Vec<Field>,
    /// The slots of a tree page, in key order.
    pub slots: Vec<Slot>,
}

/// A slot of a tree page, with its cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Slot {
    /// Its number, from 0.
    pub slot: usize,
    /// First byte of its cell in the page.
    pub offset: usize,
    /// Bytes of its cell.
    pub len: usize,
    /// The key, or a branch's separator, as text.
    pub key: String,
    /// The value as text; of a branch's slot, which page it leads to.
    pub value: String,
    /// The page that a branch's slot leads to.
    pub child: Option<u64>,
}

/// A page on the way from a root to a leaf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChainStep {
    /// Its id.
    pub page: u64,
    /// Branch or leaf.
    pub kind: Kind,
    /// 0 for leaves, parents one more than their children.
    pub level: u8,
    /// The slot that was taken.
    pub slot: usize,
    /// How many slots it has.
    pub slots: usize,
    /// The key, or the separator, of the slot, as text; `None` in slot 0 of a branch, which has none.
    pub key: Option<String>,
    /// Bytes that neither slots nor cells take, holes included.
    pub free_bytes: usize,
}

/// A cell of a leaf, and the way to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// The table that it is in.
    pub table: String,
    /// The way to it, root first.
    pub chain: Vec<ChainStep>,
    /// First byte of the cell in the last page of the chain.
    pub offset: usize,
    /// The cell's bytes.
    pub bytes: Hex,
    /// Fields that tile them.
    pub fields: Vec<Field>,
    /// The value, where it lies outside its leaf.
    pub large: Option<Large>,
}

/// A value outside its leaf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Large {
    /// Bytes of the whole value.
    pub length: u64,
    /// Where they lie, in order.
    pub extents: Vec<Extent>,
    /// The first of them, [`LARGE_BYTES_MAX`] at most.
    pub bytes: Hex,
    /// Fields that tile those.
    pub fields: Vec<Field>,
    /// Whether there are more.
    pub cut: bool,
}

/// A run of pages of a large value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// First page.
    pub first_page: u64,
    /// How many follow one another.
    pub pages: u64,
}

impl ReadTxn {
    /// Pages of the file as the snapshot sees it, headers and free ones included.
    #[must_use]
    pub fn page_count(&self) -> u64 {
        self.pages
    }

    /// A page taken apart; `None` when the file has fewer pages. One that is damaged is shown as its bytes, with
    /// what is wrong with it.
    ///
    /// # Errors
    /// Failed reads; a damaged page of no known kind.
    pub fn inspect_page(&self, id: PageId, meaning: &dyn Meaning) -> Result<Option<Page>> {
        if id.0 >= self.pages {
            return Ok(None);
        }
        if id.0 < 2 {
            return Ok(Some(layout::header_slot(id, &self.engine.pager.read_unverified(id)?)));
        }
        if !self.in_use(id) {
            return Ok(Some(layout::free(id, &self.engine.pager.read_unverified(id)?)));
        }
        match self.page(id) {
            Ok(bytes) if page::kind(&bytes) == PageKind::AllocationMap => {
                let first = if id.0 == 3 { 0 } else { id.0 };
                Ok(Some(layout::allocation_map(id, &bytes, first..self.pages)))
            }
            Ok(bytes) if page::kind(&bytes) == PageKind::Extent => {
                Ok(Some(layout::extent(id, &bytes)))
            }
            Ok(bytes) if page::kind(&bytes) == PageKind::Free => Ok(Some(layout::free(id, &bytes))),
            Ok(bytes) => {
                let bytes = bytes.to_vec();
                Ok(Some(layout::tree(id, &bytes, self.owner(id), meaning)))
            }
            Err(Error::CorruptPage { path, page, reason }) => {
                let bytes = self.engine.pager.read_unverified(id)?;
                let shown = layout::damaged(id, &bytes, &reason);
                shown.map(Some).ok_or(Error::CorruptPage { path, page, reason })
            }
            Err(error) => Err(error),
        }
    }

    /// The cell of a key in a table, and the way to it; `None` when the key or the table is not there.
    ///
    /// # Errors
    /// Failed reads, damaged pages on the way.
    pub fn inspect_cell(
        &self,
        table: &str,
        key: &[u8],
        meaning: &dyn Meaning,
    ) -> Result<Option<Cell>> {
        let Some(root) = self.root(table)? else { return Ok(None) };
        let meant = Meant::of(Some(table), meaning);
        let (path, leaf) = descend(self, root, key)?;
        let page = self.page(leaf)?.to_vec();
        let Ok(slot) = slotted::search(&page, key) else { return Ok(None) };
        let mut chain = Vec::new();
        for step in path {
            chain.push(cells::chain_step(&self.page(step.page)?, step.slot, &meant));
        }
        chain.push(cells::chain_step(&page, slot, &meant));
        let bytes = slotted::cell(&page, slot);
        let mut fields = Fields::of(bytes, false);
        cells::leaf_cell(&mut fields, "", &meant);
        Ok(Some(Cell {
            table: table.into(),
            chain,
            offset: slotted::cell_start(&page, slot),
            bytes: Hex(bytes.to_vec()),
            fields: fields.finish(),
            large: self.large(&page, slot, &meant)?,
        }))
    }

    fn root(&self, table: &str) -> Result<Option<PageId>> {
        if table == DIRECTORY {
            return Ok(Some(DIRECTORY_ROOT));
        }
        Ok(self.table(table)?.map(|table| table.root))
    }

    fn large(&self, page: &[u8], slot: usize, meant: &Meant<'_>) -> Result<Option<Large>> {
        let value = slotted::value(page, slot);
        if !value.large {
            return Ok(None);
        }
        let Some(descriptor) = Descriptor::decode(&page[value.start..value.start + value.len])
        else {
            // The cell's fields say so.
            return Ok(None);
        };
        let shown = usize::try_from(descriptor.len).unwrap_or(usize::MAX).min(LARGE_BYTES_MAX);
        let mut bytes = vec![0; shown];
        let got = descriptor.read_at(self, page.len(), 0, &mut bytes)?;
        bytes.truncate(got);
        let cut = (got as u64) < descriptor.len;
        let mut fields = Fields::of(&bytes, cut);
        meant.value(slotted::key(page, slot), &mut fields);
        let fields = fields.finish();
        let extents = descriptor.extents.iter();
        let extents = extents.map(|(first, pages)| Extent { first_page: first.0, pages: *pages });
        Ok(Some(Large {
            length: descriptor.len,
            extents: extents.collect(),
            bytes: Hex(bytes),
            fields,
            cut,
        }))
    }

    /// Whether the allocation map says so; where it cannot be read, the page itself must tell.
    fn in_use(&self, id: PageId) -> bool {
        let range_pages = self.engine.pager.range_pages();
        let map = self.page(allocation::map_page(id, range_pages));
        map.map_or(true, |map| allocation::in_use(&map, id, range_pages))
    }

    /// The table whose tree a page is in: the one in which the way to the first key below the page leads through it.
    fn owner(&self, id: PageId) -> Option<String> {
        let key = self.first_key_below(id).ok()?;
        let names = self.tables().unwrap_or_default();
        let leads_here = |name: &String| {
            let Ok(Some(root)) = self.root(name) else { return false };
            let way = descend(self, root, &key);
            way.is_ok_and(|(path, leaf)| leaf == id || path.iter().any(|step| step.page == id))
        };
        std::iter::once(DIRECTORY.to_owned()).chain(names).find(leads_here)
    }

    fn first_key_below(&self, id: PageId) -> Result<Vec<u8>> {
        let mut id = id;
        for depth in 0..=LEVELS_MAX {
            let page = self.page(id)?;
            if is_leaf(self, id, &page, depth)? {
                let empty = page::count(&page) == 0;
                return Ok(if empty { Vec::new() } else { slotted::key(&page, 0).to_vec() });
            }
            id = slotted::child(&page, 0);
        }
        Err(self.corrupt(id, "its tree has too many levels".into()))
    }
}
