//! The tab “Bytes”: each cell of the selected node as it lies in its page, field by field.

import { button, byId, el } from "../dom";
import { bytes, count, hex } from "../format";
import type { Session } from "../session";
import type { Cell, Large } from "../types";
import { Dump } from "./dump";
import type { Inspected, NamedCell } from "./inspected";
import { emptyState, failure, loading } from "./parts";

export class BytesTab {
  private readonly place = byId("panel-bytes");

  constructor(
    private readonly session: Session,
    private readonly inspected: Inspected,
  ) {
    inspected.on("changed", () => this.show());
    this.show();
  }

  private show(): void {
    const { inspected } = this;
    if (inspected.answer) this.place.replaceChildren(...inspected.cells.map((cell, index) => this.cell(cell, index === 0)));
    else if (inspected.error) this.place.replaceChildren(failure(inspected.error, () => inspected.again()));
    else if (inspected.hasNode) this.place.replaceChildren(loading());
    else this.place.replaceChildren(emptyState("No node selected", "Select a node to see the bytes of its record, as they lie on disk."));
  }

  /** A cell, open or closed; its dump is made when it is first opened. */
  private cell({ name, note, cell }: NamedCell, open: boolean): HTMLElement {
    const body = el("div", { class: "cell-body" });
    const summary = el("summary", {}, el("span", { class: "cell-name", text: name }), el("span", { class: "cell-note", text: note }));
    const details = el("details", { class: "cell", open }, summary, body);
    const fill = (): void => {
      if (details.open && body.childElementCount === 0) body.append(...this.body(cell));
    };
    details.addEventListener("toggle", fill);
    fill();
    return details;
  }

  private body(cell: Cell): HTMLElement[] {
    const leaf = cell.chain.at(-1);
    const where = el(
      "p",
      { class: "where" },
      el("code", { text: cell.table }),
      leaf ? button(`page ${leaf.page}`, { class: "as-text" }, () => this.session.openPage(leaf.page)) : null,
      leaf ? el("span", { text: `slot ${leaf.slot} of ${leaf.slots}` }) : null,
      el("span", { text: `byte ${hex(cell.offset)}` }),
    );
    const perRow = this.perRow();
    const dump = new Dump(cell, perRow);
    return [where, dump.element, ...(cell.large ? this.large(cell.large, perRow) : [])];
  }

  private large(large: Large, perRow: number): HTMLElement[] {
    const extents = large.extents.map(({ first_page, pages }) => {
      const name = pages === 1 ? `page ${first_page}` : `pages ${first_page}–${first_page + pages - 1}`;
      return el("li", {}, button(name, { class: "as-text" }, () => this.session.openPage(first_page)));
    });
    const cut = large.cut ? `, the first ${bytes(large.bytes.length / 2)} of it below` : "";
    return [
      el("h4", { text: "Large value" }),
      el("p", { class: "small", text: `${count(large.length)} bytes outside the leaf${cut}.` }),
      el("ul", { class: "extents" }, ...extents),
      new Dump({ bytes: large.bytes, fields: large.fields, offset: 0 }, perRow).element,
    ];
  }

  /** Bytes of one row: as many as have room. */
  private perRow(): number {
    return byId("panel").clientWidth >= 430 ? 16 : 8;
  }
}
