//! The commit: what a transaction changed goes to the log and to the readers.
//!
//! Order: space reserved in the file; many born pages written and synced; log records appended; pages published, and
//! the next writer let in; log synced, by whoever is first among those who wait; visible moved on. An error before the
//! records are appended leaves everything as it was; one behind that poisons the store.
//!
//! Of a transaction that has pages in its scratch file, the log is synced first. Then the pages are published piece by
//! piece, and written back when the pool is full: so it needs no more memory than its share and that of the pool. Until
//! the last piece is published, snapshots find the older versions of all.

use super::Writer;
use crate::buffer::{Gone, PageRef, Publish};
use crate::error::Result;
use crate::mutants::Mutant;
use crate::page::{self, CommitTs, Lsn, PageId, PageKind};
use crate::scratch::Slot;
use crate::sync::Arc;
use crate::txn::flusher::Flusher;
use crate::txn::gate::Quarantined;
use crate::txn::private::{Changed, Kept};
use crate::txn::snapshots::Published;
use crate::txn::{Durability, Engine, Mode, allocation, checkpoint, delta};
use crate::wal::{Batch, RecordKind};

/// Most born pages that are logged whole, which saves a sync of the file: more would be written twice for it.
const LOGGED_BORN_PAGES: usize = 256;
/// Bytes of records that commits which do not wait leave in memory.
const VOLATILE_BYTES: usize = 1 << 20;

/// Most pages that are published before the pool is brought back under its budget.
const PIECE_PAGES: usize = 64;

/// What a commit has to write and to publish.
#[derive(Default)]
struct Changes {
    /// Old pages, ascending.
    changed: Vec<Changed>,
    /// Born pages in memory, ascending.
    born: Vec<PageRef>,
    born_spilled: Vec<Slot>,
    /// Whether the born pages are in the log and not in the file.
    born_logged: bool,
    born_ids: Vec<PageId>,
    freed_ids: Vec<PageId>,
    /// Whether old pages, or their bases, are not in memory.
    spilled: bool,
}

impl Writer {
    /// Makes the changes durable and visible. Calls `published` with the timestamp when the pages are published, before
    /// the next writer is let in; it need not become durable then.
    pub(crate) fn commit(
        mut self,
        durability: Durability,
        published: impl FnOnce(CommitTs),
    ) -> Result<CommitTs> {
        if self.open_loads > 0 {
            self.failed = Some("one of its bulk loads is not finished");
        }
        self.release_all();
        self.change(Self::free_all)?;
        self.give_back_end()?;
        let mut changes = self.gather();
        if changes.is_empty() && !self.wrote_through {
            // What it has seen is durable when it returns, as if it had changed something.
            if let Some(wal) = self.engine.pager.wal().filter(|_| durability == Durability::Sync) {
                self.engine.flush_log(wal.end())?;
            }
            return Ok(CommitTs(self.ts.0 - 1));
        }
        self.write_born(&mut changes)?;
        let lsn = match self.log_whole(&mut changes) {
            // The log may have space behind the redo point, and then it moves on.
            Err(error) if error.is_full_disk() => {
                checkpoint::run(&self.engine)?;
                self.log_whole(&mut changes)?
            }
            logged => logged?,
        };
        let engine = Arc::clone(&self.engine);
        let waits = durability == Durability::Sync && !Mutant::ShowBeforeSync.is_on();
        if changes.spilled {
            engine.flush_log(lsn)?;
            self.publish_pieces(std::mem::take(&mut changes.changed))
                .map_err(|error| engine.pager.poison().set(error))?;
        }
        let ts = self.publish(changes, (lsn, waits), published);
        match durability {
            Durability::Sync if Mutant::AcknowledgeBeforeSync.is_on() => {}
            Durability::Sync => engine.flush_log(lsn)?,
            // The commit has done its part: a failure from here on poisons the store, which tells.
            _ if engine.pager.wal().is_some_and(|wal| wal.pending_len() > VOLATILE_BYTES) => {
                drop(engine.flush_log(lsn));
            }
            Durability::Async { max_delay } => Flusher::ask(&engine, lsn, max_delay),
            Durability::None => {}
        }
        Ok(ts)
    }

    /// Sorts the private pages by what is to be done with them.
    fn gather(&mut self) -> Changes {
        let mut changes = Changes::default();
        let range = self.range_pages();
        for page in self.private.take() {
            if let Kept::Memory(frame) = &page.kept
                && page::kind(frame) == PageKind::AllocationMap
            {
                let start = page.id.0 / range * range;
                let (born, freed) = allocation::changes(page.base.as_deref(), frame, start);
                changes.born_ids.extend(born);
                changes.freed_ids.extend(freed);
            }
            match page {
                Changed { old: false, kept: Kept::Memory(frame), .. } => changes.born.push(frame),
                Changed { old: false, kept: Kept::Scratch(slot), .. } => {
                    changes.born_spilled.push(slot);
                }
                Changed { kept: Kept::Memory(frame), base: Some(base), .. } if *base == *frame => {}
                page => {
                    let in_memory = matches!(page.kept, Kept::Memory(_)) && page.base.is_some();
                    changes.spilled |= !in_memory;
                    changes.changed.push(page);
                }
            }
        }
        changes
    }

