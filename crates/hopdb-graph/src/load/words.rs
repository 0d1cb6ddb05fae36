//! Ordering relationships by either end, which is the order of the adjacency table, within a memory budget.
//!
//! A relationship is packed into one word: the node it is sorted by, its type, its other node, and a number that
//! makes the order one (its row, or its id). Words are gathered; when the budget is full they are sorted and
//! written out as a run, and in the end runs are merged. What fits the budget is never written.
//!
//! Words are packed as the load needs: into 64 bits where their fields allow it, and in a run into as few bytes as
//! hold them.
//!
//! Invariants: fields order words as `(node, type, other, number)`; words of a run and of a [`Sorted`] ascend; a
//! run holds every word pushed before it was written and after the run before.

use super::bucket_sort;
use super::ordered::cores;
use super::spill::{Run, RunFile, RunReader, Scratch, read_buffer_bytes};
use crate::error::Result;

const NUMBER_BITS: u32 = 35;
const NODE_BITS: u32 = 34;
const TYPE_BITS: u32 = 24;

/// Most nodes that can be sorted: 17 thousand million.
pub(super) const NODES_MAX: u64 = 1 << NODE_BITS;
/// Most rows that can be told apart: 34 thousand million.
pub(super) const NUMBERS_MAX: u64 = 1 << NUMBER_BITS;
/// Most relationship types.
pub(super) const TYPES_MAX: u32 = 1 << TYPE_BITS;

/// Bytes a gathered word takes.
pub(super) const WORD_BYTES: usize = size_of::<u128>();

/// One relationship as it is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fields {
    /// The node that is sorted by.
    pub(super) node: u64,
    pub(super) type_id: u32,
    /// The node at the other end.
    pub(super) other: u64,
    /// Row or id.
    pub(super) number: u64,
}

impl Fields {
    #[inline]
    pub(super) fn pack(self) -> u128 {
        debug_assert!(self.node < NODES_MAX && self.other < NODES_MAX);
        debug_assert!(self.type_id < TYPES_MAX && self.number < NUMBERS_MAX);
        let head = self.node << TYPE_BITS | u64::from(self.type_id);
        let word = u128::from(head) << NODE_BITS | u128::from(self.other);
        word << NUMBER_BITS | u128::from(self.number)
    }

    #[inline]
    pub(super) fn unpack(word: u128) -> Self {
        let (word, number) = cut(word, NUMBER_BITS);
        let (word, other) = cut(word, NODE_BITS);
        let (node, type_id) = cut(word, TYPE_BITS);
        Self { node: low(node), type_id: low32(type_id), other: low(other), number: low(number) }
    }
}

/// The word without its `width` low bits, and those bits.
#[inline]
fn cut(word: u128, width: u32) -> (u128, u128) {
    (word >> width, word & ((1 << width) - 1))
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the fields are narrower")]
fn low(word: u128) -> u64 {
    word as u64
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a type is narrower")]
fn low32(word: u128) -> u32 {
    word as u32
}

/// How many bits each field takes in a packed word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Widths {
    node: u32,
    type_id: u32,
    other: u32,
    number: u32,
}

impl Widths {
    /// Wide enough for so many nodes, types and numbers.
    pub(super) fn new(nodes: u64, types: u64, numbers: u64) -> Self {
        let bits = |count: u64| u64::BITS - count.saturating_sub(1).leading_zeros();
        let node = bits(nodes);
        Self { node, type_id: bits(types), other: node, number: bits(numbers) }
    }

    /// Packs words for a sorter of these widths.
    pub(super) fn piece(self, words: &[u128]) -> Piece {
        let fields = words.iter().map(|word| Fields::unpack(*word));
        match self.are_narrow() {
            true => Piece::Narrow(fields.map(|fields| self.pack_narrow(fields)).collect()),
            false => Piece::Wide(fields.map(|fields| self.pack(fields)).collect()),
        }
    }

    fn bits(self) -> u32 {
        self.node + self.type_id + self.other + self.number
    }

    /// Whether 64 bits are enough; below, so that no shift is as wide as the word.
    fn are_narrow(self) -> bool {
        self.bits() < u64::BITS
    }

    /// Bytes of a packed word in a run.
    fn bytes(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    #[inline]
    fn pack(self, fields: Fields) -> u128 {
        let word = u128::from(fields.node) << self.type_id | u128::from(fields.type_id);
        let word = word << self.other | u128::from(fields.other);
        word << self.number | u128::from(fields.number)
    }

    #[inline]
    fn pack_narrow(self, fields: Fields) -> u64 {
        let word = fields.node << self.type_id | u64::from(fields.type_id);
        let word = word << self.other | fields.other;
        word << self.number | fields.number
    }

    /// The fields of a packed word.
    #[inline]
    pub(super) fn unpack(self, word: u128) -> Fields {
        let (word, number) = cut(word, self.number);
        let (word, other) = cut(word, self.other);
        let (node, type_id) = cut(word, self.type_id);
        Fields { node: low(node), type_id: low32(type_id), other: low(other), number: low(number) }
    }

    /// The first field of a packed word.
    #[inline]
    pub(super) fn node(self, word: u128) -> u64 {
        low(word >> (self.type_id + self.other + self.number))
    }
}

/// Words on their way into a sorter, packed for its widths: into 64 bits where these allow it.
#[derive(Debug)]
pub(super) enum Piece {
    Narrow(Vec<u64>),
    Wide(Vec<u128>),
}

impl Piece {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Narrow(words) => words.len(),
            Self::Wide(words) => words.len(),
        }
    }
}

