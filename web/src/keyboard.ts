//! Keys. Single letters and signs act while the focus is in the graph's part of the page, or nowhere, so
//! that no key pressed elsewhere does something unasked; arrows and Enter act on the drawing alone.

import { byId, isTyping } from "./dom";
import { ARROWS, steer } from "./graph/steer";
import type { GraphView } from "./graph/view";
import type { SearchBox } from "./search";
import type { Session } from "./session";

const ZOOM_STEP = 1.25;

export class Keyboard {
  private readonly help = byId<HTMLDialogElement>("help");

  constructor(
    private readonly session: Session,
    private readonly view: GraphView,
    private readonly search: SearchBox,
  ) {
    document.addEventListener("keydown", (event) => this.onKey(event));
    view.canvas.addEventListener("keydown", (event) => this.onCanvasKey(event));
    byId("help-open").addEventListener("click", () => this.help.showModal());
    byId("help-close").addEventListener("click", () => this.help.close());
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !this.isAtGraph(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const actions: Record<string, () => void> = {
      "?": () => this.help.showModal(),
      "/": () => this.search.focus(),
      w: () => void this.session.walker.next(),
      r: () => this.session.walker.reset(),
      f: () => this.view.fit(),
      "+": () => this.view.zoom(ZOOM_STEP),
      "=": () => this.view.zoom(ZOOM_STEP),
      "-": () => this.view.zoom(1 / ZOOM_STEP),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  /** Whether the focus is in the drawing or what lies over it, or nothing has it. */
  private isAtGraph(focused: EventTarget | null): boolean {
    return focused === document.body || (focused instanceof Node && this.view.canvas.parentElement?.contains(focused) === true);
  }

  private onCanvasKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const angle = ARROWS[event.key];
    if (angle !== undefined) {
      event.preventDefault();
      this.move(angle);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const id = this.session.selection?.id;
      if (id === undefined) this.selectFirst();
      else void this.session.expand(id);
    } else if (event.key === "Escape") void this.session.select(null);
  }

  /** Selects the neighbour that lies in a direction. */
  private move(angle: number): void {
    const { selection, graph } = this.session;
    const from = selection ? graph.nodes.get(selection.id) : undefined;
    if (!from) {
      this.selectFirst();
      return;
    }
    const next = steer(from, angle, graph.neighbours(from.id));
    if (!next) {
      this.session.say("No neighbour in this direction.");
      return;
    }
    void this.session.select(next.id);
    this.view.reveal(next.id);
  }

  private selectFirst(): void {
    const { graph, roots } = this.session;
    const id = roots[0]?.id ?? graph.nodes.keys().next().value;
    if (id !== undefined) void this.session.select(id);
  }
}