    fn write_born(&mut self, changes: &mut Changes) -> Result<()> {
        self.flush_through()?;
        changes.born_logged = self.engine.mode != Mode::Unnamed
            && !self.wrote_through
            && changes.born_spilled.is_empty()
            && changes.born.len() <= LOGGED_BORN_PAGES;
        if changes.born_logged {
            let page_count = self.state().page_count;
            return self.engine.pager.reserve_pages(page_count);
        }
        for frame in &mut changes.born {
            page::set_stamp(frame.make_mut(), self.ts, self.born_lsn);
        }
        let pages: Vec<&[u8]> = changes.born.iter().map(AsRef::as_ref).collect();
        self.engine.pager.write_born(&pages)?;
        for slots in changes.born_spilled.chunks(PIECE_PAGES) {
            let mut frames =
                slots.iter().map(|slot| self.private.read(*slot)).collect::<Result<Vec<_>>>()?;
            for frame in &mut frames {
                page::set_stamp(frame.make_mut(), self.ts, self.born_lsn);
            }
            let pages: Vec<&[u8]> = frames.iter().map(AsRef::as_ref).collect();
            self.engine.pager.write_born(&pages)?;
        }
        if self.engine.mode == Mode::Unnamed || Mutant::SkipBornSync.is_on() {
            return Ok(());
        }
        self.engine.pager.sync()
    }

    /// Like [`Writer::log`]. What is in the log of a transaction that fails may be passed over by the next checkpoint.
    fn log_whole(&mut self, changes: &mut Changes) -> Result<Lsn> {
        self.log(changes).inspect_err(|_| {
            if let Some(wal) = self.engine.pager.wal() {
                self.engine.snapshots.pass_over(wal.end());
            }
        })
    }

    /// Appends the transaction to the log, whole; gives the LSN up to which it must become durable.
    fn log(&mut self, changes: &mut Changes) -> Result<Lsn> {
        let engine = Arc::clone(&self.engine);
        let Some(wal) = engine.pager.wal() else {
            for page in &mut changes.changed {
                page.lsn = Some(self.born_lsn);
            }
            return Ok(Lsn(0));
        };
        let mut batch = wal.batch();
        // First: what a born page was before does not matter, what follows does.
        log_ids(&mut batch, RecordKind::BornPages, &changes.born_ids)?;
        if changes.born_logged {
            for frame in &mut changes.born {
                log_image(&mut batch, frame, self.ts)?;
            }
        }
        let mut ranges = Vec::new();
        for page in &mut changes.changed {
            let (frame, base) = (self.frame_of(page)?, self.base_of(page)?);
            ranges.clear();
            delta::encode(&base, &frame, &mut ranges);
            page.lsn = log_page(&mut batch, (&frame, &base), &ranges, self.ts)?;
        }
        log_ids(&mut batch, RecordKind::FreedPages, &changes.freed_ids)?;
        let page_count = self.state().page_count;
        let commit = [self.ts.0.to_le_bytes(), page_count.to_le_bytes()];
        batch.push(RecordKind::Commit, &[&commit[0], &commit[1]])?;
        batch.append()
    }

    /// The new version of an old page.
    fn frame_of(&self, page: &Changed) -> Result<PageRef> {
        match &page.kept {
            Kept::Memory(frame) => Ok(frame.clone()),
            Kept::Scratch(slot) => self.private.read(*slot),
        }
    }

    /// The version of an old page that it replaces.
    fn base_of(&self, page: &Changed) -> Result<PageRef> {
        match &page.base {
            Some(base) => Ok(base.clone()),
            None => self.engine.pool.peek(page.id, CommitTs(self.ts.0 - 1)),
        }
    }

    /// Publishes old pages, all of which the durable log has, in no more memory than the pool's.
    fn publish_pieces(&self, changed: Vec<Changed>) -> Result<()> {
        let Engine { pool, pager, fs, .. } = &*self.engine;
        pager.set_page_count(self.state.as_ref().expect(super::HAS_STATE).page_count);
        let piece = (pool.frames_max() / 8).clamp(1, PIECE_PAGES);
        let mut changed = changed.into_iter();
        while changed.len() > 0 {
            let mut pages = Vec::with_capacity(piece);
            for mut page in changed.by_ref().take(piece) {
                page.base = Some(self.base_of(&page)?);
                if let Kept::Scratch(slot) = page.kept {
                    page.kept = Kept::Memory(self.private.read(slot)?);
                }
                pages.extend(to_publish(page, self.ts));
            }
            pool.publish(pages, &Gone::default(), self.ts);
            pool.spill_versions(&**fs);
            if pool.wants_checkpoint() {
                pool.write_back_all()?;
            }
            pool.relieve()?;
        }
        Ok(())
    }

