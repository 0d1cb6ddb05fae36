//! Reading a table: what snapshots and write transactions have in common.

use super::{ReadTxn, Table, WriteTxn, directory_root, pins_branches};
use crate::btree::cursor::{self, Keys};
use crate::btree::large::Descriptor;
use crate::btree::{descend, verify};
use crate::buffer::{PageRef, PageSource};
use crate::error::{Error, Result};
use crate::page::{self, DIRECTORY_ROOT, HEADER_LEN, PageId, slotted};

/// A view of the tables: a snapshot, or a write transaction with its own changes.
pub trait View: PageSource + Sized {
    /// Whether cursors may keep branches pinned.
    #[doc(hidden)]
    fn pins_branches(&self) -> bool;

    /// The table of this name.
    ///
    /// # Errors
    /// Failed reads.
    fn table(&self, name: &str) -> Result<Option<Table>> {
        let found = self.get(Table { root: DIRECTORY_ROOT }, name.as_bytes())?;
        found.map(|value| directory_root(self, &value.to_vec()?)).transpose()
    }

    /// Names of all tables, ascending.
    ///
    /// # Errors
    /// Failed reads.
    fn tables(&self) -> Result<Vec<String>> {
        let mut cursor = self.cursor(Table { root: DIRECTORY_ROOT });
        let mut names = Vec::new();
        let mut more = cursor.first()?;
        while more {
            names.extend(cursor.key().map(|name| String::from_utf8_lossy(name).into_owned()));
            more = cursor.next()?;
        }
        Ok(names)
    }

    /// The value of a key.
    ///
    /// # Errors
    /// Failed reads.
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Found<'_, Self>>> {
        let (_, leaf) = descend(self, table.root, key)?;
        let page = self.page(leaf)?;
        Ok(slotted::search(&page, key).ok().map(|slot| Found::new(self, page, slot)))
    }

    /// A cursor that stands nowhere yet.
    fn cursor(&self, table: Table) -> Cursor<'_, Self> {
        Cursor { view: self, inner: cursor::Cursor::new(self, table.root, self.pins_branches()) }
    }

    /// Walks the whole table and counts; problems found are in [`ReadTxn::check`].
    fn statistics(&self, table: Table) -> verify::TreeStatistics {
        struct Ignore;
        impl verify::Visitor for Ignore {
            fn page(&mut self, _: PageId, _: page::PageKind) {}
            fn unreadable(&mut self, _: PageId, _: &Error) {}
            fn problem(&mut self, _: PageId, _: String) {}
        }
        verify::verify(self, table.root, &mut Ignore)
    }
}

impl View for ReadTxn {
    fn pins_branches(&self) -> bool {
        pins_branches(&self.engine)
    }
}

impl View for WriteTxn {
    fn pins_branches(&self) -> bool {
        pins_branches(&self.store.engine)
    }
}

/// A value that was found: holds its leaf in memory while it lives.
#[derive(Debug)]
pub struct Found<'v, V> {
    view: &'v V,
    page: PageRef,
    slot: usize,
}

impl<'v, V: View> Found<'v, V> {
    fn new(view: &'v V, page: PageRef, slot: usize) -> Self {
        Self { view, page, slot }
    }

    /// The value's bytes when they lie in the leaf; `None` for a large value.
    #[must_use]
    pub fn inline(&self) -> Option<&[u8]> {
        inline(&self.page, self.slot)
    }

    /// The large value; `None` for one in the leaf.
    ///
    /// # Errors
    /// A damaged descriptor.
    pub fn large(&self) -> Result<Option<Large<'v, V>>> {
        large(self.view, &self.page, self.slot)
    }

    /// A copy of the value, of either kind.
    ///
    /// # Errors
    /// Failed reads.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        to_vec(self.view, &self.page, self.slot)
    }
}

fn inline(page: &PageRef, slot: usize) -> Option<&[u8]> {
    let value = slotted::value(page, slot);
    (!value.large).then(|| &page[value.start..value.start + value.len])
}

fn large<'v, V: View>(view: &'v V, page: &PageRef, slot: usize) -> Result<Option<Large<'v, V>>> {
    let value = slotted::value(page, slot);
    if !value.large {
        return Ok(None);
    }
    match Descriptor::decode(&page[value.start..value.start + value.len]) {
        Some(descriptor) => Ok(Some(Large { view, page_size: page.len(), descriptor })),
        None => {
            let what = "the descriptor of a large value is damaged";
            Err(view.corrupt(page::id(page), what.into()))
        }
    }
}

fn to_vec<V: View>(view: &V, page: &PageRef, slot: usize) -> Result<Vec<u8>> {
    match (inline(page, slot), large(view, page, slot)?) {
        (Some(bytes), _) => Ok(bytes.to_vec()),
        (None, Some(large)) => large.descriptor.to_vec(view, large.page_size),
        (None, None) => unreachable!("a value is in the leaf or large"),
    }
}

