//! CSV text: cut into chunks of whole rows by one thread, parsed into records by several.
//!
//! From file to field:
//! - [`Dialect`]: the bytes that separate and quote.
//! - [`Chunks`]: reads text and cuts it where a row ends, never inside quotes.
//! - [`Records`]: the records of one chunk, field by field.
//! - [`write_field`]: the way back.
//!
//! CSV as RFC 4180 has it: a field that begins with a quote is quoted; in it, delimiters and
//! newlines are text and a quote is doubled. What the RFC leaves open: rows end at newlines outside
//! quotes, and one carriage return right before the newline, or before the end of the text, belongs
//! to the row's end. Text behind a closing quote is added to the field, a quote inside an unquoted
//! field is a plain byte, blank lines are skipped, and rows may differ in length. An escape byte,
//! where the dialect has one, makes the next byte in a quoted field plain.
//!
//! Must not look at what fields mean: neither at encodings nor at headers.
//! Invariant: cutting and parsing agree on where rows end, so that records of the chunks are the
//! records of the text.

mod chunks;
mod cutter;
mod dialect;
mod needles;
mod records;
mod write;

pub use chunks::{Chunk, Chunks};
pub use dialect::Dialect;
pub use records::{Broken, Record, Records};
pub use write::write_field;

#[cfg(test)]
mod tests;
