//! Runs of page ids, each with a value; a later run goes over the earlier ones.
//!
//! Invariants: the runs do not overlap, and none is empty. A run that is set costs as much as those it covers, which are
//! gone then: a log that somebody made up cannot make recovery take much longer than one of its length does.

use std::collections::BTreeMap;
use std::ops::Range;

/// Values by page id.
#[derive(Debug)]
pub(super) struct Runs<V>(BTreeMap<u64, (u64, V)>);

impl<V> Default for Runs<V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<V: Copy> Runs<V> {
    /// Gives all ids of a run a value.
    pub(super) fn set(&mut self, run: Range<u64>, value: V) {
        if run.is_empty() {
            return;
        }
        if let Some((start, (end, before))) = self.at_or_below(run.start) {
            self.cut(start, (end, before), &run);
        }
        while let Some((start, (end, before))) = self.first_in(&run) {
            self.cut(start, (end, before), &run);
        }
        self.0.insert(run.start, (run.end, value));
    }

    /// The value of an id.
    pub(super) fn get(&self, id: u64) -> Option<V> {
        let (_, (end, value)) = self.at_or_below(id)?;
        (id < end).then_some(value)
    }

    /// The runs, ascending.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<u64>> {
        self.0.iter().map(|(start, (end, _))| *start..*end)
    }

    fn at_or_below(&self, id: u64) -> Option<(u64, (u64, V))> {
        self.0.range(..=id).next_back().map(|(start, rest)| (*start, *rest))
    }

    fn first_in(&self, run: &Range<u64>) -> Option<(u64, (u64, V))> {
        self.0.range(run.clone()).next().map(|(start, rest)| (*start, *rest))
    }

    /// Leaves of the run that begins at `start` what lies outside of another.
    fn cut(&mut self, start: u64, (end, value): (u64, V), by: &Range<u64>) {
        self.0.remove(&start);
        if start < by.start {
            self.0.insert(start, (end.min(by.start), value));
        }
        if end > by.end {
            self.0.insert(start.max(by.end), (end, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_runs_go_over_earlier_ones() {
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let (mut runs, mut expected) = (Runs::default(), [None; 64]);
            for value in 0..40 {
                let start = random.usize(0..64);
                let end = random.usize(start..=64.min(start + 20));
                runs.set(start as u64..end as u64, value);
                expected[start..end].fill(Some(value));
                for (id, value) in expected.iter().enumerate() {
                    assert_eq!(runs.get(id as u64), *value, "seed {seed}, id {id}");
                }
            }
            let mut last = 0;
            for range in runs.ranges() {
                assert!(range.start >= last && range.end > range.start, "seed {seed}");
                last = range.end;
            }
        }
    }

    #[test]
    fn runs_end_where_numbers_do() {
        let mut runs = Runs::default();
        runs.set(0..u64::MAX, 1);
        runs.set(u64::MAX - 1..u64::MAX, 2);
        assert_eq!((runs.get(u64::MAX - 2), runs.get(u64::MAX - 1)), (Some(1), Some(2)));
        assert_eq!(runs.get(u64::MAX), None);
    }
}
