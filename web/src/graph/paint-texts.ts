//! Paints texts over the drawing, in the screen's own scale: captions where there is room, types of
//! relationships when near enough, and badges on nodes of which only a part is drawn.

import { count } from "../format";
import { cutText } from "../values";
import { toCanvas } from "./camera";
import { pointAt } from "./geometry";
import { placeLabels, type Candidate } from "./labels";
import type { DrawnNode, DrawnRelationship } from "./model";
import { isDim, type Scene } from "./scene";

/** About the most texts of one picture. */
const TEXTS_MAX = 90;
/** From this scale on types of relationships are written. */
const TYPES_SCALE_MIN = 1.05;
/** From this scale on every type has its turn; below, two of a type at each node are enough. */
const ALL_TYPES_SCALE_MIN = 2;
const TYPES_AT_NODE = 2;
const CAPTION_SIZE = 12;
const CAPTION_HEIGHT = CAPTION_SIZE + 2;
const TYPE_SIZE = 10;

interface Text extends Candidate {
  /** Empty for a node's own place, which only keeps texts away. */
  text: string;
  font: string;
  colour: string;
  alpha: number;
  badge: boolean;
}

export class TextPainter {
  private readonly widths = new Map<string, number>();
  /** Texts of the picture before: they are kept rather than replaced, so that texts do not flicker. */
  private shown = new Set<string>();

  paint(context: CanvasRenderingContext2D, scene: Scene, nodes: DrawnNode[], relationships: DrawnRelationship[]): void {
    const texts: Text[] = nodes.flatMap((node) => [this.captionOf(context, scene, node), placeOf(scene, node)]);
    for (const node of nodes) {
      const badge = this.badgeOf(context, scene, node);
      if (badge) texts.push(badge);
    }
    texts.push(...this.types(context, scene, relationships));
    const placed = placeLabels(texts, TEXTS_MAX + nodes.length).filter((text) => text.text !== "");
    this.shown = new Set(placed.map((text) => text.text));
    context.textAlign = "center";
    context.textBaseline = "top";
    context.lineJoin = "round";
    for (const text of placed) write(context, scene, text);
    context.globalAlpha = 1;
  }

  private captionOf(context: CanvasRenderingContext2D, scene: Scene, node: DrawnNode): Text {
    const { palette } = scene;
    const chosen = node.id === scene.selected || node.id === scene.hoveredNode;
    const strong = chosen || node.total !== null;
    const font = `${strong ? 600 : 400} ${CAPTION_SIZE}px ${palette.font}`;
    const text = chosen ? node.caption : cutText(node.caption, 24);
    const width = this.width(context, text, font);
    const dim = isDim(scene, node);
    const weight = (chosen ? 1e6 : 0) + (dim ? -500 : 0) + (node.total === null ? 0 : 400) + node.degree * 4;
    return {
      ...{ text, font, badge: false, height: CAPTION_HEIGHT, width },
      ...captionPlace(scene, node, width),
      weight: weight + (this.shown.has(text) ? 6 : 0) - node.order * 1e-3,
      colour: strong ? palette.ink : palette.inkSoft,
      alpha: dim && !chosen ? 0.45 : 1,
    };
  }

  private badgeOf(context: CanvasRenderingContext2D, scene: Scene, node: DrawnNode): Text | null {
    const { palette, camera } = scene;
    if (node.total === null || node.degree >= node.total) return null;
    const text = `${count(node.degree)} of ${count(node.total)} shown`;
    const font = `600 10.5px ${palette.font}`;
    const at = toCanvas(camera, node.x, node.y);
    return {
      ...{ text, font, badge: true, height: 17, width: this.width(context, text, font) + 14 },
      x: at.x,
      y: at.y - node.radius * camera.k - 25,
      weight: 5e5,
      colour: palette.paper,
      alpha: 1,
    };
  }

