//! A position in a tree that moves both ways.
//!
//! Pins the leaf it stands in, and, when the source has frames to spare, the branches above and some of those
//! that it passed before, so that most moves fetch a leaf and nothing else. Slices it gives borrow the cursor: they end when it moves (I3).

use super::is_leaf;
use crate::buffer::{PageRef, PageSource};
use crate::error::{Error, Result};
use crate::page::{PageId, count, slotted};

/// Branches that a cursor keeps beside those of its path.
const BRANCHES_KEPT: usize = 16;

#[derive(Debug)]
struct Step {
    page: PageId,
    slot: usize,
    /// Held when the source has frames to spare.
    pinned: Option<PageRef>,
}

/// Keys looked up side by side.
const BATCH: usize = 16;

/// Keys looked up together, in memory that serves again and again.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    /// No keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the keys, keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds the key that `put` appends.
    pub fn push(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        put(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// The key at `index`, from 0.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// A position in the tree at `root`, as `source` sees it.
#[derive(Debug)]
pub(crate) struct Cursor<'s, S> {
    source: &'s S,
    root: PageId,
    pin_branches: bool,
    /// Branches from the root down.
    path: Vec<Step>,
    /// Branches passed before, each at the place of its page id.
    passed: [Option<PageRef>; BRANCHES_KEPT],
    leaf: Option<PageRef>,
    slot: usize,
}

impl<'s, S: PageSource> Cursor<'s, S> {
    /// A cursor that stands nowhere yet.
    pub(crate) fn new(source: &'s S, root: PageId, pin_branches: bool) -> Self {
        Self {
            source,
            root,
            pin_branches,
            path: Vec::new(),
            passed: Default::default(),
            leaf: None,
            slot: 0,
        }
    }

    /// The leaf and slot it stands on.
    #[inline]
    pub(crate) fn position(&self) -> Option<(&PageRef, usize)> {
        self.leaf.as_ref().map(|leaf| (leaf, self.slot))
    }

    /// The entry's key.
    #[inline]
    pub(crate) fn key(&self) -> Option<&[u8]> {
        self.position().map(|(leaf, slot)| slotted::key(leaf, slot))
    }

    /// Pages from the root to the entry, with the slot taken in each.
    pub(crate) fn chain(&self) -> Vec<(PageId, usize)> {
        let mut chain: Vec<_> = self.path.iter().map(|step| (step.page, step.slot)).collect();
        if let Some((leaf, slot)) = self.position() {
            chain.push((crate::page::id(leaf), slot));
        }
        chain
    }

    /// Goes to the first entry not below `key`; `false` when there is none.
    pub(crate) fn seek(&mut self, key: &[u8]) -> Result<bool> {
        self.find(key)?;
        self.settle_forward()
    }

    /// Goes to the entry with this key; `false` when there is none (the cursor then stands nowhere).
    pub(crate) fn seek_exact(&mut self, key: &[u8]) -> Result<bool> {
        let found = self.find(key)?;
        if !found {
            self.leaf = None;
        }
        Ok(found)
    }

    /// Goes to the last entry not above `key`; `false` when there is none.
    pub(crate) fn seek_floor(&mut self, key: &[u8]) -> Result<bool> {
        if self.find(key)? { Ok(true) } else { self.step_back() }
    }

    /// Goes to the first entry; `false` when the tree is empty.
    pub(crate) fn first(&mut self) -> Result<bool> {
        self.go_down(0, self.root, |_| 0)?;
        self.slot = 0;
        self.settle_forward()
    }

    /// Goes to the last entry; `false` when the tree is empty.
    pub(crate) fn last(&mut self) -> Result<bool> {
        self.go_down(0, self.root, |page| count(page) - 1)?;
        self.slot = self.leaf.as_ref().map_or(0, |leaf| count(leaf));
        self.step_back()
    }

    /// Goes to the next entry; from nowhere, stays nowhere.
    pub(crate) fn next(&mut self) -> Result<bool> {
        self.slot += 1;
        self.settle_forward()
    }

    /// Goes to the entry before; from nowhere, stays nowhere.
    pub(crate) fn prev(&mut self) -> Result<bool> {
        self.step_back()
    }

    /// For each key, gives `visit` the entries from the first not below it on, ascending, with the key's index,
    /// until that returns `false`. The same as a [`Cursor::seek`] each, but several leaves are looked into side
    /// by side, so that the processor waits for memory once and not for each. Leaves the cursor nowhere
    /// in particular.
    pub(crate) fn scan_many<E: From<Error>>(
        &mut self,
        keys: &Keys,
        mut visit: impl FnMut(usize, &PageRef, usize) -> std::result::Result<bool, E>,
    ) -> std::result::Result<(), E> {
        if !self.pin_branches {
            return (0..keys.len()).try_for_each(|index| self.scan(keys, index, 0, &mut visit));
        }
        for start in (0..keys.len()).step_by(BATCH) {
            let batch = start..keys.len().min(start + BATCH);
            let mut leaves: [Option<(PageRef, usize)>; BATCH] = Default::default();
            for (place, index) in leaves.iter_mut().zip(batch.clone()) {
                let key = keys.get(index);
                self.go_down(0, self.root, |page| slotted::search_branch(page, key))?;
                *place = self.leaf.take().map(|leaf| (leaf, 0));
            }
            leaves.iter().flatten().for_each(|(leaf, _)| slotted::touch_slots(leaf));
            for (place, index) in leaves.iter_mut().zip(batch.clone()) {
                if let Some((leaf, slot)) = place {
                    *slot = slotted::search(leaf, keys.get(index)).unwrap_or_else(|slot| slot);
                }
            }
            leaves.iter().flatten().for_each(|(leaf, slot)| slotted::touch_cell(leaf, *slot));
            for (place, index) in leaves.iter().zip(batch) {
                let Some((leaf, first)) = place else { continue };
                let mut slot = *first;
                while slot < count(leaf) && visit(index, leaf, slot)? {
                    slot += 1;
                }
                // The leaf ended before the visitor did.
                if slot == count(leaf) {
                    self.scan(keys, index, slot - first, &mut visit)?;
                }
            }
        }
        Ok(())
    }

    /// One key's part of [`Cursor::scan_many`], but for the first `seen` entries.
    fn scan<E: From<Error>>(
        &mut self,
        keys: &Keys,
        index: usize,
        seen: usize,
        visit: &mut impl FnMut(usize, &PageRef, usize) -> std::result::Result<bool, E>,
    ) -> std::result::Result<(), E> {
        let mut more = self.seek(keys.get(index))?;
        for _ in 0..seen {
            more = more && self.next()?;
        }
        while more
            && let Some((leaf, slot)) = self.position()
            && visit(index, leaf, slot)?
        {
            more = self.next()?;
        }
        Ok(())
    }

    /// Finds the leaf and the slot of `key`, or where it would go; whether it is there.
    fn find(&mut self, key: &[u8]) -> Result<bool> {
        if !self.leaf_covers(key) {
            self.go_down(0, self.root, |page| slotted::search_branch(page, key))?;
        }
        let found = match &self.leaf {
            Some(leaf) => slotted::search(leaf, key),
            None => Err(0),
        };
        self.slot = found.unwrap_or_else(|slot| slot);
        Ok(found.is_ok())
    }

    /// Whether the leaf it stands in is sure to be the one for `key`.
    fn leaf_covers(&self, key: &[u8]) -> bool {
        self.leaf.as_ref().is_some_and(|leaf| slotted::covers(leaf, key))
    }

    /// From the branch or leaf `id` at `depth` down to a leaf, taking the slot that `choose` names.
    fn go_down(&mut self, depth: usize, id: PageId, choose: impl Fn(&[u8]) -> usize) -> Result<()> {
        self.leaf = None;
        let mut id = id;
        let mut depth = depth;
        loop {
            let page = self.branch_or_page(depth, id)?;
            if is_leaf(self.source, id, &page, depth)? {
                self.path.truncate(depth);
                self.leaf = Some(page);
                return Ok(());
            }
            let slot = choose(&page);
            let child = slotted::child(&page, slot);
            self.enter(depth, Step { page: id, slot, pinned: self.pin_branches.then_some(page) });
            id = child;
            depth += 1;
        }
    }

    fn enter(&mut self, depth: usize, step: Step) {
        if depth == self.path.len() {
            self.path.push(step);
            return;
        }
        let before = std::mem::replace(&mut self.path[depth], step);
        if let Some(page) = before.pinned {
            self.passed[place(before.page)] = Some(page);
        }
    }

    /// The page `id`, from the path or among those passed when it is pinned there.
    fn branch_or_page(&mut self, depth: usize, id: PageId) -> Result<PageRef> {
        if let Some(step) = self.path.get_mut(depth)
            && step.page == id
            && let Some(page) = step.pinned.take()
        {
            return Ok(page);
        }
        match &self.passed[place(id)] {
            Some(page) if crate::page::id(page) == id => Ok(page.clone()),
            _ => self.source.page(id),
        }
    }

    /// Moves on to later leaves until it stands on an entry.
    fn settle_forward(&mut self) -> Result<bool> {
        loop {
            match &self.leaf {
                None => return Ok(false),
                Some(leaf) if self.slot < count(leaf) => return Ok(true),
                Some(_) => {}
            }
            self.leaf = None;
            self.slot = 0;
            let Some((depth, child)) =
                self.turn(|slot, slots| (slot + 1 < slots).then_some(slot + 1))?
            else {
                return Ok(false);
            };
            self.go_down(depth + 1, child, |_| 0)?;
        }
    }

    /// Moves to the entry before the slot, in this leaf or an earlier one.
    fn step_back(&mut self) -> Result<bool> {
        loop {
            match &self.leaf {
                None => return Ok(false),
                Some(_) if self.slot > 0 => {
                    self.slot -= 1;
                    return Ok(true);
                }
                Some(_) => {}
            }
            self.leaf = None;
            let Some((depth, child)) = self.turn(|slot, _| slot.checked_sub(1))? else {
                return Ok(false);
            };
            self.go_down(depth + 1, child, |page| count(page) - 1)?;
            self.slot = self.leaf.as_ref().map_or(0, |leaf| count(leaf));
        }
    }

    /// Finds the lowest branch of the path that has a neighbour slot, moves there, and names the child.
    fn turn(
        &mut self,
        neighbour: impl Fn(usize, usize) -> Option<usize>,
    ) -> Result<Option<(usize, PageId)>> {
        for depth in (0..self.path.len()).rev() {
            let step = &mut self.path[depth];
            let page = match &step.pinned {
                Some(page) => page.clone(),
                None => self.source.page(step.page)?,
            };
            if let Some(slot) = neighbour(step.slot, count(&page)) {
                step.slot = slot;
                return Ok(Some((depth, slotted::child(&page, slot))));
            }
        }
        Ok(None)
    }
}

/// Where a branch is kept among those passed.
fn place(id: PageId) -> usize {
    crate::codec::num::to_usize(id.0 % BRANCHES_KEPT as u64)
}