    /// Makes the pages heads and lets the next writer in. New snapshots see them when the log is durable up to `lsn`.
    fn publish(
        mut self,
        changes: Changes,
        (lsn, waits): (Lsn, bool),
        published: impl FnOnce(CommitTs),
    ) -> CommitTs {
        let ts = self.ts;
        let engine = Arc::clone(&self.engine);
        let is_published =
            |id: &PageId| changes.born.binary_search_by_key(id, |frame| page::id(frame)).is_ok();
        let written_through: Vec<PageId> =
            changes.born_ids.iter().copied().filter(|id| !is_published(id)).collect();
        let gone = Gone { freed: &changes.freed_ids, written_through: &written_through };
        let dirty = changes.born_logged;
        let born = changes.born.into_iter().map(|frame| Publish { frame, base: None, dirty });
        let changed = changes.changed.into_iter().filter_map(|page| to_publish(page, ts));
        let mut state = self.state.take().expect("a transaction ends once");
        engine.pager.set_page_count(state.page_count);
        engine.pool.publish(changed.chain(born).collect(), &gone, ts);
        engine.pool.spill_versions(&*engine.fs);
        let pages = state.page_count;
        if engine.snapshots.published(Published { ts, pages, lsn, waits }) {
            engine.purge();
        }
        if engine.pager.wal().is_none() && engine.snapshots.set_durable(lsn) {
            engine.purge();
        }
        engine.pool.shrink();
        for (id, birth) in self.freed.drain(..) {
            state.quarantine.push(Quarantined { id, birth, freed: ts });
            state.quarantined.insert(id);
        }
        if let Some(id) = self.savepoints.first_lost() {
            state.search_from = state.search_from.min(id.0);
        }
        state.commit_ts = ts;
        published(ts);
        engine.pool.set_private(0, 0);
        engine.gate.leave(state);
        ts
    }
}

impl Changes {
    fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.born.is_empty() && self.born_spilled.is_empty()
    }
}

/// What is to be published of an old page that is in memory with its base; nothing when it has no record.
fn to_publish(page: Changed, ts: CommitTs) -> Option<Publish> {
    let (Kept::Memory(mut frame), Some(base)) = (page.kept, page.base) else {
        panic!("page {} is in memory with its base", page.id);
    };
    page::set_stamp(frame.make_mut(), ts, page.lsn?);
    Some(Publish { frame, base: Some(base), dirty: true })
}

/// Adds a changed page: the difference to its base, or the whole when that is hardly longer. Gives the record's LSN;
/// none when there is no difference.
fn log_page(
    batch: &mut Batch<'_>,
    (frame, base): (&PageRef, &PageRef),
    ranges: &[u8],
    ts: CommitTs,
) -> Result<Option<Lsn>> {
    let id = page::id(frame).0.to_le_bytes();
    if cfg!(debug_assertions) {
        let mut replayed = base.to_vec();
        assert!(delta::apply(&mut replayed, ranges), "ranges fit the page");
        page::set_stamp(&mut replayed, page::begin(frame), page::lsn(frame));
        let sum = ..delta::CHECKSUM_LEN;
        replayed[sum].copy_from_slice(&frame[sum]);
        assert!(replayed == **frame, "replay over the old page gives the new one");
    }
    if ranges.is_empty() {
        return Ok(None);
    }
    if ranges.len() > frame.len() / 2 {
        return log_image(batch, &mut frame.clone(), ts).map(Some);
    }
    let base_lsn = page::lsn(base).0.to_le_bytes();
    batch.push(RecordKind::PageDelta, &[&id, &base_lsn, ranges]).map(Some)
}

/// Adds a page as a whole.
fn log_image(batch: &mut Batch<'_>, frame: &mut PageRef, ts: CommitTs) -> Result<Lsn> {
    page::set_stamp(frame.make_mut(), ts, batch.next_lsn());
    batch.push(RecordKind::PageImage, &[&page::id(frame).0.to_le_bytes(), frame])
}

/// Adds page ids, as runs; nothing where there are none.
fn log_ids(batch: &mut Batch<'_>, kind: RecordKind, ids: &[PageId]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let runs = allocation::runs(ids);
    let bytes: Vec<u8> = runs
        .iter()
        .flat_map(|(first, count)| [first.to_le_bytes(), count.to_le_bytes()])
        .flatten()
        .collect();
    batch.push(kind, &[&bytes]).map(drop)
}
