//! The private pages of a write transaction, and the way back to its savepoints.
//!
//! **Words.** *Old page*: one that a commit before this transaction has; its *base* is that version. *Born page*:
//! allocated by this transaction. *Serial*: number of a savepoint, ascending; a page's `touched` is the newest
//! serial when its memory was made. *Undo entry*: what a page was when it was first touched since a savepoint.
//! *Spilled*: in the transaction's scratch file instead of memory.
//!
//! **Invariants.**
//! 1. While a savepoint is open, a page whose `touched` is below its serial changes only after an undo entry was pushed.
//! 2. Undone from the newest on, the entries behind a savepoint's place lead to the pages as they were at it.
//! 3. Going back allocates nothing and does no I/O (I13): no page is put into the map anew. So a page that goes while a
//!    savepoint is open leaves its place in the map, as one that is gone.
//! 4. Pages of the allocation map stay in memory with their bases: they say what is born.

use std::collections::VecDeque;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::buffer::PageRef;
use crate::error::Result;
use crate::io::FileSystem;
use crate::page::{self, Lsn, PageId, PageKind};
use crate::scratch::{Scratch, Slot};

/// Ids in the queue, besides two for each page in memory, at which those go out that are in it for nothing.
const QUEUE_SLACK: usize = 256;

/// What there is of a private page.
#[derive(Debug)]
enum Place {
    Memory(PageRef),
    Scratch(Slot),
    /// It was freed; see invariant 3.
    Gone,
}

#[derive(Debug)]
struct Private {
    place: Place,
    old: bool,
    /// The base of an old page, pinned while such pins are few, else copied; `None` once the page was spilled.
    base: Option<PageRef>,
    touched: u64,
    /// The newest serial when a born page was allocated; 0 for others.
    allocated: u64,
}

#[derive(Debug)]
struct Undo {
    id: PageId,
    /// Place and `touched`; `None` when the page was not private.
    was: Option<(Place, u64)>,
}

/// Where a page is that is handed to the commit.
#[derive(Debug)]
pub(super) enum Kept {
    Memory(PageRef),
    Scratch(Slot),
}

/// A private page that is handed to the commit.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) id: PageId,
    pub(super) kept: Kept,
    pub(super) old: bool,
    /// The base of an old page; `None` when the page was spilled.
    pub(super) base: Option<PageRef>,
    /// LSN of its record; `None` when there is none, as nothing changed.
    pub(super) lsn: Option<Lsn>,
}

/// The private pages.
#[derive(Debug)]
pub(super) struct PrivatePages {
    pages: FxHashMap<PageId, Private>,
    undo: Vec<Undo>,
    /// The newest serial.
    serial: u64,
    /// Serial of the innermost open savepoint; 0 when none is open.
    innermost: u64,
    /// Pages in memory: private ones, bases, and those of undo entries.
    in_memory: usize,
    /// Those of undo entries.
    undo_in_memory: usize,
    /// Undo entries before this one have no page in memory.
    undo_spilled: usize,
    /// Private pages in memory, and others that were; has room for those of undo entries.
    queue: VecDeque<PageId>,
    scratch: Scratch,
}

impl PrivatePages {
    /// No pages, of a transaction on the database at `path`.
    pub(super) fn new(path: &Path, page_size: usize) -> Self {
        Self {
            pages: FxHashMap::default(),
            undo: Vec::new(),
            serial: 0,
            innermost: 0,
            in_memory: 0,
            undo_in_memory: 0,
            undo_spilled: 0,
            queue: VecDeque::new(),
            scratch: Scratch::new(path, page_size),
        }
    }

    /// Pages in memory.
    pub(super) fn in_memory(&self) -> usize {
        self.in_memory
    }

    /// Pages in the scratch file.
    pub(super) fn spilled(&self) -> usize {
        self.scratch.used()
    }

    /// The page as the transaction has it, if it is private.
    pub(super) fn get(&self, id: PageId) -> Result<Option<PageRef>> {
        match self.pages.get(&id).map(|page| &page.place) {
            Some(Place::Memory(frame)) => {
                frame.touch();
                Ok(Some(frame.clone()))
            }
            Some(Place::Scratch(slot)) => self.read(*slot).map(Some),
            Some(Place::Gone) | None => Ok(None),
        }
    }

    /// Reads a spilled page.
    pub(super) fn read(&self, slot: Slot) -> Result<PageRef> {
        self.scratch.read(slot).map(PageRef::new)
    }

    /// Whether a page is private.
    pub(super) fn contains(&self, id: PageId) -> bool {
        self.pages.get(&id).is_some_and(|page| !matches!(page.place, Place::Gone))
    }

    /// Whether it takes more memory to change a page.
    pub(super) fn takes_memory(&self, id: PageId) -> bool {
        self.pages.get(&id).is_none_or(|page| {
            page.touched < self.innermost || !matches!(page.place, Place::Memory(_))
        })
    }

