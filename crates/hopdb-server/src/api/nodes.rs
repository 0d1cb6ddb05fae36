//! Nodes and their relationships: whole, part by part, and a sample of what lies around one.

use hopdb::{Adjacent, GraphError, NodeId, Part, RelationshipId, TypeId};
use serde::Serialize;

use super::{Answer, Call};
use crate::failure::Failure;
use crate::query::digits;
use crate::shapes::{
    self, NodeSummary, RelationshipEnds, direction, ends, side, summaries, summary, wanted_type,
};

pub(super) fn node(call: &Call<'_>) -> Result<Answer, Failure> {
    let id = NodeId(call.id()?);
    let snapshot = call.service.db.read()?;
    call.found(&shapes::whole_node(snapshot.reader(), id)?)
}

pub(super) fn relationship(call: &Call<'_>) -> Result<Answer, Failure> {
    let id = RelationshipId(call.id()?);
    let snapshot = call.service.db.read()?;
    call.found(&shapes::whole_relationship(snapshot.reader(), id)?)
}

#[derive(Serialize)]
struct Relationships {
    relationships: Vec<RelationshipEnds>,
    nodes: Vec<NodeSummary>,
    next: Option<String>,
}

pub(super) fn relationships(call: &Call<'_>) -> Result<Answer, Failure> {
    let id = NodeId(call.id()?);
    let direction = call.query.direction()?;
    let limit = call.query.number("limit", 1..=1000, 100)?;
    let after = call.query.text("after").map(read_cursor).transpose()?;
    let snapshot = call.service.db.read()?;
    let reader = snapshot.reader();
    let catalog = reader.catalog();
    if !reader.has_node(id)? {
        return Err(GraphError::NodeMissing(id).into());
    }
    let type_id = wanted_type(catalog, call.query.text("type"))?;
    // One more tells whether there is a next part.
    let part = Part { after, limit: limit + 1 };
    let mut found = reader.adjacent_part(id, (direction, type_id), part)?;
    let more = found.len() > limit;
    found.truncate(limit);
    call.found(&Relationships {
        next: found.last().filter(|_| more).map(write_cursor),
        nodes: summaries(reader, found.iter().map(|adjacent| adjacent.neighbour), call.stop)?,
        relationships: found
            .iter()
            .map(|adjacent| ends(catalog, id, adjacent))
            .collect::<Result<_, _>>()?,
    })
}

/// Where a part ended: side, type, neighbour, relationship.
fn write_cursor(last: &Adjacent) -> String {
    let Adjacent { relationship, type_id, neighbour, outgoing } = last;
    format!("{}-{type_id}-{neighbour}-{relationship}", side(*outgoing))
}

fn read_cursor(text: &str) -> Result<Adjacent, Failure> {
    let parts: Vec<&str> = text.split('-').collect();
    let read = || {
        let [side @ ("out" | "in"), type_id, neighbour, relationship] = parts[..] else {
            return None;
        };
        Some(Adjacent {
            relationship: RelationshipId(digits(relationship)?),
            type_id: TypeId(digits(type_id)?),
            neighbour: NodeId(digits(neighbour)?),
            outgoing: side == "out",
        })
    };
    read().ok_or_else(|| Failure::parameter("after", text, "what `next` said"))
}

#[derive(Serialize)]
struct Surroundings {
    node: NodeSummary,
    groups: Vec<Group>,
    nodes: Vec<NodeSummary>,
}

#[derive(Serialize)]
struct Group {
    #[serde(rename = "type")]
    type_name: String,
    direction: &'static str,
    count: u64,
    relationships: Vec<RelationshipEnds>,
}

pub(super) fn surroundings(call: &Call<'_>) -> Result<Answer, Failure> {
    let id = NodeId(call.id()?);
    let limit = call.query.number("limit", 1..=500, 60)?;
    let snapshot = call.service.db.read()?;
    let reader = snapshot.reader();
    let catalog = reader.catalog();
    let node = summary(reader, id)?;
    let degrees = reader.degrees(id)?;
    let counts: Vec<u64> = degrees.iter().map(|degree| degree.relationships).collect();
    let mut groups = Vec::new();
    let mut neighbours = Vec::new();
    for (degree, limit) in degrees.iter().zip(shares(&counts, limit)) {
        let way = (direction(degree.outgoing), Some(degree.type_id));
        let found = reader.adjacent_part(id, way, Part { after: None, limit })?;
        neighbours.extend(found.iter().map(|adjacent| adjacent.neighbour));
        let relationships = found.iter().map(|adjacent| ends(catalog, id, adjacent));
        groups.push(Group {
            type_name: catalog.type_name(degree.type_id).map_or("?".into(), ToString::to_string),
            direction: side(degree.outgoing),
            count: degree.relationships,
            relationships: relationships.collect::<Result<_, _>>()?,
        });
    }
    call.found(&Surroundings { node, groups, nodes: summaries(reader, neighbours, call.stop)? })
}

/// How many of each group are taken, `limit` in all: small groups whole, what they leave spread over the others.
fn shares(counts: &[u64], limit: usize) -> Vec<usize> {
    let mut by_size: Vec<usize> = (0..counts.len()).collect();
    by_size.sort_by_key(|group| counts[*group]);
    let mut shares = vec![0; counts.len()];
    let mut left = limit;
    for (done, group) in by_size.iter().enumerate() {
        let fair = left / (counts.len() - done);
        let share = usize::try_from(counts[*group]).map_or(fair, |count| count.min(fair));
        shares[*group] = share;
        left -= share;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_fair() {
        assert_eq!(shares(&[1000, 1, 1000], 21), [10, 1, 10]);
        assert_eq!(shares(&[3, 2, 1], 60), [3, 2, 1]);
        assert_eq!(shares(&[1, 1, 1], 2).iter().sum::<usize>(), 2);
        assert!(shares(&[], 5).is_empty());
        assert_eq!(shares(&[u64::MAX], 5), [5]);
    }

    #[test]
    fn cursors_are_read_back() {
        let last = Adjacent {
            relationship: RelationshipId(u64::MAX),
            type_id: TypeId(3),
            neighbour: NodeId(0),
            outgoing: false,
        };
        assert_eq!(read_cursor(&write_cursor(&last)), Ok(last));
        for text in ["", "out", "up-1-2-3", "out-1-2", "out-1-2-3-4", "out-1-2-x", "out-01-2-3"] {
            assert!(read_cursor(text).is_err(), "{text}");
        }
    }
}
