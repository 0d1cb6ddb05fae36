//! A walk as it is drawn: which hop lit up which relationship and first reached which node. Pure.
//!
//! Hop 0 is the start. A node keeps the hop that reached it first.

import type { Id, Relationship, Walk, WalkDirection } from "../types";

/** A relationship as a hop followed it: from a node of the hop before to the one it leads to. */
export interface Step {
  relationship: Relationship;
  from: Id;
  to: Id;
}

export interface Trail {
  start: Id;
  /** Steps of each hop; hop `n` is at `n - 1`. */
  hops: Step[][];
  /** The hop that first reached a node. */
  nodeHop: Map<Id, number>;
  /** The hop that first followed a relationship. */
  relationshipHop: Map<Id, number>;
}

/** Works out the trail of an answer's samples. */
export function trailOf(walk: Walk, direction: WalkDirection): Trail {
  const nodeHop = new Map<Id, number>([[walk.start, 0]]);
  const relationshipHop = new Map<Id, number>();
  const hops = walk.hops.map((hop, index) => {
    const steps = hop.sample.map((relationship) => stepOf(relationship, direction, nodeHop, index + 1));
    for (const { relationship, from, to } of steps) {
      if (!nodeHop.has(from)) nodeHop.set(from, index);
      if (!nodeHop.has(to)) nodeHop.set(to, index + 1);
      if (!relationshipHop.has(relationship.id)) relationshipHop.set(relationship.id, index + 1);
    }
    return steps;
  });
  return { start: walk.start, hops, nodeHop, relationshipHop };
}

/** Which end of a relationship the hop came from. */
function stepOf(relationship: Relationship, direction: WalkDirection, nodeHop: Map<Id, number>, hop: number): Step {
  const { start, end } = relationship;
  if (direction === "out") return { relationship, from: start, to: end };
  if (direction === "in") return { relationship, from: end, to: start };
  const back = nodeHop.get(start) !== hop - 1 && nodeHop.get(end) === hop - 1;
  return back ? { relationship, from: end, to: start } : { relationship, from: start, to: end };
}
