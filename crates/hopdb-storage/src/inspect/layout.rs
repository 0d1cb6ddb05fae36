//! Pages taken apart by what kind they are. Layouts: `docs/file-format.md`, "Pages".

use std::ops::Range;

use super::cells::{self, Meant, annotated};
use super::{Field, Fields, Hex, Kind, Meaning, Page, fields};
use crate::codec::num::{get_u32, get_u64};
use crate::page::{self, HEADER_LEN, PageId, PageKind};
use crate::pager::header;

/// Where the page header says what the page is.
const AT_KIND: usize = 40;

fn page_of(id: PageId, kind: Kind, bytes: &[u8], fields: Vec<Field>) -> Page {
    let bytes = Hex(bytes.to_vec());
    Page { page: id.0, kind, level: 0, table: None, bytes, fields, slots: Vec::new() }
}

/// One of the first two pages of the file.
pub(super) fn header_slot(id: PageId, bytes: &[u8]) -> Page {
    let fields = annotated(bytes, |fields| {
        let number = |at| get_u64(bytes, at).to_string();
        let features = |at| match get_u64(bytes, at) {
            0 => "none".into(),
            some => format!("{some:#x}"),
        };
        let magic = bytes[..8] == header::MAGIC;
        fields.take(8, "magic", if magic { "a HopDB file" } else { "not that of a HopDB file" });
        fields.take(4, "format version", get_u32(bytes, 8).to_string());
        fields.take(4, "page size", format!("{} bytes", get_u32(bytes, 12)));
        fields.take(8, "compatible features", features(16));
        fields.take(8, "read-compatible features", features(24));
        fields.take(8, "incompatible features", features(32));
        fields.take(16, "file id", "random; the log has the same");
        let generation = format!("{}; of the two slots, the later counts", number(56));
        fields.take(8, "generation", generation);
        fields.take(8, "commit timestamp", format!("commits up to {} are in place", number(64)));
        fields.take(8, "page count", number(72));
        fields.take(8, "base LSN", format!("{}; recovery begins here", number(80)));
        fields.take(8, "salt", "of the log's records");
        let state = match get_u32(bytes, 96) {
            1 => "closed cleanly: there is no log to replay",
            0 => "open",
            _ => "not known",
        };
        fields.take(4, "state", state);
        fields.take(4, "zeros", "");
        fields.take(8, "base position", format!("byte {} of the log", number(104)));
        fields.take(8, "zeros", "");
        let matches = header::checksum_matches(&bytes[..header::SLOT_LEN]);
        let text = if matches { "matches" } else { "does not match the bytes before it" };
        fields.take(8, "checksum", text);
        fields.take_rest("unused", "");
    });
    page_of(id, Kind::Header, bytes, fields)
}

/// The header that all other pages have. `checksum` says how it stands with the checksum.
fn page_header(fields: &mut Fields<'_>, bytes: &[u8], checksum: &str) {
    let number = |at| get_u64(bytes, at).to_string();
    let kind = PageKind::from_byte(bytes[AT_KIND]);
    let count = page::count(bytes);
    fields.take(8, "checksum", checksum);
    fields.take(8, "page id", number(8));
    fields.take(8, "birth", format!("allocated by commit {}", number(16)));
    fields.take(8, "begin", format!("this version is of commit {}", number(24)));
    let lsn = match get_u64(bytes, 32) {
        0 => "0: no record of a log changed it".into(),
        lsn => format!("{lsn} in the log"),
    };
    fields.take(8, "LSN", lsn);
    fields.take(1, "kind", kind.map_or("not known".into(), |kind| kind_text(kind).to_string()));
    fields.take(1, "level", page::level(bytes).to_string());
    fields.take(2, "prefix", format!("{} bytes that all keys share", page::prefix_len(bytes)));
    let count = match kind {
        Some(PageKind::Leaf | PageKind::Branch) => format!("{count} slots"),
        Some(PageKind::Extent) => format!("{count} bytes of a large value"),
        _ => count.to_string(),
    };
    fields.take(2, "count", count);
    let free = page::free(bytes);
    fields.take(2, "free", format!("{free} bytes between slots and cells"));
}

fn kind_text(kind: PageKind) -> &'static str {
    match kind {
        PageKind::Free => "free",
        PageKind::AllocationMap => "allocation map",
        PageKind::Leaf => "leaf",
        PageKind::Branch => "branch",
        PageKind::Extent => "extent",
    }
}

