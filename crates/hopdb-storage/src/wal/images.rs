//! The image area: pages are written and synced here before they are written in place, so that a page which a crash
//! tears there is found here, whole.
//!
//! Invariants:
//! 1. A slot is used again only when the page it held before is synced in its place; the caller keeps count.
//! 2. Images are sealed pages: each says which page it is of, and which version, and whether it is whole.

use std::collections::BTreeMap;

use super::Wal;
use crate::error::Result;
use crate::mutants::Mutant;
use crate::page::{self, PageId};

impl Wal {
    /// Pages that the image area holds.
    pub(crate) fn image_slots(&self) -> usize {
        self.sizes.images
    }

    /// Writes sealed pages, joined, to the slots from `slot` on, and syncs them.
    pub(crate) fn write_images(&self, slot: usize, pages: &[u8]) -> Result<()> {
        assert!(slot + pages.len() / self.sizes.page_size <= self.sizes.images, "they fit");
        self.write_at(pages, self.sizes.image_at(slot))?;
        if Mutant::SkipImageSync.is_on() { Ok(()) } else { self.sync() }
    }

    /// The newest image of each page that has a whole one, ascending.
    pub(crate) fn read_images(&self) -> Result<impl Iterator<Item = Box<[u8]>>> {
        let mut found: BTreeMap<PageId, Box<[u8]>> = BTreeMap::new();
        for slot in 0..self.sizes.images {
            let mut bytes = vec![0; self.sizes.page_size].into_boxed_slice();
            let got = self.read_at(&mut bytes, self.sizes.image_at(slot))?;
            let id = page::id(&bytes);
            if got < bytes.len() || page::verify(&bytes, id).is_err() {
                continue;
            }
            if found.get(&id).is_none_or(|other| page::lsn(other) < page::lsn(&bytes)) {
                found.insert(id, bytes);
            }
        }
        Ok(found.into_values())
    }
}
