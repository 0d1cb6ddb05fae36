//! The parameters of a request, typed: a bad one is an error that names it, its value, and what it may be.
//!
//! Unknown parameters and ones that come twice are errors too: they are slips of whoever wrote the request, and
//! would else be passed over in silence.

use std::ops::RangeInclusive;
use std::str::FromStr;

use hopdb::Direction;

use crate::failure::{Code, Failure};

/// What stands behind the `?`.
#[derive(Debug, Default)]
pub(crate) struct Query {
    values: Vec<(String, String)>,
}

impl Query {
    /// Reads a query, in which only the names in `known` may stand.
    pub(crate) fn parse(text: &str, known: &[&str]) -> Result<Self, Failure> {
        let mut values: Vec<(String, String)> = Vec::new();
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            if !known.contains(&&*name) {
                return Err(unknown(&name, known));
            }
            if values.iter().any(|(other, _)| *other == name) {
                let message = format!("the parameter {name} is given twice");
                return Err(Failure::new(Code::BadRequest, message));
            }
            values.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self { values })
    }

    /// A parameter as it is.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(other, _)| other == name).map(|(_, value)| &**value)
    }

    /// A whole number within bounds.
    pub(crate) fn number(
        &self,
        name: &str,
        bounds: RangeInclusive<usize>,
        default: usize,
    ) -> Result<usize, Failure> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let allowed = format!("a whole number from {} to {}", bounds.start(), bounds.end());
        let number = digits(text).filter(|number| bounds.contains(number));
        number.ok_or_else(|| Failure::parameter(name, text, &allowed))
    }

    /// One of a few words; the first when it is not given.
    pub(crate) fn choice<T: Copy>(&self, name: &str, of: &[(&str, T)]) -> Result<T, Failure> {
        let words = || of.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        let missing =
            || Failure::new(Code::BadRequest, format!("{name} is missing: one of {}", words()));
        let Some(text) = self.text(name) else {
            return of.first().map(|(_, value)| *value).ok_or_else(missing);
        };
        let found = of.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        found.ok_or_else(|| Failure::parameter(name, text, &format!("one of {}", words())))
    }

    /// The parameter `direction`.
    pub(crate) fn direction(&self) -> Result<Direction, Failure> {
        let ways =
            [("both", Direction::Both), ("out", Direction::Outgoing), ("in", Direction::Incoming)];
        self.choice("direction", &ways)
    }
}

fn unknown(name: &str, known: &[&str]) -> Failure {
    let shown: String = name.chars().take(100).collect();
    let failure = Failure::new(Code::BadRequest, format!("there is no parameter {shown:?} here"));
    match known {
        [] => failure.hint("this path takes no parameters"),
        known => failure.hint(format!("there are: {}", known.join(", "))),
    }
}

/// A number written in decimal digits alone.
pub(crate) fn digits<T: FromStr>(text: &str) -> Option<T> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = text == "0" || !text.starts_with('0');
    text.parse().ok().filter(|_| plain && canonical)
}

/// An id in a path or a body: of a node, or of a relationship.
pub(crate) fn id(name: &str, text: &str) -> Result<u64, Failure> {
    const DIGITS_MAX: usize = 20;
    let is_number = text.len() <= DIGITS_MAX && digits::<u128>(text).is_some();
    match digits(text) {
        Some(id) => Ok(id),
        // Beyond 64 bits: an id that nothing has.
        None if is_number => {
            Err(Failure::new(Code::NotFound, format!("nothing has the id {text}")))
        }
        None => Err(Failure::parameter(name, text, "an id: decimal digits, at most 20")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<T: std::fmt::Debug>(found: Result<T, Failure>) -> String {
        found.unwrap_err().message
    }

    #[test]
    fn bad_parameters_are_named() {
        let known = ["limit", "direction"];
        let parse = |text: &str| Query::parse(text, &known);
        assert_eq!(message(parse("limt=1")), "there is no parameter \"limt\" here");
        let hint = parse("limt=1").unwrap_err().hint.unwrap();
        assert_eq!(hint, "there are: limit, direction");
        assert_eq!(message(parse("limit=1&limit=1")), "the parameter limit is given twice");
        let limit = |text: &str| parse(text).unwrap().number("limit", 1..=9, 5);
        assert_eq!(limit(""), Ok(5));
        assert_eq!(limit("limit=9"), Ok(9));
        for text in ["0", "10", "", "+1", "01", "1.0", "x", "99999999999999999999999"] {
            let said = message(limit(&format!("limit={}", text.replace('+', "%2B"))));
            let wanted = format!("limit is {text:?}, which is not a whole number from 1 to 9");
            assert_eq!(said, wanted);
        }
        let direction = |text: &str| parse(text).unwrap().direction();
        assert_eq!(direction("direction=in"), Ok(Direction::Incoming));
        assert_eq!(direction(""), Ok(Direction::Both));
        let said = message(direction("direction=up"));
        assert_eq!(said, "direction is \"up\", which is not one of both, out, in");
    }

    #[test]
    fn ids_are_digits() {
        assert_eq!(id("id", "18446744073709551615"), Ok(u64::MAX));
        assert_eq!(id("id", "18446744073709551616").unwrap_err().code, Code::NotFound);
        for text in ["", "-1", "01", "1e3", "x", "184467440737095516160", "١"] {
            assert_eq!(id("id", text).unwrap_err().code, Code::BadRequest, "{text}");
        }
    }
}
