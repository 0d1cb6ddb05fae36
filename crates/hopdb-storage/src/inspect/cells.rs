//! Slots and cells of tree pages: taken apart, in a line of text, and as steps of a way.
//!
//! The pages passed in have passed [`page::verify`]; what cells hold may still be anything.

use super::{ChainStep, DIRECTORY, Field, Fields, Kind, Meaning, PlainBytes, Slot};
use crate::btree::large::Descriptor;
use crate::codec::num::{get_u64, to_usize};
use crate::page::{self, PageKind, slotted};

/// Most characters of a key or a value in a line.
const LINE_CHARS_MAX: usize = 160;

/// A table, if one is known, and what its keys and values mean.
pub(super) struct Meant<'m> {
    table: &'m str,
    meaning: &'m dyn Meaning,
}

impl<'m> Meant<'m> {
    pub(super) fn of(table: Option<&'m str>, meaning: &'m dyn Meaning) -> Self {
        match table {
            None => Self { table: "", meaning: &PlainBytes },
            Some(DIRECTORY) => Self { table: DIRECTORY, meaning: &Directory },
            Some(table) => Self { table, meaning },
        }
    }

    fn key(&self, fields: &mut Fields<'_>) {
        self.meaning.key(self.table, fields);
    }

    pub(super) fn value(&self, key: &[u8], fields: &mut Fields<'_>) {
        self.meaning.value(self.table, key, fields);
    }

    fn key_text(&self, key: &[u8], cut: bool) -> String {
        shortened(self.meaning.key_text(self.table, key, cut))
    }
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The table of tables.
struct Directory;

impl Meaning for Directory {
    fn key(&self, _: &str, key: &mut Fields<'_>) {
        key.take_rest("table", String::from_utf8_lossy(key.rest()));
    }

    fn value(&self, _: &str, _: &[u8], value: &mut Fields<'_>) {
        let text = root_text(value.rest());
        value.take(8, "root page", text);
        value.take(8, "reserved", "");
    }

    fn key_text(&self, _: &str, key: &[u8], _: bool) -> String {
        String::from_utf8_lossy(key).into_owned()
    }

