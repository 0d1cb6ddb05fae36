//! A log as it was read back: its valid records in order, and how it ends.
//!
//! Invariant: what is not valid is never looked into; lengths are held against the bytes that are there.

use super::{RECORD_HEADER, RecordKind};
use crate::codec::num::{get_u32, get_u64, to_usize};
use crate::page::Lsn;

/// One record of a log that was read back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) lsn: Lsn,
    pub(crate) kind: RecordKind,
    pub(super) at: usize,
    pub(super) len: usize,
}

/// A log that was read back.
pub(crate) struct LogContent {
    pub(super) bytes: Vec<u8>,
    pub(super) base: Lsn,
    /// Valid records in order.
    pub(crate) records: Vec<Entry>,
    /// LSN behind the last valid record.
    pub(crate) end: Lsn,
}

impl LogContent {
    /// The payload of a record.
    pub(crate) fn payload(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.at..entry.at + entry.len]
    }

    /// LSN behind a record.
    pub(crate) fn next(entry: &Entry) -> Lsn {
        Lsn(entry.lsn.0 + (RECORD_HEADER + entry.len).next_multiple_of(8) as u64)
    }

    /// Bytes of this round behind `end`: of records without a commit, and of one that is torn. What an earlier
    /// round left there does not count.
    pub(crate) fn bytes_behind(&self, end: Lsn, salt: u64) -> u64 {
        let whole = self.end.0 - end.0;
        let torn = &self.bytes[to_usize(self.end.0 - self.base.0).min(self.bytes.len())..];
        if torn.len() < RECORD_HEADER || get_u64(torn, 16) != salt {
            return whole;
        }
        let record = (RECORD_HEADER + get_u32(torn, 4) as usize).min(torn.len());
        whole + record as u64
    }

    /// LSN below which everything was synced, as the last valid record knows.
    pub(super) fn known_durable(&self) -> Lsn {
        let durable = |entry: &Entry| get_u64(&self.bytes, entry.at - RECORD_HEADER + 24);
        self.records.last().map_or(self.base, |last| Lsn(durable(last).max(self.base.0)))
    }

    pub(super) fn bytes_between(&self, from: Lsn, to: Lsn) -> &[u8] {
        &self.bytes[to_usize(from.0 - self.base.0)..to_usize(to.0 - self.base.0)]
    }

    /// The kind of the valid record at `lsn`, and where its payload lies.
    pub(super) fn valid_at(&self, lsn: Lsn, salt: u64) -> Option<(u8, usize, usize)> {
        let start = to_usize(lsn.0 - self.base.0);
        let record = self.bytes.get(start..)?;
        let header = record.get(..RECORD_HEADER)?;
        if get_u64(header, 8) != lsn.0 || get_u64(header, 16) != salt {
            return None;
        }
        let len = get_u32(header, 4) as usize;
        let body = record.get(4..RECORD_HEADER.checked_add(len)?)?;
        if get_u32(header, 0) != crc32c::crc32c(body) {
            return None;
        }
        Some((header[32], start + RECORD_HEADER, len))
    }

    /// The largest durable LSN above the end that a valid record behind the end knows of.
    pub(super) fn durable_after_hole(&self, salt: u64) -> Option<u64> {
        let mut at = self.end;
        let last = self.base.0 + self.bytes.len() as u64;
        let mut found = None;
        while at.0 < last {
            if let Some((_, payload, _)) = self.valid_at(at, salt) {
                let durable = get_u64(&self.bytes, payload - RECORD_HEADER + 24);
                found = found.max((durable > self.end.0).then_some(durable));
            }
            at = Lsn(at.0 + 8);
        }
        found
    }
}
