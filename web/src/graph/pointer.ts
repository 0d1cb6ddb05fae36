//! Mouse, pen and fingers on the drawing: point, select, drag, pan, zoom.
//!
//! A press that does not move selects; on the node that is selected already it expands. Two
//! fingers zoom. A node that was dragged stays where it was put; a double press lets it go.

import type { Id } from "../types";
import type { DrawnNode, DrawnRelationship } from "./model";
import type { GraphView } from "./view";

export interface Actions {
  select(id: Id | null): void;
  expand(id: Id): void;
  showRelationship(id: Id): void;
  /** What the pointer is on, and where, in CSS pixels of the canvas. */
  hover(what: DrawnNode | DrawnRelationship | null, x: number, y: number): void;
  isSelected(id: Id): boolean;
}

interface Point {
  x: number;
  y: number;
}

/** Way in CSS pixels from which on a press is a drag. */
const DRAG_FROM = 4;
/** A finger means what is this near. */
const TOUCH_SLACK = 14;

export class PointerInput {
  private readonly down = new Map<number, Point>();
  private pressed: { node: DrawnNode | null; start: Point; moved: boolean } | null = null;

  constructor(
    private readonly view: GraphView,
    private readonly actions: Actions,
  ) {
    const { canvas } = view;
    canvas.addEventListener("pointerdown", (event) => this.onDown(event));
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    canvas.addEventListener("pointerup", (event) => this.onUp(event));
    canvas.addEventListener("pointercancel", (event) => this.forget(event.pointerId));
    canvas.addEventListener("pointerleave", () => this.hover(null, { x: 0, y: 0 }));
    canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
  }

  private point(event: MouseEvent): Point {
    const box = this.view.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private onDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    const point = this.point(event);
    this.view.canvas.setPointerCapture(event.pointerId);
    this.down.set(event.pointerId, point);
    if (this.down.size > 1) {
      this.pressed = null;
      return;
    }
    const node = this.view.nodeAt(point.x, point.y, slack(event));
    this.pressed = { node, start: point, moved: false };
  }

  private onMove(event: PointerEvent): void {
    const point = this.point(event);
    const before = this.down.get(event.pointerId);
    if (!before) {
      this.pointAt(point);
      return;
    }
    if (this.down.size === 2) {
      this.pinch(event.pointerId, point);
      return;
    }
    this.down.set(event.pointerId, point);
    const { pressed } = this;
    if (!pressed) return;
    if (!pressed.moved && Math.hypot(point.x - pressed.start.x, point.y - pressed.start.y) < DRAG_FROM) return;
    pressed.moved = true;
    this.view.canvas.classList.add("dragging");
    if (pressed.node) this.view.drag(pressed.node, point.x, point.y);
    else this.view.pan(point.x - before.x, point.y - before.y);
  }

  private onUp(event: PointerEvent): void {
    const { pressed } = this;
    this.forget(event.pointerId);
    if (!pressed || pressed.moved) return;
    const { node, start } = pressed;
    if (!node) {
      const relationship = this.view.relationshipAt(start.x, start.y);
      if (relationship) this.actions.showRelationship(relationship.id);
      return;
    }
    if (node.pinned && event.detail > 1) this.view.release(node);
    if (this.actions.isSelected(node.id)) this.actions.expand(node.id);
    else this.actions.select(node.id);
  }

  private forget(pointer: number): void {
    this.down.delete(pointer);
    this.pressed = null;
    this.view.canvas.classList.remove("dragging");
  }

  /** Two fingers: their distance is the scale, their middle is what stays. */
  private pinch(pointer: number, point: Point): void {
    const before = this.down.get(pointer);
    const other = [...this.down].find(([id]) => id !== pointer)?.[1];
    if (!before || !other) return;
    const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);
    const middle = { x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 };
    this.view.zoom(distance(point, other) / Math.max(1, distance(before, other)), middle.x, middle.y);
    this.view.pan((point.x - before.x) / 2, (point.y - before.y) / 2);
    this.down.set(pointer, point);
  }

  private onWheel(event: WheelEvent): void {
    event.preventDefault();
    const { x, y } = this.point(event);
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const speed = event.ctrlKey ? 0.01 : 0.0016;
    this.view.zoom(Math.exp(-event.deltaY * unit * speed), x, y);
  }

  private pointAt(point: Point): void {
    const node = this.view.nodeAt(point.x, point.y);
    this.hover(node ?? this.view.relationshipAt(point.x, point.y), point);
  }

  private hover(what: DrawnNode | DrawnRelationship | null, { x, y }: Point): void {
    const node = what && "caption" in what ? what.id : null;
    const relationship = what && !("caption" in what) ? what.id : null;
    const { scene } = this.view;
    this.view.canvas.classList.toggle("pointing", what !== null);
    if (scene.hoveredNode !== node || scene.hoveredRelationship !== relationship) {
      this.view.set({ hoveredNode: node, hoveredRelationship: relationship });
    }
    this.actions.hover(what, x, y);
  }
}

function slack(event: PointerEvent): number {
  return event.pointerType === "touch" ? TOUCH_SLACK : 4;
}
