//! A hex dump with its fields: bytes in the tint of their field, a list of fields beside them.
//! What is pointed at or has the focus on one side lights up on the other.

import { button, el } from "../dom";
import { count, hex } from "../format";
import { rove } from "../roving";
import type { Field } from "../types";
import { cutText } from "../values";
import { fieldAt, fromHex, tints, toAscii } from "./fields";

/** Bytes and fields that are shown before more is asked for. */
const BYTES_FIRST = 512;
const FIELDS_FIRST = 80;
const VALUE_LENGTH = 160;

export interface Dumped {
  bytes: string;
  fields: Field[];
  /** Where the first byte lies in its page, so that offsets can be told. */
  offset: number;
}

export class Dump {
  readonly element = el("div", { class: "dump" });
  private readonly bytes: Uint8Array;
  private readonly tints: number[];
  private readonly readout = el("p", { class: "readout" });
  private readonly rows = el("div", { class: "hex", "aria-hidden": "true" });
  /** The way to the bytes that are not shown; beside the bytes, as these are hidden from screen readers. */
  private readonly more = el("div", { class: "hex-more" });
  private readonly list = el("ol", { class: "fields" });
  /** Byte elements and list items by field. */
  private byteElements: HTMLElement[][] = [];
  private items: HTMLElement[] = [];
  private lit = -1;

  constructor(
    private readonly dumped: Dumped,
    private readonly perRow: number,
  ) {
    this.bytes = fromHex(dumped.bytes);
    this.tints = tints(dumped.fields);
    this.element.append(this.readout, this.rows, this.more, this.list);
    this.showBytes(BYTES_FIRST);
    this.showFields(FIELDS_FIRST);
    this.light(-1);
    for (const side of [this.rows, this.list]) {
      // Moves, not hovers: what scrolls away under a pointer at rest is not pointed at.
      side.addEventListener("pointermove", (event) => this.light(fieldOf(event.target)));
      side.addEventListener("pointerleave", () => this.light(fieldOf(this.focused())));
    }
    this.list.addEventListener("focusin", (event) => this.light(fieldOf(event.target)));
    this.list.addEventListener("focusout", () => this.light(-1));
    rove(this.list, ".field");
  }

  private showBytes(limit: number): void {
    const { fields, offset } = this.dumped;
    const shown = Math.min(this.bytes.length, limit);
    this.byteElements = fields.map(() => []);
    const rows: HTMLElement[] = [];
    for (let start = 0; start < shown; start += this.perRow) {
      const cells: HTMLElement[] = [];
      const letters: HTMLElement[] = [];
      for (let at = start; at < Math.min(shown, start + this.perRow); at += 1) {
        const field = fieldAt(fields, at);
        const byte = this.bytes[at] ?? 0;
        cells.push(this.byteElement(byte.toString(16).padStart(2, "0"), field));
        letters.push(this.byteElement(toAscii(byte), field));
      }
      rows.push(
        el(
          "div",
          { class: "hex-row" },
          el("span", { class: "hex-offset", text: (offset + start).toString(16).padStart(4, "0") }),
          el("span", { class: `hex-bytes per-${this.perRow}` }, ...cells),
          el("span", { class: "hex-letters" }, ...letters),
        ),
      );
    }
    const rest = this.bytes.length - shown;
    this.rows.replaceChildren(...rows);
    this.more.hidden = rest === 0;
    const buttons = rest > 0 ? [button(`Show ${count(rest)} more bytes`, { class: "quiet" }, () => this.showAllBytes())] : [];
    this.more.replaceChildren(...buttons);
  }

  private showAllBytes(): void {
    const hadFocus = this.more.contains(document.activeElement);
    this.showBytes(Infinity);
    // The button has gone; the fields are what comes behind it.
    if (hadFocus) this.list.querySelector<HTMLElement>("[tabindex='0']")?.focus();
  }

  private byteElement(text: string, field: number): HTMLElement {
    const element = el("span", { class: `byte tint-${this.tints[field] ?? "none"}`, "data-field": field, text });
    this.byteElements[field]?.push(element);
    return element;
  }

  private showFields(limit: number): void {
    const { fields } = this.dumped;
    const shown = fields.slice(0, limit);
    this.items = shown.map((field, index) => this.fieldItem(field, index));
    const rest = fields.length - shown.length;
    const more = rest > 0 ? el("li", {}, button(`Show ${count(rest)} more fields`, { class: "quiet" }, () => this.showFields(Infinity))) : null;
    this.list.replaceChildren(...this.items, ...(more ? [more] : []));
  }

  private fieldItem(field: Field, index: number): HTMLElement {
    const value = cutText(field.value, VALUE_LENGTH);
    return el(
      "li",
      { class: `field depth-${Math.min(4, field.depth)}`, tabindex: index === 0 ? 0 : -1, "data-field": index },
      el("span", { class: `field-mark tint-${this.tints[index] ?? 0}`, "aria-hidden": "true" }),
      el("span", { class: "field-place", text: place(field, this.dumped.offset) }),
      el("span", { class: "field-name", text: field.name }),
      el("span", { class: "field-value", text: value }),
    );
  }

  /** The field that has the focus. */
  private focused(): Element | null {
    const { activeElement } = document;
    return this.list.contains(activeElement) ? activeElement : null;
  }

  /** Lights up one field on both sides and tells of it in the line above; -1 is none. */
  private light(field: number): void {
    if (field === this.lit && this.readout.hasChildNodes()) return;
    this.set(this.lit, false);
    this.lit = field;
    this.set(field, true);
    const lit = this.dumped.fields[field];
    this.readout.classList.toggle("on", lit !== undefined);
    this.rows.classList.toggle("pointing", lit !== undefined);
    if (!lit) {
      this.readout.textContent = `${count(this.bytes.length)} bytes. Point at a field or its bytes.`;
      return;
    }
    const bytes = lit.len === 1 ? "1 byte" : `${count(lit.len)} bytes`;
    this.readout.replaceChildren(
      el("strong", { text: lit.name }),
      el("span", { class: "readout-value", text: cutText(lit.value, VALUE_LENGTH) }),
      el("span", { class: "readout-place", text: `${bytes} at ${hex(this.dumped.offset + lit.start)}` }),
    );
  }

  private set(field: number, on: boolean): void {
    for (const element of this.byteElements[field] ?? []) element.classList.toggle("lit", on);
    this.items[field]?.classList.toggle("lit", on);
  }
}

function fieldOf(target: EventTarget | null): number {
  const element = target instanceof Element ? target.closest<HTMLElement>("[data-field]") : null;
  return Number(element?.dataset["field"] ?? -1);
}

/** First and last byte of a field, in the page's offsets. */
function place(field: Field, offset: number): string {
  const first = offset + field.start;
  const last = first + Math.max(1, field.len) - 1;
  const digits = (value: number): string => value.toString(16).padStart(4, "0");
  return first === last ? digits(first) : `${digits(first)}–${digits(last)}`;
}
