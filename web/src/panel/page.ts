//! A page of the file: a map of its bytes true to scale, its header, and its slots.
//! A slot pointed at lights up in the map, and the other way round.

import { isAbort } from "../api";
import { button, el, svg } from "../dom";
import { bytes, count, counted, hex } from "../format";
import { rove } from "../roving";
import type { Session } from "../session";
import type { InspectedPage, PageSlot } from "../types";
import { cutText } from "../values";
import { Dump } from "./dump";
import { piecesOf, regionsOf, sizeOf, type Region, type RegionKind } from "./pagemap";
import { failure, loading } from "./parts";

/** Rows of the map, whatever the page's size. */
const MAP_ROWS = 32;
const ROW_HEIGHT = 8;
const ROW_GAP = 2;
/** Slots of the table that are shown before more is asked for. */
const SLOTS_FIRST = 60;

const NAMES: Record<RegionKind, string> = {
  header: "header",
  slots: "slots",
  gap: "gap",
  cell: "cells",
  hole: "holes",
  bitmap: "bitmap",
  payload: "payload",
  free: "unused",
};

const KINDS: Record<InspectedPage["kind"], string> = {
  header: "header slot",
  free: "free page",
  allocation_map: "allocation map",
  leaf: "leaf page",
  branch: "branch page",
  extent: "extent page",
};

export class PageView {
  readonly element = el("div", { class: "page-view" });
  private shown: number | null = null;
  private asked = new AbortController();

  constructor(private readonly session: Session) {}

  open(page: number): void {
    if (page === this.shown) return;
    this.shown = page;
    void this.read(page);
  }

  /** Reads the open page again, as the file may have changed. */
  again(): void {
    if (this.session.page !== null && this.shown !== null) void this.read(this.shown);
  }

  private async read(page: number): Promise<void> {
    this.asked.abort();
    const { signal } = (this.asked = new AbortController());
    this.element.replaceChildren(this.head(page), loading());
    try {
      const answer = await this.session.api.get<InspectedPage>(`/inspect/pages/${page}`, {}, signal);
      if (!signal.aborted) this.element.replaceChildren(this.head(page), ...this.body(answer));
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      this.element.replaceChildren(this.head(page), failure(error, () => void this.read(page)));
    }
  }

  private head(page: number): HTMLElement {
    const go = (to: number): void => this.session.openPage(to);
    return el(
      "div",
      { class: "page-head" },
      button("Back to the chain", { class: "quiet back" }, () => this.session.openPage(null)),
      el("span", { class: "spacer" }),
      button("‹", { class: "plain", "aria-label": "Page before", disabled: page === 0 }, () => go(page - 1)),
      button("›", { class: "plain", "aria-label": "Next page" }, () => go(page + 1)),
    );
  }

  private body(page: InspectedPage): HTMLElement[] {
    const regions = regionsOf(page);
    const map = new PageMap(page, regions);
    const title = page.level > 0 ? `${KINDS[page.kind]}, level ${page.level}` : KINDS[page.kind];
    const headerEnd = regions.find((region) => region.kind === "header")?.len ?? 0;
    const fields = page.fields.filter((field) => field.start + field.len <= headerEnd);
    this.session.say(`Page ${page.page}, ${title}, ${counted(page.slots.length, "slot")}.`);
    return [
      el("h3", { class: "page-title" }, `Page ${count(page.page)}`, el("span", { class: "page-kind", text: title })),
      page.table === null ? el("span", {}) : el("p", { class: "small" }, "of table ", el("code", { text: page.table })),
      map.element,
      el("h4", { text: "Header" }),
      new Dump({ bytes: page.bytes.slice(0, 2 * headerEnd), fields, offset: 0 }, 16).element,
      ...(page.slots.length > 0 ? this.slots(page, map) : []),
    ];
  }

  private slots(page: InspectedPage, map: PageMap): HTMLElement[] {
    const isBranch = page.kind === "branch";
    const headings = ["Slot", "Offset", "Bytes", isBranch ? "Separator" : "Key", isBranch ? "Child" : "Value"];
    const body = el("tbody", {});
    const table = el(
      "table",
      { class: "slots" },
      el("caption", { class: "visually-hidden", text: `Slots of page ${page.page}` }),
      el("thead", {}, el("tr", {}, ...headings.map((text) => el("th", { scope: "col", text })))),
      body,
    );
    const more = el("div", { class: "more" });
    const show = (limit: number): void => {
      body.replaceChildren(...page.slots.slice(0, limit).map((slot) => this.slotRow(slot, map)));
      const rest = page.slots.length - limit;
      more.replaceChildren(...(rest > 0 ? [button(`Show ${count(rest)} more slots`, { class: "quiet" }, () => show(Infinity))] : []));
    };
    rove(body, "tr");
    show(SLOTS_FIRST);
    return [el("h4", {}, "Slots", el("span", { class: "heading-count", text: count(page.slots.length) })), el("div", { class: "table-scroll" }, table), more];
  }

