//! Paints one picture of a scene onto a canvas: ground, relationships, nodes, texts, in that order.

import { paintNodes } from "./paint-nodes";
import { paintRelationships } from "./paint-relationships";
import { TextPainter } from "./paint-texts";
import type { Scene } from "./scene";

/** Pixels of the canvas per CSS pixel; more than two are not seen but cost time. */
const DENSITY_MAX = 2;
/** Distance of the ground's dots, in the drawing's units. */
const DOT_DISTANCE = 36;

export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private readonly texts = new TextPainter();
  private density = 1;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("This browser has no 2D canvas.");
    this.context = context;
  }

  /** Takes the canvas's size on the screen; gives it in CSS pixels. */
  resize(): { width: number; height: number } {
    const { width, height } = this.canvas.getBoundingClientRect();
    this.density = Math.min(DENSITY_MAX, window.devicePixelRatio || 1);
    this.canvas.width = Math.max(1, Math.round(width * this.density));
    this.canvas.height = Math.max(1, Math.round(height * this.density));
    return { width, height };
  }

  paint(scene: Scene): void {
    const { context, density } = this;
    const { k, tx, ty } = scene.camera;
    context.setTransform(density, 0, 0, density, 0, 0);
    this.ground(scene);
    context.setTransform(density * k, 0, 0, density * k, density * tx, density * ty);
    const relationships = paintRelationships(context, scene);
    const nodes = paintNodes(context, scene);
    context.setTransform(density, 0, 0, density, 0, 0);
    this.texts.paint(context, scene, nodes, relationships);
  }

  /** Paper with faint dots that move with the drawing. */
  private ground({ palette, camera, width, height }: Scene): void {
    const { context } = this;
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, width, height);
    let distance = DOT_DISTANCE * camera.k;
    while (distance < 24) distance *= 2;
    while (distance > 64) distance /= 2;
    context.fillStyle = palette.grid;
    const left = ((camera.tx % distance) + distance) % distance;
    const top = ((camera.ty % distance) + distance) % distance;
    for (let x = left; x < width; x += distance) {
      for (let y = top; y < height; y += distance) context.fillRect(x, y, 1.25, 1.25);
    }
  }
}
