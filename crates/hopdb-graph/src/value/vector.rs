//! Vectors: numbers of one type, as embeddings are.
//!
//! Invariants: a vector has 1 to [`DIMENSIONS_MAX`] coordinates, and none is NaN or infinite.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use super::error::TextError;

/// Most coordinates of a vector, as Cypher has it.
pub const DIMENSIONS_MAX: usize = 4096;

/// The type of a vector's coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CoordinateType {
    /// 8-bit signed integers.
    Integer8 = 1,
    /// 16-bit signed integers.
    Integer16 = 2,
    /// 32-bit signed integers.
    Integer32 = 3,
    /// 64-bit signed integers.
    Integer64 = 4,
    /// 32-bit floats.
    Float32 = 5,
    /// 64-bit floats.
    Float64 = 6,
}

impl CoordinateType {
    /// All of them, by stored number.
    pub const ALL: [Self; 6] = [
        Self::Integer8,
        Self::Integer16,
        Self::Integer32,
        Self::Integer64,
        Self::Float32,
        Self::Float64,
    ];

    /// The name that Cypher has for it, and the one of import headers.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::Integer8 => ["INTEGER8", "byte"],
            Self::Integer16 => ["INTEGER16", "short"],
            Self::Integer32 => ["INTEGER32", "int"],
            Self::Integer64 => ["INTEGER64", "long"],
            Self::Float32 => ["FLOAT32", "float"],
            Self::Float64 => ["FLOAT64", "double"],
        }
    }

    /// The name that Cypher has for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// The name that import headers have for it.
    #[must_use]
    pub fn header_name(self) -> &'static str {
        self.names()[1]
    }

    /// Bytes of a coordinate.
    #[must_use]
    pub fn width(self) -> usize {
        match self {
            Self::Integer8 => 1,
            Self::Integer16 => 2,
            Self::Integer32 | Self::Float32 => 4,
            Self::Integer64 | Self::Float64 => 8,
        }
    }
}

impl FromStr for CoordinateType {
    type Err = TextError;

    /// Reads either name, in any case.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let matches = |of: &Self| of.names().iter().any(|name| name.eq_ignore_ascii_case(text));
        Self::ALL.into_iter().find(matches).ok_or_else(|| {
            TextError::new(format!(
                "{text:?} is no type of coordinates; use byte, short, int, long, float or double"
            ))
        })
    }
}

/// Coordinates of each type.
#[derive(Clone, Debug)]
pub enum Coordinates {
    /// 8-bit signed integers.
    Integer8(Vec<i8>),
    /// 16-bit signed integers.
    Integer16(Vec<i16>),
    /// 32-bit signed integers.
    Integer32(Vec<i32>),
    /// 64-bit signed integers.
    Integer64(Vec<i64>),
    /// 32-bit floats.
    Float32(Vec<f32>),
    /// 64-bit floats.
    Float64(Vec<f64>),
}

/// Does the same with the coordinates of whatever type.
macro_rules! each {
    ($coordinates:expr, $values:ident => $body:expr) => {
        match $coordinates {
            Coordinates::Integer8($values) => $body,
            Coordinates::Integer16($values) => $body,
            Coordinates::Integer32($values) => $body,
            Coordinates::Integer64($values) => $body,
            Coordinates::Float32($values) => $body,
            Coordinates::Float64($values) => $body,
        }
    };
}

/// A vector.
#[derive(Clone, Debug)]
pub struct Vector {
    coordinates: Coordinates,
}

impl Vector {
    /// A vector.
    ///
    /// # Errors
    /// When there are no coordinates or too many, or one is NaN or infinite.
    pub fn new(coordinates: Coordinates) -> Result<Self, TextError> {
        let dimensions = each!(&coordinates, values => values.len());
        if dimensions == 0 || dimensions > DIMENSIONS_MAX {
            return Err(TextError::new(format!(
                "it has {dimensions} coordinates, of 1 to {DIMENSIONS_MAX}"
            )));
        }
        let finite = match &coordinates {
            Coordinates::Float32(values) => values.iter().all(|value| value.is_finite()),
            Coordinates::Float64(values) => values.iter().all(|value| value.is_finite()),
            _ => true,
        };
        if !finite {
            return Err(TextError::new("its coordinates must be finite"));
        }
        Ok(Self { coordinates })
    }

    /// The coordinates.
    #[must_use]
    pub fn coordinates(&self) -> &Coordinates {
        &self.coordinates
    }

