//! The log. Input: a byte of choices; then, of the first kind, records, each a kind, a byte of choices, a length of two
//! bytes and so many of payload; of the second, bytes that replace those of the real log.
//!
//! Records get the LSN that their place implies, the salt, and the right checksum, unless their choices say otherwise.
//! Two kinds that the format does not have change other things: an image in the image area, and a page that is torn.

use crate::usage::use_all;
use crate::{Files, LOG, NAME, Opened, PAGE, crashed, open, overlay, page, u64_at};

const RECORD_HEADER: usize = 40;
/// Where a page has its LSN.
const AT_PAGE_LSN: usize = 32;
/// Where the image area begins.
const IMAGES_AT: usize = 4096;
/// What the beginning of an extent is a multiple of.
const BLOCK: usize = 4096;
/// What a record's kind byte may be beyond those of the format.
const IMAGE: u8 = 0xf0;
const TORN: u8 = 0xf1;

/// Choices of an input: raw bytes; the real records are left in front of those made up.
const RAW: u8 = 1;
const BEHIND: u8 = 2;

/// Choices of a record: a wrong LSN, salt or checksum, a large durable LSN, a payload that a jump to the next place
/// has, a place of its own.
const WRONG_LSN: u8 = 1;
const WRONG_SALT: u8 = 2;
const WRONG_SUM: u8 = 4;
const LARGE_DURABLE: u8 = 8;
const JUMP_ON: u8 = 16;
const GAP: u8 = 32;
const LONG: u8 = 64;

/// What the header says of the log.
struct Redo {
    lsn: u64,
    salt: u64,
    at: usize,
}

/// The redo point by the newer slot.
fn redo(files: &Files) -> Redo {
    let slot = [0, PAGE].into_iter().max_by_key(|slot| u64_at(&files.file, slot + 56));
    let slot = slot.unwrap_or_default();
    let number = |at| u64_at(&files.file, slot + at);
    Redo { lsn: number(80), salt: number(88), at: number(104) as usize }
}

/// Where the records of a log end: its bytes from there on are zeros.
fn end_of(log: &[u8], redo: &Redo) -> (usize, u64) {
    let (mut at, mut lsn) = (redo.at, redo.lsn);
    while at + RECORD_HEADER <= log.len() && u64_at(log, at + 8) == lsn {
        let len = length(u64_at(log, at + 4) as u32 as usize);
        (at, lsn) = (at + len, lsn + len as u64);
    }
    (at, lsn)
}

/// Bytes of a record with such a payload.
fn length(payload: usize) -> usize {
    (RECORD_HEADER + payload).next_multiple_of(8)
}

/// Opens the database with such a log.
pub fn run(input: &[u8]) -> Opened {
    let (choices, rest) = input.split_first()?;
    let mut files = crashed().clone();
    let redo = redo(&files);
    let mut log = files.log.take()?;
    if choices & RAW != 0 {
        // Records at first, where most is to be found; the log's header when there is nothing else.
        let from = if choices & BEHIND != 0 { 0 } else { redo.at };
        overlay(&mut log, from, rest);
    } else {
        let real_end = end_of(&log, &redo);
        let (at, lsn) = if choices & BEHIND != 0 { real_end } else { (redo.at, redo.lsn) };
        log.truncate(at);
        write(&mut files.file, &mut log, (lsn, redo.salt), rest);
    }
    files.log = Some(log);
    use_all(&files.disk(), 2)
}

/// Appends the records of an input.
fn write(file: &mut [u8], log: &mut Vec<u8>, (mut lsn, salt): (u64, u64), mut input: &[u8]) {
    while let [kind, choices, low, high, rest @ ..] = input {
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (payload, rest) = rest.split_at(len);
        input = rest;
        match *kind {
            IMAGE => {
                let mut image = vec![0; PAGE];
                overlay(&mut image, 16, payload.get(2..).unwrap_or_default());
                page::seal(&mut image, payload.first().copied().unwrap_or_default().into());
                let slot = usize::from(payload.get(1).copied().unwrap_or_default() % 4);
                overlay(log, IMAGES_AT + slot * PAGE, &image);
            }
            TORN => {
                let id = usize::from(payload.first().copied().unwrap_or_default());
                file.iter_mut().skip(id * PAGE + 512).take(512).for_each(|byte| *byte ^= 0xff);
            }
            kind => lsn = record(log, (lsn, salt), (kind, *choices), payload),
        }
    }
}

