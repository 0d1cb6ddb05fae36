//! A walk, hop by hop, with a sample of the relationships that each hop follows.
//!
//! The counts are of the whole walk; the sample is for drawing it. A hop's sample begins at the nodes that the
//! sample before it ended at, so that what is drawn hangs together. It is taken after the hop, whose time and pages are
//! its own. A walk ends at the time limit, or when its client goes away.

use std::collections::HashSet;
use std::time::Instant;

use hopdb::kv::View;
use hopdb::{Adjacent, Direction, GraphError, NodeId, Part, Reader, TypeId, Walk};
use serde::Serialize;

use super::{Answer, Call};
use crate::failure::Failure;
use crate::shapes::{NodeSummary, RelationshipEnds, ends, summaries, wanted_type};

/// Most other nodes of a hop that are looked at for a sample that is not full yet.
const OTHERS_MAX: usize = 1000;

#[derive(Serialize)]
struct Walked {
    start: String,
    hops: Vec<WalkedHop>,
    nodes: Vec<NodeSummary>,
    complete: bool,
}

#[derive(Serialize)]
struct WalkedHop {
    relationships: u64,
    nodes: u64,
    new_nodes: u64,
    micros: u64,
    pages_read: u64,
    sample: Vec<RelationshipEnds>,
}

pub(super) fn walk(call: &Call<'_>) -> Result<Answer, Failure> {
    let start = NodeId(call.id()?);
    let hops = call.query.number("hops", 1..=8, 1)?;
    let sample = call.query.number("sample", 0..=1000, 100)?;
    let direction = call.query.direction()?;
    let snapshot = call.service.db.read()?;
    let reader = snapshot.reader();
    if !reader.has_node(start)? {
        return Err(GraphError::NodeMissing(start).into());
    }
    let type_id = wanted_type(reader.catalog(), call.query.text("type"))?;
    let mut walk = Walk::new(reader, start, direction, type_id);
    let mut sampler =
        Sampler { reader, way: (direction, type_id), most: sample, ends: vec![start] };
    let mut walked =
        Walked { start: start.to_string(), hops: Vec::new(), nodes: Vec::new(), complete: true };
    let mut sampled = Vec::new();
    let deadline = Instant::now() + call.service.limits.walk_wait;
    let go_on = || Instant::now() < deadline && !call.stop.is_asked();
    for _ in 0..hops {
        let others = sampler.others(walk.frontier());
        let before = call.service.db.counts().io.pages_read;
        let began = Instant::now();
        let Some(hop) = walk.hop_while(go_on)? else {
            walked.complete = false;
            break;
        };
        let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let pages_read = call.service.db.counts().io.pages_read - before;
        let followed = sampler.sample(&others, go_on)?;
        sampled.extend(followed.iter().flat_map(|(node, adjacent)| [*node, adjacent.neighbour]));
        let sample =
            followed.iter().map(|(node, adjacent)| ends(reader.catalog(), *node, adjacent));
        walked.hops.push(WalkedHop {
            relationships: hop.relationships,
            nodes: hop.nodes,
            new_nodes: hop.new_nodes,
            micros,
            pages_read,
            sample: sample.collect::<Result<_, _>>()?,
        });
    }
    walked.nodes = summaries(reader, sampled, call.stop)?;
    call.found(&walked)
}

/// Takes samples of hops.
struct Sampler<'v, V> {
    reader: Reader<'v, V>,
    way: (Direction, Option<TypeId>),
    most: usize,
    /// Where the last sample ended; distinct nodes.
    ends: Vec<NodeId>,
}

impl<V: View> Sampler<'_, V> {
    /// The nodes of a frontier that the next sample may look at beside the ends of the last one.
    fn others(&self, frontier: &[NodeId]) -> Vec<NodeId> {
        let known: HashSet<NodeId> = self.ends.iter().copied().collect();
        let others = frontier.iter().filter(|node| !known.contains(node));
        others.take(OTHERS_MAX).copied().collect()
    }

    /// Some of the relationships that a hop from these ends and `others` follows, each with the node it is followed
    /// from.
    fn sample(
        &mut self,
        others: &[NodeId],
        go_on: impl Fn() -> bool,
    ) -> Result<Vec<(NodeId, Adjacent)>, Failure> {
        let mut taken = Taken { followed: Vec::new(), seen: HashSet::new(), most: self.most };
        let ends = std::mem::take(&mut self.ends);
        // First a fair share from each end of the last sample, then what more they have, then from other nodes.
        let share = self.most.div_ceil(ends.len().max(1));
        let mut rests = Vec::new();
        for node in &ends {
            if taken.is_full() || !go_on() {
                break;
            }
            let part = Part { after: None, limit: share };
            let found = self.reader.adjacent_part(*node, self.way, part)?;
            rests.extend(found.last().filter(|_| found.len() == share).map(|last| (*node, *last)));
            taken.take(*node, found);
        }
        for (node, last) in rests {
            if taken.is_full() || !go_on() {
                break;
            }
            let part = Part { after: Some(last), limit: taken.left() };
            taken.take(node, self.reader.adjacent_part(node, self.way, part)?);
        }
        for node in others {
            if taken.is_full() || !go_on() {
                break;
            }
            let part = Part { after: None, limit: taken.left() };
            taken.take(*node, self.reader.adjacent_part(*node, self.way, part)?);
        }
        let mut seen = HashSet::new();
        let reached = taken.followed.iter().map(|(_, adjacent)| adjacent.neighbour);
        self.ends = reached.filter(|node| seen.insert(*node)).collect();
        Ok(taken.followed)
    }
}

/// Relationships of a sample, each once.
struct Taken {
    followed: Vec<(NodeId, Adjacent)>,
    seen: HashSet<u64>,
    most: usize,
}

impl Taken {
    fn left(&self) -> usize {
        self.most - self.followed.len()
    }

    fn is_full(&self) -> bool {
        self.left() == 0
    }

    fn take(&mut self, node: NodeId, found: Vec<Adjacent>) {
        for adjacent in found {
            if !self.is_full() && self.seen.insert(adjacent.relationship.0) {
                self.followed.push((node, adjacent));
            }
        }
    }
}
