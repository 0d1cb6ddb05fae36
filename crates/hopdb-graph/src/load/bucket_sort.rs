//! Sorting words on all cores: first apart by their highest bits, then each bucket on its own, which fits a cache.
//!
//! Both steps go over disjoint parts. A bucket that holds most of the words (of a node with most relationships) is
//! sorted by one core, as all would be without buckets.
//!
//! Measured in the load of 100,000 people and a million relationships on two cores, by either end: 12 and 15 ms,
//! against 17 and 18 for two halves about the median.
#![expect(clippy::disallowed_methods, reason = "a sort owns its threads and ends them")]

use std::ops::Range;
use std::thread;

use hopdb_storage::codec::num::to_usize;

/// Bits by which words are set apart.
const BUCKET_BITS: u32 = 8;
const BUCKETS: usize = 1 << BUCKET_BITS;

/// Fewer words than this are sorted at once.
const WORDS_MIN: usize = 1 << 15;

/// What can be sorted: a number of 64 or 128 bits.
pub(super) trait Word: Copy + Ord + Send + Sync + Default {
    /// The bits from `shift` on: [`BUCKET_BITS`] at most.
    fn bucket(self, shift: u32) -> usize;
}

impl Word for u64 {
    #[inline]
    fn bucket(self, shift: u32) -> usize {
        to_usize(self >> shift)
    }
}

impl Word for u128 {
    #[inline]
    fn bucket(self, shift: u32) -> usize {
        // Few bits are left.
        let [low, ..] = (self >> shift).to_le_bytes();
        usize::from(low)
    }
}

/// Words of some pieces, apart by bucket.
struct Apart<W> {
    words: Vec<W>,
    /// Where each bucket ends.
    ends: Vec<usize>,
}

impl<W: Word> Apart<W> {
    fn new(pieces: Vec<Vec<W>>, shift: u32) -> Self {
        let mut counts = vec![0; BUCKETS];
        for word in pieces.iter().flatten() {
            counts[word.bucket(shift)] += 1;
        }
        let mut next = Vec::with_capacity(BUCKETS);
        let mut end = 0;
        for count in counts {
            next.push(end);
            end += count;
        }
        let mut words = vec![W::default(); end];
        for piece in pieces {
            for word in piece {
                let at = &mut next[word.bucket(shift)];
                words[*at] = word;
                *at += 1;
            }
        }
        Self { words, ends: next }
    }

    fn bucket(&self, bucket: usize) -> &[W] {
        let start = if bucket == 0 { 0 } else { self.ends[bucket - 1] };
        &self.words[start..self.ends[bucket]]
    }
}

/// Sorts the words of all pieces, of `bits` bits at most, on so many threads.
pub(super) fn sort<W: Word>(pieces: Vec<Vec<W>>, bits: u32, threads: usize) -> Vec<W> {
    let count: usize = pieces.iter().map(Vec::len).sum();
    if threads < 2 || count < WORDS_MIN {
        let mut words = Vec::with_capacity(count);
        pieces.into_iter().for_each(|piece| words.extend(piece));
        words.sort_unstable();
        return words;
    }
    let shift = bits.saturating_sub(BUCKET_BITS);
    let groups = split(pieces, count.div_ceil(threads));
    let apart: Vec<Apart<W>> = thread::scope(|scope| {
        let started: Vec<_> =
            groups.into_iter().map(|group| scope.spawn(move || Apart::new(group, shift))).collect();
        started.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    });
    let mut words = vec![W::default(); count];
    thread::scope(|scope| {
        let mut rest = &mut words[..];
        for buckets in shares(&apart, count.div_ceil(threads)) {
            let len = buckets.clone().map(|bucket| len_of(&apart, bucket)).sum();
            let (part, behind) = rest.split_at_mut(len);
            rest = behind;
            let apart = &apart;
            scope.spawn(move || sort_buckets(apart, buckets, part));
        }
    });
    words
}

/// Groups of pieces of about so many words.
fn split<W>(pieces: Vec<Vec<W>>, words: usize) -> Vec<Vec<Vec<W>>> {
    let mut groups = vec![Vec::new()];
    let mut held = 0;
    for piece in pieces {
        if held >= words {
            groups.push(Vec::new());
            held = 0;
        }
        held += piece.len();
        if let Some(group) = groups.last_mut() {
            group.push(piece);
        }
    }
    groups
}

fn len_of<W: Word>(apart: &[Apart<W>], bucket: usize) -> usize {
    apart.iter().map(|apart| apart.bucket(bucket).len()).sum()
}

/// Ranges of buckets of about so many words.
fn shares<W: Word>(apart: &[Apart<W>], words: usize) -> Vec<Range<usize>> {
    let mut shares = Vec::new();
    let (mut start, mut held) = (0, 0);
    for bucket in 0..BUCKETS {
        held += len_of(apart, bucket);
        if held >= words || bucket + 1 == BUCKETS {
            shares.push(start..bucket + 1);
            (start, held) = (bucket + 1, 0);
        }
    }
    shares
}

/// Copies buckets together into `out`, and sorts each.
fn sort_buckets<W: Word>(apart: &[Apart<W>], buckets: Range<usize>, mut out: &mut [W]) {
    for bucket in buckets {
        let (words, behind) = out.split_at_mut(len_of(apart, bucket));
        let mut rest = &mut *words;
        for apart in apart {
            let from = apart.bucket(bucket);
            let (to, after) = rest.split_at_mut(from.len());
            to.copy_from_slice(from);
            rest = after;
        }
        words.sort_unstable();
        out = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_however_they_lie() {
        let mut random = fastrand::Rng::with_seed(7);
        for (bits, hub) in [(3, false), (8, false), (40, false), (40, true), (63, false)] {
            let mut word = || match hub && random.u8(0..4) > 0 {
                true => 5 << 20 | random.u64(0..1 << 20),
                false => random.u64(0..1 << bits),
            };
            let pieces: Vec<Vec<u64>> =
                (0..40).map(|number| (0..number * 150).map(|_| word()).collect()).collect();
            let mut expected: Vec<u64> = pieces.iter().flatten().copied().collect();
            assert!(expected.len() > WORDS_MIN);
            expected.sort_unstable();
            for threads in [1, 2, 3, 8] {
                assert_eq!(sort(pieces.clone(), bits, threads), expected, "{bits} bits");
            }
            let wide = |word: &u64| u128::from(*word) << 50;
            let pieces: Vec<Vec<u128>> =
                pieces.iter().map(|piece| piece.iter().map(wide).collect()).collect();
            let expected: Vec<u128> = expected.iter().map(wide).collect();
            assert_eq!(sort(pieces, bits + 50, 2), expected, "{bits} and 50 bits");
        }
        assert!(sort::<u64>(Vec::new(), 0, 2).is_empty());
    }
}
