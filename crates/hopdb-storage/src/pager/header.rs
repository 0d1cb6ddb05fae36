//! The header slots of the file: which format, which pages, where the log begins.
//! Layout: `docs/file-format.md`, "Header slot".

use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::codec::num::{get_u32, get_u64, put_u32, put_u64, to_u32};
use crate::error::{Error, Result};
use crate::io::File;
use crate::page::{CommitTs, Lsn, MAX_PAGE_SIZE, MIN_PAGE_SIZE};

/// Bytes of a slot: less than a sector, so that it is written whole or not at all.
pub(crate) const SLOT_LEN: usize = 128;
/// Version of the format that this build writes.
pub const FORMAT_VERSION: u32 = 0;

const MAGIC: [u8; 8] = *b"\x89HopDB\r\n";
const AT_CHECKSUM: usize = 120;

/// What a header slot says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) page_size: usize,
    pub(crate) file_id: u128,
    pub(crate) generation: u64,
    pub(crate) commit_ts: CommitTs,
    pub(crate) page_count: u64,
    pub(crate) base_lsn: Lsn,
    pub(crate) clean: bool,
}

impl Header {
    /// Salt of the log round that this header begins: another for each generation.
    pub(crate) fn salt(&self) -> u64 {
        let mut seed = [0; 24];
        seed[..16].copy_from_slice(&self.file_id.to_le_bytes());
        put_u64(&mut seed, 16, self.generation);
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
        put_u64(&mut slot, 88, self.salt());
        put_u32(&mut slot, 96, u32::from(self.clean));
        let sum = xxh3_64(&slot[..AT_CHECKSUM]);
        put_u64(&mut slot, AT_CHECKSUM, sum);
        slot
    }

    /// Finds the newest valid slot of a file, or says what the file is instead.
    pub(crate) fn read(file: &dyn File, path: &Path) -> Result<Self> {
        let mut best: Result<Option<Self>> = Ok(None);
        let mut offsets = vec![0];
        offsets.extend(
            (0..).map(|shift| MIN_PAGE_SIZE << shift).take_while(|size| *size <= MAX_PAGE_SIZE),
        );
        for offset in offsets {
            let mut slot = [0; SLOT_LEN];
            let got = file
                .read_at(&mut slot, offset as u64)
                .map_err(|e| Error::io("read the header of", path, e))?;
            if got < 8 || slot[..8] != MAGIC {
                if offset == 0 && slot[..8] != [0; 8] || offset == 0 && got < 8 {
                    best = Err(not_a_database(path, &slot[..got]));
                }
                continue;
            }
            match Self::decode(&slot[..got], path) {
                Ok(header) if offset != 0 && header.page_size != offset => {}
                Ok(header) => {
                    let newer =
                        !matches!(&best, Ok(Some(other)) if other.generation > header.generation);
                    if newer {
                        best = Ok(Some(header));
                    }
                }
                Err(error) => {
                    if !matches!(best, Ok(Some(_))) {
                        best = Err(error);
                    }
                }
            }
        }
        best?.ok_or_else(|| not_a_database(path, &[0; 8]))
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
        if get_u64(slot, AT_CHECKSUM) != xxh3_64(&slot[..AT_CHECKSUM]) {
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
        Ok(Self {
            page_size,
            file_id: u128::from_le_bytes(file_id),
            generation: get_u64(slot, 56),
            commit_ts: CommitTs(get_u64(slot, 64)),
            page_count: get_u64(slot, 72),
            base_lsn: Lsn(get_u64(slot, 80)),
            clean: get_u32(slot, 96) == 1,
        })
    }
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
