//! The tab “Properties”: the selected node's labels and properties, its relationships by type with
//! paging, and the relationship that was pointed at. Without a node, the database at a glance.

import { isAbort } from "../api";
import { Labels } from "../colours";
import { button, byId, el } from "../dom";
import { count, counted } from "../format";
import type { Selection, Session } from "../session";
import type { Degree, Id, Node, NodeSummary, Relationship, RelationshipPage, RelationshipWhole } from "../types";
import { caption } from "../values";
import { overview } from "./overview";
import { emptyState, failure, loading, pointsAt, propertyList } from "./parts";

/** Relationships that one page of a group's list holds. */
const PAGE_SIZE = 20;

export class PropertiesTab {
  private readonly place = byId("panel-properties");
  private readonly relationshipPlace = el("div", {});
  private relationship: Id | null = null;

  constructor(
    private readonly session: Session,
    private readonly labels: Labels,
  ) {
    session.on("selected", (selection) => this.show(selection));
    session.on("relationship", (id) => void this.showRelationship(id));
    session.on("database", () => {
      if (!session.selection) this.show(null);
    });
    this.place.append(loading());
  }

  private show(selection: Selection | null): void {
    const { database } = this.session;
    if (!selection) {
      this.place.replaceChildren(this.relationshipPlace, database ? overview(database, this.labels) : loading());
    } else if (selection.node) {
      this.place.replaceChildren(this.relationshipPlace, ...this.node(selection.node));
    } else if (selection.error) {
      this.place.replaceChildren(failure(selection.error, () => void this.session.reload()));
    } else {
      this.place.replaceChildren(loading());
    }
  }

  private node(node: Node): HTMLElement[] {
    const total = node.degrees.reduce((sum, degree) => sum + degree.count, 0);
    const groups = node.degrees.map((degree) => this.group(node, degree));
    return [
      el("h3", { text: "Properties" }),
      propertyList(node.properties),
      el("h3", {}, "Relationships", el("span", { class: "heading-count", text: count(total) })),
      groups.length === 0 ? emptyState("None", "This node has no relationships.") : el("div", { class: "groups" }, ...groups),
    ];
  }

  /** One type and direction: closed at first, its list read when it is opened. */
  private group(node: Node, degree: Degree): HTMLElement {
    const list = el("ul", { class: "neighbours" });
    const more = el("div", { class: "more" });
    const summary = el(
      "summary",
      {},
      el("span", { class: `arrow ${degree.direction}`, "aria-label": degree.direction === "out" ? "outgoing" : "incoming", role: "img" }),
      el("span", { class: "type", text: degree.type }),
      el("span", { class: "group-count", text: count(degree.count) }),
    );
    const details = el("details", { class: "group" }, summary, list, more);
    const reader = new GroupReader(this.session, this.labels, { node: node.id, degree, list, more });
    details.addEventListener("toggle", () => {
      if (details.open && list.childElementCount === 0) void reader.read();
    });
    return details;
  }

  private async showRelationship(id: Id | null): Promise<void> {
    this.relationship = id;
    if (id === null) {
      this.relationshipPlace.replaceChildren();
      return;
    }
    try {
      const whole = await this.session.api.get<RelationshipWhole>(`/relationships/${id}`);
      if (this.relationship === id) this.relationshipPlace.replaceChildren(this.relationshipCard(whole));
    } catch (error) {
      if (this.relationship === id && !isAbort(error)) this.relationshipPlace.replaceChildren(failure(error, null));
    }
  }

  private relationshipCard(whole: RelationshipWhole): HTMLElement {
    const end = (id: Id): HTMLElement => {
      const name = this.session.graph.nodes.get(id)?.caption ?? `#${id}`;
      return button(name, { class: "as-text" }, () => void this.session.select(id));
    };
    this.session.say(`Relationship ${whole.type}, id ${whole.id}.`);
    return el(
      "section",
      { class: "relationship-card", "aria-label": "Relationship" },
      el("h3", {}, el("span", { class: "type", text: whole.type }), el("span", { class: "id", text: `#${whole.id}` })),
      el("p", { class: "ends" }, end(whole.start), el("span", { class: "arrow out", role: "img", "aria-label": "to" }), end(whole.end)),
      propertyList(whole.properties),
      button("Close", { class: "quiet" }, () => this.session.emit("relationship", null)),
    );
  }
}

interface GroupPlace {
  node: Id;
  degree: Degree;
  list: HTMLElement;
  more: HTMLElement;
}

/** Reads one group's relationships page by page. */
class GroupReader {
  private next: string | null = null;
  private shown = 0;

  constructor(
    private readonly session: Session,
    private readonly labels: Labels,
    private readonly place: GroupPlace,
  ) {}

  async read(): Promise<void> {
    const { node, degree, more } = this.place;
    more.replaceChildren(loading());
    try {
      const query = { direction: degree.direction, type: degree.type, limit: PAGE_SIZE, after: this.next };
      const page = await this.session.api.get<RelationshipPage>(`/nodes/${node}/relationships`, query);
      this.show(page);
    } catch (error) {
      more.replaceChildren(failure(error, () => void this.read()));
    }
  }

  private show(page: RelationshipPage): void {
    const { node, degree, list, more } = this.place;
    const nodes = new Map(page.nodes.map((summary) => [summary.id, summary]));
    for (const relationship of page.relationships) {
      const other = degree.direction === "out" ? relationship.end : relationship.start;
      const summary = nodes.get(other) ?? this.session.graph.nodes.get(other)?.summary;
      list.append(this.row(summary ?? { id: other, labels: [], properties: {} }, relationship, other === node));
    }
    this.shown += page.relationships.length;
    this.next = page.next;
    const state = el("span", { class: "small", text: `${count(this.shown)} of ${count(degree.count)} shown` });
    const left = Math.min(PAGE_SIZE, degree.count - this.shown);
    const further = button(`Show ${left} more`, { class: "quiet" }, () => void this.read());
    more.replaceChildren(...(page.next === null ? [] : [state, further]));
    if (page.next !== null) this.session.say(`${counted(this.shown, "relationship")} of ${count(degree.count)} listed.`);
  }

  private row(other: NodeSummary, relationship: Relationship, self: boolean): HTMLElement {
    const visit = button("", { class: "neighbour" }, () => this.session.visit(other, relationship));
    visit.append(
      el("span", { class: Labels.className(this.labels.lookOf(other.labels)), "aria-hidden": "true" }),
      el("span", { class: "neighbour-name", text: self ? `${caption(other)} (itself)` : caption(other) }),
      el("span", { class: "id", text: `#${other.id}` }),
    );
    pointsAt(visit, other.id, this.session);
    const look = button("…", { class: "quiet look", "aria-label": `Properties of relationship ${relationship.id}` }, () =>
      this.session.showRelationship(relationship.id),
    );
    look.title = "The relationship’s own properties";
    return el("li", {}, visit, look);
  }
}
