//! The types a header can give a column.
//!
//! Names are those of `neo4j-admin database import`, in upper or lower case, `bytes` and `any`. Narrow
//! integers are checked for their range and stored as 64-bit integers like all others; `float` is
//! stored with 64 bits like `double`.

use std::str::FromStr;

use crate::value::point::PointParts;
use crate::value::temporal::Zone;
use crate::value::vector::DIMENSIONS_MAX;
use crate::value::{CoordinateType, TextError, map};

/// The type of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// A signed integer of this many bytes: `byte` 1, `short` 2, `int` 4, `long` and
    /// `integer` (Cypher's own name) 8. An array of `byte` is stored as bytes.
    Integer {
        /// Width in bytes, which bounds the value.
        bytes: u8,
    },
    /// `float`, `double`: stored as a 64-bit float.
    Float,
    /// `boolean`, `bool`.
    Boolean,
    /// `string`.
    String,
    /// `char`: a string of one character.
    Char,
    /// `bytes`: hexadecimal digits after `0x`.
    Bytes,
    /// `date`.
    Date,
    /// `time`; without an offset in the column's zone, or UTC.
    Time,
    /// `localtime`.
    LocalTime,
    /// `datetime`; without an offset in the column's zone, or UTC.
    DateTime,
    /// `localdatetime`.
    LocalDateTime,
    /// `duration`.
    Duration,
    /// `point`: a map of coordinates.
    Point,
    /// `vector`: numbers of one type.
    Vector,
    /// `any`: a value of any type, lists of anything too, as a Cypher literal.
    Any,
}

impl Scalar {
    /// The name that headers have for it; `long` and `double` for those with several.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer { bytes: 1 } => "byte",
            Self::Integer { bytes: 2 } => "short",
            Self::Integer { bytes: 4 } => "int",
            Self::Integer { .. } => "long",
            Self::Float => "double",
            Self::Boolean => "boolean",
            Self::String => "string",
            Self::Char => "char",
            Self::Bytes => "bytes",
            Self::Date => "date",
            Self::Time => "time",
            Self::LocalTime => "localtime",
            Self::DateTime => "datetime",
            Self::LocalDateTime => "localdatetime",
            Self::Duration => "duration",
            Self::Point => "point",
            Self::Vector => "vector",
            Self::Any => "any",
        }
    }

    /// The type of this name, in any case.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let mut lower = [0_u8; 16];
        let lower = lower.get_mut(..name.len())?;
        lower.copy_from_slice(name.as_bytes());
        lower.make_ascii_lowercase();
        Some(match &*lower {
            b"byte" => Self::Integer { bytes: 1 },
            b"short" => Self::Integer { bytes: 2 },
            b"int" => Self::Integer { bytes: 4 },
            b"long" | b"integer" => Self::Integer { bytes: 8 },
            b"float" | b"double" => Self::Float,
            b"boolean" | b"bool" => Self::Boolean,
            b"string" => Self::String,
            b"char" => Self::Char,
            b"bytes" => Self::Bytes,
            b"date" => Self::Date,
            b"time" => Self::Time,
            b"localtime" => Self::LocalTime,
            b"datetime" => Self::DateTime,
            b"localdatetime" => Self::LocalDateTime,
            b"duration" => Self::Duration,
            b"point" => Self::Point,
            b"vector" => Self::Vector,
            b"any" => Self::Any,
            _ => return None,
        })
    }
}

/// What braces behind the type say.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeOptions {
    /// Nothing.
    None,
    /// `time` and `datetime`: the zone of those that name none.
    Zone(Zone),
    /// `point`: what a point does not say itself.
    Point(Box<PointParts>),
    /// `vector`: always said.
    Vector {
        /// The type of the coordinates.
        coordinate_type: CoordinateType,
        /// How many there must be.
        dimensions: usize,
    },
}

/// The type of a column's fields.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnType {
    /// The type of a value, or of each item of an array.
    pub scalar: Scalar,
    /// Whether fields are arrays (`type[]`).
    pub array: bool,
    /// What braces behind the type say.
    pub options: TypeOptions,
}

impl ColumnType {
    /// Plain text.
    pub const STRING: Self = Self::of(Scalar::String);

