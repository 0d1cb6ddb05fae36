//! Reading keys back, and stepping over their elements. Total on any bytes; see [`super`].
//!
//! [`skip`] looks only for the end of an element and is what index scans use to reach the id behind
//! a value. [`read`] checks everything: what it accepts is what a `KeyWriter` writes.

use std::borrow::Cow;

use super::{
    KeyError, NANOS_PER_SECOND, Point, SECONDS_PER_DAY, SECONDS_PER_MONTH, kind, number, signed,
    text,
};
use crate::codec::ordered;

/// One token of a key. Lists are not nested here but bracketed, so that no depth can hurt.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    missing_docs,
    reason = "the fields are the parameters of the KeyWriter method of the name"
)]
pub enum Element<'a> {
    /// [`KeyWriter::null`](super::KeyWriter::null).
    Null,
    /// [`KeyWriter::boolean`](super::KeyWriter::boolean).
    Boolean(bool),
    /// A number that is a 64-bit integer; it may have been written as a float.
    Integer(i64),
    /// A number that is not a 64-bit integer, an infinity, or NaN.
    Float(f64),
    /// [`KeyWriter::string`](super::KeyWriter::string).
    String(Cow<'a, str>),
    /// [`KeyWriter::bytes`](super::KeyWriter::bytes).
    Bytes(Cow<'a, [u8]>),
    /// [`KeyWriter::date`](super::KeyWriter::date).
    Date { days: i64 },
    /// [`KeyWriter::local_time`](super::KeyWriter::local_time).
    LocalTime { nanos: u64 },
    /// [`KeyWriter::zoned_time`](super::KeyWriter::zoned_time).
    ZonedTime { nanos: u64, offset_secs: i32 },
    /// [`KeyWriter::local_date_time`](super::KeyWriter::local_date_time).
    LocalDateTime { secs: i64, nanos: u32 },
    /// [`KeyWriter::zoned_date_time`](super::KeyWriter::zoned_date_time).
    ZonedDateTime { epoch_secs: i64, nanos: u32, offset_secs: i32 },
    /// [`KeyWriter::duration`](super::KeyWriter::duration).
    Duration { months: i64, days: i64, secs: i64, nanos: u32 },
    /// [`KeyWriter::point`](super::KeyWriter::point).
    Point(Point),
    /// [`KeyWriter::list_start`](super::KeyWriter::list_start).
    ListStart,
    /// [`KeyWriter::list_end`](super::KeyWriter::list_end); the reader counts, not [`read`].
    ListEnd,
    /// [`KeyWriter::id`](super::KeyWriter::id).
    Id(u64),
}

/// Moves `*at` past the element there: a value with all that is in it, or an id.
///
/// # Errors
/// If the element does not end within `bytes` or starts with no known type; `*at` is unchanged.
pub fn skip(bytes: &[u8], at: &mut usize) -> Result<(), KeyError> {
    let mut reader = Reader { bytes, at: *at };
    let mut open_lists = 0_usize;
    loop {
        let start = reader.at;
        match reader.skip_token()? {
            kind::LIST => open_lists += 1,
            kind::LIST_END => {
                open_lists = open_lists.checked_sub(1).ok_or(KeyError::Malformed {
                    at: start,
                    what: "a list ends where none is open",
                })?;
            }
            _ => {}
        }
        if open_lists == 0 {
            break;
        }
    }
    *at = reader.at;
    Ok(())
}

/// Reads the token at `*at` and moves `*at` past it.
///
/// # Errors
/// If the bytes there are not what a [`KeyWriter`](super::KeyWriter) writes; `*at` is unchanged.
pub fn read<'a>(bytes: &'a [u8], at: &mut usize) -> Result<Element<'a>, KeyError> {
    let mut reader = Reader { bytes, at: *at };
    let element = reader.token()?;
    *at = reader.at;
    Ok(element)
}

