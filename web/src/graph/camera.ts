//! What part of the drawing is seen: a scale and a shift. Pure.
//!
//! A point (x, y) of the drawing is at (x * k + tx, y * k + ty) of the canvas, in CSS pixels.

export interface Camera {
  k: number;
  tx: number;
  ty: number;
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Room on each side of the canvas, in CSS pixels, that a fitted drawing leaves free. */
export interface Margins {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export const SCALE_MIN = 0.08;
export const SCALE_MAX = 6;
/** Fitting never magnifies more than this: a few nodes stay few nodes. */
const FIT_SCALE_MAX = 1.5;

/** The camera with the scale changed by `factor` while the canvas point (px, py) stays. */
export function zoomed(camera: Camera, factor: number, px: number, py: number): Camera {
  const k = Math.min(SCALE_MAX, Math.max(SCALE_MIN, camera.k * factor));
  const ratio = k / camera.k;
  return { k, tx: px - (px - camera.tx) * ratio, ty: py - (py - camera.ty) * ratio };
}

/** The point of the drawing under a canvas point. */
export function toDrawing(camera: Camera, px: number, py: number): { x: number; y: number } {
  return { x: (px - camera.tx) / camera.k, y: (py - camera.ty) / camera.k };
}

/** The canvas point of a point of the drawing. */
export function toCanvas(camera: Camera, x: number, y: number): { x: number; y: number } {
  return { x: x * camera.k + camera.tx, y: y * camera.k + camera.ty };
}

/** The camera that shows all of `box` in a canvas of this size, in the middle of what is free. */
export function fitted(box: Box, width: number, height: number, margins: Margins): Camera {
  const freeWidth = Math.max(40, width - margins.left - margins.right);
  const freeHeight = Math.max(40, height - margins.top - margins.bottom);
  const boxWidth = Math.max(1, box.right - box.left);
  const boxHeight = Math.max(1, box.bottom - box.top);
  const scale = Math.min(freeWidth / boxWidth, freeHeight / boxHeight, FIT_SCALE_MAX);
  const k = Math.max(SCALE_MIN, scale);
  return {
    k,
    tx: margins.left + freeWidth / 2 - ((box.left + box.right) / 2) * k,
    ty: margins.top + freeHeight / 2 - ((box.top + box.bottom) / 2) * k,
  };
}

/** A camera a share of the way from one to another; scales go evenly by ratio. */
export function between(from: Camera, to: Camera, share: number): Camera {
  const mix = (a: number, b: number): number => a + (b - a) * share;
  return { k: from.k * (to.k / from.k) ** share, tx: mix(from.tx, to.tx), ty: mix(from.ty, to.ty) };
}

/** The smallest box around circles, or null when there are none. */
export function boxAround(circles: Iterable<{ x: number; y: number; radius: number }>): Box | null {
  let box: Box | null = null;
  for (const { x, y, radius } of circles) {
    box ??= { left: x, top: y, right: x, bottom: y };
    box.left = Math.min(box.left, x - radius);
    box.right = Math.max(box.right, x + radius);
    box.top = Math.min(box.top, y - radius);
    box.bottom = Math.max(box.bottom, y + radius);
  }
  return box;
}
