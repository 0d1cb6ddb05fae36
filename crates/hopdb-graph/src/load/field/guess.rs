//! What type a text could be, for columns that say none.
//!
//! A guess loses no text that a person would miss: numbers are taken as JSON writes them (and
//! `NaN`, `Infinity`), so `007`, `+1` and integers past 64 bits stay strings; dates and times only
//! with their dashes and colons. Durations are never guessed, as codes look like them (`P1D`).

use super::typed::exact_float;
use super::{Field, parse};
use crate::load::header::Scalar;
use crate::value::{DateTime, LocalDateTime, LocalTime, Point, Time};

/// Types that all texts of a column could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeSet {
    bits: u16,
}

const LONG: Scalar = Scalar::Integer { bytes: 8 };

/// The types that are guessed, the narrowest first. A text is at most a string and two more (an
/// integer is a double as well), so the order decides between those alone.
const ORDER: [Scalar; 10] = [
    Scalar::Boolean,
    LONG,
    Scalar::Float,
    Scalar::Date,
    Scalar::LocalTime,
    Scalar::Time,
    Scalar::LocalDateTime,
    Scalar::DateTime,
    Scalar::Point,
    Scalar::String,
];

impl TypeSet {
    /// No text was seen: all types.
    pub const ANY: Self = Self { bits: (1 << ORDER.len()) - 1 };

    fn of(types: &[Scalar]) -> Self {
        let listed = |scalar| types.contains(scalar) || *scalar == Scalar::String;
        let bit = |(index, scalar)| if listed(scalar) { 1_u16 << index } else { 0 };
        Self { bits: ORDER.iter().enumerate().map(bit).sum() }
    }

    /// Whether the texts could be of this type.
    #[must_use]
    pub fn contains(self, scalar: Scalar) -> bool {
        ORDER.iter().position(|of| *of == scalar).is_some_and(|at| self.bits >> at & 1 == 1)
    }

    /// Keeps the types that `other` has as well.
    pub fn narrow(&mut self, other: Self) {
        self.bits &= other.bits;
    }

    /// The narrowest type: boolean, long, double, date, localtime, time, localdatetime, datetime,
    /// point, string. String as well when no text was seen.
    #[must_use]
    pub fn best(self) -> Scalar {
        if self == Self::ANY {
            return Scalar::String;
        }
        ORDER.into_iter().find(|scalar| self.contains(*scalar)).unwrap_or(Scalar::String)
    }
}

/// The types that `field` could be; all when it is empty or white space, in quotes or not.
#[must_use]
pub fn guess(field: Field<'_>) -> TypeSet {
    let text = field.text.trim_ascii();
    let types: &[Scalar] = match *text {
        [] => return TypeSet::ANY,
        [b't' | b'T' | b'f' | b'F', ..] if parse::boolean(text).is_ok() => &[Scalar::Boolean],
        [b'N' | b'I', ..] if matches!(text, b"NaN" | b"Infinity") => &[Scalar::Float],
        [b'-' | b'0'..=b'9', ..] => guess_number_or_time(text),
        [b'{', ..] if parses::<Point>(text) => &[Scalar::Point],
        _ => &[],
    };
    TypeSet::of(types)
}

fn guess_number_or_time(text: &[u8]) -> &'static [Scalar] {
    if text == b"-Infinity" {
        return &[Scalar::Float];
    }
    if let Some(is_whole) = json_number(text) {
        return match (is_whole, parse::integer(text, 8)) {
            // Zero with a sign is one only as a float.
            (true, Ok(0)) if text[0] == b'-' => &[Scalar::Float],
            (true, Ok(value)) if exact_float(value).is_some() => &[LONG, Scalar::Float],
            (true, Ok(_)) => &[LONG],
            (true, Err(_)) => &[],
            (false, _) if parse::float(text).is_ok() => &[Scalar::Float],
            (false, _) => &[],
        };
    }
    match *text {
        [_, _, _, _, b'-', _, _, b'-', _, _] if parse::date(text).is_ok() => &[Scalar::Date],
        [_, _, _, _, b'-', _, _, b'-', _, _, b'T' | b't' | b' ', _, _, b':', ..] => {
            if parses::<LocalDateTime>(text) {
                &[Scalar::LocalDateTime]
            } else if parses::<DateTime>(text) {
                &[Scalar::DateTime]
            } else {
                &[]
            }
        }
        [_, _, b':', ..] if parses::<LocalTime>(text) => &[Scalar::LocalTime],
        [_, _, b':', ..] if parses::<Time>(text) => &[Scalar::Time],
        _ => &[],
    }
}

fn parses<T: std::str::FromStr>(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<T>().is_ok())
}

/// Whether the text is a number as JSON has it: then, whether it is one without point and exponent.
fn json_number(text: &[u8]) -> Option<bool> {
    let mut rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(&mut rest)?;
    if whole.len() > 1 && whole[0] == b'0' {
        return None;
    }
    let is_whole = rest.is_empty();
    if let [b'.', after @ ..] = rest {
        rest = after;
        digits(&mut rest)?;
    }
    if let [b'e' | b'E', after @ ..] = rest {
        rest = match after {
            [b'+' | b'-', after @ ..] => after,
            after => after,
        };
        digits(&mut rest)?;
    }
    rest.is_empty().then_some(is_whole)
}

/// Takes the digits off the start; `None` when there are none.
fn digits<'t>(text: &mut &'t [u8]) -> Option<&'t [u8]> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(count);
    *text = rest;
    (count > 0).then_some(digits)
}