    /// The base of a private page of the allocation map: `None` when the page is not private, `Some(None)` when it was
    /// born.
    pub(super) fn map_base(&self, id: PageId) -> Option<Option<&PageRef>> {
        self.pages.get(&id).map(|page| page.base.as_ref())
    }

    /// Whether a private page was allocated behind the innermost savepoint, or with none open.
    pub(super) fn is_new(&self, id: PageId) -> bool {
        self.innermost == 0
            || self.pages.get(&id).is_some_and(|page| page.allocated >= self.innermost)
    }

    /// Takes a page in that was allocated just now.
    pub(super) fn insert_born(&mut self, id: PageId, frame: PageRef) {
        self.insert(id, frame, None, self.serial);
    }

    /// Takes the copy of a page in that is about to change.
    pub(super) fn insert_copy(&mut self, id: PageId, frame: PageRef, base: Option<PageRef>) {
        self.insert(id, frame, base, 0);
    }

    fn insert(&mut self, id: PageId, frame: PageRef, base: Option<PageRef>, allocated: u64) {
        self.in_memory += 1 + usize::from(base.is_some());
        let (place, old) = (Place::Memory(frame), base.is_some());
        let page = Private { place, old, base, touched: self.serial, allocated };
        match self.pages.insert(id, page) {
            None if self.innermost > 0 => self.push_undo(Undo { id, was: None }),
            Some(Private { place: Place::Gone, touched, .. }) if touched < self.innermost => {
                self.push_undo(Undo { id, was: Some((Place::Gone, touched)) });
            }
            None | Some(Private { place: Place::Gone, .. }) => {}
            Some(_) => panic!("page {id} is private already"),
        }
        self.enqueue(id);
    }

    fn enqueue(&mut self, id: PageId) {
        if self.queue.len() > 2 * self.in_memory + QUEUE_SLACK {
            let mut seen = FxHashSet::default();
            let pages = &self.pages;
            self.queue.retain(|id| {
                let page = pages.get(id);
                page.is_some_and(|page| matches!(page.place, Place::Memory(_))) && seen.insert(*id)
            });
        }
        self.queue.push_back(id);
        self.queue.reserve(self.undo_in_memory + 1);
    }

    fn push_undo(&mut self, undo: Undo) {
        if matches!(undo.was, Some((Place::Memory(_), _))) {
            self.undo_in_memory += 1;
            self.queue.reserve(self.undo_in_memory + 1);
        }
        self.undo.push(undo);
    }

    /// Counts a place that goes, and gives its slot back.
    fn forget(&mut self, place: Place) {
        match place {
            Place::Memory(_) => self.in_memory -= 1,
            Place::Scratch(slot) => self.scratch.free(slot),
            Place::Gone => {}
        }
    }

    /// The bytes of a private page, to change.
    pub(super) fn page_mut(&mut self, id: PageId) -> Result<&mut [u8]> {
        if self.takes_memory(id) {
            self.bring_in(id)?;
        }
        match self.pages.get_mut(&id).map(|page| &mut page.place) {
            Some(Place::Memory(frame)) => {
                frame.touch();
                Ok(frame.make_mut())
            }
            _ => panic!("page {id} was brought in"),
        }
    }

    /// Makes a copy in memory of a page that is spilled, or that a savepoint needs as it is.
    fn bring_in(&mut self, id: PageId) -> Result<()> {
        let copy = match self.pages.get(&id).map(|page| &page.place) {
            Some(Place::Memory(frame)) => PageRef::copy_of(frame),
            Some(Place::Scratch(slot)) => self.read(*slot)?,
            Some(Place::Gone) | None => panic!("page {id} is private"),
        };
        let (serial, innermost) = (self.serial, self.innermost);
        let page = self.pages.get_mut(&id).expect("seen just now");
        let was = std::mem::replace(&mut page.place, Place::Memory(copy));
        let touched = std::mem::replace(&mut page.touched, serial);
        self.in_memory += 1;
        if matches!(was, Place::Scratch(_)) {
            self.enqueue(id);
        }
        if touched < innermost {
            self.push_undo(Undo { id, was: Some((was, touched)) });
        } else {
            self.forget(was);
        }
        Ok(())
    }

    /// Takes a page out, if it is private.
    pub(super) fn remove(&mut self, id: PageId) {
        if self.innermost == 0 {
            self.drop_page(id);
            return;
        }
        let Some(page) = self.pages.get_mut(&id) else { return };
        let was = std::mem::replace(&mut page.place, Place::Gone);
        if page.touched < self.innermost {
            let touched = std::mem::replace(&mut page.touched, self.serial);
            self.push_undo(Undo { id, was: Some((was, touched)) });
        } else {
            self.forget(was);
        }
    }

    fn drop_page(&mut self, id: PageId) {
        if let Some(page) = self.pages.remove(&id) {
            self.in_memory -= usize::from(page.base.is_some());
            self.forget(page.place);
        }
    }

