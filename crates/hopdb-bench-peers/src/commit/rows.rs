//! The rows: random keys of 24 bytes, random values of 150, the same for all engines; and what a store should hold.
//!
//! A row depends on its stream and its number alone, so that nobody has to keep what was written.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A key and a value.
pub(super) type Row = (Vec<u8>, Vec<u8>);

const KEY_BYTES: usize = 24;
pub(super) const VALUE_BYTES: usize = 150;
/// Spreads numbers that follow one another: 2^64 over the golden ratio.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Rows without an end, told by their number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream(u64);

impl Stream {
    /// The rows that are there before a clock starts.
    pub(super) const LOADED: Self = Self(3);

    /// A stream of its own for each workload, round and thread.
    pub(super) fn new(workload: &str, round: u64, thread: u64) -> Self {
        let mut hasher = DefaultHasher::new();
        (workload, round, thread).hash(&mut hasher);
        Self(hasher.finish())
    }

    /// A row with a key of its own.
    pub(super) fn row(self, number: u64) -> Row {
        let mut random = self.random(number);
        (bytes(&mut random, KEY_BYTES), bytes(&mut random, VALUE_BYTES))
    }

    fn random(self, number: u64) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.0 ^ number.wrapping_mul(SPREAD))
    }
}

/// New values for rows that were loaded, chosen at random among a thread's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Updates {
    pub(super) stream: Stream,
    /// How many rows were loaded; at least as many as threads.
    pub(super) loaded: u64,
    pub(super) thread: u64,
    pub(super) threads: u64,
}

impl Updates {
    pub(super) fn row(self, number: u64) -> Row {
        let mut random = self.stream.random(number);
        let index = random.u64(..self.loaded / self.threads) * self.threads + self.thread;
        let (key, _) = Stream::LOADED.row(index);
        (key, bytes(&mut random, VALUE_BYTES))
    }

    /// What the newest of the first `count` updates left, each key once.
    pub(super) fn newest(self, count: u64) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for number in (count.saturating_sub(1000)..count).rev() {
            let row = self.row(number);
            if !rows.iter().any(|(key, _)| *key == row.0) {
                rows.push(row);
            }
        }
        rows
    }
}

fn bytes(random: &mut fastrand::Rng, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    random.fill(&mut bytes);
    bytes
}

/// All rows of a store in short, whatever their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    rows: u64,
    sum: u64,
}

impl Contents {
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        let mut hasher = DefaultHasher::new();
        (key, value).hash(&mut hasher);
        self.rows += 1;
        self.sum = self.sum.wrapping_add(hasher.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_differ_by_workload_round_thread_and_number_and_come_again() {
        let row = |name, round, thread, number| Stream::new(name, round, thread).row(number);
        let all = [
            row("a", 0, 0, 0),
            row("a", 0, 0, 1),
            row("a", 1, 0, 0),
            row("a", 0, 1, 0),
            row("b", 0, 0, 0),
            Stream::LOADED.row(0),
        ];
        for (index, row) in all.iter().enumerate() {
            assert_eq!((row.0.len(), row.1.len()), (KEY_BYTES, VALUE_BYTES));
            assert!(all[..index].iter().all(|other| other.0 != row.0 && other.1 != row.1));
        }
        assert_eq!(row("a", 1, 0, 0), all[2]);
    }

    #[test]
    fn threads_update_rows_of_their_own() {
        let stream = Stream::new("updates", 0, 0);
        let keys = |thread| {
            let updates = Updates { stream, loaded: 10, thread, threads: 2 };
            (0..50).map(|number| updates.row(number).0).collect::<Vec<_>>()
        };
        let loaded: Vec<_> = (0..10).map(|number| Stream::LOADED.row(number).0).collect();
        let (even, odd) = (keys(0), keys(1));
        assert!(even.iter().chain(&odd).all(|key| loaded.contains(key)));
        assert!(even.iter().all(|key| !odd.contains(key)));
    }

    #[test]
    fn the_newest_update_of_a_key_counts() {
        let updates = Updates { stream: Stream::LOADED, loaded: 4, thread: 0, threads: 1 };
        let newest = updates.newest(40);
        assert_eq!(newest.len(), 4);
        for row in newest {
            let last = (0..40).map(|number| updates.row(number)).rfind(|one| one.0 == row.0);
            assert_eq!(last, Some(row));
        }
    }

    #[test]
    fn contents_tell_rows_apart_but_not_their_order() {
        let of = |rows: &[(&str, &str)]| {
            let mut contents = Contents::default();
            rows.iter().for_each(|(key, value)| contents.add(key.as_bytes(), value.as_bytes()));
            contents
        };
        assert_eq!(of(&[("a", "1"), ("b", "2")]), of(&[("b", "2"), ("a", "1")]));
        assert_ne!(of(&[("a", "1"), ("b", "2")]), of(&[("a", "2"), ("b", "1")]));
        assert_ne!(of(&[("ab", "1")]), of(&[("a", "b1")]));
        assert_ne!(of(&[]), of(&[("a", "1")]));
    }
}
