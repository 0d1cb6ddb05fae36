//! Savepoints of a transaction: what is noted at one, and the way back.
//!
//! Invariants:
//! 1. Going back allocates nothing, does no I/O and cannot fail (I13).
//! 2. What lies in the file as of a savepoint is not written over while it is open: pages are born anew in places that
//!    were free at it, and what was born before it keeps its place until the commit.
//! 3. The root of a table that was rolled back is not given out again in this transaction, so that a handle of that
//!    table never leads to another page: it is *lost*.

use rustc_hash::FxHashMap;

use super::Writer;
use crate::error::{Error, Result};
use crate::mutants::Mutant;
use crate::page::PageId;
use crate::sync::{AtomicU64, Ordering};

/// Serials are drawn for the whole process, so that a savepoint of one transaction is never one of another.
static SERIAL: AtomicU64 = AtomicU64::new(1);

/// A point in a write transaction to go back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint(u64);

/// What a transaction was at a savepoint.
#[derive(Debug)]
struct Mark {
    serial: u64,
    undo: usize,
    page_count: u64,
    search_from: u64,
    freed: usize,
    /// Pages written through that waited, and how often such pages had gone to the file.
    through: (usize, u64),
    wrote_through: bool,
}

/// The open savepoints, innermost last, and what outlives them.
#[derive(Debug, Default)]
pub(super) struct Savepoints {
    marks: Vec<Mark>,
    serial: u64,
    /// How often the transaction went back.
    rollbacks: u64,
    /// How often pages written through went to the file.
    through_flushes: u64,
    /// Roots of the tables made while a savepoint was open: the newest serial then, and whether they are lost.
    tables: FxHashMap<PageId, (u64, bool)>,
    lost: usize,
}

impl Savepoints {
    /// Whether a page was the root of a table that was rolled back.
    pub(super) fn is_lost(&self, id: PageId) -> bool {
        self.lost > 0 && self.tables.get(&id).is_some_and(|(_, lost)| *lost)
    }

    /// Pages below which no id is lost, if there are lost ones.
    pub(super) fn first_lost(&self) -> Option<PageId> {
        self.tables.iter().filter(|(_, (_, lost))| *lost).map(|(id, _)| *id).min()
    }

    /// Whether a page lies behind the end that the file had at the innermost savepoint.
    pub(super) fn is_behind(&self, id: PageId) -> bool {
        self.marks.last().is_some_and(|mark| id.0 >= mark.page_count)
    }

    pub(super) fn flushed_through(&mut self) {
        self.through_flushes += 1;
    }

    fn position(&self, savepoint: Savepoint) -> Result<usize> {
        let at = self.marks.binary_search_by_key(&savepoint.0, |mark| mark.serial);
        at.map_err(|_| Error::SavepointMissing)
    }
}

impl Writer {
    /// Notes where the transaction is.
    pub(crate) fn savepoint(&mut self) -> Result<Savepoint> {
        if let Some(reason) = self.failed {
            return Err(Error::CannotCommit(reason));
        }
        if self.open_loads > 0 {
            return Err(Error::LoadUnfinished);
        }
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let (page_count, search_from) = (self.state().page_count, self.state().search_from);
        self.savepoints.serial = serial;
        self.savepoints.marks.push(Mark {
            serial,
            undo: self.private.mark(serial),
            page_count,
            search_from,
            freed: self.freed.len(),
            through: (self.through.len(), self.savepoints.through_flushes),
            wrote_through: self.wrote_through,
        });
        Ok(Savepoint(serial))
    }

    /// Goes back to a savepoint, which stays; those inside it go.
    pub(crate) fn roll_back_to(&mut self, savepoint: Savepoint) -> Result<()> {
        let at = self.savepoints.position(savepoint)?;
        self.savepoints.marks.truncate(at + 1);
        let mark = &self.savepoints.marks[at];
        if !Mutant::KeepChangesOnRollback.is_on() {
            self.private.roll_back(mark.undo, mark.serial);
        }
        self.engine.pool.set_private(self.private.in_memory(), self.private.spilled());
        let state = self.state.as_mut().expect(super::HAS_STATE);
        (state.page_count, state.search_from) = (mark.page_count, mark.search_from);
        self.freed.truncate(mark.freed);
        let (waited, flushes) = mark.through;
        // Those that waited then are in the file when any went there since.
        let waiting = if flushes == self.savepoints.through_flushes { waited } else { 0 };
        self.through.truncate(waiting);
        self.wrote_through = mark.wrote_through;
        // It had not failed then, and no bulk load was open.
        self.failed = None;
        self.open_loads = 0;
        self.savepoints.rollbacks += 1;
        let serial = mark.serial;
        let tables = self.savepoints.tables.values_mut();
        let newly_lost = tables.filter(|(made, lost)| *made >= serial && !*lost);
        self.savepoints.lost += newly_lost.map(|(_, lost)| *lost = true).count();
        Ok(())
    }

    /// Forgets a savepoint and those inside it; the changes stay.
    pub(crate) fn release(&mut self, savepoint: Savepoint) -> Result<()> {
        let at = self.savepoints.position(savepoint)?;
        let outer = at.checked_sub(1).map_or(0, |outer| self.savepoints.marks[outer].serial);
        self.private.release(self.savepoints.marks[at].undo, outer);
        self.savepoints.marks.truncate(at);
        Ok(())
    }

    /// Forgets all savepoints.
    pub(super) fn release_all(&mut self) {
        self.private.release(0, 0);
        self.savepoints.marks.clear();
    }

    /// Notes a new table, which may be rolled back.
    pub(crate) fn made_table(&mut self, root: PageId) {
        let Savepoints { marks, serial, tables, .. } = &mut self.savepoints;
        if !marks.is_empty() {
            tables.insert(root, (*serial, false));
        }
    }

    /// How often the transaction went back to a savepoint: what holds pages of its own compares.
    pub(crate) fn rollbacks(&self) -> u64 {
        self.savepoints.rollbacks
    }
}
