//! Bytes taken apart from front to back into named fields.
//!
//! Invariant: whatever the bytes are and whatever is asked of them, the fields of a finished [`Fields`] ascend, do
//! not overlap, and tile the bytes wholly. What cannot be decoded is one field that says why.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::codec::{ordered, varint};

/// Most characters of a field's value.
const VALUE_CHARS_MAX: usize = 200;

/// A run of bytes and what it means, as text for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// What the bytes are.
    pub name: String,
    /// First byte, counted from the start of what is annotated.
    pub start: usize,
    /// Bytes; at least one.
    pub len: usize,
    /// What they say.
    pub value: String,
    /// How deep the field lies within others, from 0.
    pub depth: usize,
}

/// Bytes that print and serialize as lower-case hexadecimal.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Hex(pub Vec<u8>);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Bytes being taken apart.
#[derive(Debug)]
pub struct Fields<'b> {
    bytes: &'b [u8],
    /// How many of them are in fields.
    at: usize,
    /// Where they begin in what is annotated.
    base: usize,
    depth: usize,
    goes_on: bool,
    done: Vec<Field>,
}

impl<'b> Fields<'b> {
    /// No fields yet. With `goes_on`, `bytes` are only the first of what they belong to.
    #[must_use]
    pub fn of(bytes: &'b [u8], goes_on: bool) -> Self {
        Self { bytes, at: 0, base: 0, depth: 0, goes_on, done: Vec::new() }
    }

    /// The bytes that are in no field yet.
    #[must_use]
    pub fn rest(&self) -> &'b [u8] {
        &self.bytes[self.at..]
    }

    /// Whether the bytes are only the first of what they belong to.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Makes a field of the next `len` bytes and gives them; with fewer left, gives up.
    pub fn take(
        &mut self,
        len: usize,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Option<&'b [u8]> {
        let Some(bytes) = self.rest().get(..len) else {
            self.give_up(format!("{len} bytes should be here, {} are", self.rest().len()));
            return None;
        };
        self.push(len, name.into(), value.into());
        Some(bytes)
    }

    /// Makes a field of all bytes that are left.
    pub fn take_rest(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.push(self.rest().len(), name.into(), value.into());
    }

    /// Makes a field of a varint and gives its number; where there is none, gives up.
    pub fn varint(
        &mut self,
        name: impl Into<String>,
        text: impl FnOnce(u64) -> String,
    ) -> Option<u64> {
        let mut len = 0;
        let Some(number) = varint::get(self.rest(), &mut len) else {
            self.give_up("here should be a varint");
            return None;
        };
        self.push(len, name.into(), text(number));
        Some(number)
    }

    /// Makes a field of an ordered integer and gives its number; where there is none, gives up. One that is cut short,
    /// as the last of a separator can be, is the least number that begins so, and has `…` behind it.
    pub fn ordered(
        &mut self,
        name: impl Into<String>,
        text: impl FnOnce(u64) -> String,
    ) -> Option<u64> {
        let mut len = 0;
        if let Some(number) = ordered::get(self.rest(), &mut len) {
            self.push(len, name.into(), text(number));
            return Some(number);
        }
        match self.cut_number() {
            Some(number) => self.take_rest(name, format!("{}…", text(number))),
            None => self.give_up("here should be an ordered integer"),
        }
        None
    }

    fn cut_number(&self) -> Option<u64> {
        let rest = self.rest();
        if !self.goes_on || rest.is_empty() || rest.len() >= ordered::MAX_LEN {
            return None;
        }
        let mut padded = [0; ordered::MAX_LEN];
        padded[..rest.len()].copy_from_slice(rest);
        ordered::get(&padded, &mut 0)
    }

    /// Takes the next `len` bytes apart by themselves: `annotate` sees no others. With fewer left, gives up, unless
    /// the bytes go on behind those that are here.
    pub fn within(&mut self, len: u64, annotate: impl FnOnce(&mut Self)) {
        let rest = self.rest();
        let part = usize::try_from(len).ok().and_then(|len| rest.get(..len));
        let (part, goes_on) = match part {
            Some(part) => (part, false),
            None if self.goes_on => (rest, true),
            None => return self.give_up(format!("{len} bytes should be here, {} are", rest.len())),
        };
        self.within_part(part, goes_on, annotate);
    }

    /// Like [`Fields::within`], for bytes that are the first of something longer.
    pub(super) fn within_cut(&mut self, len: usize, annotate: impl FnOnce(&mut Self)) {
        let rest = self.rest();
        self.within_part(&rest[..len.min(rest.len())], true, annotate);
    }

    fn within_part(&mut self, part: &'b [u8], goes_on: bool, annotate: impl FnOnce(&mut Self)) {
        let done = std::mem::take(&mut self.done);
        let base = self.base + self.at;
        let mut inner = Self { bytes: part, at: 0, base, depth: self.depth, goes_on, done };
        annotate(&mut inner);
        self.done = inner.finish();
        self.at += part.len();
    }

    /// Makes the fields of `annotate` lie one step deeper.
    pub fn deeper(&mut self, annotate: impl FnOnce(&mut Self)) {
        self.depth += 1;
        annotate(self);
        self.depth -= 1;
    }

    /// Makes one field of all bytes that are left, with the reason why they cannot be decoded.
    pub fn give_up(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if self.goes_on {
            self.take_rest("(cut)", "goes on behind the bytes shown");
        } else if !self.rest().is_empty() {
            self.take_rest("(not decoded)", reason);
        } else if let Some(last) = self.done.last_mut() {
            last.value = format!("{}; the bytes end too early: {reason}", last.value);
        }
    }

    /// The fields. Bytes that nobody asked for are the last one.
    #[must_use]
    pub fn finish(mut self) -> Vec<Field> {
        let left = self.rest().len();
        self.take_rest("(left over)", format!("{left} bytes that mean nothing here"));
        self.done
    }

    fn push(&mut self, len: usize, name: String, value: String) {
        if len > 0 {
            let (start, depth) = (self.base + self.at, self.depth);
            self.done.push(Field { name, start, len, value: shortened(value), depth });
            self.at += len;
        }
    }
}

fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(VALUE_CHARS_MAX) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Most bytes of others that a value shows.
const BYTES_MAX: usize = 48;

/// The characters that the bytes are in ASCII, with dots for those that are none; shortened.
pub(super) fn printable(bytes: &[u8]) -> String {
    let shown = bytes.iter().take(BYTES_MAX).map(|byte| match byte {
        b' '..=b'~' => char::from(*byte),
        _ => '·',
    });
    shown.chain((bytes.len() > BYTES_MAX).then_some('…')).collect()
}

/// Bytes as text where they are printable, else in hexadecimal; either shortened.
pub(super) fn preview(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(BYTES_MAX)];
    let dots = if start.len() < bytes.len() { "…" } else { "" };
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(char::is_control) => {
            format!("{:?}{dots}", text.chars().take(BYTES_MAX).collect::<String>())
        }
        _ => format!("{}{dots}", Hex(start.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Fails unless the fields tile so many bytes.
    fn assert_tiles(fields: &[Field], len: usize) {
        let end = fields.iter().fold(0, |at, field| {
            assert_eq!(field.start, at, "{fields:?}");
            assert!(field.len > 0, "{fields:?}");
            at + field.len
        });
        assert_eq!(end, len, "{fields:?}");
    }

    fn take_some(fields: &mut Fields<'_>, len: usize) {
        fields.take(len, "some", "");
    }

    fn take_ordered(fields: &mut Fields<'_>) {
        fields.ordered("ordered", |number| number.to_string());
    }

    fn texts(fields: &[Field]) -> Vec<String> {
        fields.iter().map(|field| format!("{} {}", field.name, field.value)).collect()
    }

    fn take_varint(fields: &mut Fields<'_>, name: &str) {
        fields.varint(name, |number| number.to_string());
    }

    #[test]
    fn what_cannot_be_decoded_says_so() {
        let mut fields = Fields::of(&[7, 0x80], false);
        take_varint(&mut fields, "a");
        take_varint(&mut fields, "b");
        assert_eq!(texts(&fields.finish()), ["a 7", "(not decoded) here should be a varint"]);
        let mut fields = Fields::of(&[7], false);
        take_varint(&mut fields, "a");
        take_varint(&mut fields, "b");
        let expected = ["a 7; the bytes end too early: here should be a varint"];
        assert_eq!(texts(&fields.finish()), expected);
        let mut fields = Fields::of(&[9, 9, 9], false);
        fields.within(2, |part| take_varint(part, "a"));
        let expected = [
            "a 9",
            "(left over) 1 bytes that mean nothing here",
            "(left over) 1 bytes that mean nothing here",
        ];
        assert_eq!(texts(&fields.finish()), expected);
    }

    #[test]
    fn bytes_are_previewed() {
        assert_eq!(preview(b"a \"b\""), r#""a \"b\"""#);
        assert_eq!(preview(&[0, 0xff]), "00ff");
        assert_eq!(preview(&[1; 50]), "01".repeat(48) + "…");
        assert_eq!(preview("ä".repeat(60).as_bytes()), format!("{:?}…", "ä".repeat(48)));
        assert_eq!(printable(&[b'a', 0, b'~', 0xff]), "a·~·");
        assert_eq!(printable(&[b' '; 49]), " ".repeat(48) + "…");
    }

    #[test]
    fn a_number_that_is_cut_is_the_least_that_begins_so() {
        let mut key = Vec::new();
        ordered::put(&mut key, 70_000);
        let mut fields = Fields::of(&key[..1], true);
        assert_eq!(fields.ordered("node", |n| n.to_string()), None);
        assert_eq!(texts(&fields.finish()), ["node 65536…"]);
        let mut fields = Fields::of(&key[..1], false);
        assert_eq!(fields.ordered("node", |n| n.to_string()), None);
        assert_eq!(texts(&fields.finish()), ["(not decoded) here should be an ordered integer"]);
    }

    proptest! {
        #[test]
        fn fields_tile_any_bytes(
            bytes in vec(any::<u8>(), 0..40),
            goes_on in any::<bool>(),
            steps in vec((0..6u8, 0..12usize), 0..12),
        ) {
            let mut fields = Fields::of(&bytes, goes_on);
            for (step, len) in steps {
                match step {
                    0 => fields.deeper(|fields| take_some(fields, len)),
                    1 => take_varint(&mut fields, "varint"),
                    2 => take_ordered(&mut fields),
                    3 => fields.within(len as u64, |part| take_varint(part, "part")),
                    4 => fields.within_cut(len, take_ordered),
                    _ => fields.within(len as u64, |part| take_some(part, 3)),
                }
            }
            assert_tiles(&fields.finish(), bytes.len());
        }
    }
}
