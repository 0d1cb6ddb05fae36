//! The write transaction: private pages, and the commit.
//!
//! **States of a page.** committed -> (first change) private copy with its base -> logged, published;
//! allocated -> private without base -> logged whole, published dirty; or, where there are many or they are
//! written through -> in its place, synced -> published clean;
//! freed: committed pages keep their bit until commit, born ones go at once.
//!
//! **Memory.** Private pages have a share of the pool's budget. Above it, pages that were not used lately leave memory:
//! old ones for the transaction's scratch file, born ones for their places, unless a savepoint needs what is there.
//!
//! An operation that fails half way leaves private pages that do not fit together: such a transaction does
//! not commit, unless it goes back to a savepoint from before.

mod commit;
mod room;
mod savepoint;

use super::allocation;
use super::checkpoint;
use super::gate::WriterState;
use super::private::PrivatePages;
use super::{Engine, Mode};
use crate::btree::PageSink;
use crate::buffer::{PageRef, PageSource};
use crate::error::{Error, Result};
use crate::page::{self, CommitTs, FIRST_PAGES, Lsn, PageId, PageKind, slotted};
use crate::sync::Arc;
use savepoint::Savepoints;

pub use savepoint::Savepoint;

/// Pages written through that wait to be written in one go.
const THROUGH_PAGES: usize = 256;
const HAS_STATE: &str = "a transaction has the state until it ends";

/// The write transaction. Dropped without commit, it leaves nothing.
#[derive(Debug)]
pub(crate) struct Writer {
    engine: Arc<Engine>,
    /// Taken out when the transaction ends.
    state: Option<WriterState>,
    /// Page count and search position to go back to.
    before: (u64, u64),
    ts: CommitTs,
    born_lsn: Lsn,
    private: PrivatePages,
    freed: Vec<(PageId, CommitTs)>,
    through: Vec<Box<[u8]>>,
    wrote_through: bool,
    /// Why this transaction can only be rolled back.
    failed: Option<&'static str>,
    /// Bulk loads that have written pages and are not finished.
    open_loads: usize,
    savepoints: Savepoints,
}

impl Writer {
    /// Waits for its turn and begins at the newest commit.
    pub(crate) fn begin(engine: &Arc<Engine>) -> Result<Self> {
        engine.check_writable()?;
        checkpoint::wait_for_room(engine)?;
        let mut state = engine.gate.enter();
        state.release(|page| {
            engine.snapshots.frees(page.birth, page.freed) && !engine.pager.is_in_flight(page.id)
        });
        let mut writer = Self {
            engine: Arc::clone(engine),
            before: (state.page_count, state.search_from),
            ts: CommitTs(state.commit_ts.0 + 1),
            born_lsn: Lsn(0),
            state: Some(state),
            private: PrivatePages::new(engine.pager.path(), engine.pager.page_size()),
            freed: Vec::new(),
            through: Vec::new(),
            wrote_through: false,
            failed: None,
            open_loads: 0,
            savepoints: Savepoints::default(),
        };
        engine.check_writable()?;
        if engine.mode == Mode::ReadWrite {
            engine.pager.start_log(&*engine.fs, &engine.log_path)?;
        }
        writer.born_lsn = engine.pager.born_lsn();
        Ok(writer)
    }

    /// Timestamp that the commit will have.
    pub(crate) fn ts(&self) -> CommitTs {
        self.ts
    }

