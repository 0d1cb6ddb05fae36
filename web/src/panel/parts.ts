//! Pieces that several tabs of the panel are made of.

import { explain } from "../api";
import { button, el } from "../dom";
import type { Session } from "../session";
import type { Id, Value } from "../types";
import { cutText, FOLD_LENGTH, showValue } from "../values";

/** While a list's row for a node is pointed at or has the focus, the drawing shows where the node is. */
export function pointsAt(row: HTMLElement, id: Id, session: Session): void {
  for (const type of ["pointerenter", "focus"]) row.addEventListener(type, () => session.emit("pointed", id));
  for (const type of ["pointerleave", "blur"]) row.addEventListener(type, () => session.emit("pointed", null));
}

/** A quiet line where there is nothing to show, or not yet. */
export function emptyState(title: string, text: string): HTMLElement {
  return el("div", { class: "empty" }, el("p", { class: "empty-title", text: title }), el("p", { text }));
}

/** Grey bars in the place of what is on its way. */
export function loading(): HTMLElement {
  const bars = [70, 45, 60, 35].map((width) => el("span", { class: `bar bar-${width}` }));
  return el("div", { class: "loading", role: "status", "aria-label": "Loading" }, ...bars);
}

/** An error in the place of what it kept away, with its hint. */
export function failure(error: unknown, again: (() => void) | null): HTMLElement {
  const { message, hint } = explain(error);
  return el(
    "div",
    { class: "failure", role: "alert" },
    el("p", { class: "failure-title", text: message }),
    hint === null ? null : el("p", { class: "hint", text: hint }),
    again ? button("Try again", { class: "quiet" }, again) : null,
  );
}

/** A value's text, folded when it is long, and its type. */
export function valueElement(value: Value): HTMLElement {
  const { text, type } = showValue(value);
  const shown = el("span", { class: `value value-${type.toLowerCase()}` });
  const box = el("span", { class: "value-box" }, shown, el("span", { class: "value-type", text: type }));
  if (text.length <= FOLD_LENGTH) {
    shown.textContent = text === "" ? "(empty)" : text;
    if (text === "") shown.classList.add("value-empty");
    return box;
  }
  let open = false;
  const fold = button("", { class: "quiet fold" }, () => set(!open));
  const set = (unfold: boolean): void => {
    open = unfold;
    shown.textContent = open ? text : cutText(text, FOLD_LENGTH);
    fold.textContent = open ? "Fold" : `Show all ${text.length.toLocaleString("en")} characters`;
    fold.setAttribute("aria-expanded", String(open));
  };
  set(false);
  box.append(fold);
  return box;
}

/** Properties as a list of names and values. */
export function propertyList(properties: Record<string, Value>): HTMLElement {
  const entries = Object.entries(properties);
  if (entries.length === 0) return el("p", { class: "none", text: "No properties." });
  const rows = entries.map(([key, value]) => el("div", {}, el("dt", { text: key }), el("dd", {}, valueElement(value))));
  return el("dl", { class: "properties" }, ...rows);
}
