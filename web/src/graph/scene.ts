//! All that one picture shows. The painter reads it and changes nothing but the paths in it.

import type { Labels, Palette } from "../colours";
import type { Id } from "../types";
import type { Trail } from "../walk/trail";
import type { Camera } from "./camera";
import type { DrawnGraph, DrawnNode, DrawnRelationship } from "./model";

/** The hop that lights up just now. */
export interface Wave {
  hop: number;
  /** Milliseconds since it began. */
  elapsed: number;
}

export interface Scene {
  graph: DrawnGraph;
  camera: Camera;
  palette: Palette;
  labels: Labels;
  width: number;
  height: number;
  selected: Id | null;
  /** The node or relationship under the pointer. */
  hoveredNode: Id | null;
  hoveredRelationship: Id | null;
  selectedRelationship: Id | null;
  /** Labels whose nodes are not drawn, and the one whose nodes stand out. */
  hiddenLabels: ReadonlySet<string>;
  brightLabel: string | null;
  trail: Trail | null;
  wave: Wave | null;
}

export function isHidden(scene: Scene, node: DrawnNode): boolean {
  if (scene.hiddenLabels.size === 0) return false;
  const label = scene.labels.leading(node.summary.labels);
  return label !== null && scene.hiddenLabels.has(label) && node.id !== scene.selected;
}

/** Whether a node steps back behind others. */
export function isDim(scene: Scene, node: DrawnNode): boolean {
  if (scene.brightLabel !== null && !node.summary.labels.includes(scene.brightLabel)) return true;
  return scene.trail !== null && !scene.trail.nodeHop.has(node.id);
}

/** Whether a relationship lies, at least in part, where it can be seen. */
export function isInView(scene: Scene, { source, target }: DrawnRelationship): boolean {
  const { k, tx, ty } = scene.camera;
  const room = 60;
  const left = (-room - tx) / k;
  const right = (scene.width + room - tx) / k;
  const top = (-room - ty) / k;
  const bottom = (scene.height + room - ty) / k;
  return !(
    (source.x < left && target.x < left) ||
    (source.x > right && target.x > right) ||
    (source.y < top && target.y < top) ||
    (source.y > bottom && target.y > bottom)
  );
}
