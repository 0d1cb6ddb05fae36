//! The header slots of the file: which format, which pages, where the log begins.
//! Layout: `docs/file-format.md`, "Header slot".

use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::codec::num::{get_u32, get_u64, put_u32, put_u64, to_u32};
use crate::error::{Error, Result};
use crate::io::File;
use crate::page::{CommitTs, FIRST_PAGES, Lsn, MAX_PAGE_SIZE, MIN_PAGE_SIZE};

/// Bytes of a slot: less than a sector, so that it is written whole or not at all.
pub(crate) const SLOT_LEN: usize = 128;
/// Version of the format that this build writes.
pub const FORMAT_VERSION: u32 = 0;

/// Most that a generation, commit timestamp, LSN or byte of the log may be: no file comes near it, and sums do not overflow.
const COUNTER_MAX: u64 = 1 << 60;
/// Most pages, so that their offsets do not overflow.
pub(crate) const PAGES_MAX: u64 = 1 << 46;
pub(crate) const MAGIC: [u8; 8] = *b"\x89HopDB\r\n";
const AT_CHECKSUM: usize = 120;

/// What a header slot says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) page_size: usize,
    pub(crate) file_id: u128,
    pub(crate) generation: u64,
    pub(crate) commit_ts: CommitTs,
    pub(crate) page_count: u64,
    /// Redo point: the first record that recovery needs.
    pub(crate) base_lsn: Lsn,
    /// Byte of the log file at which it lies.
    pub(crate) base_at: u64,
    /// Salt of the log's records.
    pub(crate) salt: u64,
    pub(crate) clean: bool,
}

impl Header {
    /// Salt of a log that the next header begins: another for each generation. Records that carry it were written after
    /// that header; when it is not in the file, it is lost.
    pub(crate) fn next_salt(&self) -> u64 {
        let mut seed = [0; 24];
        seed[..16].copy_from_slice(&self.file_id.to_le_bytes());
        put_u64(&mut seed, 16, self.generation + 1);
        xxh3_64(&seed)
    }

    /// Byte at which this generation's slot starts: the generations take turns.
    pub(crate) fn offset(&self) -> u64 {
        if self.generation.is_multiple_of(2) { 0 } else { self.page_size as u64 }
    }

    /// The slot's bytes.
    pub(crate) fn encode(&self) -> [u8; SLOT_LEN] {
        let mut slot = [0; SLOT_LEN];
        slot[..8].copy_from_slice(&MAGIC);
        put_u32(&mut slot, 8, FORMAT_VERSION);
        put_u32(&mut slot, 12, to_u32(self.page_size));
        slot[40..56].copy_from_slice(&self.file_id.to_le_bytes());
        put_u64(&mut slot, 56, self.generation);
        put_u64(&mut slot, 64, self.commit_ts.0);
        put_u64(&mut slot, 72, self.page_count);
        put_u64(&mut slot, 80, self.base_lsn.0);
        put_u64(&mut slot, 88, self.salt);
        put_u32(&mut slot, 96, u32::from(self.clean));
        put_u64(&mut slot, 104, self.base_at);
        let sum = xxh3_64(&slot[..AT_CHECKSUM]);
        put_u64(&mut slot, AT_CHECKSUM, sum);
        slot
    }

    /// Reads both slots of a file and gives the newer, or says what the file is instead.
    ///
    /// Both must be valid: a slot is written whole or not at all, so a damaged one is no trace of a crash, and
    /// if it was the newer, the other would bring back an older state over newer pages.
    pub(crate) fn read(file: &dyn File, path: &Path) -> Result<Self> {
        let first = Self::read_slot(file, path, 0);
        let page_size = match &first {
            Ok(header) => header.page_size,
            // The other slot's place depends on the page size, which only the slots know.
            Err(_) => (0..)
                .map(|shift| MIN_PAGE_SIZE << shift)
                .take_while(|size| *size <= MAX_PAGE_SIZE)
                .find(|size| {
                    let other = Self::read_slot(file, path, *size);
                    other.is_ok_and(|header| header.page_size == *size)
                })
                .unwrap_or(MIN_PAGE_SIZE),
        };
        let second = Self::read_slot(file, path, page_size);
        let damaged = |page: u64, reason: &str| {
            Err(Error::CorruptPage { path: path.to_path_buf(), page, reason: reason.into() })
        };
        match (first, second) {
            (Ok(first), Ok(second)) => {
                if first.page_size != second.page_size || first.file_id != second.file_id {
                    return damaged(1, "its header is of another database");
                }
                if first.offset() != 0 || second.offset() == 0 {
                    return damaged(1, "a header lies in the slot of the other");
                }
                Ok(if first.generation > second.generation { first } else { second })
            }
            (Err(Error::NotADatabase { .. }), Ok(_)) => damaged(0, "it holds no header"),
            (Ok(_), Err(Error::NotADatabase { .. })) => damaged(1, "it holds no header"),
            (Ok(_), Err(Error::CorruptPage { reason, .. })) => damaged(1, &reason),
            (Err(error), _) | (Ok(_), Err(error)) => Err(error),
        }
    }

