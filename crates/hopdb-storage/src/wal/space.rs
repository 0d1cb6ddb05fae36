//! Where in the log file the records lie: extents, of which those behind the redo point are used again.
//!
//! Records follow one another by LSN. They lie in *extents*, runs of the file; behind the last record of an extent a
//! jump says where the next extent begins. What is in no extent is free. Extents are made of *blocks*, since records
//! are written by whole ones.
//!
//! **Invariants.**
//! 1. Extents hold every record from the base on, ascending by LSN, without a gap, and do not overlap.
//! 2. Behind every extent there is room for a jump ([`JUMP_LEN`]) that no other extent has.
//! 3. The space of an extent is free only when the base is behind its last record.
//! 4. No block has bytes of two extents: each is begun at a multiple of a block, and ends, with its jump, before the first
//!    block of the next one in the file.

use std::collections::VecDeque;

use crate::io::BLOCK;
use crate::page::Lsn;

/// Bytes of a jump, and of a rollback: a record header with a payload of 8 bytes.
pub(super) const JUMP_LEN: u64 = 48;

/// The first byte of the block of a byte of the file.
pub(super) fn block_of(at: u64) -> u64 {
    at - at % BLOCK as u64
}

/// The first byte of a block at or behind a byte of the file.
pub(super) fn next_block(at: u64) -> u64 {
    at.next_multiple_of(BLOCK as u64)
}

/// Records that lie one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// LSN of the first record.
    pub(crate) lsn: Lsn,
    /// Byte of the file at which it lies.
    pub(crate) at: u64,
    /// Byte of the file behind the last record.
    pub(crate) end_at: u64,
}

/// Where the next records go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Byte of the file for the first of them.
    pub(super) at: u64,
    /// Where a jump to that byte must be written first.
    pub(super) jump_at: Option<u64>,
}

/// The extents of a log.
#[derive(Debug)]
pub(super) struct Space {
    /// First byte of the file that may hold records: of a block.
    start: u64,
    /// Bytes behind it that the log keeps: beyond, it goes back to the start as soon as it can.
    kept: u64,
    extents: VecDeque<Extent>,
}

impl Space {
    /// A log whose records lie in `extents`, which are at least one.
    pub(super) fn new(start: u64, kept: u64, extents: impl IntoIterator<Item = Extent>) -> Self {
        let extents: VecDeque<_> = extents.into_iter().collect();
        assert!(!extents.is_empty(), "a log has an extent, if an empty one");
        Self { start, kept, extents }
    }

    fn last(&self) -> Extent {
        *self.extents.back().expect("a log has an extent")
    }

    /// Byte behind the last record in the file, not in the log.
    fn top(&self) -> u64 {
        let ends = self.extents.iter().map(|extent| extent.end_at);
        ends.max().expect("a log has an extent")
    }

    /// First bytes of the blocks that extents have records in.
    fn starts(&self) -> impl Iterator<Item = u64> {
        self.extents.iter().map(|extent| block_of(extent.at))
    }

    /// Byte of the file behind the last record of the log.
    pub(super) fn end(&self) -> u64 {
        self.last().end_at
    }

    /// Byte behind the space that the log keeps.
    pub(super) fn kept_to(&self) -> u64 {
        self.start + self.kept
    }

    /// Finds a place for `len` bytes of records, behind which there is room for `more` bytes and a jump.
    pub(super) fn plan(&self, len: u64, more: u64) -> Place {
        let last = self.last();
        let need = len + more + JUMP_LEN;
        let above = self.starts().filter(|at| *at > last.end_at).min();
        let fits = above.is_none_or(|above| last.end_at + need <= above);
        // Worth a jump: much of the kept space is free in front, or there is no other way.
        let free = self.starts().min().map_or(0, |lowest| lowest - self.start);
        let beyond = last.end_at + need > self.kept_to();
        let to_start = need <= free && (!fits || beyond && free >= self.kept / 4);
        let at = match (to_start, fits) {
            (true, _) => self.start,
            (false, true) => last.end_at,
            (false, false) => next_block(self.top() + JUMP_LEN),
        };
        Place { at, jump_at: (at != last.end_at).then_some(last.end_at) }
    }

    /// Finds a place for them that needs no more of the file, if there is one in front.
    pub(super) fn plan_in_front(&self, len: u64, more: u64) -> Option<Place> {
        let lowest = self.starts().min()?;
        let jump_at = Some(self.last().end_at);
        let fits = self.start + len + more + JUMP_LEN <= lowest;
        fits.then_some(Place { at: self.start, jump_at })
    }

    /// Takes the planned place for `len` bytes of records that begin at `lsn`, the end of the log.
    pub(super) fn take(&mut self, place: Place, lsn: Lsn, len: u64) {
        match (place.jump_at, self.extents.back_mut()) {
            (None, Some(last)) => last.end_at += len,
            _ => self.extents.push_back(Extent { lsn, at: place.at, end_at: place.at + len }),
        }
    }

    /// Frees what lies below `base`. An extent that ends there stays, empty, with its jump: the header that speaks of the
    /// base may have been written before there was another one.
    pub(super) fn release(&mut self, base: Lsn) {
        while self.extents.len() > 1 && self.extents[1].lsn < base {
            self.extents.pop_front();
        }
        let first = self.extents.front_mut().expect("a log has an extent");
        first.at += base.0 - first.lsn.0;
        first.lsn = base;
        assert!(first.at <= first.end_at, "the base is in the log");
    }

