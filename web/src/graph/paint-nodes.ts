//! Paints nodes: discs in the colour of their label, or of the hop that reached them; rings around
//! what is selected or was just reached; a mark on nodes that have more relationships than are drawn.

import type { Look } from "../colours";
import { progress, ringShare } from "../walk/wave";
import type { DrawnNode } from "./model";
import { isDim, isHidden, type Scene } from "./scene";

interface Batch {
  colour: string;
  form: Look["form"];
  alpha: number;
  nodes: DrawnNode[];
}

const DIM_ALPHA = 0.22;

/** Paints all nodes; gives those that are seen. */
export function paintNodes(context: CanvasRenderingContext2D, scene: Scene): DrawnNode[] {
  const reached = reachedByWave(scene);
  const batches = new Map<string, Batch>();
  const seen: DrawnNode[] = [];
  for (const node of scene.graph.nodes.values()) {
    if (isHidden(scene, node) || !isSeen(scene, node)) continue;
    seen.push(node);
    const batch = batchOf(scene, node, reached);
    const key = `${batch.colour} ${batch.form} ${batch.alpha}`;
    const known = batches.get(key);
    if (known) known.nodes.push(node);
    else batches.set(key, { ...batch, nodes: [node] });
  }
  for (const batch of [...batches.values()].sort((a, b) => a.alpha - b.alpha)) paintBatch(context, scene, batch);
  paintRings(context, scene, reached);
  return seen;
}

function isSeen(scene: Scene, node: DrawnNode): boolean {
  const { k, tx, ty } = scene.camera;
  const x = node.x * k + tx;
  const y = node.y * k + ty;
  const room = node.radius * k + 20;
  return x > -room && y > -room && x < scene.width + room && y < scene.height + room;
}

function batchOf(scene: Scene, node: DrawnNode, reached: Map<string, number>): Omit<Batch, "nodes"> {
  const { palette, trail, wave } = scene;
  const look = scene.labels.lookOf(node.summary.labels);
  const hop = trail?.nodeHop.get(node.id);
  const waiting = wave !== null && hop === wave.hop && (reached.get(node.id) ?? 0) < 1;
  if (hop !== undefined && !waiting) {
    return { colour: palette.hops[hop] ?? palette.ink, form: "disc", alpha: 1 };
  }
  const colour = look.hue === null ? palette.none : (palette.hues[look.hue] ?? palette.none);
  return { colour, form: look.form, alpha: waiting || isDim(scene, node) ? DIM_ALPHA : 1 };
}

/** How far the fronts on their way to each node of the wave's hop have come; the first counts. */
function reachedByWave({ wave, trail }: Scene): Map<string, number> {
  const reached = new Map<string, number>();
  if (!wave || !trail) return reached;
  const steps = trail.hops[wave.hop - 1] ?? [];
  steps.forEach((step, index) => {
    const share = progress(wave.elapsed, index, steps.length);
    reached.set(step.to, Math.max(share, reached.get(step.to) ?? 0));
  });
  return reached;
}

function paintBatch(context: CanvasRenderingContext2D, scene: Scene, batch: Batch): void {
  const { palette } = scene;
  const ring = batch.form !== "disc";
  // A rim of the paper's colour keeps discs apart where they touch; it also hides lines below dim discs.
  context.globalAlpha = 1;
  context.fillStyle = palette.paper;
  discs(context, batch.nodes, 1.5);
  context.globalAlpha = batch.alpha;
  context.fillStyle = batch.colour;
  discs(context, batch.nodes, 0);
  if (ring) {
    context.globalAlpha = 1;
    context.fillStyle = palette.paper;
    discs(context, batch.nodes, -3);
  }
  if (batch.form === "target") {
    context.globalAlpha = batch.alpha;
    context.fillStyle = batch.colour;
    discs(context, batch.nodes, -5);
  }
  context.globalAlpha = 1;
}

function discs(context: CanvasRenderingContext2D, nodes: DrawnNode[], grow: number): void {
  context.beginPath();
  for (const { x, y, radius } of nodes) {
    const r = Math.max(0.5, radius + grow);
    context.moveTo(x + r, y);
    context.arc(x, y, r, 0, 2 * Math.PI);
  }
  context.fill();
}

function paintRings(context: CanvasRenderingContext2D, scene: Scene, reached: Map<string, number>): void {
  const { palette, graph, wave, trail } = scene;
  if (wave && trail) paintReached(context, scene, reached);
  const start = trail ? graph.nodes.get(trail.start) : undefined;
  if (start) circle(context, start, 4, palette.hops[0] ?? palette.ink, 1.5);
  const hovered = scene.hoveredNode === null ? undefined : graph.nodes.get(scene.hoveredNode);
  if (hovered) circle(context, hovered, 3.5, palette.inkSoft, 1.25);
  const selected = scene.selected === null ? undefined : graph.nodes.get(scene.selected);
  if (selected) {
    circle(context, selected, 2.5, palette.paper, 4);
    circle(context, selected, 4.5, palette.accent, 2.25);
  }
}

/** Rings that run outwards from nodes at the moment a front arrives. */
function paintReached(context: CanvasRenderingContext2D, scene: Scene, reached: Map<string, number>): void {
  const { wave, trail, palette, graph } = scene;
  if (!wave || !trail) return;
  const steps = trail.hops[wave.hop - 1] ?? [];
  const colour = palette.hops[wave.hop] ?? palette.ink;
  const done = new Set<string>();
  steps.forEach((step, index) => {
    const node = graph.nodes.get(step.to);
    const share = ringShare(wave.elapsed, index, steps.length);
    if (!node || share <= 0 || share >= 1 || done.has(step.to) || (reached.get(step.to) ?? 0) < 1) return;
    done.add(step.to);
    context.globalAlpha = 1 - share;
    circle(context, node, 2 + 14 * share, colour, 2);
  });
  context.globalAlpha = 1;
}

function circle(context: CanvasRenderingContext2D, node: DrawnNode, grow: number, colour: string, width: number): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  context.arc(node.x, node.y, node.radius + grow, 0, 2 * Math.PI);
  context.stroke();
}