/// A position in a key.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Steps over one token and returns its first byte.
    #[inline]
    fn skip_token(&mut self) -> Result<u8, KeyError> {
        let first = self.byte()?;
        match first {
            ordered::FIRST_MIN.. => {
                self.at -= 1;
                self.skip_unsigned()?;
            }
            kind::POSITIVE | kind::NEGATIVE => {
                number::skip(first == kind::NEGATIVE, self.bytes, &mut self.at)?;
            }
            kind::STRING | kind::BYTES => {
                self.escaped()?;
            }
            _ => self.skip_other(first)?,
        }
        Ok(first)
    }

    fn skip_other(&mut self, first: u8) -> Result<(), KeyError> {
        match first {
            kind::DATE => self.skip_signed(),
            kind::LOCAL_TIME => self.skip_unsigned(),
            kind::ZONED_TIME => self.skip_signed().and_then(|()| self.skip_signed()),
            kind::LOCAL_DATE_TIME => self.skip_signed().and_then(|()| self.skip_unsigned()),
            kind::ZONED_DATE_TIME => {
                self.skip_signed()?;
                self.skip_unsigned()?;
                self.skip_signed()
            }
            kind::DURATION => {
                self.skip_signed()?;
                self.skip_unsigned()?;
                self.skip_signed()?;
                self.skip_signed()
            }
            kind::POINT => self.point().map(drop),
            _ => self.bare(first).map(drop),
        }
    }

    fn token(&mut self) -> Result<Element<'a>, KeyError> {
        let first = self.byte()?;
        Ok(match first {
            ordered::FIRST_MIN.. => {
                self.at -= 1;
                Element::Id(self.unsigned()?)
            }
            kind::POSITIVE | kind::NEGATIVE => {
                match number::read(first == kind::NEGATIVE, self.bytes, &mut self.at)? {
                    number::Number::Integer(value) => Element::Integer(value),
                    number::Number::Float(value) => Element::Float(value),
                }
            }
            kind::STRING => Element::String(self.string()?),
            kind::BYTES => Element::Bytes(self.unescaped()?),
            kind::POINT => Element::Point(self.point()?),
            kind::DATE => Element::Date { days: self.signed()? },
            kind::LOCAL_TIME => Element::LocalTime { nanos: self.unsigned()? },
            kind::ZONED_TIME => self.zoned_time()?,
            kind::LOCAL_DATE_TIME => {
                Element::LocalDateTime { secs: self.signed()?, nanos: self.nanos()? }
            }
            kind::ZONED_DATE_TIME => Element::ZonedDateTime {
                epoch_secs: self.signed()?,
                nanos: self.nanos()?,
                offset_secs: self.signed()?,
            },
            kind::DURATION => self.duration()?,
            _ => self.bare(first)?,
        })
    }

    /// A token that is its type byte alone, which has been read.
    fn bare(&self, first: u8) -> Result<Element<'a>, KeyError> {
        Ok(match first {
            kind::NULL => Element::Null,
            kind::FALSE => Element::Boolean(false),
            kind::TRUE => Element::Boolean(true),
            kind::ZERO => Element::Integer(0),
            kind::NEGATIVE_INFINITY => Element::Float(f64::NEG_INFINITY),
            kind::POSITIVE_INFINITY => Element::Float(f64::INFINITY),
            kind::NAN => Element::Float(f64::NAN),
            kind::LIST => Element::ListStart,
            kind::LIST_END => Element::ListEnd,
            byte => return Err(KeyError::UnknownType { at: self.at - 1, byte }),
        })
    }

    fn zoned_time(&mut self) -> Result<Element<'a>, KeyError> {
        let start = self.at;
        let utc: i128 = self.signed()?;
        let offset_secs: i32 = self.signed()?;
        let nanos = utc
            .checked_add(i128::from(offset_secs) * NANOS_PER_SECOND)
            .and_then(|nanos| u64::try_from(nanos).ok())
            .ok_or(KeyError::Malformed { at: start, what: "a zoned time is out of range" })?;
        Ok(Element::ZonedTime { nanos, offset_secs })
    }

    fn duration(&mut self) -> Result<Element<'a>, KeyError> {
        let start = self.at;
        let length: i128 = self.signed()?;
        let nanos = self.nanos()?;
        let (months, days): (i64, i64) = (self.signed()?, self.signed()?);
        let larger = i128::from(months) * SECONDS_PER_MONTH + i128::from(days) * SECONDS_PER_DAY;
        let secs = length
            .checked_sub(larger)
            .and_then(|secs| i64::try_from(secs).ok())
            .ok_or(KeyError::Malformed { at: start, what: "a duration is out of range" })?;
        Ok(Element::Duration { months, days, secs, nanos })
    }

    fn point(&mut self) -> Result<Point, KeyError> {
        let start = self.at;
        Ok(match self.byte()? {
            Point::WGS_84 => Point::Wgs84(self.coordinates()?),
            Point::WGS_84_HEIGHT => Point::Wgs84Height(self.coordinates()?),
            Point::CARTESIAN_2D => Point::Cartesian2d(self.coordinates()?),
            Point::CARTESIAN_3D => Point::Cartesian3d(self.coordinates()?),
            _ => {
                return Err(KeyError::Malformed {
                    at: start,
                    what: "a point has an unknown coordinate system",
                });
            }
        })
    }

    fn coordinates<const N: usize>(&mut self) -> Result<[f64; N], KeyError> {
        let mut coordinates = [0.0; N];
        for coordinate in &mut coordinates {
            let start = self.at;
            let code = self.take(8)?.first_chunk();
            *coordinate = code
                .and_then(|code| number::float_from_fixed(*code))
                .ok_or(KeyError::Malformed { at: start, what: "a coordinate is not canonical" })?;
        }
        Ok(coordinates)
    }

    fn string(&mut self) -> Result<Cow<'a, str>, KeyError> {
        let start = self.at;
        let not_utf8 = KeyError::Malformed { at: start, what: "a string is not UTF-8" };
        match self.unescaped()? {
            Cow::Borrowed(text) => {
                std::str::from_utf8(text).map(Cow::Borrowed).map_err(|_| not_utf8)
            }
            Cow::Owned(text) => String::from_utf8(text).map(Cow::Owned).map_err(|_| not_utf8),
        }
    }

    fn unescaped(&mut self) -> Result<Cow<'a, [u8]>, KeyError> {
        let start = self.at;
        text::unescape(self.escaped()?).map_err(|offset| KeyError::Malformed {
            at: start + offset,
            what: "an escape in a string is unknown",
        })
    }

    /// The text at the position, still escaped; moves past its end.
    #[inline]
    fn escaped(&mut self) -> Result<&'a [u8], KeyError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let len = text::len(rest).ok_or(KeyError::Truncated { at: self.bytes.len() })?;
        self.at += len + 1;
        Ok(&rest[..len])
    }

    fn nanos(&mut self) -> Result<u32, KeyError> {
        let start = self.at;
        let nanos = self.unsigned()?;
        u32::try_from(nanos)
            .ok()
            .filter(|nanos| i128::from(*nanos) < NANOS_PER_SECOND)
            .ok_or(KeyError::Malformed { at: start, what: "nanoseconds are out of range" })
    }

    fn unsigned(&mut self) -> Result<u64, KeyError> {
        let start = self.at;
        self.skip_unsigned()?;
        ordered::get(self.bytes, &mut start.clone())
            .ok_or(KeyError::Malformed { at: start, what: "an id is not in its shortest form" })
    }

    #[inline]
    fn skip_unsigned(&mut self) -> Result<(), KeyError> {
        let start = self.at;
        let len = ordered::len_from_first(self.byte()?)
            .ok_or(KeyError::Malformed { at: start, what: "an unsigned number is expected" })?;
        self.take(len - 1).map(drop)
    }

    fn signed<T: TryFrom<i128>>(&mut self) -> Result<T, KeyError> {
        let start = self.at;
        self.skip_signed()?;
        signed::value(self.bytes[start], &self.bytes[start + 1..self.at])
            .and_then(|value| T::try_from(value).ok())
            .ok_or(KeyError::Malformed { at: start, what: "a signed number is out of range" })
    }

    fn skip_signed(&mut self) -> Result<(), KeyError> {
        let start = self.at;
        let len = signed::len_from_header(self.byte()?)
            .ok_or(KeyError::Malformed { at: start, what: "a signed number is expected" })?;
        self.take(len).map(drop)
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, KeyError> {
        let byte = *self.bytes.get(self.at).ok_or(KeyError::Truncated { at: self.bytes.len() })?;
        self.at += 1;
        Ok(byte)
    }

    #[inline]
    fn take(&mut self, len: usize) -> Result<&'a [u8], KeyError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..len).ok_or(KeyError::Truncated { at: self.bytes.len() })?;
        self.at += len;
        Ok(taken)
    }
}