    /// Byte of the file at which the record with this LSN lies, or will lie when it is the next.
    pub(super) fn position(&self, lsn: Lsn) -> u64 {
        let holds = |extent: &&Extent| extent.lsn <= lsn;
        let extent = self.extents.iter().rev().find(holds).expect("the LSN is in the log");
        extent.at + (lsn.0 - extent.lsn.0)
    }

    /// Bytes to which the file may be cut: behind the last records there may be a rollback, and its jump.
    pub(super) fn keep(&self) -> u64 {
        next_block(self.top() + 2 * JUMP_LEN).max(self.kept_to())
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    const START: u64 = 4096;
    const UNIT: u64 = BLOCK as u64;
    const KEPT: u64 = 10 * UNIT;

    /// Where records of `len` bytes at `lsn` went.
    fn take(space: &mut Space, lsn: u64, len: u64) -> Place {
        let place = space.plan(len, 0);
        space.take(place, Lsn(lsn), len);
        place
    }

    fn empty() -> Space {
        Space::new(START, KEPT, [Extent { lsn: Lsn(0), at: START, end_at: START }])
    }

    #[test]
    fn freed_space_is_used_again_and_a_long_log_comes_back() {
        let mut space = empty();
        assert_eq!(take(&mut space, 0, 32_000), Place { at: START, jump_at: None });
        // Nothing is free yet: beyond what is kept.
        assert_eq!(take(&mut space, 32_000, 32_000), Place { at: START + 32_000, jump_at: None });
        space.release(Lsn(32_000));
        let back = Place { at: START, jump_at: Some(START + 64_000) };
        assert_eq!(take(&mut space, 64_000, 16_000), back);
        assert_eq!(space.position(Lsn(32_000)), START + 32_000);
        assert_eq!(space.position(Lsn(64_008)), START + 8);
        // No room before the block that the older extent begins in: in a block behind it.
        let beyond = Place { at: START + 16 * UNIT, jump_at: Some(START + 16_000) };
        assert_eq!(take(&mut space, 80_000, 12_640), beyond);
        space.release(Lsn(92_640));
        assert_eq!(take(&mut space, 92_640, 4000).at, START);
        space.release(Lsn(96_640));
        assert_eq!(space.keep(), START + KEPT);
    }

    /// The redo point is the end of the log, and its place is noted; then the next record goes to the front.
    #[test]
    fn the_jump_at_the_redo_point_stays() {
        let mut space = empty();
        take(&mut space, 0, 64_000);
        space.release(Lsn(32_000));
        let noted = space.position(Lsn(64_000));
        let back = Place { at: START, jump_at: Some(noted) };
        assert_eq!(take(&mut space, 64_000, 8000), back);
        space.release(Lsn(64_000));
        assert!(space.keep() >= noted + JUMP_LEN, "the file is not cut before the jump");
        space.release(Lsn(72_000));
        assert_eq!(space.keep(), START + KEPT);
    }

    /// Writes records into a model of the file: none is overwritten before the base has passed it.
    #[test]
    fn random_logs_never_overwrite_what_is_needed() {
        for seed in 0..300 {
            let mut random = Rng::with_seed(seed);
            let mut space = empty();
            let (mut base, mut end) = (0, 0);
            // LSN and bytes of what lies in the file.
            let mut live: Vec<(u64, std::ops::Range<u64>)> = Vec::new();
            let mut jumps: Vec<(u64, std::ops::Range<u64>)> = Vec::new();
            for _ in 0..400 {
                if random.u8(0..4) == 0 {
                    let ends = live.iter().map(|(lsn, _)| *lsn).filter(|lsn| *lsn >= base);
                    let ends: Vec<u64> = ends.chain([end]).collect();
                    base = ends[random.usize(0..ends.len())];
                    space.release(Lsn(base));
                    live.retain(|(lsn, _)| *lsn >= base);
                    jumps.retain(|(lsn, _)| *lsn > base);
                }
                let most = [20, 900, 6000][random.usize(0..3)];
                let len = 8 * random.u64(1..most);
                let place = take(&mut space, end, len);
                if let Some(at) = place.jump_at {
                    jumps.push((end, at..at + JUMP_LEN));
                }
                live.push((end, place.at..place.at + len));
                let all: Vec<_> = live.iter().chain(&jumps).collect();
                for (index, (_, range)) in all.iter().enumerate() {
                    for (_, other) in &all[..index] {
                        let apart = range.end <= other.start || other.end <= range.start;
                        assert!(apart, "seed {seed}: {range:?} over {other:?}");
                    }
                }
                for (index, extent) in space.extents.iter().enumerate() {
                    let blocks = block_of(extent.at)..next_block(extent.end_at + JUMP_LEN);
                    let mut others = space.extents.iter().enumerate().filter(|(n, _)| *n != index);
                    let is_apart = |at: u64| !blocks.contains(&block_of(at));
                    assert!(others.all(|(_, other)| is_apart(other.at)), "seed {seed}");
                }
                assert_eq!(space.position(Lsn(end)), place.at);
                end += len;
                assert_eq!(space.position(Lsn(end)), place.at + len);
            }
        }
    }
}