    /// One value of a type.
    #[must_use]
    pub const fn of(scalar: Scalar) -> Self {
        Self { scalar, array: false, options: TypeOptions::None }
    }

    /// An array of a type.
    #[must_use]
    pub const fn array_of(scalar: Scalar) -> Self {
        Self { scalar, array: true, options: TypeOptions::None }
    }

    /// Whether a field is one `byte[]`, stored as bytes.
    #[must_use]
    pub fn is_byte_array(&self) -> bool {
        self.array && self.scalar == Scalar::Integer { bytes: 1 }
    }

    pub(super) fn new(name: &str, array: bool, options: Option<&str>) -> Result<Self, String> {
        let scalar = Scalar::of_name(name).ok_or_else(|| {
            format!(
                "{name:?} is not a type; use byte, short, int, long, float, double, boolean, char, \
                 string, bytes, date, time, localtime, datetime, localdatetime, duration, point, \
                 vector or any, with [] for an array, or rename the column if the colon belongs to its \
                 name"
            )
        })?;
        if scalar == Scalar::Any && array {
            return Err("any is one value, a list as well; leave out the []".into());
        }
        let options = read_options(scalar, options).map_err(|error| format!("{name}: {error}"))?;
        Ok(Self { scalar, array, options })
    }
}

impl FromStr for ColumnType {
    type Err = String;

    /// Reads a type as a header has it behind the colon: `long`, `string[]`,
    /// `datetime{timezone:+01:00}`. The error is the reason alone.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = super::column::split_type(text.trim(), |_| true);
        Self::new(parts.rest.trim(), parts.array, parts.options)
    }
}

fn read_options(scalar: Scalar, options: Option<&str>) -> Result<TypeOptions, TextError> {
    let text = options.unwrap_or("{}");
    match scalar {
        Scalar::Time | Scalar::DateTime => {
            let mut zone = TypeOptions::None;
            map::for_each_entry(text, |key, value| {
                expect_key(key, &["timezone"])?;
                zone = TypeOptions::Zone(value.parse()?);
                Ok(())
            })?;
            if scalar == Scalar::Time && matches!(zone, TypeOptions::Zone(Zone::Named(_))) {
                return Err(TextError::new(
                    "a named zone says no offset without a day; write the offset, as in \
                     {timezone:+01:00}",
                ));
            }
            Ok(zone)
        }
        Scalar::Point => {
            let mut parts = PointParts::default();
            map::for_each_entry(text, |key, value| parts.set(key, value))?;
            Ok(if parts.is_empty() { TypeOptions::None } else { TypeOptions::Point(parts.into()) })
        }
        Scalar::Vector => vector_options(text),
        _ if options.is_some() => Err(TextError::new(format!("the type takes no options: {text}"))),
        _ => Ok(TypeOptions::None),
    }
}

fn vector_options(text: &str) -> Result<TypeOptions, TextError> {
    let (mut coordinate_type, mut dimensions) = (None, None);
    map::for_each_entry(text, |key, value| {
        match expect_key(key, &["coordinateType", "dimensions"])? {
            0 => coordinate_type = Some(value.parse()?),
            _ => {
                let count = value.parse().ok().filter(|count| (1..=DIMENSIONS_MAX).contains(count));
                let wrong = || {
                    TextError::new(format!(
                        "its dimensions are {value:?}, of 1 to {DIMENSIONS_MAX}"
                    ))
                };
                dimensions = Some(count.ok_or_else(wrong)?);
            }
        }
        Ok(())
    })?;
    match (coordinate_type, dimensions) {
        (Some(coordinate_type), Some(dimensions)) => {
            Ok(TypeOptions::Vector { coordinate_type, dimensions })
        }
        _ => Err(TextError::new(
            "say what it holds, as in vector{coordinateType: float, dimensions: 384}, in quotes if \
             the comma separates columns",
        )),
    }
}

/// Which of the keys, in any case, this is.
pub(super) fn expect_key(key: &str, known: &[&str]) -> Result<usize, TextError> {
    known.iter().position(|name| name.eq_ignore_ascii_case(key)).ok_or_else(|| {
        TextError::new(format!("{key:?} is no option here; there is {}", known.join(", ")))
    })
}