/// Sorted words in memory.
#[derive(Debug)]
pub(super) struct Words {
    widths: Widths,
    words: Piece,
}

impl Words {
    /// Sorts; the pieces are gone one by one as they are copied.
    fn sort(pieces: Vec<Piece>, widths: Widths) -> Self {
        let (mut narrow, mut wide) = (Vec::new(), Vec::new());
        for piece in pieces {
            match piece {
                Piece::Narrow(words) => narrow.push(words),
                Piece::Wide(words) => wide.push(words),
            }
        }
        assert!(narrow.is_empty() || wide.is_empty(), "a sorter has words of one kind");
        let words = match widths.are_narrow() {
            true => Piece::Narrow(bucket_sort::sort(narrow, widths.bits(), cores())),
            false => Piece::Wide(bucket_sort::sort(wide, widths.bits(), cores())),
        };
        Self { widths, words }
    }

    fn len(&self) -> usize {
        self.words.len()
    }

    fn copy(&self, from: usize, count: usize, out: &mut Vec<u128>) {
        let range = from..from + count;
        match &self.words {
            Piece::Narrow(words) => out.extend(words[range].iter().map(|word| u128::from(*word))),
            Piece::Wide(words) => out.extend_from_slice(&words[range]),
        }
    }

    /// Writes a run: of each word as many bytes as the widest needs.
    fn write(&self, file: &mut RunFile) -> Result<WordRun> {
        let bytes = self.widths.bytes();
        let mut run = file.begin()?;
        match &self.words {
            Piece::Narrow(words) => {
                words.iter().try_for_each(|word| run.put(&word.to_le_bytes()[..bytes]))?;
            }
            Piece::Wide(words) => {
                words.iter().try_for_each(|word| run.put(&word.to_le_bytes()[..bytes]))?;
            }
        }
        Ok(WordRun { run: run.finish()?, bytes, count: self.len() as u64 })
    }
}

/// Sorted words on disk.
#[derive(Debug)]
pub(super) struct WordRun {
    run: Run,
    /// Bytes of a word.
    bytes: usize,
    count: u64,
}

/// Gathers words and sorts them.
#[derive(Debug)]
pub(super) struct WordSorter {
    file: RunFile,
    widths: Widths,
    /// Words held before they are written out.
    words_max: usize,
    pieces: Vec<Piece>,
    held: usize,
    runs: Vec<WordRun>,
    count: u64,
}

impl WordSorter {
    /// A sorter of words of these widths, that holds them in about `bytes` of memory.
    pub(super) fn new(scratch: &Scratch, bytes: usize, widths: Widths) -> Self {
        let word_bytes = if widths.are_narrow() { size_of::<u64>() } else { size_of::<u128>() };
        // To be sorted they are copied twice: apart, and together.
        let words_max = (bytes / word_bytes / 3).max(1024);
        let (file, pieces, runs) = (RunFile::new(scratch), Vec::new(), Vec::new());
        Self { file, widths, words_max, pieces, held: 0, runs, count: 0 }
    }

    /// What its words are packed to.
    pub(super) fn widths(&self) -> Widths {
        self.widths
    }

