//! Records on their way to the file by whole blocks: durable writes know no smaller piece.
//!
//! Invariants:
//! 1. No block has bytes of two extents (see [`super::space`]): what lies behind the last record in its block is
//!    nobody's, and is written as zeros.
//! 2. The records in front, in the block that a write begins in, are written again as they are: from memory, or read
//!    from the file when others have written there since.

use std::io;

use super::space::block_of;
use crate::codec::num::to_usize;
use crate::io::{BLOCK, File, aligned};

/// Most bytes of memory that are kept for the next write.
const MEMORY_KEPT: usize = 4 << 20;

/// Memory for whole blocks, and the records of the block that the last write ended in.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    memory: Vec<u8>,
    /// Where that block lies, when it is known.
    tail_at: Option<u64>,
    /// Its bytes up to the end of the last record.
    tail: Vec<u8>,
}

impl Blocks {
    /// Reads the records in front of a byte of the file, in its block, unless they are known.
    pub(super) fn know(&mut self, file: &dyn File, at: u64) -> io::Result<()> {
        let start = block_of(at);
        let head = to_usize(at - start);
        if self.tail_at == Some(start) && self.tail.len() == head {
            return Ok(());
        }
        self.tail_at = None;
        self.tail.resize(head, 0);
        if file.read_at(&mut self.tail, start)? < head {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.tail_at = Some(start);
        Ok(())
    }

    /// Writes records at a byte of the file, in front of which they are known; durable when this returns.
    pub(super) fn write(&mut self, file: &dyn File, records: &[u8], at: u64) -> io::Result<()> {
        let start = block_of(at);
        let head = to_usize(at - start);
        assert_eq!((self.tail_at.take(), self.tail.len()), (Some(start), head), "they are known");
        let len = (head + records.len()).next_multiple_of(BLOCK);
        let blocks = aligned(&mut self.memory, len);
        let end = head + records.len();
        blocks[..head].copy_from_slice(&self.tail);
        blocks[head..end].copy_from_slice(records);
        blocks[end..].fill(0);
        file.write_durable(blocks, start)?;
        let last = end - end % BLOCK;
        self.tail_at = Some(start + last as u64);
        self.tail.clear();
        self.tail.extend_from_slice(&blocks[last..end]);
        if self.memory.capacity() > MEMORY_KEPT {
            self.memory = Vec::new();
        }
        Ok(())
    }

    /// Others wrote records.
    pub(super) fn forget(&mut self) {
        self.tail_at = None;
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fastrand::Rng;

    use super::*;
    use crate::io::sim::SimFs;
    use crate::io::{FileSystem, OpenMode};

    /// Records one behind the other, some written by others, and begun anew in other places; durable at each step.
    #[test]
    fn what_was_written_stays() {
        for seed in 0..50 {
            let mut random = Rng::with_seed(seed);
            let fs = SimFs::new(seed);
            let file = fs.open(Path::new("log"), OpenMode::CreateNew).unwrap();
            fs.sync_dir(Path::new("")).unwrap();
            let mut blocks = Blocks::default();
            let mut expected = Vec::new();
            for byte in 1..60 {
                if random.u8(0..8) == 0 {
                    expected.resize(expected.len().next_multiple_of(BLOCK), 0);
                }
                let most = [100, BLOCK, 3 * BLOCK][random.usize(0..3)];
                let records = vec![byte; random.usize(1..=most)];
                let at = expected.len();
                expected.extend_from_slice(&records);
                if random.u8(0..4) == 0 {
                    file.write_at(&records, at as u64).unwrap();
                    file.sync().unwrap();
                    blocks.forget();
                } else {
                    blocks.know(&*file, at as u64).unwrap();
                    blocks.write(&*file, &records, at as u64).unwrap();
                }
                let found = fs.after_crash_all_lost().file_bytes("log").unwrap();
                assert!(found[..expected.len()] == expected, "seed {seed}, write {byte}");
                assert!(found[expected.len()..].iter().all(|byte| *byte == 0), "seed {seed}");
            }
        }
    }

    /// Others wrote where the log came round to the same byte.
    #[test]
    fn what_others_wrote_is_not_written_over() {
        let fs = SimFs::new(1);
        let file = fs.open(Path::new("log"), OpenMode::CreateNew).unwrap();
        let mut blocks = Blocks::default();
        blocks.know(&*file, 0).unwrap();
        blocks.write(&*file, &[1; 100], 0).unwrap();
        file.write_at(&[2; 100], 0).unwrap();
        blocks.forget();
        blocks.know(&*file, 100).unwrap();
        blocks.write(&*file, &[3; 100], 100).unwrap();
        let found = fs.file_bytes("log").unwrap();
        assert!(found[..100] == [2; 100] && found[100..200] == [3; 100]);
        fs.fail_read_at(fs.reads() + 1);
        blocks.forget();
        blocks.know(&*file, 200).unwrap_err();
        blocks.know(&*file, 200).unwrap();
        blocks.know(&*file, 5000).unwrap_err();
    }
}
