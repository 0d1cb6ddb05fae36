//! The panel's head: the selected node's caption, labels and id, and what can be done with it.

import { Labels } from "../colours";
import { button, byId, el } from "../dom";
import type { Selection, Session } from "../session";
import { caption } from "../values";

export class PanelHead {
  private readonly place = byId("panel-head");

  constructor(
    private readonly session: Session,
    private readonly labels: Labels,
  ) {
    session.on("selected", (selection) => this.show(selection));
    session.on("database", () => this.show(session.selection));
    this.show(null);
  }

  private show(selection: Selection | null): void {
    this.place.hidden = selection === null;
    if (!selection) {
      this.place.replaceChildren();
      return;
    }
    const node = selection.node ?? this.session.graph.nodes.get(selection.id)?.summary ?? null;
    const chips = (node?.labels ?? []).map((name) =>
      el("li", { class: "chip" }, el("span", { class: Labels.className(this.labels.look(name)), "aria-hidden": "true" }), name),
    );
    this.place.replaceChildren(
      el("div", { class: "head-line" }, el("h2", { text: node ? caption(node) : `#${selection.id}` }), el("span", { class: "id", text: `#${selection.id}` })),
      el("ul", { class: "chips", "aria-label": "Labels" }, ...chips),
      this.actions(selection),
    );
  }

  private actions(selection: Selection): HTMLElement {
    const { session } = this;
    const expand = button("Expand", { class: "plain", title: "Draw its neighbours (Enter)" }, () => void session.expand(selection.id));
    const walk = button("Walk from here", { class: "plain", title: "Begin a walk at this node (w)" }, () => {
      session.walker.forget();
      void session.walker.next();
    });
    const only = button("Only this", { class: "plain", title: "Draw this node and its neighbours alone" }, () => void session.onlyThis());
    return el("div", { class: "actions" }, expand, walk, only);
  }
}
