//! A page: its ids, its header, its checksum. Layout: `docs/file-format.md`, "Pages".
//!
//! Invariant: a page read from the file has passed [`verify`] before anybody looks into it, so that the
//! accessors here and in [`slotted`] may index without checking again.

pub(crate) mod slotted;

use std::fmt;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::codec::num::{get_u16, get_u64, put_u16, put_u64};
use crate::mutants::Mutant;

/// Bytes of the header of every page but the two header slots.
pub(crate) const HEADER_LEN: usize = 48;
/// Smallest and default page size in bytes.
pub(crate) const MIN_PAGE_SIZE: usize = 4096;
/// Largest page size in bytes.
pub(crate) const MAX_PAGE_SIZE: usize = 65536;

/// Root of the table directory.
pub(crate) const DIRECTORY_ROOT: PageId = PageId(2);
/// Pages of a database with no table.
pub(crate) const FIRST_PAGES: u64 = 4;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number!(
    /// Number of a page in the file.
    PageId
);
number!(
    /// Byte position in the log, never going back.
    Lsn
);
number!(
    /// Number of a commit, ascending by one.
    CommitTs
);

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PageKind {
    /// Nothing: never written, or no longer in use.
    Free = 0,
    /// One bit a page: in use or not.
    AllocationMap = 2,
    /// Leaf of a B+tree.
    Leaf = 3,
    /// Inner page of a B+tree.
    Branch = 4,
    /// Part of a large value.
    Extent = 5,
}

impl PageKind {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Free, Self::AllocationMap, Self::Leaf, Self::Branch, Self::Extent]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }
}

const AT_ID: usize = 8;
const AT_BIRTH: usize = 16;
const AT_BEGIN: usize = 24;
const AT_LSN: usize = 32;
const AT_KIND: usize = 40;
const AT_LEVEL: usize = 41;
const AT_PREFIX: usize = 42;
const AT_COUNT: usize = 44;
const AT_FREE: usize = 46;

/// Header bytes that replay sets itself and that a delta therefore leaves out: begin and LSN.
pub(crate) const STAMP: std::ops::Range<usize> = AT_BEGIN..AT_KIND;

/// Writes a header for a new page and clears the rest.
pub(crate) fn init(page: &mut [u8], id: PageId, kind: PageKind, birth: CommitTs) {
    page.fill(0);
    put_u64(page, AT_ID, id.0);
    put_u64(page, AT_BIRTH, birth.0);
    put_u64(page, AT_BEGIN, birth.0);
    page[AT_KIND] = kind as u8;
}

pub(crate) fn id(page: &[u8]) -> PageId {
    PageId(get_u64(page, AT_ID))
}

pub(crate) fn set_id(page: &mut [u8], id: PageId) {
    put_u64(page, AT_ID, id.0);
}

pub(crate) fn birth(page: &[u8]) -> CommitTs {
    CommitTs(get_u64(page, AT_BIRTH))
}

pub(crate) fn begin(page: &[u8]) -> CommitTs {
    CommitTs(get_u64(page, AT_BEGIN))
}

pub(crate) fn lsn(page: &[u8]) -> Lsn {
    Lsn(get_u64(page, AT_LSN))
}

/// Stamps a page with the commit and the record that made this version.
pub(crate) fn set_stamp(page: &mut [u8], begin: CommitTs, lsn: Lsn) {
    put_u64(page, AT_BEGIN, begin.0);
    put_u64(page, AT_LSN, lsn.0);
}

/// The kind of a verified page.
pub(crate) fn kind(page: &[u8]) -> PageKind {
    PageKind::from_byte(page[AT_KIND]).unwrap_or(PageKind::Free)
}

pub(crate) fn set_kind(page: &mut [u8], kind: PageKind) {
    page[AT_KIND] = kind as u8;
}

pub(crate) fn level(page: &[u8]) -> u8 {
    page[AT_LEVEL]
}

pub(crate) fn set_level(page: &mut [u8], level: u8) {
    page[AT_LEVEL] = level;
}

#[inline]
pub(crate) fn count(page: &[u8]) -> usize {
    usize::from(get_u16(page, AT_COUNT))
}

pub(crate) fn set_count(page: &mut [u8], count: u16) {
    put_u16(page, AT_COUNT, count);
}

/// Bytes that all keys of a tree page share.
#[inline]
pub(crate) fn prefix_len(page: &[u8]) -> usize {
    usize::from(get_u16(page, AT_PREFIX))
}

pub(crate) fn set_prefix_len(page: &mut [u8], prefix_len: u16) {
    put_u16(page, AT_PREFIX, prefix_len);
}

#[inline]
pub(crate) fn free(page: &[u8]) -> usize {
    usize::from(get_u16(page, AT_FREE))
}

pub(crate) fn set_free(page: &mut [u8], free: u16) {
    put_u16(page, AT_FREE, free);
}

/// Puts the checksum in: the last thing before a page goes to the file.
pub(crate) fn seal(page: &mut [u8]) {
    let sum = checksum(page);
    put_u64(page, 0, sum);
}

fn checksum(page: &[u8]) -> u64 {
    xxh3_64_with_seed(&page[AT_ID..], get_u64(page, AT_ID))
}

/// Whether the page's checksum is that of its bytes; in memory, only of versions that came from the file.
pub(crate) fn checksum_matches(page: &[u8]) -> bool {
    get_u64(page, 0) == checksum(page)
}

/// Holds a page read from the file against its checksum, its place and its kind's layout (I16).
pub(crate) fn verify(page: &[u8], id_wanted: PageId) -> Result<(), String> {
    if !checksum_matches(page) && !Mutant::IgnorePageChecksum.is_on() {
        return Err("its checksum does not match".into());
    }
    verify_layout(page, id_wanted)
}

/// Holds a page that recovery put together against its place and its kind's layout.
pub(crate) fn verify_layout(page: &[u8], id_wanted: PageId) -> Result<(), String> {
    if id(page) != id_wanted {
        return Err(format!("it holds page {}", id(page)));
    }
    match PageKind::from_byte(page[AT_KIND]) {
        Some(PageKind::Leaf | PageKind::Branch) => slotted::verify(page),
        Some(PageKind::Extent) if count(page) > page.len() - HEADER_LEN => {
            Err("its payload is longer than the page".into())
        }
        Some(_) => Ok(()),
        None => Err(format!("its kind {} is unknown", page[AT_KIND])),
    }
}
