//! The tab “Nodes drawn”: what the drawing shows, as a list, for those who do not see it or prefer
//! a list. It is made only while it is open.

import { Labels } from "../colours";
import { button, byId, el } from "../dom";
import { NODES_MAX, type DrawnNode } from "../graph/model";
import { counted } from "../format";
import { rove } from "../roving";
import type { Session } from "../session";
import { emptyState, pointsAt } from "./parts";

export class DrawnTab {
  private readonly list = byId("drawn-list");
  private readonly filter = byId<HTMLInputElement>("drawn-filter");

  constructor(
    private readonly session: Session,
    private readonly labels: Labels,
  ) {
    session.on("graph", () => this.show());
    session.on("tab", () => this.show());
    session.on("selected", () => this.show());
    session.on("database", () => this.show());
    rove(this.list, ".neighbour");
    this.filter.addEventListener("input", () => this.show());
  }

  private show(): void {
    const { graph, tab } = this.session;
    byId("drawn-count").textContent = `${counted(graph.nodes.size, "node")} and ${counted(graph.relationships.size, "relationship")} drawn; ${NODES_MAX} nodes are the most.`;
    if (tab !== "drawn") return;
    const text = this.filter.value.trim().toLowerCase();
    const matches = (node: DrawnNode): boolean =>
      node.caption.toLowerCase().includes(text) || node.id === text.replace(/^#/, "") || node.summary.labels.some((label) => label.toLowerCase() === text);
    const nodes = [...graph.nodes.values()].filter((node) => text === "" || matches(node));
    nodes.sort((a, b) => b.degree - a.degree || a.order - b.order);
    const focused = (document.activeElement as HTMLElement | null)?.dataset["node"];
    if (nodes.length === 0) this.list.replaceChildren(el("li", {}, emptyState("None", "No drawn node is called so.")));
    else this.list.replaceChildren(...nodes.map((node, index) => this.row(node, index === 0)));
    if (focused !== undefined) this.list.querySelector<HTMLElement>(`[data-node="${focused}"]`)?.focus();
  }

  private row(node: DrawnNode, first: boolean): HTMLElement {
    const selected = this.session.selection?.id === node.id;
    const visit = button("", { class: "neighbour", "data-node": node.id, tabindex: first ? 0 : -1, "aria-current": selected ? "true" : undefined }, () =>
      void this.session.select(node.id),
    );
    visit.append(
      el("span", { class: Labels.className(this.labels.lookOf(node.summary.labels)), "aria-hidden": "true" }),
      el("span", { class: "neighbour-name", text: node.caption }),
      el("span", { class: "option-labels", text: node.summary.labels.join(" · ") }),
      el("span", { class: "id", text: counted(node.degree, "relationship") }),
    );
    pointsAt(visit, node.id, this.session);
    return el("li", {}, visit);
  }
}
