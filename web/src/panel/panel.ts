//! The panel beside the drawing: the tabs, which one is open, and its width or, on narrow windows,
//! its height.

import { TABS, type Tab } from "../address";
import { byId } from "../dom";
import type { Session } from "../session";

const WIDTH_MIN = 340;
const WIDTH_STEP = 24;
/** Heights of the sheet on narrow windows. */
const SHEETS = ["low", "half", "tall"] as const;

export class Panel {
  private readonly tabs = TABS.map((name) => ({ name, tab: byId(`tab-${name}`), body: byId(`panel-${name}`) }));

  constructor(private readonly session: Session) {
    for (const { name, tab } of this.tabs) {
      tab.addEventListener("click", () => session.showTab(name));
      tab.addEventListener("keydown", (event) => this.onKey(event, name));
    }
    session.on("tab", (tab) => this.show(tab));
    this.watchSplitter();
    this.watchSheet();
    this.show(session.tab);
  }

  private show(open: Tab): void {
    for (const { name, tab, body } of this.tabs) {
      tab.setAttribute("aria-selected", String(name === open));
      tab.tabIndex = name === open ? 0 : -1;
      body.hidden = name !== open;
    }
  }

  private onKey(event: KeyboardEvent, name: Tab): void {
    const at = TABS.indexOf(name);
    const goals: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 };
    const goal = goals[event.key];
    if (goal === undefined) return;
    event.preventDefault();
    const next = this.tabs[(goal + TABS.length) % TABS.length];
    if (!next) return;
    this.session.showTab(next.name);
    next.tab.focus();
  }

  /** The bar between drawing and panel: dragged, or moved by arrow keys. */
  private watchSplitter(): void {
    const splitter = byId("splitter");
    const most = (): number => Math.round(Math.max(WIDTH_MIN, window.innerWidth * 0.7));
    const tell = (): void => {
      const [least, width] = [WIDTH_MIN, Math.round(byId("panel").offsetWidth)];
      splitter.setAttribute("aria-valuemin", String(Math.min(least, width)));
      splitter.setAttribute("aria-valuemax", String(Math.max(most(), width)));
      splitter.setAttribute("aria-valuenow", String(width));
    };
    let wanted: number | null = null;
    const move = (width: number): void => {
      wanted = width;
      const fit = Math.round(Math.min(most(), Math.max(WIDTH_MIN, width)));
      document.documentElement.style.setProperty("--panel-width", `${fit}px`);
      tell();
    };
    tell();
    window.addEventListener("resize", () => (wanted === null ? tell() : move(wanted)));
    splitter.addEventListener("pointerdown", (event) => splitter.setPointerCapture(event.pointerId));
    splitter.addEventListener("pointermove", (event) => {
      if (splitter.hasPointerCapture(event.pointerId)) move(window.innerWidth - event.clientX);
    });
    splitter.addEventListener("keydown", (event) => {
      const by = event.key === "ArrowLeft" ? WIDTH_STEP : event.key === "ArrowRight" ? -WIDTH_STEP : 0;
      if (by === 0) return;
      event.preventDefault();
      move(byId("panel").offsetWidth + by);
    });
  }

  private watchSheet(): void {
    const handle = byId("sheet-handle");
    const root = document.documentElement;
    handle.addEventListener("click", () => {
      const at = SHEETS.findIndex((name) => name === (root.dataset["sheet"] ?? "half"));
      const next = SHEETS[(at + 1) % SHEETS.length] ?? "half";
      root.dataset["sheet"] = next;
      handle.setAttribute("aria-label", `Height of the panel: ${next}. Change it.`);
    });
  }
}