    /// How many coordinates there are.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        each!(&self.coordinates, values => values.len())
    }

    /// The type of the coordinates.
    #[must_use]
    pub fn coordinate_type(&self) -> CoordinateType {
        match &self.coordinates {
            Coordinates::Integer8(_) => CoordinateType::Integer8,
            Coordinates::Integer16(_) => CoordinateType::Integer16,
            Coordinates::Integer32(_) => CoordinateType::Integer32,
            Coordinates::Integer64(_) => CoordinateType::Integer64,
            Coordinates::Float32(_) => CoordinateType::Float32,
            Coordinates::Float64(_) => CoordinateType::Float64,
        }
    }

    /// Reads numbers with `delimiter` between them.
    ///
    /// # Errors
    /// When one of them is not of the type, and those of [`Vector::new`].
    pub fn parse(text: &str, delimiter: u8, of: CoordinateType) -> Result<Self, TextError> {
        fn all<T: FromStr>(text: &str, delimiter: u8, name: &str) -> Result<Vec<T>, TextError> {
            text.split(char::from(delimiter))
                .map(|item| {
                    let item = item.trim();
                    item.parse()
                        .map_err(|_| TextError::new(format!("its {item:?} is not of type {name}")))
                })
                .collect()
        }
        let name = of.header_name();
        Self::new(match of {
            CoordinateType::Integer8 => Coordinates::Integer8(all(text, delimiter, name)?),
            CoordinateType::Integer16 => Coordinates::Integer16(all(text, delimiter, name)?),
            CoordinateType::Integer32 => Coordinates::Integer32(all(text, delimiter, name)?),
            CoordinateType::Integer64 => Coordinates::Integer64(all(text, delimiter, name)?),
            CoordinateType::Float32 => Coordinates::Float32(all(text, delimiter, name)?),
            CoordinateType::Float64 => Coordinates::Float64(all(text, delimiter, name)?),
        })
    }

    /// Writes the coordinates with `delimiter` between them.
    pub(super) fn write(&self, out: &mut impl fmt::Write, delimiter: &str) -> fmt::Result {
        each!(&self.coordinates, values => {
            for (index, value) in values.iter().enumerate() {
                let before = if index > 0 { delimiter } else { "" };
                write!(out, "{before}{value:?}")?;
            }
            Ok(())
        })
    }

    /// Appends the coordinates' bytes, little endian.
    pub(super) fn put_bytes(&self, out: &mut Vec<u8>) {
        each!(&self.coordinates, values => {
            values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        });
    }

    /// The reverse of [`Vector::put_bytes`]; `None` for what it does not write.
    pub(super) fn from_bytes(of: CoordinateType, bytes: &[u8]) -> Option<Self> {
        macro_rules! read {
            ($variant:ident, $number:ty) => {{
                let (chunks, rest) = bytes.as_chunks::<{ size_of::<$number>() }>();
                let values = chunks.iter().map(|chunk| <$number>::from_le_bytes(*chunk));
                rest.is_empty().then(|| Coordinates::$variant(values.collect()))
            }};
        }
        let coordinates = match of {
            CoordinateType::Integer8 => read!(Integer8, i8),
            CoordinateType::Integer16 => read!(Integer16, i16),
            CoordinateType::Integer32 => read!(Integer32, i32),
            CoordinateType::Integer64 => read!(Integer64, i64),
            CoordinateType::Float32 => read!(Float32, f32),
            CoordinateType::Float64 => read!(Float64, f64),
        };
        Self::new(coordinates?).ok()
    }

    /// The coordinates as numbers of an index key.
    pub(super) fn for_each_number(&self, mut each: impl FnMut(Number)) {
        match &self.coordinates {
            Coordinates::Integer8(values) => {
                values.iter().for_each(|&value| each(Number::Integer(value.into())));
            }
            Coordinates::Integer16(values) => {
                values.iter().for_each(|&value| each(Number::Integer(value.into())));
            }
            Coordinates::Integer32(values) => {
                values.iter().for_each(|&value| each(Number::Integer(value.into())));
            }
            Coordinates::Integer64(values) => {
                values.iter().for_each(|&value| each(Number::Integer(value)));
            }
            Coordinates::Float32(values) => {
                values.iter().for_each(|&value| each(Number::Float(value.into())));
            }
            Coordinates::Float64(values) => {
                values.iter().for_each(|&value| each(Number::Float(value)));
            }
        }
    }
}

/// A coordinate of either kind.
pub(super) enum Number {
    Integer(i64),
    Float(f64),
}

impl PartialEq for Vector {
    /// Stored equality: types differ, and so do 0.0 and -0.0.
    fn eq(&self, other: &Self) -> bool {
        match (&self.coordinates, &other.coordinates) {
            (Coordinates::Integer8(a), Coordinates::Integer8(b)) => a == b,
            (Coordinates::Integer16(a), Coordinates::Integer16(b)) => a == b,
            (Coordinates::Integer32(a), Coordinates::Integer32(b)) => a == b,
            (Coordinates::Integer64(a), Coordinates::Integer64(b)) => a == b,
            (Coordinates::Float32(a), Coordinates::Float32(b)) => {
                a.iter().map(|value| value.to_bits()).eq(b.iter().map(|value| value.to_bits()))
            }
            (Coordinates::Float64(a), Coordinates::Float64(b)) => {
                a.iter().map(|value| value.to_bits()).eq(b.iter().map(|value| value.to_bits()))
            }
            _ => false,
        }
    }
}

impl Eq for Vector {}

impl Hash for Vector {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.coordinate_type().hash(state);
        each!(&self.coordinates, values => {
            values.iter().for_each(|value| value.to_le_bytes().hash(state));
        });
    }
}

impl fmt::Display for Vector {
    /// The Cypher expression that makes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("vector([")?;
        self.write(f, ", ")?;
        write!(f, "], {}, {})", self.dimensions(), self.coordinate_type().name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_read() {
        let read = |text, of: &str| {
            Vector::parse(text, b';', of.parse().unwrap()).map(|vector| vector.to_string())
        };
        assert_eq!(read("123;-2; 127", "byte").unwrap(), "vector([123, -2, 127], 3, INTEGER8)");
        assert_eq!(read("1;23", "FLOAT32").unwrap(), "vector([1.0, 23.0], 2, FLOAT32)");
        assert_eq!(read("-0.5", "double").unwrap(), "vector([-0.5], 1, FLOAT64)");
        let wrong = |text, of| read(text, of).unwrap_err().to_string();
        assert_eq!(wrong("1;128", "byte"), "its \"128\" is not of type byte");
        assert_eq!(wrong("", "float"), "its \"\" is not of type float");
        assert_eq!(wrong("NaN", "float"), "its coordinates must be finite");
        assert_eq!(wrong("1e39", "float"), "its coordinates must be finite");
        assert_eq!(wrong("1;;2", "int"), "its \"\" is not of type int");
        let long = vec!["1"; 4097].join(";");
        assert_eq!(wrong(&long, "short"), "it has 4097 coordinates, of 1 to 4096");
    }
}
