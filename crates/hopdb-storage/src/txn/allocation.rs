//! The allocation map: which page ids are in use. Its pages are versioned and logged like all others.
//! Layout: `docs/file-format.md`, "Allocation map".

use crate::page::{HEADER_LEN, PageId};

/// The page of the map that has the bit of `id`.
pub(crate) fn map_page(id: PageId, range_pages: u64) -> PageId {
    match id.0 / range_pages {
        0 => PageId(3),
        range => PageId(range * range_pages),
    }
}

/// Whether `id` is a page of the map.
pub(crate) fn is_map_page(id: PageId, range_pages: u64) -> bool {
    map_page(id, range_pages) == id
}

fn place(id: PageId, range_pages: u64) -> (usize, u8) {
    let bit = id.0 % range_pages;
    let byte = usize::try_from(bit / 8).expect("a range lies in a page");
    (HEADER_LEN + byte, 1 << (bit % 8))
}

/// Whether the map's page says that `id` is in use.
pub(crate) fn in_use(map: &[u8], id: PageId, range_pages: u64) -> bool {
    let (byte, bit) = place(id, range_pages);
    map[byte] & bit != 0
}

/// Changes the bit of `id`; it must have had the other value.
pub(crate) fn set(map: &mut [u8], id: PageId, range_pages: u64, used: bool) {
    assert_ne!(in_use(map, id, range_pages), used, "page {id} is allocated and freed in turn");
    let (byte, bit) = place(id, range_pages);
    map[byte] ^= bit;
}

/// The first id at or above `from`, within the map page's range and below `limit`, that is not in use and
/// not refused.
pub(crate) fn find_free(
    map: &[u8],
    from: PageId,
    limit: u64,
    range_pages: u64,
    refused: impl Fn(PageId) -> bool,
) -> Option<PageId> {
    let end = limit.min((from.0 / range_pages + 1) * range_pages);
    let mut id = from.0;
    while id < end {
        if id.is_multiple_of(8) && map[place(PageId(id), range_pages).0] == 0xff {
            id += 8;
            continue;
        }
        if !in_use(map, PageId(id), range_pages) && !refused(PageId(id)) {
            return Some(PageId(id));
        }
        id += 1;
    }
    None
}

/// The ids whose bits differ between two versions of a map page: those now in use, and those no longer.
/// `range_start` is the first id of the page's range.
pub(crate) fn changes(
    old: Option<&[u8]>,
    new: &[u8],
    range_start: u64,
) -> (Vec<PageId>, Vec<PageId>) {
    let (mut born, mut freed) = (Vec::new(), Vec::new());
    for (index, byte) in new.iter().enumerate().skip(HEADER_LEN) {
        let before = old.map_or(0, |old| old[index]);
        if before == *byte {
            continue;
        }
        for bit in 0..8u64 {
            let id = PageId(range_start + (index - HEADER_LEN) as u64 * 8 + bit);
            match (before >> bit & 1, byte >> bit & 1) {
                (0, 1) => born.push(id),
                (1, 0) => freed.push(id),
                _ => {}
            }
        }
    }
    (born, freed)
}

/// Ascending ids as runs of first id and count.
pub(crate) fn runs(ids: &[PageId]) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for id in ids {
        match runs.last_mut() {
            Some((first, count)) if *first + *count == id.0 => *count += 1,
            _ => runs.push((id.0, 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ids_are_found_past_used_and_refused_ones() {
        let range = 8 * (4096 - 48);
        let mut map = vec![0; 4096];
        for id in 0..100 {
            set(&mut map, PageId(id), range, true);
        }
        set(&mut map, PageId(17), range, false);
        let find =
            |from, refused: u64| find_free(&map, PageId(from), 120, range, |id| id.0 == refused);
        assert_eq!(find(0, 0), Some(PageId(17)));
        assert_eq!(find(0, 17), Some(PageId(100)));
        assert_eq!(find(18, 0), Some(PageId(100)));
        assert_eq!(find(119, 119), None);
    }

    #[test]
    fn changes_name_both_sides() {
        let old = vec![0; 4096];
        let mut new = old.clone();
        let mut old = old;
        for id in [0, 1, 2, 9] {
            set(&mut new, PageId(id), 32384, true);
        }
        set(&mut old, PageId(1), 32384, true);
        set(&mut old, PageId(77), 32384, true);
        let (born, freed) = changes(Some(&old), &new, 0);
        assert_eq!(runs(&born), [(0, 1), (2, 1), (9, 1)]);
        assert_eq!(runs(&freed), [(77, 1)]);
    }
}
