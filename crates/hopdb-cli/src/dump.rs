//! Bytes beside what they mean, in a hundred columns; and the way of pages to a cell.
//!
//! Knows fields and steps, not what is in them. A field's bytes stand eight on a line, its name and value beside the
//! first; long fields end with how many bytes are left out.

use std::io::Write;

use hopdb::inspect::{Cell, ChainStep, Field, Kind};

use crate::failure::Failure;
use crate::screen::{Screen, count, counted};

/// Columns that lines may take.
pub(crate) const COLUMNS: usize = 100;
/// Bytes on a line.
const LINE_BYTES: usize = 8;
/// Columns of a line's bytes.
const HEX_COLUMNS: usize = 3 * LINE_BYTES - 1;
/// Most lines of bytes of one field.
const LINES_MAX: usize = 8;
/// Most columns of names.
const NAME_COLUMNS_MAX: usize = 32;

/// Writes fields with the bytes that they tile; the first byte stands at `base` in its page.
pub(crate) fn fields(
    screen: &mut Screen,
    bytes: &[u8],
    base: usize,
    fields: &[Field],
) -> Result<(), Failure> {
    let name = |field: &Field| cut(&format!("{}{}", indent(field), field.name), NAME_COLUMNS_MAX);
    let names = fields.iter().map(|field| name(field).chars().count()).max().unwrap_or(0).max(4);
    let value_columns = COLUMNS - 2 - 6 - 2 - HEX_COLUMNS - 2 - names - 2;
    let head = format!("  {:>6}  {:HEX_COLUMNS$}  {:names$}  {}", "byte", "bytes", "what", "says");
    writeln!(screen, "{}", screen.dim(&head))?;
    for field in fields {
        let hex = hex_lines(&bytes[field.start..field.start + field.len]);
        let values = wrapped(&field.value, value_columns);
        for line in 0..hex.len().max(values.len()) {
            let at = match line * LINE_BYTES {
                offset if offset < field.len && line < LINES_MAX => {
                    (base + field.start + offset).to_string()
                }
                _ => String::new(),
            };
            let hex = hex.get(line).map_or("", String::as_str);
            let place = screen.dim(&format!("{at:>6}  {hex:HEX_COLUMNS$}"));
            let name = if line == 0 { name(field) } else { String::new() };
            let value = values.get(line).map_or("", String::as_str);
            let text = format!("{name:names$}  {value}");
            writeln!(screen, "{}", format!("  {place}  {text}").trim_end())?;
        }
    }
    Ok(())
}

fn indent(field: &Field) -> String {
    "  ".repeat(field.depth)
}

fn hex_lines(bytes: &[u8]) -> Vec<String> {
    if bytes.len() > 2 * LINE_BYTES && bytes.iter().all(|byte| *byte == 0) {
        return vec![format!("00 … {} zeros", count(bytes.len() as u64))];
    }
    let line = |bytes: &[u8]| {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        bytes.join(" ")
    };
    let mut lines: Vec<String> = bytes.chunks(LINE_BYTES).take(LINES_MAX).map(line).collect();
    let shown = LINES_MAX * LINE_BYTES;
    if bytes.len() > shown {
        lines.push(format!("… {} more", count((bytes.len() - shown) as u64)));
    }
    lines
}

/// The text on lines of so many columns, between words where it can be.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some((end, _)) = rest.char_indices().nth(columns) {
        let end = rest[..end].rfind(' ').filter(|space| *space > 0).unwrap_or(end);
        lines.push(rest[..end].to_owned());
        rest = rest[end..].trim_start();
    }
    lines.push(rest.to_owned());
    lines
}

/// The text, or as much of it as so many columns take.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    match text.char_indices().nth(columns) {
        None => text.to_owned(),
        Some(_) => text.chars().take(columns.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Writes the way to a cell and the cell.
pub(crate) fn cell(screen: &mut Screen, cell: &Cell) -> Result<(), Failure> {
    chain(screen, &cell.chain)?;
    let page = cell.chain.last().map_or(0, |step| step.page);
    let length = counted(cell.bytes.0.len() as u64, "byte", "bytes");
    writeln!(screen, "  cell at byte {} of page {page}, {length}\n", cell.offset)?;
    fields(screen, &cell.bytes.0, cell.offset, &cell.fields)?;
    let Some(large) = &cell.large else { return Ok(()) };
    let extents = large.extents.iter().map(|extent| match extent.pages {
        1 => format!("page {}", extent.first_page),
        pages => format!("pages {} to {}", extent.first_page, extent.first_page + pages - 1),
    });
    let extents: Vec<String> = extents.collect();
    let length = counted(large.length, "byte", "bytes");
    let text = format!("the value is large: its {length} are in {}", extents.join(", "));
    writeln!(screen)?;
    for line in wrapped(&text, COLUMNS - 2) {
        writeln!(screen, "  {line}")?;
    }
    if large.cut {
        let shown = counted(large.bytes.0.len() as u64, "byte", "bytes");
        writeln!(screen, "  (the first {shown} of them below)")?;
    }
    writeln!(screen)?;
    fields(screen, &large.bytes.0, 0, &large.fields)
}

fn chain(screen: &mut Screen, chain: &[ChainStep]) -> Result<(), Failure> {
    let lines: Vec<[String; 4]> = chain.iter().enumerate().map(step).collect();
    let width =
        |part: usize| lines.iter().map(|line| line[part].chars().count()).max().unwrap_or(0);
    let [pages, kinds, slots] = [0, 1, 2].map(width);
    for [page, kind, slot, key] in &lines {
        let line = format!("  {page:pages$}  {kind:kinds$}  {slot:slots$}  {key}");
        writeln!(screen, "{}", cut(line.trim_end(), COLUMNS))?;
    }
    Ok(())
}

fn step((depth, step): (usize, &ChainStep)) -> [String; 4] {
    let root = if depth == 0 { "root, " } else { "" };
    let key = match (&step.key, step.kind) {
        (Some(key), Kind::Branch) => format!("from {key}"),
        (Some(key), _) => key.clone(),
        (None, _) => "the least keys".into(),
    };
    [
        format!("page {}", step.page),
        format!("{root}{} at level {}", kind(step.kind), step.level),
        format!("slot {} of {}", step.slot, count(step.slots as u64)),
        key,
    ]
}

/// What a page is called.
pub(crate) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Header => "header",
        Kind::Free => "free page",
        Kind::AllocationMap => "allocation map",
        Kind::Leaf => "leaf",
        Kind::Branch => "branch",
        Kind::Extent => "part of a large value",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stand_eight_on_a_line() {
        assert_eq!(hex_lines(&[1, 0xab]), ["01 ab"]);
        let lines = hex_lines(&[7; 70]);
        assert_eq!(lines.len(), 9);
        assert_eq!((lines[7].len(), lines[8].as_str()), (HEX_COLUMNS, "… 6 more"));
        assert_eq!(hex_lines(&[7; 64]).len(), 8);
        assert_eq!(hex_lines(&[0; 4000]), ["00 … 4,000 zeros"]);
    }

    #[test]
    fn texts_are_wrapped_and_cut() {
        assert_eq!(wrapped("a few words", 6), ["a few", "words"]);
        assert_eq!(wrapped("longer", 4), ["long", "er"]);
        assert_eq!(wrapped(" begins", 3), [" be", "gin", "s"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!([cut("äöü", 3), cut("äöü", 2)], ["äöü", "ä…"]);
    }
}
