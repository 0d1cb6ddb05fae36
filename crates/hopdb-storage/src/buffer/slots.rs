//! Which page stands in which slot. A slot is the policy's name for the place of a resident head.
//!
//! Invariant: a slot is free, or the head of the page it names says that slot; both change under the latch of
//! the slots and that of the page's shard.

use super::policy::{Clock, EvictionPolicy, Probe};
use crate::page::PageId;

/// The slots of a pool.
#[derive(Debug)]
pub(super) struct Slots {
    pages: Vec<PageId>,
    free: Vec<usize>,
    policy: Box<dyn EvictionPolicy>,
}

impl Default for Slots {
    fn default() -> Self {
        Self { pages: Vec::new(), free: Vec::new(), policy: Box::new(Clock::default()) }
    }
}

impl Slots {
    /// Gives a page a slot.
    pub(super) fn admit(&mut self, id: PageId) -> usize {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.pages.push(id);
            self.pages.len() - 1
        });
        self.pages[slot] = id;
        self.policy.admit(slot);
        slot
    }

    /// Empties a slot.
    pub(super) fn remove(&mut self, slot: usize) {
        self.policy.remove(slot);
        self.free.push(slot);
    }

    /// Lets the policy offer slots until `probe` takes one, which is empty then; whether it took one.
    pub(super) fn take_victim(&mut self, mut probe: impl FnMut(PageId, usize) -> Probe) -> bool {
        let Self { pages, free, policy } = self;
        let taken = policy.victim(&mut |slot| probe(pages[slot], slot));
        free.extend(taken);
        taken.is_some()
    }

    /// Offers every slot; those that `probe` takes are empty then.
    pub(super) fn take_all(&mut self, mut probe: impl FnMut(PageId, usize) -> Probe) {
        for slot in 0..self.pages.len() {
            if probe(self.pages[slot], slot) == Probe::Taken {
                self.remove(slot);
            }
        }
    }
}
