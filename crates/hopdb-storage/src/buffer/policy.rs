//! Which frame to give up. Policies see slot numbers only; the pool answers for each slot it is asked about.

use std::fmt::Debug;

/// What the pool says of a slot that a policy looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// Pinned or dirty: not now.
    Busy,
    /// Used since the last look; the mark is cleared.
    Touched,
    /// Given up: the pool has taken the page out.
    Taken,
}

/// An eviction policy over frame slots.
pub(crate) trait EvictionPolicy: Send + Debug {
    /// A page came into `slot`.
    fn admit(&mut self, slot: usize);
    /// `slot` was emptied for another reason than [`EvictionPolicy::victim`].
    fn remove(&mut self, slot: usize);
    /// Probes slots until one is taken; `None` when a full search took none.
    fn victim(&mut self, probe: &mut dyn FnMut(usize) -> Probe) -> Option<usize>;
}

/// Clock: a hand that passes over slots, giving each touched one a second chance.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    occupied: Vec<bool>,
    hand: usize,
}

impl EvictionPolicy for Clock {
    fn admit(&mut self, slot: usize) {
        if slot >= self.occupied.len() {
            self.occupied.resize(slot + 1, false);
        }
        self.occupied[slot] = true;
    }

    fn remove(&mut self, slot: usize) {
        self.occupied[slot] = false;
    }

    fn victim(&mut self, probe: &mut dyn FnMut(usize) -> Probe) -> Option<usize> {
        for _ in 0..2 * self.occupied.len() {
            let slot = self.hand;
            self.hand = (self.hand + 1) % self.occupied.len();
            if self.occupied[slot] && probe(slot) == Probe::Taken {
                self.occupied[slot] = false;
                return Some(slot);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_spares_touched_slots_once() {
        let mut clock = Clock::default();
        for slot in 0..4 {
            clock.admit(slot);
        }
        let mut touched = [true, false, true, false];
        let mut probe = |slot: usize| {
            if std::mem::take(&mut touched[slot]) { Probe::Touched } else { Probe::Taken }
        };
        let order: Vec<_> = std::iter::from_fn(|| clock.victim(&mut probe)).collect();
        assert_eq!(order, [1, 3, 0, 2]);
    }

    #[test]
    fn busy_slots_end_the_search() {
        let mut clock = Clock::default();
        clock.admit(0);
        assert_eq!(clock.victim(&mut |_| Probe::Busy), None);
    }
}