    /// Runs one operation. When it fails on the way, the transaction can only be rolled back.
    pub(crate) fn change<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if let Some(reason) = self.failed {
            return Err(Error::CannotCommit(reason));
        }
        act(self).inspect_err(|error| {
            if !error.is_refusal() {
                self.failed = Some("one of its operations failed");
            }
        })
    }

    /// A bulk load writes its first page.
    pub(crate) fn begin_load(&mut self) {
        self.open_loads += 1;
    }

    /// A bulk load that has written pages is finished.
    pub(crate) fn end_load(&mut self) {
        self.open_loads -= 1;
    }

    fn state(&mut self) -> &mut WriterState {
        self.state.as_mut().expect(HAS_STATE)
    }

    fn range_pages(&self) -> u64 {
        self.engine.pager.range_pages()
    }

    fn map_mut(&mut self, id: PageId) -> Result<&mut [u8]> {
        self.page_mut(allocation::map_page(id, self.range_pages()))
    }

    /// Whether this transaction allocated the page.
    fn is_born(&self, id: PageId) -> bool {
        let range = self.range_pages();
        match self.private.map_base(allocation::map_page(id, range)) {
            None => false,
            Some(None) => true,
            Some(Some(base)) => !allocation::in_use(base, id, range),
        }
    }

    fn find_free(&mut self) -> Result<Option<PageId>> {
        let range = self.range_pages();
        loop {
            let (from, limit) = {
                let state = self.state();
                (PageId(state.search_from), state.page_count)
            };
            if from.0 >= limit {
                return Ok(None);
            }
            let map = self.page(allocation::map_page(from, range))?;
            let quarantined = &self.state.as_ref().expect(HAS_STATE).quarantined;
            let refused = |id| quarantined.contains(&id) || self.savepoints.is_lost(id);
            let found = allocation::find_free(&map, from, limit, range, refused);
            let state = self.state();
            match found {
                Some(id) => {
                    state.search_from = id.0 + 1;
                    return Ok(Some(id));
                }
                None => state.search_from = limit.min((from.0 / range + 1) * range),
            }
        }
    }

    /// The next id at the end of the file; makes the map page of a range that begins there.
    fn grow(&mut self) -> Result<PageId> {
        let range = self.range_pages();
        loop {
            let id = PageId(self.state().page_count);
            self.state().page_count += 1;
            if self.savepoints.is_lost(id) {
                continue;
            }
            if !allocation::is_map_page(id, range) {
                return Ok(id);
            }
            self.insert_born(id, PageKind::AllocationMap)?;
            allocation::set(self.page_mut(id)?, id, range, true);
        }
    }

    fn insert_born(&mut self, id: PageId, kind: PageKind) -> Result<()> {
        self.make_room()?;
        let mut bytes = vec![0; self.page_size()].into_boxed_slice();
        page::init(&mut bytes, id, kind, self.ts);
        if matches!(kind, PageKind::Leaf | PageKind::Branch) {
            slotted::init(&mut bytes);
        }
        self.private.insert_born(id, PageRef::new(bytes));
        Ok(())
    }

    fn flush_through(&mut self) -> Result<()> {
        let mut pages: Vec<&[u8]> = self.through.iter().map(AsRef::as_ref).collect();
        pages.sort_unstable_by_key(|bytes| page::id(bytes));
        self.engine.pager.write_born(&pages)?;
        self.through.clear();
        self.savepoints.flushed_through();
        Ok(())
    }

    /// Clears the bits of the freed pages.
    fn free_all(&mut self) -> Result<()> {
        for index in 0..self.freed.len() {
            let (id, _) = self.freed[index];
            self.clear_bit(id)?;
            self.private.remove(id);
        }
        Ok(())
    }

    fn clear_bit(&mut self, id: PageId) -> Result<()> {
        self.check_in_use(id)?;
        let range = self.range_pages();
        allocation::set(self.map_mut(id)?, id, range, false);
        Ok(())
    }

    /// Only a damaged tree leads to a page that is not in use, or that belongs to no tree.
    fn check_in_use(&self, id: PageId) -> Result<()> {
        let range = self.range_pages();
        let map_id = allocation::map_page(id, range);
        let map = self.page(map_id)?;
        if page::kind(&map) != PageKind::AllocationMap {
            return Err(self.corrupt(map_id, "it is no allocation map".into()));
        }
        if id.0 < FIRST_PAGES || id == map_id || !allocation::in_use(&map, id, range) {
            return Err(self.corrupt(id, "a tree leads to it, but it is not in use".into()));
        }
        Ok(())
    }

    /// Takes back ids at the end of the file that were allocated and freed in this transaction: nobody
    /// wrote their pages, and the file has as many pages as it says.
    fn give_back_end(&mut self) -> Result<()> {
        let range = self.range_pages();
        while self.state().page_count > self.before.0 {
            let last = PageId(self.state().page_count - 1);
            let map = self.page(allocation::map_page(last, range))?;
            if allocation::in_use(&map, last, range) {
                break;
            }
            self.state().page_count = last.0;
        }
        Ok(())
    }

    fn birth_of(&self, id: PageId) -> Result<CommitTs> {
        Ok(self.private.get(id)?.map_or(CommitTs(0), |frame| page::birth(&frame)))
    }
}

