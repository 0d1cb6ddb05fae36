//! What is drawn: nodes and relationships, at most `NODES_MAX` nodes at once.
//!
//! Knows nothing of the screen and asks no server. Invariants: both ends of every drawn
//! relationship are drawn; a node that is kept (selected, moved by hand, part of the walk, a root)
//! is never taken away to make room; the oldest others go first.

import type { SimulationNodeDatum } from "d3-force";

import type { Id, NodeSummary, Relationship } from "../types";
import { caption } from "../values";
import { newPath, type Path } from "./geometry";

/** The most nodes that are drawn at once. */
export const NODES_MAX = 500;

export interface DrawnNode extends SimulationNodeDatum {
  id: Id;
  summary: NodeSummary;
  caption: string;
  x: number;
  y: number;
  /** Radius in the drawing's own units. */
  radius: number;
  /** Relationships drawn at this node. */
  degree: number;
  /** Grows with each node drawn: small is old. */
  order: number;
  /** Put in its place by hand. */
  pinned: boolean;
  /** How many relationships it has, drawn or not; known once its surroundings were drawn. */
  total: number | null;
}

export interface DrawnRelationship {
  id: Id;
  type: string;
  source: DrawnNode;
  target: DrawnNode;
  /** Place among the relationships of the same two nodes: 0 is straight, others bow aside. */
  lane: number;
  /** Where it lies; worked out anew for each picture. */
  path: Path;
}

/** What became of an addition. */
export interface Added {
  nodes: DrawnNode[];
  relationships: number;
  /** Nodes that made room. */
  removed: number;
  /** Nodes for which there was no room. */
  refused: number;
}

export class DrawnGraph {
  readonly nodes = new Map<Id, DrawnNode>();
  readonly relationships = new Map<Id, DrawnRelationship>();
  /** Where nodes lay that are gone, so that they come back to their place. */
  private readonly places = new Map<Id, { x: number; y: number }>();
  private readonly around = new Map<Id, Set<DrawnRelationship>>();
  private order = 0;

  /**
   * Draws nodes and then those relationships whose ends are both drawn. New nodes start near
   * `near`; `keep` says which nodes must not make room.
   */
  add(nodes: NodeSummary[], relationships: Relationship[], near: Id | null, keep: (id: Id) => boolean): Added {
    const wanted = new Map(nodes.map((node) => [node.id, node]));
    const fresh = [...wanted.values()].filter((node) => !this.nodes.has(node.id));
    const removed = this.makeRoom(fresh.length, (id) => keep(id) || wanted.has(id) || id === near);
    const room = Math.max(0, NODES_MAX - this.nodes.size);
    const added = fresh.slice(0, room).map((node, index) => this.draw(node, near, index));
    for (const node of wanted.values()) this.refresh(node);
    let count = 0;
    for (const relationship of relationships) if (this.connect(relationship)) count += 1;
    this.arrange();
    return { nodes: added, relationships: count, removed, refused: fresh.length - added.length };
  }

  /** Takes away everything; places are remembered. */
  clear(): void {
    this.retain(() => false);
  }

  /** Takes away everything, places too, as what comes has nothing to do with it. */
  forget(): void {
    this.clear();
    this.places.clear();
  }

  /** Takes away all nodes that `keep` does not name. */
  retain(keep: (id: Id) => boolean): void {
    for (const id of [...this.nodes.keys()]) if (!keep(id)) this.remove(id);
    this.arrange();
  }

  /** Relationships drawn at a node; a self relationship once. */
  relationshipsOf(id: Id): DrawnRelationship[] {
    return [...(this.around.get(id) ?? [])];
  }

  /** Drawn nodes next to a node, without itself, each once. */
  neighbours(id: Id): DrawnNode[] {
    const found = new Map<Id, DrawnNode>();
    for (const { source, target } of this.around.get(id) ?? []) {
      const other = source.id === id ? target : source;
      if (other.id !== id) found.set(other.id, other);
    }
    return [...found.values()];
  }

