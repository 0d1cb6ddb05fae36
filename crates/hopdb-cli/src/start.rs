//! A node as users name it: `Label.property=value`, or its id where that is taken too.
//!
//! The label ends at the first dot, the property at the first `=`, outside backquotes, in which any name can stand.
//! The text of the value says nothing of its type:
//! it is looked for as a string and as all else that it can be read as, since `42` may be stored as either.

use std::path::Path;
use std::str::FromStr;

use hopdb::load::names::whole_name;
use hopdb::{Database, NodeId, Snapshot, Value};

use crate::failure::Failure;
use crate::names;
use crate::screen::count;

/// `Label.property`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabelProperty {
    pub(crate) label: String,
    pub(crate) property: String,
}

impl FromStr for LabelProperty {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut dots = text.match_indices('.');
        let label = dots.find_map(|(at, _)| Some((at, whole_name(&text[..at]).ok()?)));
        let property = label.as_ref().map(|(at, _)| whole_name(&text[at + 1..])).transpose()?;
        match (label, property) {
            (Some((_, label)), Some(property)) if !label.is_empty() && !property.is_empty() => {
                Ok(Self { label: label.into(), property: property.into() })
            }
            _ => Err("write Label.property, as in Person.id".into()),
        }
    }
}

/// `Label.property=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    by: LabelProperty,
    value: String,
}

impl FromStr for Start {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "write Label.property=value, as in Person.id=42".to_string();
        let mut ends = text.match_indices('=');
        let by = ends.find_map(|(at, _)| Some((at, text[..at].parse().ok()?)));
        let (at, by) = by.ok_or_else(wrong)?;
        Ok(Self { by, value: text[at + 1..].into() })
    }
}

impl Start {
    /// The one node that is meant.
    pub(crate) fn find(&self, snapshot: &Snapshot) -> Result<NodeId, Failure> {
        let reader = snapshot.reader();
        let Self { by: LabelProperty { label, property }, value } = self;
        let label_id = names::label(reader.catalog(), label)?;
        let property_id = names::property_key(reader.catalog(), property)?;
        let mut found = Vec::new();
        for value in Value::readings(value) {
            found.extend(reader.find(label_id, property_id, &value)?);
        }
        found.sort_unstable();
        found.dedup();
        match found.as_slice() {
            [node] => Ok(*node),
            [] => Err(Failure::NothingFound {
                message: format!("no node :{label} has {property} = {value}"),
                hint: None,
            }),
            many => Err(Failure::input(
                format!("{} nodes :{label} have {property} = {value}", count(many.len() as u64)),
                "name one node, by a property with a value of its own",
            )),
        }
    }
}

/// A node by its id or by a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NodeName {
    /// Its id.
    Id(NodeId),
    /// A property.
    By(Start),
}

impl FromStr for NodeName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(id) = text.parse() {
            return Ok(Self::Id(NodeId(id)));
        }
        let by = text.parse().map(Self::By);
        by.map_err(|_: String| {
            "write an id, as 42, or Label.property=value, as in Person.id=42".into()
        })
    }
}

impl NodeName {
    /// The node that is meant; one named by its id need not be there.
    pub(crate) fn find(&self, snapshot: &Snapshot) -> Result<NodeId, Failure> {
        match self {
            Self::Id(id) => Ok(*id),
            Self::By(start) => start.find(snapshot),
        }
    }
}

/// Opens a snapshot, with an error that names the file where it holds no nodes at all.
pub(crate) fn snapshot_with_nodes(db: &Database, path: &Path) -> Result<Snapshot, Failure> {
    let snapshot = db.read()?;
    if snapshot.reader().catalog().node_count() == 0 {
        let message = format!("{} has no nodes", path.display());
        return Err(Failure::NothingFound { message, hint: None });
    }
    Ok(snapshot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_split_at_the_first_signs() {
        let start: Start = "Person.home.page=a=b.c".parse().unwrap();
        assert_eq!((start.by.label.as_str(), start.by.property.as_str()), ("Person", "home.page"));
        assert_eq!(start.value, "a=b.c");
        let start: Start = "`a.b=`.`c=.`=`=".parse().unwrap();
        assert_eq!((start.by.label.as_str(), start.by.property.as_str()), ("a.b=", "c=."));
        assert_eq!(start.value, "`=");
        for text in ["", "Person", "Person.id", "Person=1", ".id=1", "Person.=1"] {
            assert!(text.parse::<Start>().is_err(), "{text}");
        }
    }

    #[test]
    fn nodes_are_named_by_ids_and_properties() {
        assert_eq!("42".parse(), Ok(NodeName::Id(NodeId(42))));
        assert_eq!("A.b=1".parse(), Ok(NodeName::By("A.b=1".parse().unwrap())));
        for text in ["", "-1", "A.b", "99999999999999999999"] {
            let error = text.parse::<NodeName>().unwrap_err();
            assert!(error.starts_with("write an id"), "{error}");
        }
    }
}
