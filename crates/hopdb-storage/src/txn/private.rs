//! The private pages of a write transaction, and the way back to its savepoints.
//!
//! **Words.** *Old page*: one that a commit before this transaction has; its *base* is that version. *Born page*:
//! allocated by this transaction. *Serial*: number of a savepoint, ascending; a page's `touched` is the newest
//! serial when its memory was made. *Undo entry*: what a page was when it was first touched since a savepoint.
//!
//! **Invariants.**
//! 1. While a savepoint is open, a page whose `touched` is below its serial changes only after an undo entry was pushed.
//! 2. Undone from the newest on, the entries behind a savepoint's place lead to the pages as they were at it.
//! 3. Going back allocates nothing and does no I/O (I13): no page is put into the map anew. So a page that goes while a
//!    savepoint is open leaves its place in the map, as one that is gone.

use rustc_hash::FxHashMap;

use crate::buffer::PageRef;
use crate::page::PageId;

/// What there is of a private page.
#[derive(Debug)]
enum Place {
    Memory(PageRef),
    /// It was freed; see invariant 3.
    Gone,
}

#[derive(Debug)]
struct Private {
    place: Place,
    /// The committed version that an old page replaces, copied so that it pins no frame of the pool.
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

/// A private page that is handed to the commit.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) id: PageId,
    pub(super) frame: PageRef,
    /// `None` for a born page.
    pub(super) base: Option<PageRef>,
}

/// The private pages.
#[derive(Debug, Default)]
pub(super) struct PrivatePages {
    pages: FxHashMap<PageId, Private>,
    undo: Vec<Undo>,
    /// The newest serial.
    serial: u64,
    /// Serial of the innermost open savepoint; 0 when none is open.
    innermost: u64,
}

impl PrivatePages {
    /// The page as the transaction has it, if it is private.
    pub(super) fn get(&self, id: PageId) -> Option<PageRef> {
        match &self.pages.get(&id)?.place {
            Place::Memory(frame) => Some(frame.clone()),
            Place::Gone => None,
        }
    }

    /// Whether a page is private.
    pub(super) fn contains(&self, id: PageId) -> bool {
        self.pages.get(&id).is_some_and(|page| !matches!(page.place, Place::Gone))
    }

    /// The base of a private page: `None` when the page is not private, `Some(None)` when it was born.
    pub(super) fn base(&self, id: PageId) -> Option<Option<&PageRef>> {
        let page = self.pages.get(&id).filter(|page| !matches!(page.place, Place::Gone))?;
        Some(page.base.as_ref())
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
        let page = Private { place: Place::Memory(frame), base, touched: self.serial, allocated };
        let before = self.pages.insert(id, page);
        match before {
            None if self.innermost > 0 => self.undo.push(Undo { id, was: None }),
            Some(Private { place: Place::Gone, touched, .. }) if touched < self.innermost => {
                self.undo.push(Undo { id, was: Some((Place::Gone, touched)) });
            }
            None | Some(Private { place: Place::Gone, .. }) => {}
            Some(_) => panic!("page {id} is private already"),
        }
    }

    /// The bytes of a private page, to change.
    pub(super) fn page_mut(&mut self, id: PageId) -> &mut [u8] {
        let page = self.pages.get_mut(&id).expect("the page is private");
        if page.touched < self.innermost {
            let Place::Memory(frame) = &page.place else { panic!("page {id} is gone") };
            let copy = Place::Memory(PageRef::new(Box::from(&**frame)));
            let was = (std::mem::replace(&mut page.place, copy), page.touched);
            page.touched = self.serial;
            self.undo.push(Undo { id, was: Some(was) });
        }
        match &mut page.place {
            Place::Memory(frame) => frame.make_mut(),
            Place::Gone => panic!("page {id} is gone"),
        }
    }

    /// Takes a page out, if it is private.
    pub(super) fn remove(&mut self, id: PageId) {
        if self.innermost == 0 {
            self.pages.remove(&id);
            return;
        }
        let Some(page) = self.pages.get_mut(&id) else { return };
        let was = (std::mem::replace(&mut page.place, Place::Gone), page.touched);
        if page.touched < self.innermost {
            page.touched = self.serial;
            self.undo.push(Undo { id, was: Some(was) });
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
            match was {
                None => {
                    self.pages.remove(&id);
                }
                Some((place, touched)) => match self.pages.get_mut(&id) {
                    Some(page) => (page.place, page.touched) = (place, touched),
                    None => assert!(matches!(place, Place::Gone), "a page keeps its place"),
                },
            }
        }
        self.innermost = serial;
    }

    /// Forgets the savepoint at `place` and those inside; `outer` is the serial of the innermost that is left, or 0.
    pub(super) fn release(&mut self, place: usize, outer: u64) {
        let mut at = 0;
        self.undo.retain(|entry| {
            let inside = at >= place;
            at += 1;
            // What was touched behind the outer savepoint has an entry from then.
            !inside || outer > 0 && entry.was.as_ref().is_none_or(|(_, touched)| *touched < outer)
        });
        self.innermost = outer;
    }

    /// Hands all pages over, ascending. There is no way back then.
    pub(super) fn take(&mut self) -> Vec<Changed> {
        self.undo = Vec::new();
        self.innermost = 0;
        let mut taken: Vec<Changed> = self
            .pages
            .drain()
            .filter_map(|(id, page)| match page.place {
                Place::Memory(frame) => Some(Changed { id, frame, base: page.base }),
                Place::Gone => None,
            })
            .collect();
        taken.sort_unstable_by_key(|page| page.id);
        taken
    }
}
