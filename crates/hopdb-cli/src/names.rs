//! Labels, relationship types and property keys by the names that users write; near names where there is none.

use std::sync::Arc;

use hopdb::{Catalog, LabelId, PropertyKeyId, TypeId};

use crate::failure::Failure;

/// Most names that a hint lists.
const LISTED_MAX: usize = 20;

pub(crate) fn label(catalog: &Catalog, name: &str) -> Result<LabelId, Failure> {
    let names = || catalog.labels().map(|(name, _)| Arc::clone(name)).collect();
    catalog.label(name).ok_or_else(|| unknown(["label", "labels"], name, names()))
}

/// The type that was asked for; none when none was.
pub(crate) fn relationship_type(
    catalog: &Catalog,
    name: Option<&str>,
) -> Result<Option<TypeId>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let names = || catalog.relationship_types().map(|(name, _)| Arc::clone(name)).collect();
    let what = ["relationship type", "relationship types"];
    match catalog.relationship_type(name) {
        Some(id) => Ok(Some(id)),
        None => Err(unknown(what, name, names())),
    }
}

pub(crate) fn property_key(catalog: &Catalog, name: &str) -> Result<PropertyKeyId, Failure> {
    let names = || catalog.property_keys().cloned().collect();
    catalog.property_key(name).ok_or_else(|| unknown(["property", "properties"], name, names()))
}

fn unknown([what, whats]: [&str; 2], name: &str, mut known: Vec<Arc<str>>) -> Failure {
    known.sort_unstable();
    let message = format!("there is no {what} {name:?} in the database");
    let listed: Vec<&str> = known.iter().take(LISTED_MAX).map(AsRef::as_ref).collect();
    let more = match known.len().saturating_sub(LISTED_MAX) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let all = match listed.is_empty() {
        true => format!("it has no {whats} at all"),
        false => format!("its {whats}: {}{more}", listed.join(", ")),
    };
    match nearest(name, &known) {
        Some(near) => Failure::input(message, format!("did you mean {near:?}? {all}")),
        None => Failure::input(message, all),
    }
}

/// The known name that a slip of the keys turns into `name`.
fn nearest<'n>(name: &str, known: &'n [Arc<str>]) -> Option<&'n str> {
    let lower = name.to_lowercase();
    let length = name.chars().count();
    known
        .iter()
        .map(|known| (distance(&lower, &known.to_lowercase()), known.as_ref()))
        .filter(|(distance, _)| *distance <= 1 + length / 4)
        .min()
        .map(|(_, name)| name)
}

/// Characters to insert, delete or replace between two names (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        let known: Vec<Arc<str>> = ["City", "Person", "Place"].map(Arc::from).to_vec();
        for (name, near) in [("Persn", "Person"), ("person", "Person"), ("Citty", "City")] {
            assert_eq!(nearest(name, &known), Some(near));
        }
        assert_eq!(nearest("Organisation", &known), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