    /// Words pushed.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Takes words in any order, packed for the sorter's widths.
    pub(super) fn push(&mut self, words: Piece) -> Result<()> {
        self.held += words.len();
        self.count += words.len() as u64;
        self.pieces.push(words);
        if self.held >= self.words_max { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<()> {
        let words = Words::sort(std::mem::take(&mut self.pieces), self.widths);
        self.held = 0;
        self.runs.push(words.write(&mut self.file)?);
        Ok(())
    }

    /// Sorts what was pushed.
    pub(super) fn finish(mut self) -> Result<Sorted> {
        if self.runs.is_empty() {
            return Ok(Sorted::Memory(Words::sort(self.pieces, self.widths)));
        }
        if self.held > 0 {
            self.spill()?;
        }
        let bytes = self.words_max * WORD_BYTES;
        Ok(Sorted::Runs { runs: self.runs, bytes, widths: self.widths })
    }
}

/// Sorted words, to be read in order any number of times.
#[derive(Debug)]
pub(super) enum Sorted {
    Memory(Words),
    Runs {
        runs: Vec<WordRun>,
        /// For read buffers.
        bytes: usize,
        widths: Widths,
    },
}

impl Sorted {
    /// How its words are packed.
    pub(super) fn widths(&self) -> Widths {
        match self {
            Self::Memory(Words { widths, .. }) | Self::Runs { widths, .. } => *widths,
        }
    }

    /// Reads from the beginning.
    pub(super) fn stream(&self) -> Result<Stream<'_>> {
        Ok(match self {
            Self::Memory(words) => Stream::Memory { words, at: 0 },
            Self::Runs { runs, bytes, .. } => {
                let buffer = read_buffer_bytes(*bytes, runs.len());
                Stream::Runs(Merge::new(runs, buffer)?)
            }
        })
    }
}

/// Reads sorted words.
#[derive(Debug)]
pub(super) enum Stream<'s> {
    Memory { words: &'s Words, at: usize },
    Runs(Merge<'s>),
}

impl Stream<'_> {
    /// Appends the next words, packed, `count` unless the end comes before.
    pub(super) fn next(&mut self, count: usize, out: &mut Vec<u128>) -> Result<()> {
        match self {
            Self::Memory { words, at } => {
                let count = count.min(words.len() - *at);
                words.copy(*at, count, out);
                *at += count;
                Ok(())
            }
            Self::Runs(merge) => merge.next(count, out),
        }
    }
}

/// Merges runs by a tree of losers: each inner place holds the run that lost there, so that the next word is found by
/// one comparison a level (Knuth, The Art of Computer Programming, volume 3, section 5.4.1).
#[derive(Debug)]
pub(super) struct Merge<'s> {
    readers: Vec<WordReader<'s>>,
    /// The next word of each run; [`END`] behind its last.
    heads: Vec<u128>,
    /// By place, from 1: the run that lost there. Place 0 has the winner.
    losers: Vec<usize>,
}

/// Above all words: those take 127 bits at most.
const END: u128 = u128::MAX;
const _: () = assert!(2 * NODE_BITS + TYPE_BITS + NUMBER_BITS < u128::BITS);

impl<'s> Merge<'s> {
    fn new(runs: &'s [WordRun], buffer_bytes: usize) -> Result<Self> {
        let mut readers: Vec<_> =
            runs.iter().map(|run| WordReader::new(run, buffer_bytes)).collect();
        let mut heads = Vec::new();
        for reader in &mut readers {
            heads.push(reader.next()?);
        }
        let mut merge = Self { readers, heads, losers: vec![0; runs.len()] };
        // The places are those of a heap: the runs are its leaves.
        merge.losers[0] = merge.play(1);
        Ok(merge)
    }

    /// Plays all matches below a place; the winner.
    fn play(&mut self, place: usize) -> usize {
        let runs = self.readers.len();
        if place >= runs {
            return place - runs;
        }
        let (a, b) = (self.play(2 * place), self.play(2 * place + 1));
        let (winner, loser) = if self.heads[a] <= self.heads[b] { (a, b) } else { (b, a) };
        self.losers[place] = loser;
        winner
    }

    fn next(&mut self, count: usize, out: &mut Vec<u128>) -> Result<()> {
        for _ in 0..count {
            let mut winner = self.losers[0];
            if self.heads[winner] == END {
                break;
            }
            out.push(self.heads[winner]);
            self.heads[winner] = self.readers[winner].next()?;
            let mut place = (winner + self.readers.len()) / 2;
            while place > 0 {
                if self.heads[self.losers[place]] < self.heads[winner] {
                    std::mem::swap(&mut self.losers[place], &mut winner);
                }
                place /= 2;
            }
            self.losers[0] = winner;
        }
        Ok(())
    }
}

/// Words that are read from a run at a time.
const READ_WORDS: usize = 4096;

/// Reads a run.
#[derive(Debug)]
struct WordReader<'s> {
    reader: RunReader<'s>,
    bytes: usize,
    /// Words not read yet.
    left: u64,
    words: Vec<u128>,
    at: usize,
}

impl<'s> WordReader<'s> {
    fn new(run: &'s WordRun, buffer_bytes: usize) -> Self {
        let reader = run.run.reader(buffer_bytes);
        Self { reader, bytes: run.bytes, left: run.count, words: Vec::new(), at: 0 }
    }

    #[inline]
    fn next(&mut self) -> Result<u128> {
        if self.at == self.words.len() && !self.fill()? {
            return Ok(END);
        }
        self.at += 1;
        Ok(self.words[self.at - 1])
    }

