//! The places of the drawn nodes, by d3's force simulation, ticked by whoever draws.
//!
//! Its own timer is off: one picture, at most one tick, and none when it has cooled down.

import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type ForceLink,
  type Simulation,
  type SimulationLinkDatum,
} from "d3-force";
import { quadtree, type Quadtree } from "d3-quadtree";

import type { DrawnGraph, DrawnNode } from "./model";

type Link = SimulationLinkDatum<DrawnNode>;

/** Nodes further apart than this do not push one another. */
const PUSH_DISTANCE_MAX = 700;
/** Longest time, in milliseconds, that settling at once may take. */
const SETTLE_MS_MAX = 500;

export class Layout {
  private readonly simulation: Simulation<DrawnNode, Link>;
  private readonly links: ForceLink<DrawnNode, Link>;
  private tree: Quadtree<DrawnNode> | null = null;

  constructor(private readonly graph: DrawnGraph) {
    this.links = forceLink<DrawnNode, Link>([]).distance((link) => distance(link)).iterations(1);
    this.simulation = forceSimulation<DrawnNode, Link>([])
      .force("links", this.links)
      .force("push", forceManyBody<DrawnNode>().strength(push).theta(0.95).distanceMax(PUSH_DISTANCE_MAX))
      .force("room", forceCollide<DrawnNode>((node) => node.radius + 5).strength(0.8))
      .force("x", forceX<DrawnNode>(0).strength(0.035))
      .force("y", forceY<DrawnNode>(0).strength(0.045))
      .alphaDecay(0.028)
      .velocityDecay(0.42)
      .stop();
  }

  /** Takes over what is drawn now, and warms up: 1 is all anew, 0.3 a small change. */
  update(warmth: number): void {
    const seen = new Set<string>();
    const links: Link[] = [];
    for (const { source, target } of this.graph.relationships.values()) {
      const key = source.order < target.order ? `${source.order} ${target.order}` : `${target.order} ${source.order}`;
      if (source === target || seen.has(key)) continue;
      seen.add(key);
      links.push({ source, target });
    }
    this.simulation.nodes([...this.graph.nodes.values()]);
    this.links.links(links);
    this.warm(warmth);
  }

  warm(warmth: number): void {
    this.simulation.alpha(Math.max(this.simulation.alpha(), warmth));
    this.tree = null;
  }

  /** Whether nodes still move. */
  get moving(): boolean {
    return this.graph.nodes.size > 0 && this.simulation.alpha() >= this.simulation.alphaMin();
  }

  /** One step; false when all has come to rest. */
  tick(): boolean {
    if (!this.moving) return false;
    this.simulation.tick();
    this.tree = null;
    return true;
  }

  /** Steps until all rests, for those who want no motion; not longer than half a second. */
  settle(): void {
    const end = performance.now() + SETTLE_MS_MAX;
    while (performance.now() < end && this.tick());
    this.simulation.alpha(0);
  }

  /** The node at a point of the drawing, or the nearest within `slack` of its circle. */
  find(x: number, y: number, slack: number): DrawnNode | null {
    this.tree ??= quadtree<DrawnNode>()
      .x((node) => node.x)
      .y((node) => node.y)
      .addAll([...this.graph.nodes.values()]);
    const node = this.tree.find(x, y, 20 + slack);
    return node && Math.hypot(node.x - x, node.y - y) <= node.radius + slack ? node : null;
  }

  /** Says that a node was moved by hand. */
  moved(): void {
    this.tree = null;
  }
}

function ends(link: Link): [DrawnNode, DrawnNode] {
  return [link.source as DrawnNode, link.target as DrawnNode];
}

/** Long between two nodes of many relationships, short to one that has no other. */
function distance(link: Link): number {
  const [source, target] = ends(link);
  const less = Math.min(source.degree, target.degree);
  const more = Math.max(source.degree, target.degree);
  return 46 + 3.2 * Math.sqrt(more) + 16 * Math.log2(1 + less);
}

function push(node: DrawnNode): number {
  return -130 - 26 * Math.sqrt(node.degree);
}
