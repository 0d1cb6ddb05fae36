//! The byte before a stored property value that says its type.
//!
//! For values only: keys have type bytes of their own, whose order matters ([`super::key`]). A tag
//! says what follows; how long it is and how it is written is the property record's business.
//! Invariants: a tag never changes its meaning once a format version is released; all types of
//! Cypher have theirs from the start, so that an old reader can name a value it cannot read.
//!
//! | tags | for |
//! |---|---|
//! | `00` | never: zeroed bytes are not a value |
//! | `01`–`0f` | null and booleans; `04`–`0f` free |
//! | `10`–`1f` | numbers; `12`–`1f` free (narrow integers, decimals) |
//! | `20`–`2f` | strings and bytes; `22`–`2f` free |
//! | `30`–`3f` | containers; `32`–`3f` free (lists of one type) |
//! | `40`–`4f` | temporal; `47`–`4f` free |
//! | `50`–`5f` | points; `54`–`5f` free |
//! | `60`–`6f` | vectors; `61`–`6f` free |
//! | `70`–`7f` | free |
//! | `80`–`ff` | free, meant for values that fit into their tag (small integers, short strings) |

/// The type of a stored property value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ValueTag {
    /// Null; only inside lists and maps, as a null property is an absent one.
    Null = 0x01,
    /// The boolean false; no payload.
    False = 0x02,
    /// The boolean true; no payload.
    True = 0x03,
    /// A 64-bit signed integer.
    Integer = 0x10,
    /// A 64-bit IEEE 754 float.
    Float = 0x11,
    /// A UTF-8 string.
    String = 0x20,
    /// A byte string.
    Bytes = 0x21,
    /// A list of values, each with its own tag.
    List = 0x30,
    /// A map of names to values.
    Map = 0x31,
    /// A calendar date.
    Date = 0x40,
    /// A time of day without a zone.
    LocalTime = 0x41,
    /// A time of day with an offset.
    ZonedTime = 0x42,
    /// A date and time without a zone.
    LocalDateTime = 0x43,
    /// An instant with an offset.
    OffsetDateTime = 0x44,
    /// An instant with a named zone.
    NamedZoneDateTime = 0x45,
    /// A duration: months, days, seconds, nanoseconds.
    Duration = 0x46,
    /// A point in the Cartesian plane (SRID 7203).
    PointCartesian2d = 0x50,
    /// A point in Cartesian space (SRID 9157).
    PointCartesian3d = 0x51,
    /// Longitude and latitude on WGS 84 (SRID 4326).
    PointWgs84 = 0x52,
    /// Longitude, latitude and height on WGS 84 (SRID 4979).
    PointWgs84Height = 0x53,
    /// Reserved for vectors of numbers.
    Vector = 0x60,
}

/// A byte that is no [`ValueTag`] of this format version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{byte:#04x} is not the tag of any value type known to this version")]
pub struct UnknownTag {
    /// The byte that was read.
    pub byte: u8,
}

impl ValueTag {
    /// All tags, in ascending order.
    pub const ALL: [Self; 21] = [
        Self::Null,
        Self::False,
        Self::True,
        Self::Integer,
        Self::Float,
        Self::String,
        Self::Bytes,
        Self::List,
        Self::Map,
        Self::Date,
        Self::LocalTime,
        Self::ZonedTime,
        Self::LocalDateTime,
        Self::OffsetDateTime,
        Self::NamedZoneDateTime,
        Self::Duration,
        Self::PointCartesian2d,
        Self::PointCartesian3d,
        Self::PointWgs84,
        Self::PointWgs84Height,
        Self::Vector,
    ];
}

impl From<ValueTag> for u8 {
    #[inline]
    fn from(tag: ValueTag) -> Self {
        tag as Self
    }
}

impl TryFrom<u8> for ValueTag {
    type Error = UnknownTag;

    #[inline]
    fn try_from(byte: u8) -> Result<Self, UnknownTag> {
        Ok(match byte {
            0x01 => Self::Null,
            0x02 => Self::False,
            0x03 => Self::True,
            0x10 => Self::Integer,
            0x11 => Self::Float,
            0x20 => Self::String,
            0x21 => Self::Bytes,
            0x30 => Self::List,
            0x31 => Self::Map,
            0x40 => Self::Date,
            0x41 => Self::LocalTime,
            0x42 => Self::ZonedTime,
            0x43 => Self::LocalDateTime,
            0x44 => Self::OffsetDateTime,
            0x45 => Self::NamedZoneDateTime,
            0x46 => Self::Duration,
            0x50 => Self::PointCartesian2d,
            0x51 => Self::PointCartesian3d,
            0x52 => Self::PointWgs84,
            0x53 => Self::PointWgs84Height,
            0x60 => Self::Vector,
            _ => return Err(UnknownTag { byte }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_a_tag_of_the_list_or_refused_by_name() {
        for byte in 0..=u8::MAX {
            let listed = ValueTag::ALL.into_iter().find(|tag| u8::from(*tag) == byte);
            assert_eq!(ValueTag::try_from(byte).ok(), listed, "{byte:#04x}");
        }
        let text = ValueTag::try_from(0xfe).map_err(|error| error.to_string());
        assert_eq!(
            text,
            Err("0xfe is not the tag of any value type known to this version".to_owned())
        );
    }

    #[test]
    fn tags_ascend_and_keep_their_bytes() {
        let bytes = ValueTag::ALL.map(u8::from);
        assert!(bytes.is_sorted());
        assert_eq!(
            bytes,
            [
                0x01, 0x02, 0x03, 0x10, 0x11, 0x20, 0x21, 0x30, 0x31, 0x40, 0x41, 0x42, 0x43, 0x44,
                0x45, 0x46, 0x50, 0x51, 0x52, 0x53, 0x60
            ]
        );
    }
}
