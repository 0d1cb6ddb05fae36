//! Writing keys. The byte layout and the invariants are in [`super`].

use super::{
    NANOS_PER_SECOND, Point, SECONDS_PER_DAY, SECONDS_PER_MONTH, kind, number, signed, text,
};
use crate::codec::ordered;

/// Appends the elements of one key to a buffer that the caller owns and reuses.
///
/// ```
/// use hopdb_storage::codec::key::KeyWriter;
///
/// let mut buffer = Vec::new();
/// let mut key = KeyWriter::new(&mut buffer);
/// key.string("Ada").integer(36).id(7);
/// assert_eq!(key.finish(), b"\x1eAda\0\x2e\x81\x20\x47");
/// ```
#[derive(Debug)]
pub struct KeyWriter<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    open_lists: usize,
}

impl<'a> KeyWriter<'a> {
    /// A key that starts at the present end of `out`; what is there already is left alone.
    #[inline]
    #[must_use]
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        Self { out, start, open_lists: 0 }
    }

    /// Null, after all other values.
    #[inline]
    pub fn null(&mut self) -> &mut Self {
        self.kind(kind::NULL)
    }

    /// A boolean; false is first.
    #[inline]
    pub fn boolean(&mut self, value: bool) -> &mut Self {
        self.kind(if value { kind::TRUE } else { kind::FALSE })
    }

    /// An integer, in one order with floats.
    #[inline]
    pub fn integer(&mut self, value: i64) -> &mut Self {
        number::put_integer(self.out, value);
        self
    }

    /// A float, in one order with integers: both zeros are equal, and all NaNs come last.
    #[inline]
    pub fn float(&mut self, value: f64) -> &mut Self {
        number::put_float(self.out, value);
        self
    }

    /// A string, in the order of its UTF-8 bytes, which is that of its code points.
    #[inline]
    pub fn string(&mut self, value: &str) -> &mut Self {
        self.kind(kind::STRING);
        text::put(self.out, value.as_bytes());
        self
    }

    /// A byte string.
    #[inline]
    pub fn bytes(&mut self, value: &[u8]) -> &mut Self {
        self.kind(kind::BYTES);
        text::put(self.out, value);
        self
    }

    /// A date: days since 1970-01-01.
    pub fn date(&mut self, days: i64) -> &mut Self {
        self.kind(kind::DATE).signed(days)
    }

    /// A time of day: nanoseconds since midnight.
    pub fn local_time(&mut self, nanos: u64) -> &mut Self {
        self.kind(kind::LOCAL_TIME).id(nanos)
    }

    /// A time of day with an offset: nanoseconds since local midnight, seconds east of UTC.
    ///
    /// Ordered by the moment in UTC, then by the offset.
    pub fn zoned_time(&mut self, nanos: u64, offset_secs: i32) -> &mut Self {
        let utc = i128::from(nanos) - i128::from(offset_secs) * NANOS_PER_SECOND;
        self.kind(kind::ZONED_TIME).signed(utc).signed(offset_secs)
    }

    /// A date and time without a zone: seconds since 1970-01-01T00:00 on the same clock, and
    /// nanoseconds below 1,000,000,000 after those.
    pub fn local_date_time(&mut self, secs: i64, nanos: u32) -> &mut Self {
        self.kind(kind::LOCAL_DATE_TIME).signed(secs).nanos(nanos)
    }

    /// An instant with an offset: seconds since 1970-01-01T00:00Z, nanoseconds below 1,000,000,000
    /// after those, and seconds east of UTC.
    ///
    /// Ordered by the instant, then by the offset. The name of a zone is not part of the key: two
    /// zones with the same offset at one instant give equal keys.
    pub fn zoned_date_time(&mut self, epoch_secs: i64, nanos: u32, offset_secs: i32) -> &mut Self {
        self.kind(kind::ZONED_DATE_TIME).signed(epoch_secs).nanos(nanos).signed(offset_secs)
    }

    /// A duration; nanoseconds are below 1,000,000,000 and count up from `secs`.
    ///
    /// Ordered by length, with months of 2,629,746 seconds (the Gregorian average) and days of
    /// 86,400; durations of the same length by months, then days.
    pub fn duration(&mut self, months: i64, days: i64, secs: i64, nanos: u32) -> &mut Self {
        let length = i128::from(months) * SECONDS_PER_MONTH
            + i128::from(days) * SECONDS_PER_DAY
            + i128::from(secs);
        self.kind(kind::DURATION).signed(length).nanos(nanos).signed(months).signed(days)
    }

    /// A point, ordered by coordinate system, then coordinate by coordinate.
    pub fn point(&mut self, point: Point) -> &mut Self {
        let (system, coordinates): (u8, &[f64]) = match &point {
            Point::Wgs84(at) => (Point::WGS_84, at),
            Point::Wgs84Height(at) => (Point::WGS_84_HEIGHT, at),
            Point::Cartesian2d(at) => (Point::CARTESIAN_2D, at),
            Point::Cartesian3d(at) => (Point::CARTESIAN_3D, at),
        };
        self.kind(kind::POINT).kind(system);
        for coordinate in coordinates {
            self.out.extend_from_slice(&number::fixed_from_float(*coordinate));
        }
        self
    }

    /// Starts a list: elements up to [`KeyWriter::list_end`] are its own. Lists may be nested.
    pub fn list_start(&mut self) -> &mut Self {
        self.open_lists += 1;
        self.kind(kind::LIST)
    }

    /// Ends the innermost list.
    ///
    /// # Panics
    /// If no list is open.
    pub fn list_end(&mut self) -> &mut Self {
        assert!(self.open_lists > 0, "a list ends in a key where none is open");
        self.open_lists -= 1;
        self.kind(kind::LIST_END)
    }

    /// An id: its [`ordered`] code, without a type byte. All ids sort after all values.
    #[inline]
    pub fn id(&mut self, id: u64) -> &mut Self {
        ordered::put(self.out, id);
        self
    }

    /// The whole key.
    ///
    /// # Panics
    /// If a list is still open.
    #[inline]
    #[must_use]
    pub fn finish(self) -> &'a [u8] {
        assert!(self.open_lists == 0, "a key is finished inside a list");
        &self.out[self.start..]
    }

    /// The key cut to `len_max` bytes, and whether that cut anything off.
    ///
    /// A cut key is exactly `len_max` bytes long, so that there is a known place for the id behind
    /// it. Among keys of as many elements it sorts like the whole one, but keys that agree so far
    /// have become equal: whoever finds a cut one must compare the values themselves, and cannot
    /// [`read`](super::read) its last element.
    ///
    /// # Panics
    /// If a list is still open.
    #[must_use]
    pub fn cut(self, len_max: usize) -> (&'a [u8], bool) {
        assert!(self.open_lists == 0, "a key is finished inside a list");
        let cut = self.out.len() - self.start > len_max;
        if cut {
            self.out.truncate(self.start + len_max);
        }
        (&self.out[self.start..], cut)
    }

    fn kind(&mut self, kind: u8) -> &mut Self {
        self.out.push(kind);
        self
    }

    fn signed(&mut self, value: impl Into<i128>) -> &mut Self {
        signed::put(self.out, value.into());
        self
    }

    fn nanos(&mut self, nanos: u32) -> &mut Self {
        debug_assert!(i128::from(nanos) < NANOS_PER_SECOND, "{nanos} ns are more than a second");
        self.id(nanos.into())
    }
}
