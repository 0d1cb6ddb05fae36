//! Records of one transaction on their way into the log.
//!
//! Only the writer has a batch, and there is one writer: nobody else gives out LSNs meanwhile, and no latch is held
//! between two calls.
//!
//! Invariants:
//! 1. A batch that is dropped before [`Batch::append`] leaves no trace; or, when a part of it went out already, a
//!    rollback record behind that part, so that recovery passes over it.
//! 2. A part that goes out consists of whole records.

use super::{RECORD_HEADER, RecordKind, Wal, header_of};
use crate::error::Result;
use crate::mutants::Mutant;
use crate::page::Lsn;

/// Records that take effect together. Dropped before [`Batch::append`], it leaves no trace.
pub(crate) struct Batch<'a> {
    wal: &'a Wal,
    /// Records that have not gone out.
    bytes: Vec<u8>,
    /// LSN of the first of them.
    start: Lsn,
    /// What was durable when it began.
    durable: Lsn,
    /// Whether a part went out.
    parted: bool,
}

impl<'a> Batch<'a> {
    pub(super) fn new(wal: &'a Wal) -> Self {
        let mut state = wal.state.lock();
        let (start, durable, unfinished) = (state.end, state.durable, state.unfinished);
        let bytes = std::mem::take(&mut state.spare);
        drop(state);
        let mut batch = Self { wal, bytes, start, durable, parted: false };
        if unfinished {
            batch.put(RecordKind::Rollback, &[&[0; 8]]);
        }
        batch
    }

    /// LSN that the next record pushed will have.
    pub(crate) fn next_lsn(&self) -> Lsn {
        Lsn(self.start.0 + self.bytes.len() as u64)
    }

    /// Adds a record whose payload is `parts` joined. A full disk may be found here, and in [`Batch::append`].
    pub(crate) fn push(&mut self, kind: RecordKind, parts: &[&[u8]]) -> Result<Lsn> {
        if self.bytes.len() >= self.wal.sizes.part {
            self.hand_over(false)?;
            self.wal.write_out()?;
        }
        Ok(self.put(kind, parts))
    }

    /// Hands the records over to the next leader; gives the LSN to wait for. A full disk is found here.
    pub(crate) fn append(mut self) -> Result<Lsn> {
        self.hand_over(true)?;
        self.parted = false;
        Ok(self.start)
    }

    fn hand_over(&mut self, is_last: bool) -> Result<()> {
        self.wal.append(&self.bytes, is_last)?;
        self.start = self.next_lsn();
        self.bytes.clear();
        self.parted = true;
        Ok(())
    }

    /// Appends a record, padded.
    fn put(&mut self, kind: RecordKind, parts: &[&[u8]]) -> Lsn {
        let lsn = self.next_lsn();
        let start = self.bytes.len();
        self.bytes.resize(start + RECORD_HEADER, 0);
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        let (header, payload) = self.bytes[start..].split_at_mut(RECORD_HEADER);
        let stamp = (self.wal.salt, self.durable);
        header.copy_from_slice(&header_of((kind, lsn), stamp, payload));
        let padded = self.bytes.len().next_multiple_of(8);
        self.bytes.resize(padded, 0);
        lsn
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.bytes.clear();
        if self.parted && !Mutant::SkipRollbackRecord.is_on() {
            self.put(RecordKind::Rollback, &[&[0; 8]]);
            self.wal.append_rollback(&self.bytes);
            self.bytes.clear();
        }
        self.wal.give_memory_back(std::mem::take(&mut self.bytes));
    }
}
