//! Cypher expressions as values: the reverse of how a [`Value`] is displayed.
//!
//! Strict: what is read is what is written, with white space between the parts of lists. Not an expression
//! language: nothing is computed, and functions are those that make one value of one text.

use std::str::FromStr;

use super::error::TextError;
use super::{CoordinateType, LIST_DEPTH_MAX, Value, Vector};

impl FromStr for Value {
    type Err = TextError;

    /// Reads `null`, `true`, `-1`, `1.5`, `NaN`, `Infinity`, `'it\'s'`, `X'0aff'`, `[1, ['a']]`,
    /// `date('2024-02-29')` and so on for each kind of date, time and duration,
    /// `point({x: 1.0, y: 2.0, crs: 'cartesian'})`, `vector([0.5], 1, FLOAT32)`.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut reader = Reader { rest: text.trim() };
        let value = reader.value(0)?;
        match reader.rest {
            "" => Ok(value),
            rest => Err(unexpected(rest)),
        }
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn value(&mut self, depth: usize) -> Result<Value, TextError> {
        match self.rest.as_bytes() {
            [b'[', ..] => self.list(depth),
            [b'\'', ..] => Ok(Value::String(self.string()?)),
            [b'X', b'\'', ..] => self.bytes(),
            [b'-' | b'0'..=b'9', ..] => self.number(),
            _ => self.named(),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, TextError> {
        if depth == LIST_DEPTH_MAX {
            return Err(TextError::new(format!("lists nest more than {LIST_DEPTH_MAX} deep")));
        }
        self.expect("[")?;
        self.skip_space();
        let mut items = Vec::new();
        while !self.take("]") {
            if !items.is_empty() {
                self.expect(",")?;
                self.skip_space();
            }
            items.push(self.value(depth + 1)?);
            self.skip_space();
        }
        Ok(Value::List(items))
    }

    fn string(&mut self) -> Result<String, TextError> {
        self.expect("'")?;
        let mut text = String::new();
        loop {
            let unclosed = || TextError::new("a ' is not closed");
            let end = self.rest.find(['\'', '\\']).ok_or_else(unclosed)?;
            text.push_str(&self.rest[..end]);
            self.rest = &self.rest[end..];
            if self.take("'") {
                return Ok(text);
            }
            text.push(self.escaped()?);
        }
    }

    /// The character that a backslash and what follows stand for.
    fn escaped(&mut self) -> Result<char, TextError> {
        let wrong = |rest: &str| {
            let shown: String = rest.chars().take(6).collect();
            TextError::new(format!("{shown:?} stands for no character"))
        };
        let all = self.rest;
        let mut characters = all.chars();
        let (_, Some(letter)) = (characters.next(), characters.next()) else {
            return Err(wrong(all));
        };
        self.rest = characters.as_str();
        Ok(match letter {
            '\'' | '"' | '\\' => letter,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let digits = self.rest.get(..4).ok_or_else(|| wrong(all))?;
                let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex);
                self.rest = &self.rest[4..];
                code.and_then(char::from_u32).ok_or_else(|| wrong(all))?
            }
            _ => return Err(wrong(all)),
        })
    }

