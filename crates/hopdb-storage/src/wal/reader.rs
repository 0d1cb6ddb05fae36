//! Reads a log back, record by record, in bounded memory: as many bytes as the longest record, and a step.
//!
//! Invariants: what is not valid is never looked into; lengths are held against the bytes that are there; a jump that
//! leads to no record ends the log where the jump lies.

use std::ops::Range;

use super::space::{Extent, block_of};
use super::{RECORD_HEADER, RecordKind, Wal};
use crate::codec::num::{get_u32, get_u64, to_usize};
use crate::error::{Error, Result};
use crate::mutants::Mutant;
use crate::page::Lsn;

/// Bytes read at a time.
const STEP: usize = 1 << 20;
/// How often the bytes of a log are summed at most, on the mean, in the search for what is behind its end.
const BYTES_EXAMINED: u64 = 16;

/// Where a record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) lsn: Lsn,
    /// Byte of the file.
    pub(crate) at: u64,
}

/// A record that was read back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) position: Position,
    pub(crate) kind: RecordKind,
    pub(crate) payload: &'a [u8],
    /// LSN behind it.
    pub(crate) end: Lsn,
    /// LSN below which everything was synced when it was written.
    pub(crate) durable: Lsn,
}

/// A window of the file's bytes, moved along as records are asked for.
struct Window {
    bytes: Vec<u8>,
    start: u64,
}

impl Window {
    /// The bytes of `range`, or fewer where the file ends.
    fn get(&mut self, wal: &Wal, range: Range<u64>) -> Result<&[u8]> {
        let end = self.start + self.bytes.len() as u64;
        if range.start < self.start || range.end > end {
            let len = to_usize(range.end - range.start).max(STEP);
            self.bytes.resize(len, 0);
            let got = wal.read_at(&mut self.bytes, range.start)?;
            self.bytes.truncate(got);
            self.start = range.start;
        }
        let from = to_usize(range.start - self.start);
        let to = to_usize(range.end - self.start).min(self.bytes.len());
        Ok(&self.bytes[from..to.max(from)])
    }
}

/// Goes through the records of a log in order.
pub(crate) struct Reader<'a> {
    wal: &'a Wal,
    file_len: u64,
    window: Window,
    /// Where the next record is expected.
    next: Position,
    /// Those passed so far; the last one ends with the last record.
    extents: Vec<Extent>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(wal: &'a Wal, base: Position) -> Result<Self> {
        let file_len = wal.file_len()?;
        let window = Window { bytes: Vec::new(), start: 0 };
        let extents = vec![Extent { lsn: base.lsn, at: base.at, end_at: base.at }];
        Ok(Self { wal, file_len, window, next: base, extents })
    }

    /// Where the record behind the last one would lie.
    pub(crate) fn position(&self) -> Position {
        self.next
    }

    /// The extents that end with the last record.
    pub(crate) fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// The next record; `None` where the log ends. A record of a kind nobody knows is an error.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>> {
        let Some((kind, len)) = self.valid_at(self.next)? else { return Ok(None) };
        if kind == RecordKind::Jump as u8 {
            return self.jump(len);
        }
        self.take(kind, len).map(Some)
    }

    /// Follows a jump, when a record lies where it leads.
    fn jump(&mut self, len: u64) -> Result<Option<Record<'_>>> {
        let payload = self.next.at + RECORD_HEADER as u64;
        let target = match self.window.get(self.wal, payload..payload + len)? {
            bytes if bytes.len() >= 8 => get_u64(bytes, 0),
            _ => return Ok(None),
        };
        if target < self.wal.records_at() || block_of(target) != target {
            return Ok(None);
        }
        let position = Position { lsn: self.next.lsn, at: target };
        match self.valid_at(position)? {
            Some((kind, len)) if kind != RecordKind::Jump as u8 => {
                self.next = position;
                let (lsn, at) = (position.lsn, position.at);
                self.extents.push(Extent { lsn, at, end_at: at });
                self.take(kind, len).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Gives the valid record at the next position and goes on behind it.
    fn take(&mut self, kind: u8, len: u64) -> Result<Record<'_>> {
        let position = self.next;
        let kind = RecordKind::from_byte(kind).ok_or_else(|| Error::CorruptLog {
            path: self.wal.path().to_path_buf(),
            lsn: position.lsn.0,
            reason: format!("a record of the unknown kind {kind}"),
        })?;
        let bytes = RECORD_HEADER as u64 + len;
        let padded = bytes.next_multiple_of(8);
        let end = Lsn(position.lsn.0 + padded);
        self.next = Position { lsn: end, at: position.at + padded };
        if let Some(extent) = self.extents.last_mut() {
            extent.end_at = self.next.at;
        }
        let record = self.window.get(self.wal, position.at..position.at + bytes)?;
        let (header, payload) = record.split_at(RECORD_HEADER);
        Ok(Record { position, kind, payload, end, durable: Lsn(get_u64(header, 24)) })
    }

    /// The kind and payload length of the valid record at a position.
    fn valid_at(&mut self, position: Position) -> Result<Option<(u8, u64)>> {
        let Position { lsn, at } = position;
        let wal = self.wal;
        if at.checked_add(RECORD_HEADER as u64).is_none_or(|end| end > self.file_len) {
            return Ok(None);
        }
        let header = self.window.get(wal, at..at + RECORD_HEADER as u64)?;
        if header.len() < RECORD_HEADER
            || get_u64(header, 8) != lsn.0
            || get_u64(header, 16) != wal.salt
        {
            return Ok(None);
        }
        let len = u64::from(get_u32(header, 4));
        let end = at + RECORD_HEADER as u64 + len;
        if end > self.file_len {
            return Ok(None);
        }
        let record = self.window.get(wal, at..end)?;
        let whole = (record.len() as u64) == end - at
            && (get_u32(record, 0) == crc32c::crc32c(&record[4..])
                || Mutant::IgnoreRecordChecksum.is_on());
        Ok(whole.then(|| (record[32], len)))
    }
}

