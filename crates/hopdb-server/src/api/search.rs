//! Nodes by the values of their indexed properties: what somebody typed, or its beginning.
//!
//! A search goes through the indexes in their order and, in each, through all that the text can stand for; the
//! cursor says where in this it ended: at the limit of results, or of the entries that a request looks at.

use hopdb::kv::View;
use hopdb::load::names::whole_name;
use hopdb::{Catalog, IndexDefinition, Part, Reader, Value, Wanted};
use serde::Serialize;

use super::{Answer, Call};
use crate::failure::{Code, Failure};
use crate::query::digits;
use crate::shapes::{NodeSummary, Plain, index_name, shortened, summary, unknown};

/// Entries looked at between two looks whether anybody still waits.
const ENTRIES_AT_ONCE: usize = 256;

#[derive(Serialize)]
struct Found {
    results: Vec<Hit>,
    next: Option<String>,
}

#[derive(Serialize)]
struct Hit {
    node: NodeSummary,
    index: String,
    value: Plain,
}

/// Where a search ended.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    /// The index's id.
    index: u32,
    /// Which of the things that are looked for.
    wanted: usize,
    /// The key of the entry.
    key: Vec<u8>,
}

pub(super) fn search(call: &Call<'_>) -> Result<Answer, Failure> {
    let query = &call.query;
    let missing = || Failure::new(Code::BadRequest, "the parameter q is missing: what to look for");
    let text = query.text("q").ok_or_else(missing)?;
    let limit = query.number("limit", 1..=200, 20)?;
    let exact = query.choice("match", &[("prefix", false), ("exact", true)])?;
    let after = query.text("after").map(read_place).transpose()?;
    let snapshot = call.service.db.read()?;
    let reader = snapshot.reader();
    let indexes = match query.text("index") {
        Some(name) => vec![named_index(reader.catalog(), name)?],
        None => reader.catalog().indexes().iter().collect(),
    };
    let readings = Value::readings(text);
    let mut wanted: Vec<Wanted<'_>> = readings.iter().map(Wanted::Equal).collect();
    if !exact {
        // The first reading is the string itself.
        wanted[0] = Wanted::Prefix(text);
    }
    let search = Search { call, reader, indexes, wanted, limit };
    call.found(&search.from(after)?)
}

/// What a search found, and where it is.
struct State {
    results: Vec<Hit>,
    last: Option<Place>,
    entries_left: usize,
}

struct Search<'a, 'v, V> {
    call: &'a Call<'a>,
    reader: Reader<'v, V>,
    indexes: Vec<&'a IndexDefinition>,
    wanted: Vec<Wanted<'a>>,
    limit: usize,
}

impl<V: View> Search<'_, '_, V> {
    /// Where in the indexes a search ended.
    fn position(&self, place: &Place) -> Result<usize, Failure> {
        let position = self.indexes.iter().position(|index| index.id == place.index);
        let gone = "the index in which the search ended is not there any longer";
        position.ok_or_else(|| Failure::new(Code::NotFound, gone).hint("search anew"))
    }

    fn from(&self, after: Option<Place>) -> Result<Found, Failure> {
        let first = match &after {
            None => 0,
            Some(place) => self.position(place)?,
        };
        let entries_left = self.call.service.limits.search_entries;
        let mut found = State { results: Vec::new(), last: None, entries_left };
        for index in &self.indexes[first..] {
            for number in 0..self.wanted.len() {
                let here = after.as_ref().filter(|place| place.index == index.id);
                if here.is_some_and(|place| number < place.wanted) {
                    continue;
                }
                let here = here.filter(|place| number == place.wanted);
                let key = here.map(|place| place.key.clone());
                if !self.look(&mut found, (index, number), key)? {
                    let next = found.last.as_ref().map(write_place);
                    return Ok(Found { results: found.results, next });
                }
            }
        }
        Ok(Found { results: found.results, next: None })
    }

    /// Looks for one of the things in one index, behind a key. False when a limit is reached before its end.
    fn look(
        &self,
        found: &mut State,
        (index, number): (&IndexDefinition, usize),
        mut after: Option<Vec<u8>>,
    ) -> Result<bool, Failure> {
        let place = |key| Place { index: index.id, wanted: number, key };
        loop {
            self.call.stop.check()?;
            // One more tells whether there is a next part.
            let limit = self.limit - found.results.len() + 1;
            let part = Part { after: after.as_deref(), limit };
            let entries_max = found.entries_left.clamp(1, ENTRIES_AT_ONCE);
            let part = self.reader.index_part(index, self.wanted[number], part, entries_max)?;
            found.entries_left = found.entries_left.saturating_sub(part.entries);
            for hit in part.hits {
                if found.results.len() == self.limit {
                    return Ok(false);
                }
                found.last = Some(place(hit.place));
                found.results.push(Hit {
                    node: summary(self.reader, hit.node)?,
                    index: index_name(self.reader.catalog(), index),
                    value: Plain(shortened(hit.value, &mut false)),
                });
            }
            let Some(key) = part.next else { return Ok(true) };
            found.last = Some(place(key.clone()));
            if found.entries_left == 0 {
                return Ok(false);
            }
            after = Some(key);
        }
    }
}

/// The index that is called `Label.property`, where either may stand in backquotes.
fn named_index<'c>(catalog: &'c Catalog, name: &str) -> Result<&'c IndexDefinition, Failure> {
    let is = |text: &str, name: Option<&std::sync::Arc<str>>| {
        whole_name(text).is_ok_and(|text| Some(&*text) == name.map(AsRef::as_ref))
    };
    let found = catalog.indexes().iter().find(|index| {
        let label = catalog.label_name(index.label);
        let property = catalog.property_key_name(index.property);
        name.match_indices('.')
            .any(|(at, _)| is(&name[..at], label) && is(&name[at + 1..], property))
    });
    found.ok_or_else(|| {
        let known = catalog.indexes().iter().map(|index| index_name(catalog, index));
        unknown("index", name, known.collect())
    })
}

fn write_place(place: &Place) -> String {
    let key: String = place.key.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{key}", place.index, place.wanted)
}

fn read_place(text: &str) -> Result<Place, Failure> {
    let read = || {
        let mut parts = text.splitn(3, '-');
        let (index, wanted, key) = (parts.next()?, parts.next()?, parts.next()?);
        let is_hex = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
        let byte = |pair: &[u8]| match pair {
            [high, low] if is_hex(high) && is_hex(low) => {
                u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()
            }
            _ => None,
        };
        let key: Option<Vec<u8>> = key.as_bytes().chunks(2).map(byte).collect();
        Some(Place { index: digits(index)?, wanted: digits(wanted)?, key: key? })
    };
    read().ok_or_else(|| Failure::parameter("after", text, "what `next` said"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_back() {
        let place = Place { index: 3, wanted: 1, key: vec![0, 255, 16] };
        assert_eq!(write_place(&place), "3-1-00ff10");
        assert_eq!(read_place("3-1-00ff10"), Ok(place));
        for text in ["", "3-1", "3-1-0", "3-1-0g", "3-1-0F", "x-1-00", "3-01-00", "3-1-é0"] {
            assert!(read_place(text).is_err(), "{text}");
        }
    }
}
