//! The rows: random keys of 24 bytes, random values of 150, the same for all engines.

/// A key and a value.
pub(super) type Row = (Vec<u8>, Vec<u8>);

const KEY_BYTES: usize = 24;
const VALUE_BYTES: usize = 150;
const SEED: u64 = 3;

/// So many rows before the clock starts, and as many new ones as are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    loaded: u64,
}

impl Rows {
    pub(super) fn new(loaded: u64) -> Self {
        Self { loaded }
    }

    /// The rows that are there before.
    pub(super) fn loaded(self) -> impl Iterator<Item = Row> {
        let mut random = fastrand::Rng::with_seed(SEED);
        (0..self.loaded).map(move |_| row(&mut random))
    }

    /// Rows of their own for each workload, round and thread.
    pub(super) fn new_rows(
        self,
        (workload, round): (&str, u64),
        thread: u64,
    ) -> impl Iterator<Item = Row> {
        let name = workload.bytes().fold(self.loaded, |sum, byte| sum * 31 + u64::from(byte));
        let mut random = fastrand::Rng::with_seed(name ^ round << 32 ^ thread << 48);
        std::iter::repeat_with(move || row(&mut random))
    }
}

fn row(random: &mut fastrand::Rng) -> Row {
    let mut bytes = |len| {
        let mut bytes = vec![0; len];
        random.fill(&mut bytes);
        bytes
    };
    (bytes(KEY_BYTES), bytes(VALUE_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_differ_by_workload_round_and_thread_and_come_again() {
        let rows = Rows::new(10);
        let first = |round, thread| rows.new_rows(round, thread).next().unwrap();
        let all = [first(("a", 0), 0), first(("a", 1), 0), first(("a", 0), 1), first(("b", 0), 0)];
        for (index, row) in all.iter().enumerate() {
            assert_eq!((row.0.len(), row.1.len()), (KEY_BYTES, VALUE_BYTES));
            assert!(!all[..index].contains(row));
        }
        assert_eq!(first(("a", 1), 0), all[1]);
        assert_eq!(rows.loaded().count(), 10);
    }
}