  private slotRow(slot: PageSlot, map: PageMap): HTMLElement {
    const { child } = slot;
    const value =
      child === null
        ? el("td", { class: "slot-text", text: cutText(slot.value, 60), title: slot.value })
        : el("td", {}, button(`page ${count(child)}`, { class: "as-text" }, () => this.session.openPage(child)));
    const row = el(
      "tr",
      { tabindex: slot.slot === 0 ? 0 : -1 },
      el("th", { scope: "row", text: String(slot.slot) }),
      el("td", { class: "number", text: hex(slot.offset) }),
      el("td", { class: "number", text: count(slot.len) }),
      el("td", { class: "slot-text", text: cutText(slot.key, 60), title: slot.key }),
      value,
    );
    map.join(slot.slot, row);
    return row;
  }
}

/** The map: the page's bytes in rows, regions in their colours, and what each colour is. */
class PageMap {
  readonly element: HTMLElement;
  private readonly pieces = new Map<number, SVGElement[]>();
  private readonly rows = new Map<number, HTMLElement>();
  private readonly readout = el("p", { class: "readout" });
  private readonly plain: string;

  constructor(page: InspectedPage, regions: Region[]) {
    const size = page.bytes.length / 2;
    const perRow = Math.max(1, size / MAP_ROWS);
    const scale = 1_000 / perRow;
    const picture = svg("svg", {
      class: "page-map",
      viewBox: `0 0 1000 ${MAP_ROWS * (ROW_HEIGHT + ROW_GAP) - ROW_GAP}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": describe(regions),
    });
    let cells = 0;
    for (const region of regions) {
      const shade = region.kind === "cell" ? ` shade-${cells++ % 2}` : "";
      picture.append(...this.draw(region, `region ${region.kind}${shade}`, perRow, scale));
    }
    picture.addEventListener("pointerleave", () => this.light(null, regions));
    this.plain = `${bytes(size)}, ${bytes(perRow)} a row, true to scale.`;
    this.readout.textContent = this.plain;
    this.element = el("div", { class: "page-map-box" }, picture, legend(regions), this.readout);
    picture.addEventListener("pointerover", (event) => {
      const index = (event.target as SVGElement).dataset["region"];
      this.light(index === undefined ? null : (regions.find((region) => region.start === Number(index)) ?? null), regions);
    });
  }

  private draw(region: Region, name: string, perRow: number, scale: number): SVGElement[] {
    const drawn = piecesOf(region, perRow).map(({ row, column, width }) =>
      svg("rect", {
        x: (column * scale).toFixed(2),
        y: row * (ROW_HEIGHT + ROW_GAP),
        width: Math.max(0.8, width * scale - (region.kind === "cell" ? 1.2 : 0)).toFixed(2),
        height: ROW_HEIGHT,
        class: name,
        "data-region": region.start,
      }),
    );
    if (region.slot !== null) this.pieces.set(region.slot, drawn);
    return drawn;
  }

  /** Joins a row of the table to the cell of its slot. */
  join(slot: number, row: HTMLElement): void {
    this.rows.set(slot, row);
    for (const type of ["pointerenter", "focusin"]) row.addEventListener(type, () => this.lightSlot(slot, true));
    for (const type of ["pointerleave", "focusout"]) row.addEventListener(type, () => this.lightSlot(slot, false));
  }

  private light(region: Region | null, regions: Region[]): void {
    for (const { slot } of regions) if (slot !== null) this.lightSlot(slot, slot === region?.slot);
    if (!region) {
      this.readout.textContent = this.plain;
      return;
    }
    const name = region.slot === null ? NAMES[region.kind] : `cell of slot ${region.slot}`;
    this.readout.textContent = `${name}: ${counted(region.len, "byte")} at ${hex(region.start)}`;
  }

  private lightSlot(slot: number, on: boolean): void {
    for (const piece of this.pieces.get(slot) ?? []) piece.classList.toggle("lit", on);
    this.rows.get(slot)?.classList.toggle("lit", on);
  }
}

function kindsOf(regions: Region[]): RegionKind[] {
  return [...new Set(regions.map((region) => region.kind))];
}

function legend(regions: Region[]): HTMLElement {
  const items = kindsOf(regions).map((kind) =>
    el("li", {}, el("span", { class: `region-mark ${kind}`, "aria-hidden": "true" }), `${NAMES[kind]} `, el("span", { class: "small", text: bytes(sizeOf(regions, kind)) })),
  );
  return el("ul", { class: "map-legend" }, ...items);
}

function describe(regions: Region[]): string {
  return `Map of the page: ${kindsOf(regions).map((kind) => `${NAMES[kind]} ${bytes(sizeOf(regions, kind))}`).join(", ")}.`;
}
