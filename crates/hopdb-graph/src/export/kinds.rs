//! Which column holds a value: one for each type that a property key has.

use crate::load::header::Scalar;
use crate::value::{CoordinateType, Value};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One value of a type.
    One(Item),
    /// Lists of one type.
    List(Item),
    /// The empty list: every column of lists holds it.
    EmptyList,
    /// Whatever a header has no type for: lists of several types, with null, or of lists.
    Any,
}

/// A type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    scalar: Scalar,
    /// Type and number of a vector's coordinates.
    vector: Option<(CoordinateType, usize)>,
}

impl Kind {
    /// That of a stored value.
    pub(super) fn of(value: &Value) -> Self {
        let Value::List(items) = value else {
            return Item::of(value).map_or(Self::Any, Self::One);
        };
        let Some((first, others)) = items.split_first() else { return Self::EmptyList };
        match Item::of(first) {
            Some(item) if others.iter().all(|other| Item::of(other) == Some(item)) => {
                Self::List(item)
            }
            _ => Self::Any,
        }
    }

    /// The type as a header has it.
    pub(super) fn type_text(self) -> String {
        match self {
            Self::One(item) => item.type_text(),
            Self::List(item) => format!("{}[]", item.type_text()),
            Self::EmptyList => "string[]".into(),
            Self::Any => "any".into(),
        }
    }
}

impl Item {
    fn of(value: &Value) -> Option<Self> {
        let scalar = match value {
            Value::Null | Value::List(_) => return None,
            Value::Boolean(_) => Scalar::Boolean,
            Value::Integer(_) => Scalar::Integer { bytes: 8 },
            Value::Float(_) => Scalar::Float,
            Value::String(_) => Scalar::String,
            Value::Bytes(_) => Scalar::Bytes,
            Value::Date(_) => Scalar::Date,
            Value::LocalTime(_) => Scalar::LocalTime,
            Value::Time(_) => Scalar::Time,
            Value::LocalDateTime(_) => Scalar::LocalDateTime,
            Value::DateTime(_) => Scalar::DateTime,
            Value::Duration(_) => Scalar::Duration,
            Value::Point(_) => Scalar::Point,
            Value::Vector(vector) => {
                let vector = Some((vector.coordinate_type(), vector.dimensions()));
                return Some(Self { scalar: Scalar::Vector, vector });
            }
        };
        Some(Self { scalar, vector: None })
    }

    fn type_text(self) -> String {
        match self.vector {
            Some((of, dimensions)) => {
                let of = of.header_name();
                format!("vector{{coordinateType:{of}, dimensions:{dimensions}}}")
            }
            None => self.scalar.name().into(),
        }
    }
}
