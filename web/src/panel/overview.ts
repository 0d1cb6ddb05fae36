//! The database at a glance, shown while no node is selected: counts, labels, types, indexes.

import { Labels } from "../colours";
import { el } from "../dom";
import { bytes, count, counted } from "../format";
import { indexName } from "../search";
import type { Database } from "../types";

/** Rows that a list shows; the rest is counted. */
const ROWS_MAX = 14;

export function overview(database: Database, labels: Labels): HTMLElement {
  return el(
    "div",
    { class: "overview" },
    el("h2", { text: database.name }),
    el("p", {
      class: "lead",
      text: "Select a node in the drawing, or search for one. Then expand it, walk from it hop by hop, or look at its bytes.",
    }),
    figures(database),
    el("h3", { text: "Labels" }),
    bars(database.labels.map(({ name, nodes }, position) => ({ name, size: nodes, swatch: Labels.className(labels.look(name)), position }))),
    el("h3", { text: "Relationship types" }),
    bars(database.relationship_types.map(({ name, relationships }, position) => ({ name, size: relationships, swatch: null, position }))),
    el("h3", { text: "Indexes" }),
    indexes(database),
    el("p", {
      class: "small",
      text: `HopDB ${database.version}, file format ${database.format_version}, ${database.writable ? "open for writing" : "open for reading"}.`,
    }),
  );
}

function figures(database: Database): HTMLElement {
  const figure = (value: string, name: string): HTMLElement =>
    el("div", {}, el("dd", { text: value }), el("dt", { text: name }));
  return el(
    "dl",
    { class: "figures" },
    figure(count(database.nodes), "nodes"),
    figure(count(database.relationships), "relationships"),
    figure(bytes(database.file_bytes), `in ${counted(Math.floor(database.file_bytes / database.page_size), "page")}`),
  );
}

interface Bar {
  name: string;
  size: number;
  swatch: string | null;
  position: number;
}

function bars(all: Bar[]): HTMLElement {
  if (all.length === 0) return el("p", { class: "none", text: "None yet." });
  const sorted = [...all].sort((a, b) => b.size - a.size || a.position - b.position);
  const most = Math.max(1, sorted[0]?.size ?? 1);
  const rows = sorted.slice(0, ROWS_MAX).map(({ name, size, swatch }) => {
    const fill = el("span", { class: "bar-fill" });
    fill.style.width = `${(100 * size) / most}%`;
    return el(
      "li",
      {},
      swatch === null ? null : el("span", { class: swatch, "aria-hidden": "true" }),
      el("span", { class: "bar-name", text: name }),
      el("span", { class: "bar-track", "aria-hidden": "true" }, fill),
      el("span", { class: "bar-size", text: count(size) }),
    );
  });
  const rest = sorted.length - ROWS_MAX;
  return el("ul", { class: "bars" }, ...rows, rest > 0 ? el("li", { class: "none", text: `and ${rest} more` }) : null);
}

function indexes(database: Database): HTMLElement {
  if (database.indexes.length === 0) {
    return el("p", { class: "none", text: "None: search by text is off. A node is found by its id, such as #0." });
  }
  const items = database.indexes.map(({ label, property, unique }) =>
    el("li", {}, el("code", { text: indexName(label, property) }), unique ? el("span", { class: "tag", text: "unique" }) : null),
  );
  return el("ul", { class: "index-list" }, ...items);
}