  private types(context: CanvasRenderingContext2D, scene: Scene, relationships: DrawnRelationship[]): Text[] {
    const { k } = scene.camera;
    const written = new Map<string, number>();
    const texts: Text[] = [];
    for (const relationship of relationships) {
      const { source, target, type } = relationship;
      const key = `${source.degree > target.degree ? source.id : target.id} ${type}`;
      const number = (written.get(key) ?? 0) + 1;
      written.set(key, number);
      const crowded = k < ALL_TYPES_SCALE_MIN && (number > TYPES_AT_NODE || scene.trail !== null);
      const text = this.typeOf(context, scene, relationship, crowded);
      if (text) texts.push(text);
    }
    return texts;
  }

  /** A relationship's type where it is written: pointed at, or near enough and not one of a crowd. */
  private typeOf(context: CanvasRenderingContext2D, scene: Scene, relationship: DrawnRelationship, crowded: boolean): Text | null {
    const { palette, camera } = scene;
    const pointed = relationship.id === scene.hoveredRelationship || relationship.id === scene.selectedRelationship;
    if (!pointed && (crowded || camera.k < TYPES_SCALE_MIN)) return null;
    const font = `${pointed ? 600 : 500} ${pointed ? TYPE_SIZE + 1 : TYPE_SIZE}px ${palette.font}`;
    const middle = pointAt(relationship.path, 0.5);
    const at = toCanvas(camera, middle.x, middle.y);
    const text = relationship.type;
    return {
      ...{ text, font, badge: false, height: TYPE_SIZE + 2, width: this.width(context, text, font) },
      x: at.x,
      y: at.y - 6,
      weight: pointed ? 9e5 : -1_000,
      colour: pointed ? palette.accent : palette.inkSoft,
      alpha: 1,
    };
  }

  private width(context: CanvasRenderingContext2D, text: string, font: string): number {
    const key = `${font} ${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      if (this.widths.size > 5_000) this.widths.clear();
      context.font = font;
      width = context.measureText(text).width;
      this.widths.set(key, width);
    }
    return width;
  }
}

/**
 * Where a caption stands: below its node; at the end of a single relationship on the side away from
 * it, so that the captions around a star point outwards.
 */
function captionPlace({ graph, camera }: Scene, node: DrawnNode, width: number): { x: number; y: number } {
  const at = toCanvas(camera, node.x, node.y);
  const off = node.radius * camera.k + 4;
  const other = node.degree === 1 ? graph.neighbours(node.id)[0] : undefined;
  const dx = other ? node.x - other.x : 0;
  const dy = other ? node.y - other.y : 1;
  if (Math.abs(dx) > Math.abs(dy) * 0.7) return { x: at.x + Math.sign(dx) * (off + 1 + width / 2), y: at.y - CAPTION_HEIGHT / 2 };
  return { x: at.x, y: dy > 0 ? at.y + off : at.y - off - CAPTION_HEIGHT + 1 };
}

/** The square that a node itself takes up: texts of other nodes keep off it. */
function placeOf({ camera }: Scene, node: DrawnNode): Text {
  const radius = node.radius * camera.k * 0.8;
  const at = toCanvas(camera, node.x, node.y);
  const size = { x: at.x, y: at.y - radius, width: 2 * radius, height: 2 * radius };
  return { ...size, weight: 3e5, text: "", font: "", colour: "", alpha: 0, badge: false };
}

function write(context: CanvasRenderingContext2D, scene: Scene, text: Text): void {
  context.font = text.font;
  context.globalAlpha = text.alpha;
  if (text.badge) {
    context.fillStyle = scene.palette.ink;
    context.beginPath();
    context.roundRect(text.x - text.width / 2, text.y, text.width, text.height, text.height / 2);
    context.fill();
    context.fillStyle = text.colour;
    context.fillText(text.text, text.x, text.y + 3.5);
    return;
  }
  // Letters stand on a rim of the paper's colour, so that lines do not run through them.
  context.strokeStyle = scene.palette.paper;
  context.lineWidth = 3.5;
  context.strokeText(text.text, text.x, text.y);
  context.fillStyle = text.colour;
  context.fillText(text.text, text.x, text.y);
}
