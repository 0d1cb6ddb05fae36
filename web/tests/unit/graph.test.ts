//! The drawn graph: its bound, what is kept, lanes of parallel relationships.

import assert from "node:assert/strict";
import { test } from "node:test";

import { DrawnGraph, NODES_MAX } from "../../src/graph/model";
import type { NodeSummary, Relationship } from "../../src/types";

const nothing = (): boolean => false;
const node = (id: number): NodeSummary => ({ id: String(id), labels: [], properties: {} });
const relationship = (id: number, start: number, end: number): Relationship => ({ id: String(id), type: "T", start: String(start), end: String(end) });
const range = (count: number, from = 0): number[] => Array.from({ length: count }, (_, index) => from + index);

test("relationships need both ends, and come once", () => {
  const graph = new DrawnGraph();
  const added = graph.add([node(1), node(2)], [relationship(1, 1, 2), relationship(1, 1, 2), relationship(2, 1, 3)], null, nothing);
  assert.equal(added.relationships, 1);
  assert.deepEqual(graph.neighbours("1").map(({ id }) => id), ["2"]);
});

test("the oldest nodes make room, kept ones stay", () => {
  const graph = new DrawnGraph();
  graph.add(range(NODES_MAX).map(node), range(NODES_MAX - 1).map((id) => relationship(id, id, id + 1)), null, nothing);
  const added = graph.add(range(10, NODES_MAX).map(node), [], null, (id) => id === "0" || id === "3");
  assert.equal(graph.nodes.size, NODES_MAX);
  assert.deepEqual([added.removed, added.refused], [10, 0]);
  assert.deepEqual(["0", "1", "2", "3", "11", "12"].map((id) => graph.nodes.has(id)), [true, false, false, true, false, true]);
  for (const { source, target } of graph.relationships.values()) {
    assert.ok(graph.nodes.has(source.id) && graph.nodes.has(target.id));
  }
});

test("when all are kept, new nodes are refused", () => {
  const graph = new DrawnGraph();
  graph.add(range(NODES_MAX).map(node), [], null, nothing);
  const added = graph.add(range(3, NODES_MAX).map(node), [], null, () => true);
  assert.deepEqual([added.removed, added.refused, graph.nodes.size], [0, 3, NODES_MAX]);
});

test("nodes moved by hand stay", () => {
  const graph = new DrawnGraph();
  graph.add(range(NODES_MAX).map(node), [], null, nothing);
  const first = graph.nodes.get("0");
  assert.ok(first);
  first.pinned = true;
  graph.add([node(NODES_MAX)], [], null, nothing);
  assert.ok(graph.nodes.has("0"));
  assert.ok(!graph.nodes.has("1"));
});

test("parallel relationships have lanes of their own, whatever their direction", () => {
  const graph = new DrawnGraph();
  graph.add([node(1), node(2)], [relationship(1, 1, 2), relationship(2, 2, 1), relationship(3, 1, 2)], null, nothing);
  const lanes = [...graph.relationships.values()].map(({ lane, source }) => (source.id === "1" ? lane : -lane));
  assert.deepEqual(lanes, [-1, 0, 1]);
});

test("self relationships are counted, and are no neighbours", () => {
  const graph = new DrawnGraph();
  graph.add([node(1)], [relationship(1, 1, 1), relationship(2, 1, 1)], null, nothing);
  assert.deepEqual([...graph.relationships.values()].map(({ lane }) => lane), [0, 1]);
  assert.deepEqual(graph.neighbours("1"), []);
});

test("a node that comes back comes back to its place", () => {
  const graph = new DrawnGraph();
  graph.add([node(1)], [], null, nothing);
  const before = graph.nodes.get("1");
  assert.ok(before);
  Object.assign(before, { x: 123, y: -45 });
  graph.clear();
  graph.add([node(1)], [], null, nothing);
  const after = graph.nodes.get("1");
  assert.deepEqual([after?.x, after?.y], [123, -45]);
});