    fn bytes(&mut self) -> Result<Value, TextError> {
        self.expect("X'")?;
        let end = self.rest.find('\'').ok_or_else(|| TextError::new("a ' is not closed"))?;
        let (digits, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        let pair = |pair: &[u8]| match pair {
            [high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()
            }
            _ => None,
        };
        let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(pair).collect();
        bytes
            .map(Value::Bytes)
            .ok_or_else(|| TextError::new(format!("{digits:?} is not pairs of hexadecimal digits")))
    }

    fn number(&mut self) -> Result<Value, TextError> {
        if self.take("-Infinity") {
            return Ok(Value::Float(f64::NEG_INFINITY));
        }
        let is_part =
            |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
        let text = self.take_while(is_part);
        let wrong = |_| TextError::new(format!("{text:?} is no number of 64 bits"));
        if !text.contains(['.', 'e', 'E']) {
            return text
                .parse()
                .map(Value::Integer)
                .map_err(|error: std::num::ParseIntError| wrong(error.to_string()));
        }
        let float: f64 =
            text.parse().map_err(|error: std::num::ParseFloatError| wrong(error.to_string()))?;
        if float.is_finite() { Ok(Value::Float(float)) } else { Err(wrong(String::new())) }
    }

    fn named(&mut self) -> Result<Value, TextError> {
        let all = self.rest;
        let word = self.take_while(|byte| byte.is_ascii_alphanumeric());
        Ok(match word {
            "null" => Value::Null,
            "true" => true.into(),
            "false" => false.into(),
            "NaN" => f64::NAN.into(),
            "Infinity" => f64::INFINITY.into(),
            "date" => Value::Date(self.argument()?),
            "localtime" => Value::LocalTime(self.argument()?),
            "time" => Value::Time(self.argument()?),
            "localdatetime" => Value::LocalDateTime(self.argument()?),
            "datetime" => Value::DateTime(self.argument()?),
            "duration" => Value::Duration(self.argument()?),
            "point" => {
                self.expect("(")?;
                let map = self.until("}")?;
                self.expect(")")?;
                Value::Point(map.parse()?)
            }
            "vector" => self.vector()?,
            _ => return Err(unexpected(all)),
        })
    }

    /// The value of the only argument.
    fn argument<T: FromStr<Err = TextError>>(&mut self) -> Result<T, TextError> {
        self.expect("(")?;
        let text = self.string()?;
        self.expect(")")?;
        text.parse()
    }

    fn vector(&mut self) -> Result<Value, TextError> {
        self.expect("([")?;
        let numbers = self.until("]")?;
        self.expect(", ")?;
        let count = self.take_while(|byte| byte.is_ascii_digit());
        self.expect(", ")?;
        let of: CoordinateType = self.take_while(|byte| byte.is_ascii_alphanumeric()).parse()?;
        self.expect(")")?;
        let vector = Vector::parse(numbers.trim_end_matches(']'), b',', of)?;
        match count.parse() == Ok(vector.dimensions()) {
            true => Ok(vector.into()),
            false => {
                Err(TextError::new(format!("a vector of {count} has {}", vector.dimensions())))
            }
        }
    }

    /// What stands before the end of the first `end`.
    fn until(&mut self, end: &str) -> Result<&'t str, TextError> {
        let at =
            self.rest.find(end).ok_or_else(|| TextError::new(format!("a {end} is missing")))?;
        let (text, rest) = self.rest.split_at(at + end.len());
        self.rest = rest;
        Ok(text)
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'t str {
        let end = self.rest.bytes().position(|byte| !wanted(byte)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        text
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, text: &str) -> Result<(), TextError> {
        if self.take(text) { Ok(()) } else { Err(unexpected(self.rest)) }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }
}

fn unexpected(rest: &str) -> TextError {
    let shown: String = rest.chars().take(20).collect();
    match shown.is_empty() {
        true => TextError::new("it ends too early"),
        false => TextError::new(format!("{shown:?} was not expected")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::value::tests::any_value;

    #[test]
    fn wrong_literals_are_refused() {
        for text in [
            "",
            "a",
            "1 2",
            "[1",
            "[1,]",
            "[,1]",
            "'a",
            "'a\\'",
            "'\\q'",
            "'\\u00g0'",
            "'\\u+0a1'",
            "X'0'",
            "X'+1'",
            "9223372036854775808",
            "1e999",
            "--1",
            "1-",
            "date(1)",
            "date('x')",
            "point({x: 1})",
            "TRUE",
            "vector([1], 2, INTEGER8)",
            "vector([1], 1, TEXT)",
            "nul",
            "[null",
            "'\\ud800'",
        ] {
            assert!(text.parse::<Value>().is_err(), "{text} was taken");
        }
        let deep = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert!(deep(LIST_DEPTH_MAX).parse::<Value>().is_ok());
        assert!(deep(LIST_DEPTH_MAX + 1).parse::<Value>().is_err());
        assert!("[".repeat(1_000_000).parse::<Value>().is_err());
    }

    proptest! {
        #[test]
        fn values_are_read_back(value in any_value()) {
            // All NaN are written alike, with or without a sign.
            let text = value.to_string();
            let read: Value = text.parse().unwrap();
            prop_assert_eq!(read.to_string(), text);
            prop_assert!(value == read || value.to_string().contains("NaN"), "{value}");
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]'X0-9a-f,(){}.\\\\u -]{0,12}") {
            if let Ok(value) = text.parse::<Value>() {
                prop_assert_eq!(value.to_string().parse::<Value>().unwrap(), value);
            }
        }
    }
}
