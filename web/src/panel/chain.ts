//! The tab “Chain”: the pages from a tree's root down to a cell, as boxes with the slot that was
//! taken; a page opens as a map of its own.

import { button, byId, el, svg } from "../dom";
import { bytes, count, hex } from "../format";
import type { Session } from "../session";
import type { ChainStep } from "../types";
import { cutText } from "../values";
import type { Inspected } from "./inspected";
import { PageView } from "./page";
import { emptyState, failure, loading } from "./parts";

/** Slots that are drawn one by one; more become a plain strip. */
const TICKS_MAX = 220;

export class ChainTab {
  private readonly place = byId("panel-chain");
  private readonly page: PageView;
  private chosen = 0;

  constructor(
    private readonly session: Session,
    private readonly inspected: Inspected,
  ) {
    this.page = new PageView(session);
    inspected.on("changed", () => {
      this.chosen = 0;
      this.show();
    });
    session.on("page", () => this.show());
    session.on("database", () => this.page.again());
    this.show();
  }

  private show(): void {
    const { inspected, session } = this;
    if (session.page !== null) {
      this.place.replaceChildren(this.page.element);
      this.page.open(session.page);
      return;
    }
    if (inspected.answer) this.place.replaceChildren(...this.chain());
    else if (inspected.error) this.place.replaceChildren(failure(inspected.error, () => inspected.again()));
    else if (inspected.hasNode) this.place.replaceChildren(loading());
    else this.place.replaceChildren(emptyState("No node selected", "Select a node to see the pages that lead to it."), this.goTo());
  }

  private chain(): HTMLElement[] {
    const { cells } = this.inspected;
    const chosen = cells[this.chosen] ?? cells[0];
    if (!chosen) return [];
    const choose = el("select", { "aria-label": "Which cell" }, ...cells.map(({ name }, index) => el("option", { value: index, text: name })));
    choose.value = String(this.chosen);
    choose.addEventListener("change", () => {
      this.chosen = Number(choose.value);
      this.show();
      this.place.querySelector("select")?.focus();
    });
    const steps = chosen.cell.chain;
    const boxes = steps.flatMap((step, index) => [this.box(step), index < steps.length - 1 ? connector(step) : cellMark(step)]);
    const size = chosen.cell.bytes.length / 2;
    const end = el(
      "div",
      { class: "chain-cell" },
      el("strong", { text: chosen.name }),
      el("span", { text: `${count(size)} bytes at ${hex(chosen.cell.offset)}` }),
      button("Bytes", { class: "quiet" }, () => this.session.showTab("bytes")),
    );
    return [
      el("div", { class: "chain-head" }, choose, el("span", { class: "small" }, "table ", el("code", { text: chosen.cell.table }))),
      el("p", { class: "small", text: `${steps.length === 1 ? "One page leads" : `${steps.length} pages lead`} to it. A page opens as a map.` }),
      el("div", { class: "chain" }, ...boxes, end),
      this.goTo(),
    ];
  }

  private box(step: ChainStep): HTMLElement {
    const pageSize = this.session.database?.page_size ?? 4_096;
    const used = el("span", { class: "fill" });
    used.style.width = `${(100 * (pageSize - step.free_bytes)) / pageSize}%`;
    const box = button("", { class: `page-box ${step.kind}`, "aria-label": boxLabel(step) }, () => this.session.openPage(step.page));
    box.append(
      el(
        "span",
        { class: "page-line" },
        el("span", { class: "page-id", text: `page ${count(step.page)}` }),
        el("span", { class: "page-kind", text: step.kind === "leaf" ? "leaf" : `branch, level ${step.level}` }),
        el("span", { class: "page-free", text: `${bytes(step.free_bytes)} free` }),
      ),
      el("span", { class: "page-fill", "aria-hidden": "true" }, used),
      slotStrip(step),
      el("span", { class: "page-key" }, el("span", { class: "small", text: `slot ${count(step.slot)} of ${count(step.slots)}` }), keyText(step)),
    );
    return box;
  }

  private goTo(): HTMLElement {
    const input = el("input", { type: "number", min: 0, step: 1, inputmode: "numeric", id: "page-number", placeholder: "0" });
    const form = el("form", { class: "go-to" }, el("label", { for: "page-number", text: "Any page of the file" }), input, el("button", { type: "submit", class: "plain", text: "Open" }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (input.value !== "") this.session.openPage(Number(input.value));
    });
    return form;
  }
}

function boxLabel(step: ChainStep): string {
  const kind = step.kind === "leaf" ? "leaf page" : `branch page of level ${step.level}`;
  return `Page ${step.page}, ${kind}, slot ${step.slot} of ${step.slots}, ${bytes(step.free_bytes)} free. Open its map.`;
}

function keyText(step: ChainStep): HTMLElement {
  if (step.key === null) return el("span", { class: "small", text: "least key" });
  return el("span", { class: "key" }, el("span", { class: "small", text: "key " }), el("code", { text: cutText(step.key, 48), title: step.key }));
}

/** All slots of a page side by side, with the one that was taken. */
function slotStrip(step: ChainStep): SVGSVGElement {
  const slots = Math.max(1, step.slots);
  const width = 1_000 / slots;
  const gap = slots > 120 ? 0.5 : Math.min(4, width * 0.2);
  const ticks: SVGElement[] = [];
  if (slots <= TICKS_MAX) {
    for (let slot = 0; slot < slots; slot += 1) {
      ticks.push(svg("rect", { x: (slot * width).toFixed(2), y: 0, width: Math.max(0.5, width - gap).toFixed(2), height: 12, class: "tick" }));
    }
  } else ticks.push(svg("rect", { x: 0, y: 0, width: 1_000, height: 12, class: "tick" }));
  const taken = Math.max(8, width - gap);
  const x = Math.min(1_000 - taken, step.slot * width + (width - gap) / 2 - taken / 2);
  ticks.push(svg("rect", { x: Math.max(0, x).toFixed(2), y: 0, width: taken.toFixed(2), height: 12, class: "taken" }));
  return svg("svg", { class: "slot-strip", viewBox: "0 0 1000 12", preserveAspectRatio: "none", "aria-hidden": "true" }, ...ticks);
}

function slotMiddle(step: ChainStep): number {
  return ((step.slot + 0.5) / Math.max(1, step.slots)) * 1_000;
}

/** From the slot that was taken down to the page it points to. */
function connector(step: ChainStep): SVGSVGElement {
  const x = slotMiddle(step);
  return svg(
    "svg",
    { class: "connector", viewBox: "0 0 1000 30", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("path", { d: `M${x.toFixed(1)} 0 C${x.toFixed(1)} 18 500 10 500 30` }),
  );
}

/** From the leaf's slot down to the cell. */
function cellMark(step: ChainStep): SVGSVGElement {
  const x = slotMiddle(step);
  return svg(
    "svg",
    { class: "connector last", viewBox: "0 0 1000 22", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("path", { d: `M${x.toFixed(1)} 0 C${x.toFixed(1)} 14 60 8 60 22` }),
  );
}
