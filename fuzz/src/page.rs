//! Pages. Input: which page, then its bytes from the header's fields on, as far as it goes; what it lacks stays.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::usage::use_all;
use crate::{Opened, PAGE, closed, overlay};

/// Bytes of a page before the fields that an input has: checksum and page id, which are made right.
const BEFORE: usize = 16;

/// Opens the database with such a page.
pub fn run(input: &[u8]) -> Opened {
    let (number, bytes) = input.split_first()?;
    let mut files = closed().clone();
    let pages = files.file.len() / PAGE;
    let id = 2 + usize::from(*number) % (pages - 2);
    let page = &mut files.file[id * PAGE..][..PAGE];
    overlay(page, BEFORE, bytes);
    seal(page, id as u64);
    use_all(&files.disk(), id as u64)
}

/// Makes the page's id and checksum right.
pub(crate) fn seal(page: &mut [u8], id: u64) {
    overlay(page, 8, &id.to_le_bytes());
    let sum = xxh3_64_with_seed(&page[8..], id);
    overlay(page, 0, &sum.to_le_bytes());
}

/// Inputs that change nothing: each page once.
pub fn seeds() -> Vec<Vec<u8>> {
    let pages = closed().file.chunks(PAGE).skip(2);
    (0u8..).zip(pages).map(|(number, page)| [&[number], &page[BEFORE..]].concat()).collect()
}