    fn value_text(&self, _: &str, _: &[u8], value: &[u8]) -> String {
        format!("root page {}", root_text(value))
    }
}

fn root_text(value: &[u8]) -> String {
    if value.len() < 8 { "?".into() } else { get_u64(value, 0).to_string() }
}

/// Takes a leaf's cell apart; `prefix` stands before the name of its first field.
pub(super) fn leaf_cell(fields: &mut Fields<'_>, prefix: &str, meant: &Meant<'_>) {
    let Some(key_len) = fields.varint(format!("{prefix}key length"), bytes_text) else { return };
    let second = fields.varint("value length", |second| match second & 1 {
        0 => bytes_text(second >> 1),
        _ => format!("{}, which say where a large value lies", bytes_text(second >> 1)),
    });
    let Some(second) = second else { return };
    let key = fields.rest();
    let key = &key[..key.len().min(usize::try_from(key_len).unwrap_or(usize::MAX))];
    fields.deeper(|fields| {
        fields.within(key_len, |fields| meant.key(fields));
        fields.within(second >> 1, |fields| match second & 1 {
            0 => meant.value(key, fields),
            _ => descriptor(fields),
        });
    });
}

fn bytes_text(bytes: u64) -> String {
    format!("{bytes} {}", if bytes == 1 { "byte" } else { "bytes" })
}

fn descriptor(fields: &mut Fields<'_>) {
    if fields.varint("large value", bytes_text).is_none() {
        return;
    }
    let Some(extents) = fields.varint("extents", |count| count.to_string()) else { return };
    for _ in 0..extents {
        let first = fields.varint("first page", |page| page.to_string());
        if first.is_none() || fields.varint("pages", |pages| pages.to_string()).is_none() {
            return;
        }
    }
}

/// Takes a branch's cell apart.
pub(super) fn branch_cell(fields: &mut Fields<'_>, prefix: &str, first: bool, meant: &Meant<'_>) {
    let Some(key_len) = fields.varint(format!("{prefix}key length"), bytes_text) else { return };
    if fields.varint("child", |child| format!("page {child}")).is_none() {
        return;
    }
    fields.deeper(|fields| {
        if first {
            fields.within(key_len, |fields| fields.take_rest("separator", "not read"));
        } else {
            fields.within_cut(to_usize(key_len), |fields| meant.key(fields));
        }
    });
}

/// A slot and its cell in a line.
pub(super) fn slot(bytes: &[u8], slot: usize, meant: &Meant<'_>) -> Slot {
    let is_branch = page::kind(bytes) == PageKind::Branch;
    let child = is_branch.then(|| slotted::child(bytes, slot).0);
    Slot {
        slot,
        offset: slotted::cell_start(bytes, slot),
        len: slotted::cell(bytes, slot).len(),
        key: key_text(bytes, slot, meant).unwrap_or_else(|| "(all keys below)".into()),
        value: match child {
            Some(child) => format!("page {child}"),
            None => value_text(bytes, slot, meant),
        },
        child,
    }
}

/// The key of a slot; `None` of a branch's first.
fn key_text(bytes: &[u8], slot: usize, meant: &Meant<'_>) -> Option<String> {
    let is_branch = page::kind(bytes) == PageKind::Branch;
    (slot > 0 || !is_branch).then(|| meant.key_text(slotted::key(bytes, slot), is_branch))
}

fn value_text(bytes: &[u8], slot: usize, meant: &Meant<'_>) -> String {
    let value = slotted::value(bytes, slot);
    let stored = &bytes[value.start..value.start + value.len];
    if !value.large {
        let key = slotted::key(bytes, slot);
        return shortened(meant.meaning.value_text(meant.table, key, stored));
    }
    match Descriptor::decode(stored) {
        Some(large) => {
            let pages: u64 = large.extents.iter().map(|(_, pages)| pages).sum();
            format!("{} in pages of their own ({pages})", bytes_text(large.len))
        }
        None => "a large value whose place is damaged".into(),
    }
}

/// A page passed on the way to a cell.
pub(super) fn chain_step(bytes: &[u8], slot: usize, meant: &Meant<'_>) -> ChainStep {
    ChainStep {
        page: page::id(bytes).0,
        kind: Kind::from(page::kind(bytes)),
        level: page::level(bytes),
        slot,
        slots: page::count(bytes),
        key: key_text(bytes, slot, meant),
        free_bytes: slotted::capacity(bytes.len()) - slotted::used(bytes),
    }
}

/// Slots, gap, cells and holes of a tree page, behind its header.
pub(super) fn tree(fields: &mut Fields<'_>, page: &[u8], meant: &Meant<'_>) {
    let is_branch = page::kind(page) == PageKind::Branch;
    for slot in 0..page::count(page) {
        let head = slotted::stored_head(page, slot);
        let keyed = slot > 0 || !is_branch;
        let head = if keyed { format!(", head {head:08x}") } else { String::new() };
        let text = format!("cell at {}{head}", slotted::cell_start(page, slot));
        fields.take(slotted::SLOT_LEN, format!("slot {slot}"), text);
    }
    fields.take(page::free(page), "gap", "free, between slots and cells");
    let mut cells: Vec<usize> = (0..page::count(page)).collect();
    cells.sort_unstable_by_key(|slot| slotted::cell_start(page, *slot));
    for slot in cells {
        let at = page.len() - fields.rest().len();
        // Damaged cells can lie over one another: each byte is shown once.
        let Some(hole) = slotted::cell_start(page, slot).checked_sub(at) else { continue };
        fields.take(hole, "hole", "free, left by a removed cell");
        let len = slotted::cell(page, slot).len();
        let prefix = format!("cell {slot}: ");
        fields.within(len as u64, |fields| match is_branch {
            true => branch_cell(fields, &prefix, slot == 0, meant),
            false => leaf_cell(fields, &prefix, meant),
        });
    }
    fields.take_rest("hole", "free, left by a removed cell");
}

/// The fields of bytes that `annotate` takes apart.
pub(super) fn annotated(bytes: &[u8], annotate: impl FnOnce(&mut Fields<'_>)) -> Vec<Field> {
    let mut fields = Fields::of(bytes, false);
    annotate(&mut fields);
    fields.finish()
}
