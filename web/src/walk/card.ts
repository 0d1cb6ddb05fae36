//! The walk's card: which relationships to follow, the next hop, and a table of the hops done.

import { byId, el } from "../dom";
import { count, micros } from "../format";
import type { Session } from "../session";
import type { Database, Walk, WalkDirection } from "../types";
import { caption, cutText } from "../values";

export class WalkCard {
  private readonly table = byId("walk-table");
  private readonly next = byId<HTMLButtonElement>("walk-next");
  private readonly reset = byId<HTMLButtonElement>("walk-reset");
  private readonly type = byId<HTMLSelectElement>("walk-type");

  constructor(private readonly session: Session) {
    const { walker } = session;
    this.next.addEventListener("click", () => void walker.next());
    this.reset.addEventListener("click", () => walker.reset());
    this.type.addEventListener("change", () => this.choose());
    for (const radio of this.radios()) radio.addEventListener("change", () => this.choose());
    walker.on("changed", () => this.show());
    walker.on("busy", () => this.show());
    session.on("selected", () => this.show());
    session.on("graph", () => this.show());
    session.on("database", (database) => this.showTypes(database));
    this.show();
  }

  private radios(): HTMLInputElement[] {
    return [...byId("walk-direction").querySelectorAll("input")];
  }

  private choose(): void {
    const direction = (this.radios().find((radio) => radio.checked)?.value ?? "out") as WalkDirection;
    this.session.walker.choose(direction, this.type.value || null);
  }

  private showTypes({ relationship_types }: Database): void {
    this.type.replaceChildren(
      el("option", { value: "", text: "All types" }),
      ...relationship_types.map(({ name }) => el("option", { value: name, text: name })),
    );
    this.type.value = this.session.walker.type ?? "";
  }

  private show(): void {
    const { walker } = this.session;
    const { answer, busy, end } = walker;
    for (const radio of this.radios()) radio.checked = radio.value === walker.direction;
    this.type.value = walker.type ?? "";
    this.next.setAttribute("aria-disabled", String(busy || end !== null || walker.from === null));
    byId("walk-next-text").textContent = busy ? "Walking…" : answer ? `Hop ${walker.hops + 1}` : "Next hop";
    this.reset.hidden = answer === null;
    byId("walk").classList.toggle("on", answer !== null);
    byId("walk-from").textContent = this.startText();
    byId("walk-end").textContent = end ?? "";
    this.table.hidden = answer === null;
    if (answer) this.showHops(answer);
  }

  private startText(): string {
    const { walker, graph, selection } = this.session;
    if (walker.from === null) return "Select a node to walk from";
    const node = graph.nodes.get(walker.from)?.summary ?? selection?.node;
    return `from ${node ? cutText(caption(node), 28) : `#${walker.from}`}`;
  }

  private showHops(answer: Walk): void {
    const rows = answer.hops.map((hop, index) =>
      el(
        "tr",
        { class: index === answer.hops.length - 1 ? "newest" : "" },
        el("th", { scope: "row" }, el("span", { class: `hop-dot hop-${index + 1}`, "aria-hidden": "true" }), String(index + 1)),
        ...[count(hop.relationships), count(hop.nodes), count(hop.new_nodes), micros(hop.micros), count(hop.pages_read)].map(
          (text) => el("td", { text }),
        ),
      ),
    );
    const [body] = this.table.getElementsByTagName("tbody");
    body?.replaceChildren(...rows);
    body?.lastElementChild?.scrollIntoView({ block: "nearest" });
  }
}