/// What of this log lies in the file at or above an LSN.
#[derive(Debug, Default)]
pub(crate) struct Remnants {
    /// Bytes of the file at which headers lie.
    pub(crate) headers: Vec<u64>,
    /// Bytes of the records by their headers, as far as they do not overlap.
    pub(crate) bytes: u64,
    /// The largest durable LSN that a valid record among them knows of.
    pub(crate) durable: Lsn,
}

/// Looks for record headers at or above `end`, wherever they lie but in these extents: a value may look like one.
pub(super) fn remnants(wal: &Wal, end: Lsn, extents: &[Extent]) -> Result<Remnants> {
    let file_len = wal.file_len()?;
    let is_record = |at: &u64| extents.iter().any(|e| (e.at..e.end_at).contains(at));
    let mut found = Remnants::default();
    let mut window = Window { bytes: Vec::new(), start: 0 };
    let mut counted_to = 0;
    let mut budget = BYTES_EXAMINED * file_len;
    let mut start = wal.records_at();
    while start + RECORD_HEADER as u64 <= file_len {
        let stop = (start + STEP as u64).min(file_len);
        // Headers that begin in this step may end in the next.
        let with_rest = (stop + RECORD_HEADER as u64).min(file_len);
        let bytes = window.get(wal, start..with_rest)?;
        let headers: Vec<u64> = bytes
            .windows(RECORD_HEADER)
            .step_by(8)
            .enumerate()
            .filter(|(_, header)| get_u64(header, 16) == wal.salt && get_u64(header, 8) >= end.0)
            .map(|(index, _)| start + 8 * index as u64)
            .filter(|at| *at < stop && !is_record(at))
            .collect();
        for at in headers {
            let (next, durable) = examine(wal, &mut window, at, file_len)?;
            // In a log that somebody made up, each of many headers may claim the rest of the file.
            budget = budget.checked_sub(next - at).ok_or_else(|| Error::CorruptLog {
                path: wal.path().to_path_buf(),
                lsn: end.0,
                reason: "records behind its end lie over one another".into(),
            })?;
            found.headers.push(at);
            found.bytes += next.saturating_sub(counted_to.max(at));
            counted_to = counted_to.max(next);
            found.durable = found.durable.max(durable);
        }
        start = stop;
    }
    Ok(found)
}

/// Where the record of a header ends, and its durable LSN, when it is valid.
fn examine(wal: &Wal, window: &mut Window, at: u64, file_len: u64) -> Result<(u64, Lsn)> {
    let header = window.get(wal, at..at + RECORD_HEADER as u64)?;
    let len = (RECORD_HEADER as u64 + u64::from(get_u32(header, 4))).min(file_len - at);
    let record = window.get(wal, at..at + len)?;
    let valid = get_u32(record, 0) == crc32c::crc32c(&record[4..])
        && RECORD_HEADER as u64 + u64::from(get_u32(record, 4)) == len;
    Ok((at + len, if valid { Lsn(get_u64(record, 24)) } else { Lsn(0) }))
}