    fn read_slot(file: &dyn File, path: &Path, offset: usize) -> Result<Self> {
        let mut slot = [0; SLOT_LEN];
        let got = file
            .read_at(&mut slot, offset as u64)
            .map_err(|e| Error::io("read the header of", path, e))?;
        if got < MAGIC.len() || slot[..MAGIC.len()] != MAGIC {
            return Err(not_a_database(path, &slot[..got]));
        }
        Self::decode(&slot[..got], path)
    }

    fn decode(slot: &[u8], path: &Path) -> Result<Self> {
        let unsupported = |found: String, supported: &str| Error::Unsupported {
            path: path.to_path_buf(),
            found,
            supported: supported.into(),
        };
        if slot.len() < SLOT_LEN {
            return Err(Error::Truncated {
                path: path.to_path_buf(),
                expected: SLOT_LEN as u64,
                actual: slot.len() as u64,
            });
        }
        let version = get_u32(slot, 8);
        if version != FORMAT_VERSION {
            return Err(unsupported(format!("format version {version}"), "format version 0"));
        }
        if !checksum_matches(slot) {
            return Err(Error::CorruptPage {
                path: path.to_path_buf(),
                page: 0,
                reason: "the checksum of the header does not match".into(),
            });
        }
        let features = get_u64(slot, 32) | get_u64(slot, 24);
        if features != 0 {
            return Err(unsupported(format!("features {features:#x}"), "no such features"));
        }
        let mut file_id = [0; 16];
        file_id.copy_from_slice(&slot[40..56]);
        let page_size = get_u32(slot, 12) as usize;
        check_page_size(page_size)?;
        let page_count = get_u64(slot, 72);
        let counters_fit = [56, 64, 80, 104].iter().all(|at| get_u64(slot, *at) <= COUNTER_MAX);
        if !counters_fit || !(FIRST_PAGES..=PAGES_MAX).contains(&page_count) {
            return Err(Error::CorruptPage {
                path: path.to_path_buf(),
                page: 0,
                reason: "a number in the header is out of range".into(),
            });
        }
        Ok(Self {
            page_size,
            file_id: u128::from_le_bytes(file_id),
            generation: get_u64(slot, 56),
            commit_ts: CommitTs(get_u64(slot, 64)),
            page_count,
            base_lsn: Lsn(get_u64(slot, 80)),
            base_at: get_u64(slot, 104),
            salt: get_u64(slot, 88),
            clean: get_u32(slot, 96) == 1,
        })
    }
}

/// Whether the checksum of a slot is that of its bytes.
pub(crate) fn checksum_matches(slot: &[u8]) -> bool {
    get_u64(slot, AT_CHECKSUM) == xxh3_64(&slot[..AT_CHECKSUM])
}

/// Page sizes are powers of two from 4 to 64 KiB.
pub(crate) fn check_page_size(page_size: usize) -> Result<()> {
    if page_size.is_power_of_two() && (MIN_PAGE_SIZE..=MAX_PAGE_SIZE).contains(&page_size) {
        return Ok(());
    }
    Err(Error::InvalidOption {
        option: "page_size",
        reason: format!(
            "{page_size} is not a power of two from {MIN_PAGE_SIZE} to {MAX_PAGE_SIZE}"
        ),
    })
}

fn not_a_database(path: &Path, start: &[u8]) -> Error {
    let reason = match start {
        [] => "it is empty".to_string(),
        _ if start.starts_with(b"SQLite ") => "it is an SQLite file".to_string(),
        _ => format!("it starts with {:?}", String::from_utf8_lossy(&start[..start.len().min(8)])),
    };
    Error::NotADatabase { path: path.to_path_buf(), reason }
}
