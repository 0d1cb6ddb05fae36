//! Pure parts of the drawing: paths, camera, room for texts, arrow keys, the wave, the trail.

import assert from "node:assert/strict";
import { test } from "node:test";

import { between, boxAround, fitted, SCALE_MAX, SCALE_MIN, toCanvas, toDrawing, zoomed } from "../../src/graph/camera";
import { arrival, distanceTo, lay, newPath, part, pointAt, reversed, type Path } from "../../src/graph/geometry";
import { placeLabels } from "../../src/graph/labels";
import { ARROWS, steer } from "../../src/graph/steer";
import type { Walk } from "../../src/types";
import { trailOf } from "../../src/walk/trail";
import { progress, ringShare, WAVE_MS } from "../../src/walk/wave";

const near = (a: number, b: number, slack = 1e-6): void => assert.ok(Math.abs(a - b) <= slack, `${a} is not ${b}`);
const circle = (x: number, y: number, radius = 10): { x: number; y: number; radius: number } => ({ x, y, radius });

function laid(from: ReturnType<typeof circle>, to: ReturnType<typeof circle>, lane: number): Path {
  const path = newPath();
  lay(path, from, to, lane);
  return path;
}

test("a line goes from circle to circle", () => {
  const path = laid(circle(0, 0), circle(100, 0), 0);
  assert.deepEqual([path.x0, path.y0, path.x3, path.y3], [10, 0, 88.5, 0]);
  near(arrival(path), 0);
});

test("bows of opposite lanes lie on opposite sides and end at the circles", () => {
  const [a, b] = [circle(0, 0), circle(200, 0)];
  const [left, right] = [laid(a, b, -1), laid(a, b, 1)];
  near(pointAt(left, 0.5).y, -pointAt(right, 0.5).y);
  assert.ok(Math.abs(pointAt(left, 0.5).y) > 10);
  near(Math.hypot(left.x0, left.y0), 10);
});

test("a loop starts and ends at its node and does not lie on it", () => {
  const node = circle(5, 5);
  const path = laid(node, node, 0);
  near(Math.hypot(path.x0 - 5, path.y0 - 5), 10);
  const top = pointAt(path, 0.5);
  assert.ok(Math.hypot(top.x - 5, top.y - 5) > 20);
});

test("nodes over one another break nothing", () => {
  for (const lane of [0, 1]) {
    for (const value of Object.values(laid(circle(1, 1), circle(1, 1), lane))) {
      assert.ok(typeof value === "boolean" || Number.isFinite(value));
    }
  }
});

test("a part of a path is that part", () => {
  const path = laid(circle(0, 0), circle(200, 50), 2);
  const piece = part(path, 0.25, 0.75);
  for (const share of [0, 0.5, 1]) {
    const [a, b] = [pointAt(piece, share), pointAt(path, 0.25 + share * 0.5)];
    near(a.x, b.x, 1e-3);
    near(a.y, b.y, 1e-3);
  }
  near(pointAt(reversed(path), 0.2).x, pointAt(path, 0.8).x);
});

test("distance to a path is small on it and large beside it", () => {
  const path = laid(circle(0, 0), circle(200, 0), 1);
  const middle = pointAt(path, 0.5);
  assert.ok(distanceTo(path, middle.x, middle.y) < 1);
  near(distanceTo(laid(circle(0, 0), circle(200, 0), 0), 100, 30), 30);
});

test("zooming keeps the point under the pointer", () => {
  const camera = { k: 1, tx: 30, ty: -20 };
  const before = toDrawing(camera, 200, 100);
  const after = zoomed(camera, 1.7, 200, 100);
  const place = toCanvas(after, before.x, before.y);
  near(place.x, 200);
  near(place.y, 100);
  assert.equal(zoomed(camera, 1e9, 0, 0).k, SCALE_MAX);
  assert.equal(zoomed(camera, 1e-9, 0, 0).k, SCALE_MIN);
});

test("a fitted drawing lies inside the margins", () => {
  const box = boxAround([circle(-500, 0), circle(700, 300)]);
  assert.ok(box);
  const camera = fitted(box, 800, 600, { left: 10, right: 20, top: 30, bottom: 40 });
  const [from, to] = [toCanvas(camera, box.left, box.top), toCanvas(camera, box.right, box.bottom)];
  assert.ok(from.x >= 9.99 && from.y >= 29.99 && to.x <= 780.01 && to.y <= 560.01);
  assert.equal(boxAround([]), null);
  assert.deepEqual(between({ k: 1, tx: 0, ty: 0 }, { k: 4, tx: 10, ty: 20 }, 0.5), { k: 2, tx: 5, ty: 10 });
});

test("texts do not lie over one another, heavy ones win", () => {
  const text = (x: number, weight: number): { x: number; y: number; width: number; height: number; weight: number } => ({ x, y: 0, width: 50, height: 12, weight });
  const placed = placeLabels([text(0, 1), text(30, 5), text(200, 0), text(240, -1)], 10);
  assert.deepEqual(placed.map(({ x }) => x), [30, 200]);
  assert.equal(placeLabels([text(0, 1), text(500, 1)], 1).length, 1);
});

test("arrow keys go where they point", () => {
  const places = [{ x: 100, y: 5 }, { x: 10, y: 80 }, { x: -30, y: -3 }];
  const go = (key: string): unknown => steer({ x: 0, y: 0 }, ARROWS[key] ?? 0, places);
  assert.equal(go("ArrowRight"), places[0]);
  assert.equal(go("ArrowDown"), places[1]);
  assert.equal(go("ArrowLeft"), places[2]);
  assert.equal(steer({ x: 0, y: 0 }, 0, [{ x: -1, y: 0 }]), null);
});

test("a wave begins dark, ends lit, and never goes back", () => {
  for (const index of [0, 5, 9]) {
    let before = 0;
    for (let elapsed = 0; elapsed <= WAVE_MS; elapsed += 20) {
      const share = progress(elapsed, index, 10);
      assert.ok(share >= before && share <= 1);
      before = share;
    }
    assert.equal(progress(0, index, 10), 0);
    assert.equal(before, 1);
    near(ringShare(WAVE_MS, index, 10), 1);
  }
});

test("a trail knows which hop reached what, against the direction too", () => {
  const relationship = (id: string, start: string, end: string): { id: string; type: string; start: string; end: string } => ({ id, type: "T", start, end });
  const counts = { relationships: 1, nodes: 1, new_nodes: 1, micros: 1, pages_read: 0 };
  const walk: Walk = {
    start: "a",
    hops: [
      { ...counts, sample: [relationship("1", "a", "b"), relationship("2", "c", "a")] },
      { ...counts, sample: [relationship("3", "d", "c"), relationship("1", "a", "b")] },
    ],
    nodes: [],
    complete: true,
  };
  const trail = trailOf(walk, "both");
  assert.deepEqual(Object.fromEntries(trail.nodeHop), { a: 0, b: 1, c: 1, d: 2 });
  assert.deepEqual(Object.fromEntries(trail.relationshipHop), { 1: 1, 2: 1, 3: 2 });
  assert.deepEqual(trail.hops[1]?.map(({ from, to }) => [from, to]), [["c", "d"], ["b", "a"]]);
});
