//! The bytes of one simulated file: sparse, and cheap to copy.
//!
//! Knows nothing of names, durability or faults. Invariants:
//! - Bytes at or past `len` inside a stored block are zero, so that growing shows zeros.
//! - No block is stored, and none is reserved, past the one that holds the last byte.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::sync::Arc;

/// Bytes per block: what the simulated disk hands out space in.
pub(super) const BLOCK_BYTES: u64 = BLOCK_LEN as u64;
const BLOCK_LEN: usize = 4096;

/// Bytes per sector: what a disk writes whole or not at all.
pub(super) const SECTOR_LEN: usize = 512;

/// A file's bytes. Blocks never written read as zeros.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    len: u64,
    blocks: BTreeMap<u64, Arc<[u8; BLOCK_LEN]>>,
    /// Blocks below this number have their space whether or not they were written.
    reserved: u64,
}

/// A part of a buffer that lies in one unit (block or sector) of the file.
pub(super) struct Piece {
    /// Number of the unit.
    pub(super) unit: u64,
    /// Where the part begins inside the unit.
    pub(super) start: usize,
    /// Where the part lies in the buffer.
    pub(super) range: Range<usize>,
}

/// Cuts a buffer of `len` bytes that begins at `offset` of the file at the multiples of `unit_len`.
pub(super) fn pieces(offset: u64, len: usize, unit_len: usize) -> impl Iterator<Item = Piece> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == len {
            return None;
        }
        let position = offset + done as u64;
        let start = small(position % unit_len as u64);
        let count = (unit_len - start).min(len - done);
        let range = done..done + count;
        done += count;
        Some(Piece { unit: position / unit_len as u64, start, range })
    })
}

/// An offset inside a unit as an index.
fn small(offset: u64) -> usize {
    usize::try_from(offset).expect("a unit fits in memory")
}

impl Content {
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let mut content = Self::default();
        content.write(bytes, 0);
        content
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// All bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let len = usize::try_from(self.len).expect("a file looked at whole fits in memory");
        let mut bytes = vec![0; len];
        self.read(&mut bytes, 0);
        bytes
    }

    /// Fills `buf` up to the end of the file; gives the bytes read.
    pub(super) fn read(&self, buf: &mut [u8], offset: u64) -> usize {
        let available = self.len.saturating_sub(offset);
        let count = usize::try_from(available).map_or(buf.len(), |bytes| bytes.min(buf.len()));
        for piece in pieces(offset, count, BLOCK_LEN) {
            let target = &mut buf[piece.range];
            match self.blocks.get(&piece.unit) {
                Some(block) => target.copy_from_slice(&block[piece.start..][..target.len()]),
                None => target.fill(0),
            }
        }
        count
    }

    /// Writes `buf`; the caller has checked that `offset + buf.len()` does not overflow.
    pub(super) fn write(&mut self, buf: &[u8], offset: u64) {
        if buf.is_empty() {
            return;
        }
        for piece in pieces(offset, buf.len(), BLOCK_LEN) {
            let block = self.blocks.entry(piece.unit).or_insert_with(|| Arc::new([0; BLOCK_LEN]));
            let bytes = &buf[piece.range];
            Arc::make_mut(block)[piece.start..][..bytes.len()].copy_from_slice(bytes);
        }
        self.len = self.len.max(offset + buf.len() as u64);
    }

    pub(super) fn set_len(&mut self, len: u64) {
        if len < self.len {
            let end = len.div_ceil(BLOCK_BYTES);
            drop(self.blocks.split_off(&end));
            self.reserved = self.reserved.min(end);
            if let Some(block) = self.blocks.get_mut(&(len / BLOCK_BYTES)) {
                Arc::make_mut(block)[small(len % BLOCK_BYTES)..].fill(0);
            }
        }
        self.len = len;
    }

    pub(super) fn reserve(&mut self, len: u64) {
        self.len = self.len.max(len);
        self.reserved = self.reserved.max(len.div_ceil(BLOCK_BYTES));
    }

    /// Flips the bits of `mask` in one byte below the length.
    pub(super) fn flip(&mut self, offset: u64, mask: u8) {
        let mut byte = [0];
        if self.read(&mut byte, offset) == 1 {
            self.write(&[byte[0] ^ mask], offset);
        }
    }

    /// Blocks that take space on the disk.
    pub(super) fn allocated_blocks(&self) -> u64 {
        self.reserved + self.blocks.range(self.reserved..).count() as u64
    }

    /// Blocks that a write there would have to allocate.
    pub(super) fn blocks_to_write(&self, offset: u64, len: usize) -> u64 {
        let missing =
            |piece: &Piece| piece.unit >= self.reserved && !self.blocks.contains_key(&piece.unit);
        pieces(offset, len, BLOCK_LEN).filter(missing).count() as u64
    }

    /// Blocks that reserving `len` bytes would have to allocate.
    pub(super) fn blocks_to_reserve(&self, len: u64) -> u64 {
        let end = len.div_ceil(BLOCK_BYTES).max(self.reserved);
        let written = self.blocks.range(self.reserved..end).count() as u64;
        end - self.reserved - written
    }
}