impl PageSource for Writer {
    fn page(&self, id: PageId) -> Result<PageRef> {
        if let Some(frame) = self.private.get(id)? {
            return Ok(frame);
        }
        if self.savepoints.is_lost(id) {
            return Err(Error::RolledBack("a table"));
        }
        if self.wrote_through && self.is_born(id) {
            return match self.through.iter().find(|bytes| page::id(bytes) == id) {
                Some(bytes) => Ok(PageRef::new(bytes.clone())),
                None => self.engine.pager.read_born(id).map(PageRef::new),
            };
        }
        self.engine.pool.fetch(id, CommitTs(self.ts.0 - 1))
    }

    fn corrupt(&self, id: PageId, reason: String) -> Error {
        self.engine.pager.corrupt(id, reason)
    }
}

impl PageSink for Writer {
    fn page_size(&self) -> usize {
        self.engine.pager.page_size()
    }

    fn page_mut(&mut self, id: PageId) -> Result<&mut [u8]> {
        if self.private.takes_memory(id) {
            self.make_room()?;
        }
        if !self.private.contains(id) {
            let committed = self.page(id)?;
            // Its next record would seem older than the page.
            if self.engine.mode == Mode::ReadWrite && page::lsn(&committed) > self.born_lsn {
                return Err(self.corrupt(id, "its LSN is beyond the end of the log".into()));
            }
            let frame = PageRef::copy_of(&committed);
            let base = (!self.is_born(id)).then(|| self.base_from(committed));
            self.private.insert_copy(id, frame, base);
        }
        self.private.page_mut(id)
    }

    fn allocate(&mut self, kind: PageKind) -> Result<PageId> {
        let id = self.allocate_id(false)?;
        self.insert_born(id, kind)?;
        Ok(id)
    }

    fn allocate_id(&mut self, at_end: bool) -> Result<PageId> {
        let free = if at_end { None } else { self.find_free()? };
        let id = match free {
            Some(id) => id,
            None => self.grow()?,
        };
        if self.private.contains(id) {
            return Err(self.corrupt(id, "a tree leads to it, but it was not in use".into()));
        }
        let range = self.range_pages();
        let map = self.map_mut(id)?;
        if allocation::in_use(map, id, range) {
            // Bits at and above the page count are 0.
            let map_id = allocation::map_page(id, range);
            return Err(self.corrupt(map_id, format!("page {id} is in use, past the end")));
        }
        allocation::set(map, id, range, true);
        Ok(id)
    }

    fn write_through(&mut self, mut bytes: Box<[u8]>) -> Result<()> {
        page::set_stamp(&mut bytes, self.ts, self.born_lsn);
        self.wrote_through = true;
        self.through.push(bytes);
        if self.through.len() >= THROUGH_PAGES.min(self.budget()) {
            return self.flush_through();
        }
        Ok(())
    }

    fn free(&mut self, id: PageId) -> Result<()> {
        self.check_in_use(id)?;
        let is_born = self.is_born(id);
        // A savepoint may need what was born before it: its id is not given out again before the commit.
        if !(is_born && (self.private.is_new(id) || self.savepoints.is_behind(id))) {
            let birth = if is_born { self.ts } else { self.birth_of(id)? };
            self.freed.push((id, birth));
            self.private.remove(id);
            return Ok(());
        }
        self.clear_bit(id)?;
        self.private.remove(id);
        self.through.retain(|bytes| page::id(bytes) != id);
        let state = self.state();
        state.search_from = state.search_from.min(id.0);
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(mut state) = self.state.take() {
            self.engine.pool.set_private(0, 0);
            (state.page_count, state.search_from) = self.before;
            self.engine.gate.leave(state);
        }
    }
}
