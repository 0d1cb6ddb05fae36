//! The difference between two versions of a page, as the log has it.
//!
//! Ranges of bytes: u16 offset, u16 length, bytes. The checksum and the stamp (begin, LSN) are left out:
//! replay sets them itself. `apply(encode(old, new), old) == new`, held by an assertion in debug builds.

use crate::codec::num::{get_u16, get_u64, to_u16};
use crate::page::STAMP;

/// Bytes of the checksum.
pub(crate) const CHECKSUM_LEN: usize = 8;
/// Bytes compared at a time. So many equal ones are dearer to repeat than the header of another range.
const WORD: usize = 8;
const RANGE_HEADER: usize = 4;

/// Appends the ranges that turn `old` into `new`; equal pages give nothing.
pub(crate) fn encode(old: &[u8], new: &[u8], out: &mut Vec<u8>) {
    assert_eq!(old.len(), new.len(), "versions of one page");
    differences(old, new, CHECKSUM_LEN..STAMP.start, out);
    differences(old, new, STAMP.end..new.len(), out);
}

/// Word by word: a range goes on until a word is equal, and is cut to its first and last different byte.
fn differences(old: &[u8], new: &[u8], within: std::ops::Range<usize>, out: &mut Vec<u8>) {
    let different = |at: usize| get_u64(old, at) ^ get_u64(new, at);
    let mut at = within.start;
    while let Some(first) = first_difference(old, new, at, within.end) {
        let mut last = first;
        while last + WORD < within.end && different(last + WORD) != 0 {
            last += WORD;
        }
        let start = first + different(first).trailing_zeros() as usize / 8;
        let end = last + WORD - different(last).leading_zeros() as usize / 8;
        out.extend_from_slice(&to_u16(start).to_le_bytes());
        out.extend_from_slice(&to_u16(end - start).to_le_bytes());
        out.extend_from_slice(&new[start..end]);
        at = last + WORD;
    }
}

/// The first word from `from` on that differs. Both ends are multiples of a word.
fn first_difference(old: &[u8], new: &[u8], from: usize, to: usize) -> Option<usize> {
    const BLOCK: usize = 64;
    let mut at = from;
    while at + BLOCK <= to && old[at..at + BLOCK] == new[at..at + BLOCK] {
        at += BLOCK;
    }
    (at..to).step_by(WORD).find(|at| get_u64(old, *at) != get_u64(new, *at))
}

/// Applies ranges to `page`; `false` when they do not fit it.
pub(crate) fn apply(page: &mut [u8], mut ranges: &[u8]) -> bool {
    while !ranges.is_empty() {
        if ranges.len() < RANGE_HEADER {
            return false;
        }
        let offset = usize::from(get_u16(ranges, 0));
        let len = usize::from(get_u16(ranges, 2));
        let Some(bytes) = ranges.get(RANGE_HEADER..RANGE_HEADER + len) else { return false };
        let Some(target) = page.get_mut(offset..offset + len) else { return false };
        target.copy_from_slice(bytes);
        ranges = &ranges[RANGE_HEADER + len..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replay_of_random_changes_gives_the_new_page() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..2000 {
            let mut old = vec![0; 4096];
            random.fill(&mut old);
            let mut new = old.clone();
            for _ in 0..random.usize(0..20) {
                let start = random.usize(0..4096);
                let end = random.usize(start..=4096.min(start + 300));
                random.fill(&mut new[start..end]);
            }
            new[..CHECKSUM_LEN].copy_from_slice(&old[..CHECKSUM_LEN]);
            new[STAMP].copy_from_slice(&old[STAMP]);
            let mut ranges = Vec::new();
            encode(&old, &new, &mut ranges);
            assert!(apply(&mut old, &ranges));
            assert!(old == new);
        }
    }

    #[test]
    fn stamp_and_checksum_are_left_out() {
        let old = vec![0; 4096];
        let mut new = old.clone();
        new[..CHECKSUM_LEN].fill(1);
        new[STAMP].fill(2);
        let mut ranges = Vec::new();
        encode(&old, &new, &mut ranges);
        assert!(ranges.is_empty());
        new[CHECKSUM_LEN] = 3;
        new[STAMP.end] = 4;
        encode(&old, &new, &mut ranges);
        assert_eq!(ranges, [8, 0, 1, 0, 3, 40, 0, 1, 0, 4]);
    }

    #[test]
    fn ranges_that_do_not_fit_are_refused() {
        let mut page = vec![0; 4096];
        assert!(!apply(&mut page, &[1, 0, 2]));
        assert!(!apply(&mut page, &[255, 15, 2, 0, 1, 1]));
        assert!(!apply(&mut page, &[0, 0, 5, 0, 1, 1]));
    }
}