/// Appends a record; the LSN behind it.
fn record(
    log: &mut Vec<u8>,
    (lsn, salt): (u64, u64),
    (kind, choices): (u8, u8),
    payload: &[u8],
) -> u64 {
    let has = |choice: u8| choices & choice != 0;
    if has(GAP) {
        log.resize(log.len() + 512, 0);
    }
    let start = log.len();
    let behind = length(8) + start;
    // Where a record may lie behind a jump: at a multiple of a block; of the long ones, at none.
    let target = (behind.next_multiple_of(BLOCK) + if has(LONG) { 512 } else { 0 }) as u64;
    let payload = if has(JUMP_ON) { &target.to_le_bytes() } else { payload };
    let mut header = [0; RECORD_HEADER];
    let len = payload.len() as u32 + u32::from(has(LONG) && !has(JUMP_ON)) * 0x00ff_0000;
    overlay(&mut header, 4, &len.to_le_bytes());
    overlay(&mut header, 8, &(lsn ^ u64::from(has(WRONG_LSN)) << 5).to_le_bytes());
    overlay(&mut header, 16, &(salt ^ u64::from(has(WRONG_SALT))).to_le_bytes());
    let durable = if has(LARGE_DURABLE) { lsn + 64 } else { 0 };
    overlay(&mut header, 24, &durable.to_le_bytes());
    header[32] = kind;
    let sum = crc32c::crc32c_append(crc32c::crc32c(&header[4..]), payload);
    overlay(&mut header, 0, &(sum ^ u32::from(has(WRONG_SUM))).to_le_bytes());
    log.extend_from_slice(&header);
    log.extend_from_slice(payload);
    log.resize(start + length(payload.len()), 0);
    if has(JUMP_ON) {
        // A jump takes no LSN of its own.
        log.resize(target as usize, 0);
        return lsn;
    }
    lsn + length(payload.len()) as u64
}

/// The commit that the real log leads to.
pub fn newest() -> Opened {
    open(&crashed().disk()).ok().map(|store| store.visible_ts().0)
}

/// A page of the file that the log changes, as a checkpoint would write it in place.
fn written_in_place(redo: u64) -> (u8, Vec<u8>) {
    let disk = crashed().disk();
    open(&disk).and_then(|store| store.close()).expect("a sound database");
    let file = disk.file_bytes(NAME).expect("the file");
    let pages = crashed().file.len() / PAGE;
    let changed = |(_, page): &(u8, &[u8])| u64_at(page, AT_PAGE_LSN) >= redo;
    let (id, page) = (0u8..)
        .zip(file.chunks(PAGE))
        .take(pages)
        .skip(2)
        .find(changed)
        .expect("a page that the log changes");
    (id, page.to_vec())
}

/// Inputs that give the real log: as records, with a jump in front, with a torn page that has an image, and raw; and the
/// torn page without its image, which cannot be opened.
pub fn seeds() -> Vec<Vec<u8>> {
    let files = crashed();
    let redo = redo(files);
    let log = files.disk().file_bytes(LOG).unwrap_or_default();
    let (end, _) = end_of(&log, &redo);
    let mut records = Vec::new();
    let mut at = redo.at;
    while at < end {
        let len = u64_at(&log, at + 4) as u32 as usize;
        records.extend([log[at + 32], 0]);
        records.extend((len as u16).to_le_bytes());
        records.extend_from_slice(&log[at + RECORD_HEADER..][..len]);
        at += length(len);
    }
    let jump = [6, JUMP_ON, 0, 0];
    let (id, written) = written_in_place(redo.lsn);
    let image = [&[id, 1][..], &written[16..]].concat();
    let image = [&[IMAGE, 0][..], &(image.len() as u16).to_le_bytes(), &image].concat();
    let torn = [TORN, 0, 1, 0, id];
    vec![
        [&[0][..], &records].concat(),
        [&[0][..], &jump, &records].concat(),
        [&[0][..], &image, &torn, &records].concat(),
        [&[RAW][..], &log[redo.at..end]].concat(),
        [&[RAW | BEHIND][..], &log[..48]].concat(),
        vec![BEHIND],
        [&[0][..], &torn, &records].concat(),
    ]
}
