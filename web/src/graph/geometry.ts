//! Where a relationship lies: a line, a bow beside parallel ones, or a loop at its own node.
//!
//! Pure. A path is a cubic curve in the drawing's units, cut at the circles of its nodes, so that
//! an arrow head at its end touches the circle. Paths are written in place: none is made per picture.

export interface Circle {
  x: number;
  y: number;
  radius: number;
}

/** A cubic curve from (x0, y0) to (x3, y3); `straight` ones are drawn as a line. */
export interface Path {
  straight: boolean;
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  x3: number;
  y3: number;
}

/** Distance between the tops of neighbouring bows. */
const LANE_WIDTH = 17;
/** What is left free between the arrow head and the circle. */
const GAP = 1.5;

export function newPath(): Path {
  return { straight: true, x0: 0, y0: 0, x1: 0, y1: 0, x2: 0, y2: 0, x3: 0, y3: 0 };
}

/** Lays `path` from one circle to another, in its lane; a loop when they are the same. */
export function lay(path: Path, from: Circle, to: Circle, lane: number): void {
  if (from === to) layLoop(path, from, lane);
  else if (lane === 0) layLine(path, from, to);
  else layBow(path, from, to, lane);
}

function layLine(path: Path, from: Circle, to: Circle): void {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length = Math.hypot(dx, dy) || 1;
  const start = Math.min(from.radius / length, 0.5);
  const end = Math.max(1 - (to.radius + GAP) / length, 0.5);
  path.straight = true;
  path.x0 = from.x + dx * start;
  path.y0 = from.y + dy * start;
  path.x3 = from.x + dx * end;
  path.y3 = from.y + dy * end;
  path.x1 = path.x0 + (path.x3 - path.x0) / 3;
  path.y1 = path.y0 + (path.y3 - path.y0) / 3;
  path.x2 = path.x0 + ((path.x3 - path.x0) * 2) / 3;
  path.y2 = path.y0 + ((path.y3 - path.y0) * 2) / 3;
}

function layBow(path: Path, from: Circle, to: Circle, lane: number): void {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length = Math.hypot(dx, dy) || 1;
  // The top of a cubic bow is at three quarters of its handles.
  const top = Math.sign(lane) * Math.min(Math.abs(lane) * LANE_WIDTH, length * 0.45) * (4 / 3);
  const nx = (-dy / length) * top;
  const ny = (dx / length) * top;
  const x1 = from.x + dx * 0.3 + nx;
  const y1 = from.y + dy * 0.3 + ny;
  const x2 = from.x + dx * 0.7 + nx;
  const y2 = from.y + dy * 0.7 + ny;
  const start = towards(from, x1, y1, from.radius);
  const end = towards(to, x2, y2, to.radius + GAP);
  path.straight = false;
  path.x0 = start.x;
  path.y0 = start.y;
  path.x1 = x1;
  path.y1 = y1;
  path.x2 = x2;
  path.y2 = y2;
  path.x3 = end.x;
  path.y3 = end.y;
}

function layLoop(path: Path, node: Circle, lane: number): void {
  const spread = 0.42;
  const middle = -Math.PI / 2 + lane * 0.95;
  const reach = node.radius * 2.2 + 30;
  path.straight = false;
  path.x0 = node.x + node.radius * Math.cos(middle - spread);
  path.y0 = node.y + node.radius * Math.sin(middle - spread);
  path.x1 = node.x + reach * Math.cos(middle - spread);
  path.y1 = node.y + reach * Math.sin(middle - spread);
  path.x2 = node.x + reach * Math.cos(middle + spread);
  path.y2 = node.y + reach * Math.sin(middle + spread);
  path.x3 = node.x + (node.radius + GAP) * Math.cos(middle + spread);
  path.y3 = node.y + (node.radius + GAP) * Math.sin(middle + spread);
}

function towards(circle: Circle, x: number, y: number, distance: number): { x: number; y: number } {
  const dx = x - circle.x;
  const dy = y - circle.y;
  const length = Math.hypot(dx, dy) || 1;
  const share = Math.min(distance / length, 0.9);
  return { x: circle.x + dx * share, y: circle.y + dy * share };
}

/** The point at share `t` of a path, 0 to 1. */
export function pointAt(path: Path, t: number): { x: number; y: number } {
  const u = 1 - t;
  const a = u * u * u;
  const b = 3 * u * u * t;
  const c = 3 * u * t * t;
  const d = t * t * t;
  return {
    x: a * path.x0 + b * path.x1 + c * path.x2 + d * path.x3,
    y: a * path.y0 + b * path.y1 + c * path.y2 + d * path.y3,
  };
}

/** The part of `path` between two shares, as a path of its own (de Casteljau). */
export function part(path: Path, from: number, to: number): Path {
  const left = to >= 1 ? { ...path } : leftPart(path, to);
  if (from <= 0) return left;
  return reversed(leftPart(reversed(left), 1 - from / Math.max(to, 1e-6)));
}

function leftPart(path: Path, t: number): Path {
  const mix = (a: number, b: number): number => a + (b - a) * t;
  const ax = mix(path.x0, path.x1);
  const ay = mix(path.y0, path.y1);
  const bx = mix(path.x1, path.x2);
  const by = mix(path.y1, path.y2);
  const cx = mix(path.x2, path.x3);
  const cy = mix(path.y2, path.y3);
  const dx = mix(ax, bx);
  const dy = mix(ay, by);
  const ex = mix(bx, cx);
  const ey = mix(by, cy);
  const { straight, x0, y0 } = path;
  return { straight, x0, y0, x1: ax, y1: ay, x2: dx, y2: dy, x3: mix(dx, ex), y3: mix(dy, ey) };
}

/** The same curve from its other end. */
export function reversed(path: Path): Path {
  const { straight, x0, y0, x1, y1, x2, y2, x3, y3 } = path;
  return { straight, x0: x3, y0: y3, x1: x2, y1: y2, x2: x1, y2: y1, x3: x0, y3: y0 };
}

/** The direction in which a path arrives, in radians. */
export function arrival(path: Path): number {
  return Math.atan2(path.y3 - path.y2, path.x3 - path.x2);
}

/** The least distance of a point to a path; by eight chords, which is near enough for a pointer. */
export function distanceTo(path: Path, x: number, y: number): number {
  if (path.straight) return distanceToChord(path.x0, path.y0, path.x3, path.y3, x, y);
  let least = Infinity;
  let before = pointAt(path, 0);
  for (let step = 1; step <= 8; step += 1) {
    const next = pointAt(path, step / 8);
    least = Math.min(least, distanceToChord(before.x, before.y, next.x, next.y, x, y));
    before = next;
  }
  return least;
}

function distanceToChord(ax: number, ay: number, bx: number, by: number, x: number, y: number): number {
  const dx = bx - ax;
  const dy = by - ay;
  const square = dx * dx + dy * dy || 1;
  const share = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / square));
  return Math.hypot(x - ax - share * dx, y - ay - share * dy);
}
