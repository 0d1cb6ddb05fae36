//! The type bytes of keys. Their order is the order of values of different types.
//!
//! Cypher's orderability, ascending: map, node, relationship, list, path, (point,) zoned date-time,
//! local date-time, date, zoned time, local time, duration, (bytes,) string, boolean, number, null.
//! Points stand after paths and before the temporal types, as Neo4j has them; bytes, of which Cypher
//! says nothing, stand before strings.
//!
//! Invariants: a byte never changes its meaning once a format version is released; all lie below
//! [`crate::codec::ordered::FIRST_MIN`], where ids begin; [`LIST_END`] is below all others, so that
//! the shorter list is first. The gaps between them are for types to come.
//!
//! They are public as bounds of range scans: "all numbers above 5" ends before [`NAN`].

/// Ends a list (and, as a plain byte, strings and bytes).
pub const LIST_END: u8 = 0x00;
/// Reserved: maps.
pub const MAP: u8 = 0x02;
/// Reserved: nodes.
pub const NODE: u8 = 0x04;
/// Reserved: relationships.
pub const RELATIONSHIP: u8 = 0x06;
/// Starts a list.
pub const LIST: u8 = 0x08;
/// Reserved: paths.
pub const PATH: u8 = 0x0a;
/// A point.
pub const POINT: u8 = 0x0c;
/// An instant with an offset.
pub const ZONED_DATE_TIME: u8 = 0x10;
/// A date and time without a zone.
pub const LOCAL_DATE_TIME: u8 = 0x12;
/// A calendar date.
pub const DATE: u8 = 0x14;
/// A time of day with an offset.
pub const ZONED_TIME: u8 = 0x16;
/// A time of day without a zone.
pub const LOCAL_TIME: u8 = 0x18;
/// A duration.
pub const DURATION: u8 = 0x1a;
/// A byte string.
pub const BYTES: u8 = 0x1c;
/// A string.
pub const STRING: u8 = 0x1e;
/// The boolean false.
pub const FALSE: u8 = 0x22;
/// The boolean true.
pub const TRUE: u8 = 0x23;
/// The lowest number, negative infinity.
pub const NEGATIVE_INFINITY: u8 = 0x28;
/// A finite number below zero.
pub const NEGATIVE: u8 = 0x2a;
/// Zero, of either sign.
pub const ZERO: u8 = 0x2c;
/// A finite number above zero.
pub const POSITIVE: u8 = 0x2e;
/// The highest number that is one, positive infinity.
pub const POSITIVE_INFINITY: u8 = 0x30;
/// Any NaN.
pub const NAN: u8 = 0x32;
/// Null, after all other values.
pub const NULL: u8 = 0x3e;
/// Never written: an upper bound of all values.
pub const VALUES_END: u8 = 0x3f;