    /// Notes a savepoint; gives its place among the undo entries. Serials ascend.
    pub(super) fn mark(&mut self, serial: u64) -> usize {
        (self.serial, self.innermost) = (serial, serial);
        self.undo.len()
    }

    /// Goes back to the open savepoint `serial` at `place`, which is the innermost then.
    pub(super) fn roll_back(&mut self, place: usize, serial: u64) {
        while self.undo.len() > place
            && let Some(Undo { id, was }) = self.undo.pop()
        {
            let Some((place, touched)) = was else {
                self.drop_page(id);
                continue;
            };
            let in_memory = matches!(place, Place::Memory(_));
            self.undo_in_memory -= usize::from(in_memory);
            match self.pages.get_mut(&id) {
                Some(page) => {
                    page.touched = touched;
                    let undone = std::mem::replace(&mut page.place, place);
                    if in_memory && !matches!(undone, Place::Memory(_)) {
                        // There is room: it was in the entry.
                        self.queue.push_back(id);
                    }
                    self.forget(undone);
                }
                None => assert!(matches!(place, Place::Gone), "a page keeps its place"),
            }
        }
        self.undo_spilled = self.undo_spilled.min(place);
        self.innermost = serial;
    }

    /// Forgets the savepoint at `place` and those inside; `outer` is the serial of the innermost that is left, or 0.
    pub(super) fn release(&mut self, place: usize, outer: u64) {
        let mut kept = place;
        for at in place..self.undo.len() {
            // What was touched behind the outer savepoint has an entry from then.
            let was = &self.undo[at].was;
            if outer > 0 && was.as_ref().is_none_or(|(_, touched)| *touched < outer) {
                self.undo.swap(kept, at);
                kept += 1;
            }
        }
        while self.undo.len() > kept
            && let Some(Undo { was, .. }) = self.undo.pop()
        {
            if let Some((place, _)) = was {
                self.undo_in_memory -= usize::from(matches!(place, Place::Memory(_)));
                self.forget(place);
            }
        }
        self.undo_spilled = self.undo_spilled.min(place);
        self.innermost = outer;
    }

    /// Spills the page of the oldest undo entry that has one in memory; whether there was one.
    pub(super) fn spill_undo(&mut self, fs: &dyn FileSystem) -> Result<bool> {
        while let Some(Undo { was, .. }) = self.undo.get_mut(self.undo_spilled) {
            if let Some((place @ Place::Memory(_), _)) = was
                && let Place::Memory(frame) = place
            {
                *place = Place::Scratch(self.scratch.write(fs, frame)?);
                self.undo_in_memory -= 1;
                self.in_memory -= 1;
                return Ok(true);
            }
            self.undo_spilled += 1;
        }
        Ok(false)
    }

    /// The next private page that may leave memory, one that was not used lately; and whether it is an old one.
    pub(super) fn victim(&mut self) -> Option<(PageId, bool)> {
        for _ in 0..2 * self.queue.len() {
            let id = self.queue.pop_front()?;
            match self.pages.get(&id) {
                Some(Private { place: Place::Memory(frame), .. }) if frame.take_touched() => {
                    self.queue.push_back(id);
                }
                Some(Private { place: Place::Memory(frame), old, .. })
                    if page::kind(frame) != PageKind::AllocationMap =>
                {
                    return Some((id, *old));
                }
                _ => {}
            }
        }
        None
    }

    /// Puts a victim back that could not leave.
    pub(super) fn stays(&mut self, id: PageId) {
        self.queue.push_front(id);
    }

    /// Spills a page that is in memory.
    pub(super) fn spill(&mut self, fs: &dyn FileSystem, id: PageId) -> Result<()> {
        let Some(Private { place, base, .. }) = self.pages.get_mut(&id) else { return Ok(()) };
        let Place::Memory(frame) = &*place else { return Ok(()) };
        *place = Place::Scratch(self.scratch.write(fs, frame)?);
        self.in_memory -= 1 + usize::from(base.take().is_some());
        Ok(())
    }

    /// Forgets a new page, which is in its place in the file from here on.
    pub(super) fn wrote_in_place(&mut self, id: PageId) {
        self.drop_page(id);
    }

    /// Hands all pages over, ascending; their slots stay. There is no way back then.
    pub(super) fn take(&mut self) -> Vec<Changed> {
        assert!(self.undo.is_empty() && self.innermost == 0, "savepoints are released first");
        let changed = |(id, Private { place, old, base, .. })| {
            let kept = match place {
                Place::Memory(frame) => Kept::Memory(frame),
                Place::Scratch(slot) => Kept::Scratch(slot),
                Place::Gone => return None,
            };
            Some(Changed { id, kept, old, base, lsn: None })
        };
        let mut taken: Vec<Changed> = self.pages.drain().filter_map(changed).collect();
        taken.sort_unstable_by_key(|page| page.id);
        taken
    }
}
