//! The graph on its canvas: when to paint, where the camera is, what lies under a point.
//!
//! Paints only while something moves or has changed. The camera follows the drawing until the
//! person takes it over by moving or zooming, and again when asked to fit.

import { Labels, readPalette } from "../colours";
import type { Id } from "../types";
import type { Trail } from "../walk/trail";
import { WAVE_MS } from "../walk/wave";
import { between, boxAround, fitted, toDrawing, zoomed, type Camera, type Margins } from "./camera";
import { distanceTo } from "./geometry";
import { Layout } from "./layout";
import type { DrawnGraph, DrawnNode, DrawnRelationship } from "./model";
import { Painter } from "./painter";
import { isHidden, isInView, type Scene } from "./scene";

/** Share of the way to its goal that the camera goes in each picture. */
const FOLLOW_SHARE = 0.14;
/** Distance to a line, in CSS pixels, at which the pointer still means it. */
const LINE_SLACK = 6;

export class GraphView {
  readonly scene: Scene;
  private readonly painter: Painter;
  private readonly layout: Layout;
  private following = true;
  private frame: number | null = null;
  private waveStart: number | null = null;

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly graph: DrawnGraph,
    labels: Labels,
    private readonly margins: () => Margins,
  ) {
    this.painter = new Painter(canvas);
    this.layout = new Layout(graph);
    this.scene = {
      ...{ graph, labels, palette: readPalette(document.body), camera: { k: 1, tx: 0, ty: 0 }, width: 0, height: 0 },
      ...{ selected: null, hoveredNode: null, hoveredRelationship: null, selectedRelationship: null },
      ...{ hiddenLabels: new Set<string>(), brightLabel: null, trail: null, wave: null },
    };
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
    this.scene.camera = { k: 1, tx: this.scene.width / 2, ty: this.scene.height / 2 };
  }

  /** Whether the person wants no motion. */
  get still(): boolean {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /** Says that other nodes or relationships are drawn now. */
  changed(warmth: number): void {
    this.layout.update(warmth);
    if (this.still) this.layout.settle();
    this.schedule();
  }

  /** Says that colours have changed. */
  repaint(): void {
    this.scene.palette = readPalette(document.body);
    this.schedule();
  }

  /** Changes what the scene shows, and paints. */
  set(changes: Partial<Pick<Scene, "selected" | "hoveredNode" | "hoveredRelationship" | "selectedRelationship" | "brightLabel" | "hiddenLabels">>): void {
    Object.assign(this.scene, changes);
    this.schedule();
  }

  /** Shows a walk; lights up its hop `animate` when there is one and motion is welcome. */
  showTrail(trail: Trail | null, animate: number | null): void {
    const animated = trail !== null && animate !== null && !this.still;
    this.scene.trail = trail;
    this.scene.wave = animated ? { hop: animate, elapsed: 0 } : null;
    this.waveStart = null;
    this.schedule();
  }

  /** Lets the camera follow the whole drawing again. */
  fit(): void {
    this.following = true;
    this.schedule();
  }

  zoom(factor: number, px = this.scene.width / 2, py = this.scene.height / 2): void {
    this.takeCamera(zoomed(this.scene.camera, factor, px, py));
  }

  pan(dx: number, dy: number): void {
    const { k, tx, ty } = this.scene.camera;
    this.takeCamera({ k, tx: tx + dx, ty: ty + dy });
  }

  /** Brings a node into view when it is not. */
  reveal(id: Id): void {
    const node = this.graph.nodes.get(id);
    if (!node || this.following) return;
    const { camera, width, height } = this.scene;
    const margins = this.margins();
    const x = node.x * camera.k + camera.tx;
    const y = node.y * camera.k + camera.ty;
    const inside = x > margins.left && x < width - margins.right && y > margins.top && y < height - margins.bottom;
    if (!inside) this.pan(width / 2 - x, height / 2 - y);
  }

  /** The node at a canvas point. */
  nodeAt(px: number, py: number, slack = 4): DrawnNode | null {
    const { camera } = this.scene;
    const { x, y } = toDrawing(camera, px, py);
    const node = this.layout.find(x, y, slack / camera.k);
    return node && !isHidden(this.scene, node) ? node : null;
  }

  /** The relationship at a canvas point. */
  relationshipAt(px: number, py: number): DrawnRelationship | null {
    const { camera } = this.scene;
    const { x, y } = toDrawing(camera, px, py);
    let least = LINE_SLACK / camera.k;
    let found: DrawnRelationship | null = null;
    for (const relationship of this.graph.relationships.values()) {
      if (!isInView(this.scene, relationship)) continue;
      if (isHidden(this.scene, relationship.source) || isHidden(this.scene, relationship.target)) continue;
      const distance = distanceTo(relationship.path, x, y);
      if (distance < least) {
        least = distance;
        found = relationship;
      }
    }
    return found;
  }

  /** Puts a node under a canvas point and keeps it there. */
  drag(node: DrawnNode, px: number, py: number): void {
    const { x, y } = toDrawing(this.scene.camera, px, py);
    Object.assign(node, { x, y, fx: x, fy: y, pinned: true });
    this.following = false;
    this.layout.moved();
    if (!this.still) this.layout.warm(0.12);
    this.schedule();
  }

  /** Lets a node go that was put in its place. */
  release(node: DrawnNode): void {
    Object.assign(node, { fx: null, fy: null, pinned: false });
    if (!this.still) this.layout.warm(0.12);
    this.schedule();
  }

  /** Where a node is on the canvas, in CSS pixels. */
  placeOf(id: Id): { x: number; y: number; radius: number } | null {
    const node = this.graph.nodes.get(id);
    if (!node) return null;
    const { k, tx, ty } = this.scene.camera;
    return { x: node.x * k + tx, y: node.y * k + ty, radius: node.radius * k };
  }

  /** Whether anything still moves. */
  get moving(): boolean {
    return this.layout.moving || this.scene.wave !== null || this.cameraGoal() !== null;
  }

  private takeCamera(camera: Camera): void {
    this.following = false;
    this.scene.camera = camera;
    this.schedule();
  }

  private resize(): void {
    const { width, height } = this.painter.resize();
    Object.assign(this.scene, { width, height });
    if (this.graph.nodes.size === 0) this.scene.camera = { k: 1, tx: width / 2, ty: height / 2 };
    if (width > 0 && height > 0) this.painter.paint(this.scene);
    this.schedule();
  }

  private schedule(): void {
    if (this.moving) this.canvas.setAttribute("aria-busy", "true");
    this.frame ??= requestAnimationFrame((now) => this.next(now));
  }

  private next(now: number): void {
    this.frame = null;
    this.layout.tick();
    this.moveCamera();
    this.moveWave(now);
    this.painter.paint(this.scene);
    if (this.moving) this.schedule();
    else this.canvas.removeAttribute("aria-busy");
  }

  private moveCamera(): void {
    const goal = this.cameraGoal();
    if (!goal) return;
    this.scene.camera = this.still ? goal : between(this.scene.camera, goal, FOLLOW_SHARE);
  }

  /** Where the camera should be, or null when it is there. */
  private cameraGoal(): Camera | null {
    if (!this.following) return null;
    const { width, height, camera } = this.scene;
    const box = boxAround([...this.graph.nodes.values()].filter((node) => !isHidden(this.scene, node)));
    if (!box || width === 0) return null;
    const goal = fitted(box, width, height, this.margins());
    const near =
      Math.abs(goal.k / camera.k - 1) < 0.002 && Math.abs(goal.tx - camera.tx) < 0.5 && Math.abs(goal.ty - camera.ty) < 0.5;
    return near ? null : goal;
  }

  private moveWave(now: number): void {
    const { wave } = this.scene;
    if (!wave) return;
    this.waveStart ??= now;
    wave.elapsed = now - this.waveStart;
    if (wave.elapsed >= WAVE_MS) this.scene.wave = null;
  }
}
