//! How numbers, values and keys become bytes: the one codec that all layers share.
//!
//! - [`num`]: checked width changes and little-endian fields of pages and records.
//! - [`varint`]: short unsigned integers inside payloads; not ordered.
//! - [`ordered`]: short unsigned integers inside keys; byte order is numeric order.
//! - [`tag`]: the type byte before a stored property value.
//! - [`key`]: order-preserving keys, composite by concatenation.
//!
//! Everything here is pure: no I/O, no state, no knowledge of pages. Decoders are total: any bytes
//! give a value or a refusal, never a panic. Encoders panic only on a broken invariant of the
//! caller. The byte tables are in `docs/file-format.md`; golden tests hold the code to them.

pub mod key;
pub mod num;
pub mod ordered;
pub mod tag;
pub mod varint;