    /// Reads on; false at the end.
    fn fill(&mut self) -> Result<bool> {
        self.words.clear();
        self.at = 0;
        let count = usize::try_from(self.left).unwrap_or(READ_WORDS).min(READ_WORDS);
        let bytes = self.reader.take(count * self.bytes)?.expect("a run holds what was counted");
        for bytes in bytes.chunks_exact(self.bytes.max(1)) {
            let mut word = [0; WORD_BYTES];
            word[..bytes.len()].copy_from_slice(bytes);
            self.words.push(u128::from_le_bytes(word));
        }
        // Words of no bits: all are 0.
        self.words.resize(count, 0);
        self.left -= count as u64;
        Ok(count > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use hopdb_storage::io::sim::SimFs;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const WIDE: Widths =
        Widths { node: NODE_BITS, type_id: TYPE_BITS, other: NODE_BITS, number: NUMBER_BITS };

    fn scratch() -> Scratch {
        Scratch::new(Arc::new(SimFs::new(1)), Path::new("/data"))
    }

    fn all(sorted: &Sorted, step: usize) -> Vec<u128> {
        let mut stream = sorted.stream().unwrap();
        let mut words = Vec::new();
        loop {
            let before = words.len();
            stream.next(step, &mut words).unwrap();
            if words.len() == before {
                break;
            }
        }
        let widths = sorted.widths();
        let fields = words.into_iter().map(|word| {
            let fields = widths.unpack(word);
            assert_eq!(widths.node(word), fields.node);
            fields.pack()
        });
        fields.collect()
    }

    fn fields() -> impl Strategy<Value = Fields> {
        // Widths that fit into 64 bits together, that just do not, and that are full.
        (0..=NODE_BITS, 0..=TYPE_BITS, 0..=NUMBER_BITS).prop_flat_map(|(node, type_id, number)| {
            let below = |bits: u32| 0..1_u64 << bits;
            (below(node), below(type_id), below(node), below(number)).prop_map(
                |(node, type_id, other, number)| Fields {
                    node,
                    type_id: u32::try_from(type_id).unwrap(),
                    other,
                    number,
                },
            )
        })
    }

    proptest! {
        #[test]
        fn words_are_fields_in_their_order(a in fields(), b in fields()) {
            prop_assert_eq!(Fields::unpack(a.pack()), a);
            prop_assert_eq!(a.pack().cmp(&b.pack()), a.cmp(&b));
        }

        #[test]
        fn what_was_pushed_comes_sorted_whether_it_fits_or_not(
            pieces in vec(vec(fields(), 0..40), 0..12),
            words_max in 1_usize..200,
            step in 1_usize..50,
        ) {
            // Widths just wide enough: mostly wide ones, and narrow ones where the fields are.
            let ones = pieces.iter().flatten().fold([0; 4], |ones, fields| {
                let Fields { node, type_id, other, number } = *fields;
                [ones[0] | node | other, ones[1] | u64::from(type_id), ones[2] | number, 0]
            });
            let widths = Widths::new(ones[0] + 1, ones[1] + 1, ones[2] + 1);
            let mut sorter = WordSorter { words_max, ..WordSorter::new(&scratch(), 0, widths) };
            let mut expected = Vec::new();
            for piece in pieces {
                let words: Vec<u128> = piece.iter().map(|fields| fields.pack()).collect();
                expected.extend(&words);
                sorter.push(widths.piece(&words)).unwrap();
            }
            prop_assert_eq!(sorter.count(), expected.len() as u64);
            expected.sort_unstable();
            let sorted = sorter.finish().unwrap();
            prop_assert_eq!(&all(&sorted, step), &expected);
            prop_assert_eq!(all(&sorted, 1_000), expected);
        }
    }

    #[test]
    fn many_runs_take_one_file() {
        let fs = SimFs::new(1);
        let scratch = Scratch::new(Arc::new(fs.clone()), Path::new("/data"));
        let mut sorter = WordSorter { words_max: 1, ..WordSorter::new(&scratch, 0, WIDE) };
        for word in (0..2_000).rev() {
            sorter.push(WIDE.piece(&[word])).unwrap();
        }
        let sorted = sorter.finish().unwrap();
        assert_eq!(all(&sorted, 100), (0..2_000).collect::<Vec<_>>());
        assert_eq!(fs.counts().len(), 1);
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let fs = SimFs::new(1);
        fs.set_capacity(0);
        let scratch = Scratch::new(Arc::new(fs), Path::new("/data"));
        let mut sorter = WordSorter { words_max: 1, ..WordSorter::new(&scratch, 0, WIDE) };
        let error = sorter.push(WIDE.piece(&[1, 2])).unwrap_err();
        assert!(error.to_string().contains("a temporary file in /data"), "{error}");
    }
}
