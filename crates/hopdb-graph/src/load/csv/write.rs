//! Fields as CSV text: the inverse of reading.
//!
//! Must not write rows: the caller puts delimiters and line ends between.

use super::Dialect;

/// Appends `text` to `out` as a field that reads back as it was: quoted where bare text would read
/// otherwise, or where its ends are white space, which other readers may strip. An empty field is
/// quoted with `quote_empty`: as a row's only field it must be, or the line is blank. Newlines need
/// a dialect with fields of many lines.
pub fn write_field(out: &mut Vec<u8>, text: &[u8], dialect: Dialect, quote_empty: bool) {
    if !needs_quotes(text, dialect, quote_empty) {
        out.extend_from_slice(text);
        return;
    }
    let quote = dialect.quote();
    out.push(quote);
    for &byte in text {
        if byte == quote {
            out.push(quote);
        } else if Some(byte) == dialect.escape() {
            out.push(byte);
        }
        out.push(byte);
    }
    out.push(quote);
}

fn needs_quotes(text: &[u8], dialect: Dialect, quote_empty: bool) -> bool {
    let (Some(first), Some(last)) = (text.first(), text.last()) else { return quote_empty };
    let special = [dialect.delimiter(), dialect.quote(), b'\n', b'\r'];
    first.is_ascii_whitespace()
        || last.is_ascii_whitespace()
        || text.iter().any(|byte| special.contains(byte))
}
