//! Property values as text for people, and the caption of a node. Pure: makes no elements.
//! What comes from a database is never more than text here; whoever shows it uses `textContent`.

import type { Id, TypedValue, Value } from "./types";

/** A value's text and the name of its type. */
export interface Shown {
  text: string;
  type: string;
}

/** Texts longer than this are folded until asked for. */
export const FOLD_LENGTH = 240;

/** Properties that usually hold what a person would call the node, best first. */
const CAPTION_KEYS = ["name", "title", "caption", "label", "fullname", "username", "login", "email", "code", "key"];
const CAPTION_LENGTH = 40;

/** Whether this is one of the objects that stand for types which JSON does not have. */
export function isTyped(value: Value): value is TypedValue {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The whole text and the type of a value. */
export function showValue(value: Value): Shown {
  if (value === null) return { text: "null", type: "Null" };
  if (typeof value === "boolean") return { text: String(value), type: "Boolean" };
  if (typeof value === "number") {
    return { text: String(value), type: Number.isInteger(value) ? "Integer" : "Float" };
  }
  if (typeof value === "string") return { text: value, type: "String" };
  if (Array.isArray(value)) return { text: `[${value.map(inner).join(", ")}]`, type: "List" };
  return { text: typedText(value), type: value.$type };
}

function typedText(value: TypedValue): string {
  if (typeof value._value === "string") return value._value;
  const entries = Object.entries(value._value);
  return `{${entries.map(([key, item]) => `${key}: ${inner(item)}`).join(", ")}}`;
}

/** A value within a list or a map: strings in quotes, so that their ends are seen. */
function inner(value: Value): string {
  return typeof value === "string" ? JSON.stringify(value) : showValue(value).text;
}

/** `text` cut to `length` characters, with an ellipsis; never cuts through a surrogate pair. */
export function cutText(text: string, length: number): string {
  const points = Array.from(text.slice(0, 2 * length + 2));
  if (points.length <= length) return text;
  return `${points.slice(0, length - 1).join("")}…`;
}

/** What to call a node: a telling property, else any short text, else its id. One line. */
export function caption(node: { id: Id; properties: Record<string, Value> }): string {
  const texts = Object.entries(node.properties).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && entry[1].trim() !== "",
  );
  const preferred = CAPTION_KEYS.map((key) => texts.find(([name]) => name.toLowerCase() === key));
  const found = preferred.find((entry) => entry !== undefined) ?? texts.find(([, text]) => text.length <= CAPTION_LENGTH);
  return found ? cutText(found[1].replace(/\s+/g, " ").trim(), CAPTION_LENGTH) : `#${node.id}`;
}

/** Keys of the API whose numbers are counts or measures, not property values. */
const PLAIN_NUMBERS = new Set(["micros", "uptime_ms"]);

/**
 * The text of an answer as an object. A whole number written as a float (`3.0`) becomes a typed
 * Float with its own text where the browser tells what was written, so that `3.0` is not shown as `3`.
 */
export function parseAnswer(text: string): unknown {
  const reviver = (key: string, value: unknown, context?: { source?: string }): unknown => {
    const source = context?.source;
    if (typeof value !== "number" || !source || !Number.isInteger(value)) return value;
    if (PLAIN_NUMBERS.has(key) || !/[.eE]/.test(source)) return value;
    return { $type: "Float", _value: source };
  };
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
}