/// How it stands with the checksum of a page that the pool gave: what it read it verified.
fn pooled_checksum(bytes: &[u8]) -> &'static str {
    if page::checksum_matches(bytes) {
        "matches"
    } else {
        "older than this version, which is not in the file yet; it is set when it goes there"
    }
}

/// A page of a tree, verified.
pub(super) fn tree(id: PageId, bytes: &[u8], table: Option<String>, meaning: &dyn Meaning) -> Page {
    let meant = Meant::of(table.as_deref(), meaning);
    let fields = annotated(bytes, |fields| {
        page_header(fields, bytes, pooled_checksum(bytes));
        cells::tree(fields, bytes, &meant);
    });
    let slots = (0..page::count(bytes)).map(|slot| cells::slot(bytes, slot, &meant)).collect();
    let shown = page_of(id, page::kind(bytes).into(), bytes, fields);
    Page { level: page::level(bytes), slots, table, ..shown }
}

/// A part of a large value.
pub(super) fn extent(id: PageId, bytes: &[u8]) -> Page {
    let fields = annotated(bytes, |fields| {
        page_header(fields, bytes, pooled_checksum(bytes));
        let payload = page::count(bytes).min(fields.rest().len());
        let text = fields::printable(&fields.rest()[..payload]);
        fields.take(payload, "part of a large value", text);
        fields.take_rest("unused", "");
    });
    page_of(id, Kind::Extent, bytes, fields)
}

/// A page that is not in use, with whatever is left in it.
pub(super) fn free(id: PageId, bytes: &[u8]) -> Page {
    let fields = annotated(bytes, |fields| {
        if bytes.iter().all(|byte| *byte == 0) {
            fields.take_rest("zeros", "never written");
            return;
        }
        page_header(fields, bytes, checksum(bytes));
        fields.take_rest("left over", "of what it was; nothing leads here any more");
    });
    page_of(id, Kind::Free, bytes, fields)
}

fn checksum(bytes: &[u8]) -> &'static str {
    if page::checksum_matches(bytes) { "matches" } else { "does not match the bytes behind it" }
}

/// A page in use that cannot be believed; `None` when not even its kind is one.
pub(super) fn damaged(id: PageId, bytes: &[u8], reason: &str) -> Option<Page> {
    let kind = PageKind::from_byte(bytes[AT_KIND])?;
    let fields = annotated(bytes, |fields| {
        page_header(fields, bytes, checksum(bytes));
        fields.take_rest("(not decoded)", format!("the page is damaged: {reason}"));
    });
    let shown = page_of(id, kind.into(), bytes, fields);
    Some(Page { level: page::level(bytes), ..shown })
}

/// How many pages of a byte of the allocation map are in use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    All,
    None,
    Some,
    /// They are behind the end of the file.
    Beyond,
}

/// A page of the allocation map; `ids` begin with the first that it has a bit of and end with the file.
pub(super) fn allocation_map(id: PageId, bytes: &[u8], ids: Range<u64>) -> Page {
    let used = |byte: usize| {
        let first = ids.start + 8 * byte as u64;
        match bytes[HEADER_LEN + byte] {
            0 if first >= ids.end => Use::Beyond,
            0 => Use::None,
            0xff => Use::All,
            _ => Use::Some,
        }
    };
    let fields = annotated(bytes, |fields| {
        page_header(fields, bytes, pooled_checksum(bytes));
        let all = bytes.len() - HEADER_LEN;
        let mut start = 0;
        while start < all {
            let kind = used(start);
            let end = (start..all).find(|byte| used(*byte) != kind).unwrap_or(all);
            let first = ids.start + 8 * start as u64;
            let last = (ids.start + 8 * end as u64).min(ids.end.max(first + 1)) - 1;
            let run = &bytes[HEADER_LEN + start..HEADER_LEN + end];
            let bits: u32 = run.iter().map(|byte| byte.count_ones()).sum();
            let text = match kind {
                Use::All => "all in use".into(),
                Use::None => "all free".into(),
                Use::Some if u64::from(bits) == last + 1 - first => "all in use".into(),
                Use::Some => format!("{bits} of {} in use", last + 1 - first),
                Use::Beyond => "the file ends before".into(),
            };
            let name = match kind {
                Use::Beyond => format!("from page {first} on"),
                _ => format!("pages {first} to {last}"),
            };
            fields.take(end - start, name, text);
            start = end;
        }
    });
    page_of(id, Kind::AllocationMap, bytes, fields)
}