/// A value in pages of its own, read piece by piece.
#[derive(Debug)]
pub struct Large<'v, V> {
    view: &'v V,
    page_size: usize,
    descriptor: Descriptor,
}

impl<V: View> Large<'_, V> {
    /// Bytes of the value.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.descriptor.len
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `buf` from byte `offset` on; gives the bytes read, fewer at the value's end.
    ///
    /// # Errors
    /// Failed reads.
    pub fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize> {
        self.descriptor.read_at(self.view, self.page_size, offset, buf)
    }

    /// Calls `each` with the value's bytes in order, a page's worth at a time.
    ///
    /// # Errors
    /// Failed reads.
    pub fn chunks(&self, mut each: impl FnMut(&[u8])) -> Result<()> {
        let mut buf = vec![0; self.page_size - HEADER_LEN];
        let mut offset = 0;
        loop {
            let got = self.read_at(offset, &mut buf)?;
            if got == 0 {
                return Ok(());
            }
            each(&buf[..got]);
            offset += got as u64;
        }
    }
}

/// A position in a table. Slices it gives end when it moves.
#[derive(Debug)]
pub struct Cursor<'v, V> {
    view: &'v V,
    inner: cursor::Cursor<'v, V>,
}

impl<'v, V: View> Cursor<'v, V> {
    /// Goes to the first entry; `false` when there is none.
    ///
    /// # Errors
    /// Failed reads, as for every move.
    pub fn first(&mut self) -> Result<bool> {
        self.inner.first()
    }

    /// Goes to the last entry; `false` when there is none.
    ///
    /// # Errors
    /// Failed reads.
    pub fn last(&mut self) -> Result<bool> {
        self.inner.last()
    }

    /// Goes to the next entry; `false` behind the last.
    ///
    /// # Errors
    /// Failed reads.
    #[expect(clippy::should_implement_trait, reason = "entries borrow the cursor")]
    pub fn next(&mut self) -> Result<bool> {
        self.inner.next()
    }

    /// Goes to the entry before; `false` before the first.
    ///
    /// # Errors
    /// Failed reads.
    pub fn prev(&mut self) -> Result<bool> {
        self.inner.prev()
    }

    /// Goes to the first entry whose key is not below `key`.
    ///
    /// # Errors
    /// Failed reads.
    pub fn seek(&mut self, key: &[u8]) -> Result<bool> {
        self.inner.seek(key)
    }

    /// Goes to the entry with this key.
    ///
    /// # Errors
    /// Failed reads.
    pub fn seek_exact(&mut self, key: &[u8]) -> Result<bool> {
        self.inner.seek_exact(key)
    }

    /// Goes to the last entry whose key is not above `key`.
    ///
    /// # Errors
    /// Failed reads.
    pub fn seek_floor(&mut self, key: &[u8]) -> Result<bool> {
        self.inner.seek_floor(key)
    }

    /// For each key, gives `visit` the key's index and the entries from the first not below it on (key, and value
    /// when it lies in the leaf), until that returns `false`: a seek for each key, but several at a time, so
    /// that they wait for memory together. Leaves the cursor nowhere in particular.
    ///
    /// # Errors
    /// Failed reads, and those of `visit`.
    pub fn scan_many<E: From<Error>>(
        &mut self,
        keys: &Keys,
        mut visit: impl FnMut(usize, &[u8], Option<&[u8]>) -> std::result::Result<bool, E>,
    ) -> std::result::Result<(), E> {
        self.inner.scan_many(keys, |index, page, slot| {
            visit(index, slotted::key(page, slot), inline(page, slot))
        })
    }

    /// The entry's key; `None` when it stands nowhere.
    #[inline]
    #[must_use]
    pub fn key(&self) -> Option<&[u8]> {
        self.inner.key()
    }

    /// The value's bytes when they lie in the leaf; `None` for a large value or nowhere.
    #[inline]
    #[must_use]
    pub fn inline(&self) -> Option<&[u8]> {
        self.inner.position().and_then(|(page, slot)| inline(page, slot))
    }

    /// The entry's large value, if it is one.
    ///
    /// # Errors
    /// A damaged descriptor.
    pub fn large(&self) -> Result<Option<Large<'v, V>>> {
        match self.inner.position() {
            Some((page, slot)) => large(self.view, page, slot),
            None => Ok(None),
        }
    }

    /// A copy of the value, of either kind; empty when it stands nowhere.
    ///
    /// # Errors
    /// Failed reads.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        match self.inner.position() {
            Some((page, slot)) => to_vec(self.view, page, slot),
            None => Ok(Vec::new()),
        }
    }

    /// Page ids from the root to the entry's leaf, with the slot taken in each.
    #[must_use]
    pub fn chain(&self) -> Vec<(PageId, usize)> {
        self.inner.chain()
    }
}
