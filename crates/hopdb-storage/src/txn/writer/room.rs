//! Keeps the private pages of a transaction within their share of memory.
//!
//! Invariants:
//! 1. A page goes to its place in the file only when no savepoint needs what lies there: it was allocated behind the
//!    innermost savepoint, or none is open. All others go to the scratch file.
//! 2. A page that cannot be written stays in memory. The transaction fails then, and no other.

use super::Writer;
use crate::buffer::PageRef;
use crate::error::Result;
use crate::page::{self, PageId};
use crate::sync::Arc;

/// One part of so many of the pool's frames is for private pages.
const SHARE: usize = 4;
/// One part of so many may be pinned by bases.
const PINS_SHARE: usize = 16;
/// Fewest pages that are for them: an operation changes a few at a time.
const PAGES_MIN: usize = 16;
/// Most pages that leave memory at once.
const SPILL_PAGES: usize = 64;

impl Writer {
    /// Private pages that should be in memory at most, their bases counted.
    pub(super) fn budget(&self) -> usize {
        (self.engine.pool.frames_max() / SHARE).max(PAGES_MIN)
    }

    /// The version that a page which is about to change replaces: pinned while such pins are few beside the frames that
    /// the pool may have to give up, copied otherwise.
    pub(super) fn base_from(&self, committed: PageRef) -> PageRef {
        let pins_max = self.engine.pool.frames_max() / PINS_SHARE;
        if self.private.in_memory() < pins_max { committed } else { PageRef::copy_of(&committed) }
    }

    /// Makes room for a page and its base, when the budget is used up.
    pub(super) fn make_room(&mut self) -> Result<()> {
        let budget = self.budget();
        let done = if self.private.in_memory() + 2 > budget {
            self.spill(SPILL_PAGES.min(budget / 4))
        } else {
            Ok(())
        };
        self.engine.pool.set_private(self.private.in_memory(), self.private.spilled());
        done
    }

    fn spill(&mut self, pages: usize) -> Result<()> {
        let engine = Arc::clone(&self.engine);
        let mut new = Vec::new();
        for _ in 0..pages {
            if self.private.spill_undo(&*engine.fs)? {
                continue;
            }
            let Some((id, old)) = self.private.victim() else { break };
            if !old && (self.private.is_new(id) || self.savepoints.is_behind(id)) {
                new.push(id);
            } else if let Err(error) = self.private.spill(&*engine.fs, id) {
                self.private.stays(id);
                new.iter().for_each(|id| self.private.stays(*id));
                return Err(error);
            }
        }
        new.sort_unstable();
        let written = self.write_in_place(&new);
        if written.is_err() {
            new.iter().for_each(|id| self.private.stays(*id));
        }
        written
    }

    /// Writes new pages to their places, ascending, and forgets them.
    fn write_in_place(&mut self, ids: &[PageId]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        // What waits there may be an earlier state of them.
        self.flush_through()?;
        let mut frames = Vec::with_capacity(ids.len());
        for id in ids {
            page::set_stamp(self.private.page_mut(*id)?, self.ts, self.born_lsn);
            frames.extend(self.private.get(*id)?);
        }
        let pages: Vec<&[u8]> = frames.iter().map(AsRef::as_ref).collect();
        self.engine.pager.write_born(&pages)?;
        self.wrote_through = true;
        ids.iter().for_each(|id| self.private.wrote_in_place(*id));
        Ok(())
    }
}
