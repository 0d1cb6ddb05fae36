//! The one order-preserving key codec: values and ids to bytes whose `memcmp` order is their order.
//!
//! # Words
//! An **element** is one encoded value or id; a **token** is an element that is not a list, or the
//! start or end of a list. A **composite key** is elements one after another. A **cut** key is one
//! that was too long and lost its tail.
//!
//! # Invariants
//! - K1 For elements `a` and `b`, `memcmp(a, b)` is Cypher's orderability (ascending, null last).
//! - K2 No element is a proper prefix of another, so composites by concatenation sort by their first
//!   element, then their second, and so on.
//! - K3 Equal values have equal bytes (`1` and `1.0`, `0.0` and `-0.0`, all NaNs), and [`read`]
//!   refuses bytes that a [`KeyWriter`] would not write.
//! - K4 An element says where it ends: [`skip`] needs no schema, as ids never start with a type byte.
//! - K5 Among keys of as many elements, a cut key sorts like the whole one against all that are not
//!   cut to the same bytes, ids behind them or not.
//! - K6 Decoders are total, use no recursion, and leave the position alone when they refuse.
//!
//! # Layout
//! A value is a type byte ([`kind`], all below `40`) and what the type needs; an id is its
//! [`super::ordered`] code alone (first byte `40` or above).
//!
//! | element | after the type byte |
//! |---|---|
//! | null, booleans, zero, infinities, NaN | nothing |
//! | negative, positive number | exponent, significand groups; see `number.rs` |
//! | string, bytes | escaped bytes, `00`; see `text.rs` |
//! | list | its elements, `00` |
//! | date | days: signed |
//! | local time | nanoseconds of the day: unsigned |
//! | zoned time | nanoseconds minus offset: signed; offset in seconds: signed |
//! | local date-time | seconds: signed; nanoseconds: unsigned |
//! | zoned date-time | seconds: signed; nanoseconds: unsigned; offset in seconds: signed |
//! | duration | average seconds: signed; nanoseconds: unsigned; months, days: signed |
//! | point | system byte, two or three coordinates of 8 bytes |
//!
//! *Unsigned* is [`super::ordered`]; *signed* is in `signed.rs`.

mod describe;
pub mod kind;
mod number;
mod read;
mod signed;
mod text;
mod write;

#[cfg(test)]
mod tests;

pub use describe::describe;
pub use read::{Element, read, skip};
pub use write::KeyWriter;

/// Seconds of an average Gregorian month (365.2425 / 12 days): what durations are ordered by.
const SECONDS_PER_MONTH: i128 = 2_629_746;
const SECONDS_PER_DAY: i128 = 86_400;
const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// Why bytes are not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The bytes end inside an element, or where one should start.
    #[error("the key ends at byte {at}, inside an element")]
    Truncated {
        /// Offset of the first byte that is missing.
        at: usize,
    },
    /// An element starts with a byte that has no meaning in this format version.
    #[error("byte {at} of the key, {byte:#04x}, starts no element known to this version")]
    UnknownType {
        /// Offset of the byte.
        at: usize,
        /// The byte.
        byte: u8,
    },
    /// The bytes of an element are not what a [`KeyWriter`] writes.
    #[error("byte {at} of the key: {what}")]
    Malformed {
        /// Offset of the part that is wrong.
        at: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// A point of one of Cypher's coordinate systems; coordinates are in the system's own units.
///
/// Ordered by system (its SRID), then coordinate by coordinate as numbers are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Point {
    /// Longitude and latitude in degrees (SRID 4326).
    Wgs84([f64; 2]),
    /// Longitude and latitude in degrees, height in metres (SRID 4979).
    Wgs84Height([f64; 3]),
    /// x and y (SRID 7203).
    Cartesian2d([f64; 2]),
    /// x, y and z (SRID 9157).
    Cartesian3d([f64; 3]),
}

impl Point {
    /// The system bytes of keys, in the order of SRIDs.
    const WGS_84: u8 = 0x01;
    const WGS_84_HEIGHT: u8 = 0x02;
    const CARTESIAN_2D: u8 = 0x03;
    const CARTESIAN_3D: u8 = 0x04;
}