  private makeRoom(count: number, keep: (id: Id) => boolean): number {
    const surplus = this.nodes.size + count - NODES_MAX;
    if (surplus <= 0) return 0;
    const candidates = [...this.nodes.values()].filter((node) => !node.pinned && !keep(node.id));
    candidates.sort((a, b) => a.order - b.order);
    const leaving = candidates.slice(0, surplus);
    for (const node of leaving) this.remove(node.id);
    return leaving.length;
  }

  private draw(summary: NodeSummary, near: Id | null, index: number): DrawnNode {
    const node: DrawnNode = {
      id: summary.id,
      summary,
      caption: caption(summary),
      ...(this.places.get(summary.id) ?? this.placeNear(near, index)),
      radius: 7,
      degree: 0,
      order: this.order++,
      pinned: false,
      total: null,
    };
    this.nodes.set(node.id, node);
    this.around.set(node.id, new Set());
    return node;
  }

  /** A free place around a node: along a spiral, so that no two start alike. */
  private placeNear(near: Id | null, index: number): { x: number; y: number } {
    const centre = near === null ? undefined : this.nodes.get(near);
    const angle = index * 2.399963;
    const distance = centre ? 40 + 9 * Math.sqrt(index) : 30 * Math.sqrt(this.nodes.size);
    return { x: (centre?.x ?? 0) + distance * Math.cos(angle), y: (centre?.y ?? 0) + distance * Math.sin(angle) };
  }

  /** Takes over a fuller or newer summary. */
  private refresh(summary: NodeSummary): void {
    const node = this.nodes.get(summary.id);
    if (!node) return;
    node.summary = summary;
    node.caption = caption(summary);
  }

  private connect(relationship: Relationship): boolean {
    const source = this.nodes.get(relationship.start);
    const target = this.nodes.get(relationship.end);
    if (!source || !target || this.relationships.has(relationship.id)) return false;
    const { id, type } = relationship;
    const drawn: DrawnRelationship = { id, type, source, target, lane: 0, path: newPath() };
    this.relationships.set(id, drawn);
    this.around.get(source.id)?.add(drawn);
    this.around.get(target.id)?.add(drawn);
    return true;
  }

  private remove(id: Id): void {
    const node = this.nodes.get(id);
    if (!node) return;
    this.places.set(id, { x: node.x, y: node.y });
    for (const relationship of this.around.get(id) ?? []) {
      this.relationships.delete(relationship.id);
      this.around.get(relationship.source.id)?.delete(relationship);
      this.around.get(relationship.target.id)?.delete(relationship);
    }
    this.around.delete(id);
    this.nodes.delete(id);
  }

  /** Works out degrees, radii, and the lanes of relationships between the same two nodes. */
  private arrange(): void {
    const pairs = new Map<string, DrawnRelationship[]>();
    for (const relationship of this.relationships.values()) {
      const { source, target } = relationship;
      const key = source.order < target.order ? `${source.id} ${target.id}` : `${target.id} ${source.id}`;
      const list = pairs.get(key);
      if (list) list.push(relationship);
      else pairs.set(key, [relationship]);
    }
    for (const list of pairs.values()) setLanes(list);
    for (const node of this.nodes.values()) {
      node.degree = this.around.get(node.id)?.size ?? 0;
      node.radius = 6.5 + Math.min(9, 1.35 * Math.sqrt(Math.max(0, node.degree - 1)));
    }
  }
}

/** Spreads relationships of one pair over lanes; the sign is that of the pair, not of the direction. */
function setLanes(list: DrawnRelationship[]): void {
  list.forEach((relationship, index) => {
    const { source, target } = relationship;
    if (source === target) {
      relationship.lane = index;
      return;
    }
    const lane = index - (list.length - 1) / 2;
    relationship.lane = source.order < target.order ? lane : -lane;
  });
}
