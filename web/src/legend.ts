//! The legend: labels that are drawn, each with its colour. A label's name makes its nodes stand
//! out; the eye beside it hides them.

import { Labels } from "./colours";
import { button, byId, el, icon } from "./dom";
import type { GraphView } from "./graph/view";
import type { Session } from "./session";

/** Labels that the legend names at most. */
const LABELS_MAX = 12;

export class Legend {
  private readonly hidden = new Set<string>();
  private bright: string | null = null;
  private shown = "";

  constructor(
    private readonly session: Session,
    private readonly view: GraphView,
    private readonly labels: Labels,
  ) {
    session.on("graph", () => this.show());
    session.on("database", () => this.show());
  }

  private show(): void {
    const counts = new Map<string, number>();
    for (const node of this.session.graph.nodes.values()) {
      const name = this.labels.leading(node.summary.labels);
      if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const order = this.session.database?.labels.map(({ name }) => name) ?? [];
    const names = order.filter((name) => counts.has(name)).slice(0, LABELS_MAX);
    // Made anew only when it changes, so that the focus stays where it is.
    const state = JSON.stringify([names, names.map((name) => counts.get(name)), [...this.hidden], this.bright]);
    if (state === this.shown) return;
    this.shown = state;
    const focused = (document.activeElement as HTMLElement | null)?.dataset["legend"];
    byId("legend-list").replaceChildren(...names.map((name) => this.entry(name, counts.get(name) ?? 0)));
    byId("legend").hidden = names.length === 0;
    if (focused !== undefined) {
      for (const element of byId("legend-list").querySelectorAll<HTMLElement>("[data-legend]")) {
        if (element.dataset["legend"] === focused) element.focus();
      }
    }
  }

  private entry(name: string, nodes: number): HTMLElement {
    const isHidden = this.hidden.has(name);
    const main = button("", { class: "legend-name", "aria-pressed": this.bright === name ? "true" : "false" }, () => this.toggleBright(name));
    main.dataset["legend"] = `name ${name}`;
    main.title = `Let nodes of ${name} stand out`;
    main.append(
      el("span", { class: Labels.className(this.labels.look(name)), "aria-hidden": "true" }),
      el("span", { class: "legend-text", text: name }),
      el("span", { class: "legend-count", text: String(nodes) }),
    );
    const eye = button("", { class: "legend-eye", "aria-pressed": String(isHidden), "aria-label": `Hide ${name}` }, () => this.toggleHidden(name));
    eye.dataset["legend"] = `eye ${name}`;
    eye.title = isHidden ? `Show nodes of ${name}` : `Hide nodes of ${name}`;
    eye.append(icon(isHidden ? "eye-off" : "eye"));
    return el("li", { class: isHidden ? "off" : "" }, main, eye);
  }

  private toggleBright(name: string): void {
    this.bright = this.bright === name ? null : name;
    this.apply();
  }

  private toggleHidden(name: string): void {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    this.apply();
  }

  private apply(): void {
    this.view.set({ hiddenLabels: new Set(this.hidden), brightLabel: this.bright });
    this.show();
  }
}
