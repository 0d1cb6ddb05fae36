//! Paints relationships: lines, bows and loops with arrow heads, and the wave of a hop.
//!
//! Lines of one look are one stroke, as many small strokes are slow without a graphics processor.

import { arrival, lay, part, pointAt, reversed, type Path } from "./geometry";
import type { DrawnRelationship } from "./model";
import { isDim, isHidden, isInView, type Scene } from "./scene";
import { progress } from "../walk/wave";
import type { Step } from "../walk/trail";

/** How lines look; lines of one look are painted together, in this order. */
interface Look {
  colour: string;
  width: number;
  alpha: number;
}

/** At a node with more relationships than this they are drawn lighter, with smaller heads. */
const CROWD = 24;
/** Below this scale arrow heads are too small to be seen. */
const ARROW_SCALE_MIN = 0.3;
const ARROW_LENGTH = 7;
const ARROW_HALF_WIDTH = 2.9;

/** Paints all relationships; gives those that are seen, with their paths laid. */
export function paintRelationships(context: CanvasRenderingContext2D, scene: Scene): DrawnRelationship[] {
  const seen: DrawnRelationship[] = [];
  const batches = new Map<string, { look: Look; list: DrawnRelationship[] }>();
  for (const relationship of scene.graph.relationships.values()) {
    if (!isInView(scene, relationship)) continue;
    if (isHidden(scene, relationship.source) || isHidden(scene, relationship.target)) continue;
    lay(relationship.path, relationship.source, relationship.target, relationship.lane);
    seen.push(relationship);
    const look = lookOf(scene, relationship);
    const key = `${look.colour} ${look.width} ${look.alpha}`;
    const batch = batches.get(key);
    if (batch) batch.list.push(relationship);
    else batches.set(key, { look, list: [relationship] });
  }
  const ordered = [...batches.values()].sort((a, b) => a.look.width - b.look.width || a.look.alpha - b.look.alpha);
  for (const { look, list } of ordered) paintBatch(context, scene, look, list);
  if (scene.wave) paintWave(context, scene);
  return seen;
}

function lookOf(scene: Scene, relationship: DrawnRelationship): Look {
  const { palette, trail, wave } = scene;
  const { id, source, target } = relationship;
  const pointed = id === scene.hoveredRelationship || id === scene.selectedRelationship;
  if (pointed) return { colour: palette.accent, width: 2, alpha: 1 };
  const hop = trail?.relationshipHop.get(id);
  if (trail && hop !== undefined && !(wave && hop === wave.hop)) {
    const newest = hop === trail.hops.length;
    const colour = palette.hops[hop] ?? palette.ink;
    return { colour, width: newest ? 1.9 : 1.3, alpha: newest ? 0.95 : 0.5 };
  }
  if (trail || isDim(scene, source) || isDim(scene, target)) {
    return { colour: palette.line, width: 1, alpha: 0.35 };
  }
  const near = source.id === scene.selected || target.id === scene.selected;
  const hovered = source.id === scene.hoveredNode || target.id === scene.hoveredNode;
  if (near || hovered) {
    const crowded = Math.max(source.degree, target.degree) > CROWD;
    return { colour: palette.lineStrong, width: crowded ? 1 : 1.3, alpha: crowded ? 0.55 : 1 };
  }
  return { colour: palette.line, width: 1, alpha: 1 };
}

function paintBatch(context: CanvasRenderingContext2D, scene: Scene, look: Look, list: DrawnRelationship[]): void {
  const { k } = scene.camera;
  context.globalAlpha = look.alpha;
  context.strokeStyle = look.colour;
  context.fillStyle = look.colour;
  // Thin lines keep their width on the screen when the drawing shrinks.
  context.lineWidth = look.width / Math.min(1, Math.max(k, 0.12));
  context.beginPath();
  for (const { path } of list) trace(context, path);
  context.stroke();
  if (k >= ARROW_SCALE_MIN) {
    context.beginPath();
    for (const { path, target } of list) {
      // Many heads at one node would grow together into a ring.
      traceArrow(context, path, target.degree > CROWD ? 0.6 : 0.82 + look.width * 0.18);
    }
    context.fill();
  }
  context.globalAlpha = 1;
}

function trace(context: CanvasRenderingContext2D, path: Path): void {
  context.moveTo(path.x0, path.y0);
  if (path.straight) context.lineTo(path.x3, path.y3);
  else context.bezierCurveTo(path.x1, path.y1, path.x2, path.y2, path.x3, path.y3);
}

function traceArrow(context: CanvasRenderingContext2D, path: Path, size: number): void {
  const angle = arrival(path);
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const backX = path.x3 - ARROW_LENGTH * size * cos;
  const backY = path.y3 - ARROW_LENGTH * size * sin;
  const sideX = ARROW_HALF_WIDTH * size * sin;
  const sideY = ARROW_HALF_WIDTH * size * cos;
  context.moveTo(path.x3, path.y3);
  context.lineTo(backX - sideX, backY + sideY);
  context.lineTo(backX + sideX, backY - sideY);
  context.closePath();
}

/** The relationships of the hop that lights up: as far as their fronts have come, each with its front. */
function paintWave(context: CanvasRenderingContext2D, scene: Scene): void {
  const { wave, trail, palette, graph } = scene;
  if (!wave || !trail) return;
  const steps = trail.hops[wave.hop - 1] ?? [];
  const colour = palette.hops[wave.hop] ?? palette.ink;
  const fronts: { x: number; y: number }[] = [];
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  steps.forEach((step, index) => {
    const relationship = graph.relationships.get(step.relationship.id);
    const share = progress(wave.elapsed, index, steps.length);
    if (!relationship || share <= 0) return;
    if (isHidden(scene, relationship.source) || isHidden(scene, relationship.target)) return;
    lay(relationship.path, relationship.source, relationship.target, relationship.lane);
    const path = along(relationship.path, step);
    trace(context, part(path, 0, share));
    if (share < 1) fronts.push(pointAt(path, share));
  });
  context.stroke();
  for (const [radius, alpha] of [[8, 0.16], [5, 0.3], [2.6, 1]] as const) {
    context.globalAlpha = alpha;
    context.beginPath();
    for (const { x, y } of fronts) {
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
    }
    context.fill();
  }
  context.globalAlpha = 1;
}

/** A relationship's path in the direction in which the hop followed it. */
function along(path: Path, step: Step): Path {
  return step.from === step.relationship.start ? path : reversed(path);
}
