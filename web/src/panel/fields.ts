//! Bytes and their fields as data: decoding of hexadecimal text, and a colour for each field. Pure.

import type { Field } from "../types";

/** Tints of fields that the style sheet has. */
export const TINTS = 8;

/** Bytes out of hexadecimal text; a half byte at the end is left out. */
export function fromHex(text: string): Uint8Array {
  const bytes = new Uint8Array(Math.floor(text.length / 2));
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = parseInt(text.slice(2 * index, 2 * index + 2), 16);
  }
  return bytes;
}

/** A byte as a character of ASCII, or a dot. */
export function toAscii(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·";
}

/**
 * A tint for each field: fields of one name but for numbers have one tint, as far as no two
 * neighbours get the same.
 */
export function tints(fields: Field[]): number[] {
  const known = new Map<string, number>();
  let before = -1;
  return fields.map(({ name }) => {
    const kind = name.replace(/\d+/g, "#");
    let tint = known.get(kind);
    if (tint === undefined) {
      tint = known.size % TINTS;
      known.set(kind, tint);
    }
    if (tint === before) tint = (tint + TINTS / 2) % TINTS;
    before = tint;
    return tint;
  });
}

/** The index of the field that holds a byte, by bisection; -1 when none does. */
export function fieldAt(fields: Field[], at: number): number {
  let low = 0;
  let high = fields.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const field = fields[middle];
    if (!field || at < field.start) high = middle - 1;
    else if (at >= field.start + field.len) low = middle + 1;
    else return middle;
  }
  return -1;
}
