//! Text that somebody typed, read as every value that it can stand for.

use super::Value;

impl Value {
    /// All values that the text can stand for, the string first: text that somebody typed says nothing of its type,
    /// and `42` may be stored as either.
    #[must_use]
    pub fn readings(text: &str) -> Vec<Self> {
        let mut values = vec![Self::String(text.into())];
        let boolean = text.to_ascii_lowercase().parse().ok().map(Self::Boolean);
        let integer = text.parse().ok().map(Self::Integer);
        // Integers and floats of one number are equal to a look-up.
        let float = match integer {
            Some(_) => None,
            None => text.parse().ok().map(Self::Float),
        };
        let date = text.parse().ok().map(Self::Date);
        let time = text.parse().ok().map(Self::Time);
        let local_time = text.parse().ok().map(Self::LocalTime);
        let date_time = text.parse().ok().map(Self::DateTime);
        let local_date_time = text.parse().ok().map(Self::LocalDateTime);
        let duration = text.parse().ok().map(Self::Duration);
        let point = text.parse().ok().map(Self::Point);
        values.extend([boolean, integer, float, date, time, local_time].into_iter().flatten());
        values.extend([date_time, local_date_time, duration, point].into_iter().flatten());
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_every_way() {
        let kinds = |text| Value::readings(text).iter().map(Value::type_name).collect::<Vec<_>>();
        assert_eq!(kinds("Ada"), ["String"]);
        assert_eq!(kinds("42"), ["String", "Integer"]);
        assert_eq!(kinds("4.5"), ["String", "Float"]);
        assert_eq!(kinds("TRUE"), ["String", "Boolean"]);
        assert_eq!(kinds("2024-02-29")[..2], ["String", "Date"]);
        assert_eq!(kinds("12:30:00"), ["String", "Time", "LocalTime"]);
        assert_eq!(kinds("12:30:00Z"), ["String", "Time"]);
        assert_eq!(kinds("P1D"), ["String", "Duration"]);
        assert_eq!(kinds("{x: 1, y: 2}"), ["String", "Point"]);
    }
}
