//! Changes, each in a transaction of its own that is durable when it is answered.
//!
//! Invariant: what is answered is what was committed: it is read in the transaction, before its commit. A change
//! that fails leaves nothing; one for which nobody waits any longer is not committed.

use std::collections::BTreeMap;
use std::fmt::Display;

use hopdb::{NodeId, RelationshipId, Transaction, Value};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Answer, Call};
use crate::failure::{Code, Failure};
use crate::{query, shapes, values};

/// Property keys and values as they are written in a body.
type Raw = BTreeMap<String, Box<RawValue>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewNode {
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    properties: Raw,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeChange {
    #[serde(default)]
    set: Raw,
    #[serde(default)]
    add_labels: Vec<String>,
    #[serde(default)]
    remove_labels: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewRelationship {
    start: String,
    end: String,
    #[serde(rename = "type")]
    type_name: String,
    #[serde(default)]
    properties: Raw,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RelationshipChange {
    #[serde(default)]
    set: Raw,
}

pub(super) fn create_node(call: &Call<'_>) -> Result<Answer, Failure> {
    let new: NewNode = body(call)?;
    let properties = properties(&new.properties)?;
    let labels: Vec<&str> = new.labels.iter().map(String::as_str).collect();
    let mut txn = begin(call)?;
    let id = txn.create_node(&labels, &properties)?;
    let made = call.json(&shapes::whole_node(txn.reader(), id)?)?;
    commit(call, txn)?;
    Ok(Answer::Made(made))
}

pub(super) fn change_node(call: &Call<'_>) -> Result<Answer, Failure> {
    let id = NodeId(call.id()?);
    let change: NodeChange = body(call)?;
    let set = properties(&change.set)?;
    let mut txn = begin(call)?;
    for label in &change.remove_labels {
        txn.remove_label(id, label)?;
    }
    for (key, value) in &set {
        txn.set_property(id, key, value)?;
    }
    for label in &change.add_labels {
        txn.add_label(id, label)?;
    }
    let changed = call.found(&shapes::whole_node(txn.reader(), id)?)?;
    commit(call, txn)?;
    Ok(changed)
}

pub(super) fn delete_node(call: &Call<'_>) -> Result<Answer, Failure> {
    let id = NodeId(call.id()?);
    let detach = call.query.choice("detach", &[("false", false), ("true", true)])?;
    let mut txn = begin(call)?;
    if detach {
        txn.detach_delete_node(id)?
    } else {
        txn.delete_node(id)?
    }
    commit(call, txn)?;
    Ok(Answer::Done)
}

pub(super) fn create_relationship(call: &Call<'_>) -> Result<Answer, Failure> {
    let new: NewRelationship = body(call)?;
    let start = NodeId(query::id("start", &new.start)?);
    let end = NodeId(query::id("end", &new.end)?);
    let properties = properties(&new.properties)?;
    let mut txn = begin(call)?;
    let id = txn.create_relationship(start, &new.type_name, end, &properties)?;
    let made = call.json(&shapes::whole_relationship(txn.reader(), id)?)?;
    commit(call, txn)?;
    Ok(Answer::Made(made))
}

pub(super) fn change_relationship(call: &Call<'_>) -> Result<Answer, Failure> {
    let id = RelationshipId(call.id()?);
    let change: RelationshipChange = body(call)?;
    let set = properties(&change.set)?;
    let mut txn = begin(call)?;
    for (key, value) in &set {
        txn.set_relationship_property(id, key, value)?;
    }
    let changed = call.found(&shapes::whole_relationship(txn.reader(), id)?)?;
    commit(call, txn)?;
    Ok(changed)
}

pub(super) fn delete_relationship(call: &Call<'_>) -> Result<Answer, Failure> {
    let id = RelationshipId(call.id()?);
    let mut txn = begin(call)?;
    txn.delete_relationship(id)?;
    commit(call, txn)?;
    Ok(Answer::Done)
}

/// Waits until no other change is under way.
fn begin(call: &Call<'_>) -> Result<Transaction, Failure> {
    let txn = call.service.db.write()?;
    // That may have taken long.
    call.stop.check()?;
    Ok(txn)
}

fn commit(call: &Call<'_>, txn: Transaction) -> Result<(), Failure> {
    call.stop.check()?;
    Ok(txn.commit()?)
}

fn body<'c, T: Deserialize<'c>>(call: &'c Call<'_>) -> Result<T, Failure> {
    let bad = |why: &dyn Display| Failure::new(Code::BadRequest, format!("the body: {why}"));
    // Serde takes a list for an object, its items for the fields in their order.
    if !call.body.trim_ascii_start().starts_with(b"{") {
        return Err(bad(&"it is not an object"));
    }
    serde_json::from_slice(&call.body).map_err(|error| bad(&error))
}

fn properties(raw: &Raw) -> Result<Vec<(&str, Value)>, Failure> {
    let wrong =
        |key: &str, why| Failure::new(Code::Unprocessable, format!("the property {key:?}: {why}"));
    raw.iter()
        .map(|(key, json)| match values::read(json) {
            Ok(value) => Ok((key.as_str(), value)),
            Err(why) => Err(wrong(key, why)),
        })
        .collect()
}
