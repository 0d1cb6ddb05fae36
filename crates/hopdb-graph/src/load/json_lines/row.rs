//! One line of JSON as the values of a row. Pure; every error is the reason alone.
//!
//! Values are first taken as they are written and then read by kind, so that an integer beyond 64
//! bits is seen to be one (a parser would make a float of it) and floats are rounded correctly.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::value::Value;

/// Longer texts are cut in messages.
const SHOWN_CHARS: usize = 40;

/// Hands on each key of the object in `text`, once all of it has been read.
pub(super) fn keys(text: &str, mut key: impl FnMut(&str)) -> Result<(), String> {
    let object: Object<'_, IgnoredAny> = parse(text, text)?;
    object.0.iter().for_each(|(name, _)| key(name));
    Ok(())
}

/// Puts the value of each key of the object in `text` into the place that `place_of` names; a key
/// without a place is passed over, value and all.
pub(super) fn values(
    text: &str,
    mut place_of: impl FnMut(&str) -> Result<Option<usize>, String>,
    places: &mut [Value],
) -> Result<(), String> {
    let Object(pairs): Object<'_, &RawValue> = parse(text, text)?;
    for (key, raw) in &pairs {
        if let Some(place) = place_of(key)? {
            places[place] = value(text, raw.get(), false).map_err(|refused| refused.of_key(key))?;
        }
    }
    Ok(())
}

/// Why a value was refused.
enum Refused {
    /// Reads on behind the key.
    Value(String),
    /// The text is broken: the reason stands alone.
    Text(String),
}

impl Refused {
    fn of_key(self, key: &str) -> String {
        match self {
            Self::Value(reason) => format!("the key {key:?} holds {reason}"),
            Self::Text(reason) => reason,
        }
    }
}

/// The value written as `raw`, a part of `line`.
fn value(line: &str, raw: &str, in_list: bool) -> Result<Value, Refused> {
    let first = raw.as_bytes().first().copied().unwrap_or_default();
    Ok(match first {
        b'n' => Value::Null,
        b't' => Value::Boolean(true),
        b'f' => Value::Boolean(false),
        b'"' => Value::String(parse(line, raw).map_err(Refused::Text)?),
        b'[' if in_list => {
            return Err(Refused::Value("a list in a list; write it flat, or as a string".into()));
        }
        b'[' => {
            let items: Vec<&RawValue> = parse(line, raw).map_err(Refused::Text)?;
            let items = items.iter().map(|item| value(line, item.get(), true));
            Value::List(items.collect::<Result<_, _>>()?)
        }
        b'{' if in_list => {
            let reason = "an object in a list; write the list's items as nodes or as strings";
            return Err(Refused::Value(reason.into()));
        }
        b'{' => {
            let reason = "an object; give each of its fields a key of its own, or end the key in \
                          :IGNORE";
            return Err(Refused::Value(reason.into()));
        }
        _ => number(raw).map_err(Refused::Value)?,
    })
}

fn number(raw: &str) -> Result<Value, String> {
    if raw.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        let float = raw.parse::<f64>().ok().filter(|float| float.is_finite());
        return float.map(Value::Float).ok_or_else(|| {
            format!("{}, which is too large for 64 bits; write it as a string", shown(raw))
        });
    }
    raw.parse().map(Value::Integer).map_err(|_| {
        format!(
            "{}, but an integer must lie between {} and {}; write it as a string",
            shown(raw),
            i64::MIN,
            i64::MAX
        )
    })
}

fn shown(text: &str) -> String {
    if text.len() <= SHOWN_CHARS {
        return text.to_owned();
    }
    text.chars().take(SHOWN_CHARS).chain(['…']).collect()
}

/// Reads `part` of `line`; the reason names the column of the line.
fn parse<'t, T: Deserialize<'t>>(line: &'t str, part: &'t str) -> Result<T, String> {
    serde_json::from_str(part).map_err(|error| reason(line, part, &error))
}

#[cold]
fn reason(line: &str, part: &str, error: &serde_json::Error) -> String {
    if error.is_data() {
        let found = match line.trim_start().as_bytes().first() {
            Some(b'[') => "a list",
            Some(b'"') => "a string",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ => "a number",
        };
        return format!("the line is {found}; it must be an object like {{\"name\": \"Ada\"}}");
    }
    // A part is a slice of the line, so the distance of their starts is where it begins.
    let start = (part.as_ptr().addr()).saturating_sub(line.as_ptr().addr());
    let before = start + error.column().saturating_sub(1);
    let column = line.char_indices().take_while(|(at, _)| *at < before).count() + 1;
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    let hint = if error.is_eof() { "; `jq -c .` writes each object on one line" } else { "" };
    format!("column {column}: {text}{hint}")
}

/// The pairs of an object in order, those with the same key kept apart.
struct Object<'t, T>(Vec<(Cow<'t, str>, T)>);

impl<'t, T: Deserialize<'t>> Deserialize<'t> for Object<'t, T> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Pairs(std::marker::PhantomData))
    }
}

struct Pairs<T>(std::marker::PhantomData<T>);

impl<'t, T: Deserialize<'t>> Visitor<'t> for Pairs<T> {
    type Value = Object<'t, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some((Key(key), value)) = map.next_entry()? {
            pairs.push((key, value));
        }
        Ok(Object(pairs))
    }
}

/// A key: borrowed from the line when it has no escapes.
#[derive(Deserialize)]
struct Key<'t>(#[serde(borrow)] Cow<'t, str>);
