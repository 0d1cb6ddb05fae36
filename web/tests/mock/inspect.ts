//! What the mock answers to `/inspect`: records, blocks and pages, written byte by byte as the file
//! format says, with fields that tile them. Trees are three levels high, with made-up page ids.

import type { Cell, ChainStep, Degree, Field, Id, InspectedNode, InspectedPage, Node, PageSlot, Value } from "../../src/types";
import { LABELS, TYPES } from "./graph";

export const PAGE_SIZE = 4_096;
export const PAGES = 4_000;
const HEADER = 48;
/** Nodes of one leaf, and leaves of one branch page. */
const LEAF_SLOTS = 24;
const BRANCH_SLOTS = 60;
const ROOT_PAGE = 4;
const FIRST_LEAF = 100;

/** Bytes with a field for each piece that was put in. */
class Writer {
  readonly bytes: number[] = [];
  readonly fields: Field[] = [];

  put(name: string, bytes: number[], value: string, depth = 0): this {
    if (bytes.length > 0) this.fields.push({ name, start: this.bytes.length, len: bytes.length, value, depth });
    this.bytes.push(...bytes);
    return this;
  }

  varint(name: string, number: number, value = String(number), depth = 0): this {
    return this.put(name, varint(number), value, depth);
  }

  get hex(): string {
    return this.bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }
}

function varint(number: number): number[] {
  const bytes: number[] = [];
  let rest = number;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return [...bytes, rest];
}

function ordered(number: number): number[] {
  if (number < 128) return [0x40 + number];
  if (number < 1 << 13) return [0xc0 + (number >> 8), number & 255];
  return [0xe0 + (number >> 16), (number >> 8) & 255, number & 255];
}

function little(number: number, bytes: number): number[] {
  return Array.from({ length: bytes }, (_, at) => Math.floor(number / 256 ** at) % 256);
}

const text = (string: string): number[] => [...new TextEncoder().encode(string)];

/** A stored value: a tag and its bytes; types that the mock does not write are put as strings. */
function stored(value: Value): { bytes: number[]; text: string } {
  if (typeof value === "boolean") return { bytes: [value ? 3 : 2], text: String(value) };
  if (typeof value === "number" && Number.isInteger(value)) return { bytes: [0x10, ...varint(value * 2)], text: `integer ${value}` };
  if (typeof value === "number") {
    return { bytes: [0x11, ...new Uint8Array(new Float64Array([value]).buffer)], text: `float ${value}` };
  }
  const string = typeof value === "string" ? value : JSON.stringify(value);
  return { bytes: [0x20, ...text(string)], text: `string ${JSON.stringify(string)}` };
}

function record(node: Node): { cell: Writer; large: Writer | null } {
  const value = new Writer();
  value.varint("number of labels", node.labels.length);
  node.labels.forEach((name, index) => value.varint(`label ${index}`, LABELS.indexOf(name), name, 1));
  const properties = Object.entries(node.properties);
  value.varint("number of properties", properties.length);
  const values = properties.map(([, one]) => stored(one));
  properties.forEach(([name], index) => {
    value.varint(`property key ${index}`, index, name, 1);
    value.varint(`length ${index}`, values[index]?.bytes.length ?? 0, undefined, 1);
  });
  properties.forEach(([name], index) => value.put(`value ${index}`, values[index]?.bytes ?? [], `${name}: ${values[index]?.text ?? ""}`, 1));
  const key = ordered(Number(node.id));
  const large = value.bytes.length > PAGE_SIZE / 4;
  const descriptor = [...varint(value.bytes.length), ...varint(1), ...varint(3_900), ...varint(2)];
  const cell = new Writer().varint("key length", key.length);
  const length = large ? descriptor.length : value.bytes.length;
  cell.varint("value length and kind", 2 * length + (large ? 1 : 0), `${length} bytes, ${large ? "a large value's descriptor" : "in the leaf"}`);
  cell.put("node id", key, node.id);
  if (large) return { cell: cell.put("descriptor", descriptor, `${value.bytes.length} bytes in pages 3900–3901`), large: value };
  for (const { name, start, len, value: shown, depth } of value.fields) cell.put(name, value.bytes.slice(start, start + len), shown, depth + 1);
  return { cell, large: null };
}

function chainOf(id: Id): ChainStep[] {
  const leaf = Math.floor(Number(id) / LEAF_SLOTS);
  const branch = Math.floor(leaf / BRANCH_SLOTS);
  const rootSlot = Math.min(branch, 31);
  return [
    { page: ROOT_PAGE, kind: "branch", level: 2, slot: rootSlot, slots: 32, key: rootSlot === 0 ? null : String(branch * BRANCH_SLOTS * LEAF_SLOTS), free_bytes: 3_640 },
    { page: 10 + branch, kind: "branch", level: 1, slot: leaf % BRANCH_SLOTS, slots: BRANCH_SLOTS, key: leaf % BRANCH_SLOTS === 0 ? null : String(leaf * LEAF_SLOTS), free_bytes: 3_150 },
    { page: FIRST_LEAF + leaf, kind: "leaf", level: 0, slot: Number(id) % LEAF_SLOTS, slots: LEAF_SLOTS, key: id, free_bytes: 480 },
  ];
}

function block(id: Id, degree: Degree, neighbours: number[]): Cell {
  const cell = new Writer();
  const key = [...ordered(Number(id)), ...ordered(degree.direction === "out" ? 0 : 1), ...ordered(TYPES.indexOf(degree.type)), ...ordered(neighbours[0] ?? 0)];
  cell.varint("key length", key.length).varint("value length and kind", 2 * neighbours.length, `${neighbours.length} bytes, in the leaf`);
  cell.put("node id", ordered(Number(id)), id);
  cell.put("side", ordered(degree.direction === "out" ? 0 : 1), degree.direction === "out" ? "outgoing" : "incoming");
  cell.put("type", ordered(TYPES.indexOf(degree.type)), degree.type);
  cell.put("first neighbour", ordered(neighbours[0] ?? 0), String(neighbours[0] ?? 0));
  cell.varint("pairs and width", 2 * neighbours.length, `${neighbours.length} pairs, narrow`);
  cell.put("codes", Array.from({ length: Math.ceil(neighbours.length / 2) }, () => 0x55), "two bits for each number");
  neighbours.slice(1, 64).forEach((neighbour, index) => {
    cell.put(`pair ${index + 1}, neighbour`, little(Math.abs(neighbour - (neighbours[index] ?? 0)), 2), String(neighbour), 1);
  });
  return { table: "adjacency", chain: chainOf(id), offset: 1_200, bytes: cell.hex, fields: cell.fields, large: null };
}

export function inspectNode(node: Node, neighbours: (degree: Degree) => number[]): InspectedNode {
  const { cell, large } = record(node);
  const chain = chainOf(node.id);
  const offset = cellOffsets()[chain.at(-1)?.slot ?? 0] ?? HEADER;
  const first = large && { length: large.bytes.length, extents: [{ first_page: 3_900, pages: 2 }], bytes: large.hex, fields: large.fields, cut: false };
  const name = node.properties["name"];
  const entry = new Writer().varint("key length", 8).varint("value length and kind", 0, "0 bytes, in the leaf");
  entry.put("value", [0x1e, ...text(String(name)), 0], JSON.stringify(name)).put("node id", ordered(Number(node.id)), node.id);
  const index: Cell = { table: "index.0", chain: chain.slice(1), offset: 900, bytes: entry.hex, fields: entry.fields, large: null };
  return {
    node,
    record: { table: "nodes", chain, offset, bytes: cell.hex, fields: cell.fields, large: first },
    adjacency: node.degrees.map((degree) => ({
      direction: degree.direction,
      type: degree.type,
      relationships: degree.count,
      blocks: Math.ceil(degree.count / 200),
      first: block(node.id, degree, neighbours(degree)),
    })),
    indexes: typeof name === "string" && node.labels.includes("Person") ? [{ index: "Person.name", unique: false, cell: index }] : [],
  };
}

/** Where cells of the mock's leaves lie: from the end of the page down, with a hole. */
function cellOffsets(): number[] {
  return Array.from({ length: LEAF_SLOTS }, (_, slot) => PAGE_SIZE - 130 * (slot + 1) - (slot > 10 ? 90 : 0));
}

export function inspectPage(page: number): InspectedPage {
  const writer = new Writer();
  if (page < 2) {
    writer.put("magic", [0x89, 0x48, 0x6f, 0x70, 0x44, 0x42, 13, 10], "HopDB").put("format version", little(0, 4), "0");
    writer.put("page size", little(PAGE_SIZE, 4), String(PAGE_SIZE)).put("unused", Array<number>(PAGE_SIZE - 16).fill(0), "zeros");
    return { page, kind: "header", level: 0, table: null, bytes: writer.hex, fields: writer.fields, slots: [] };
  }
  if (page === 3) return plain(page, "allocation_map", 2);
  if (page >= 3_900 && page < 3_902) return plain(page, "extent", 5);
  return page < FIRST_LEAF ? branchPage(page) : leafPage(page);
}

function header(page: number, kind: number, level: number, counts: [number, number]): Writer {
  return new Writer()
    .put("checksum", [0x5a, 0x11, 0xc3, 0x77, 0x02, 0x9e, 0xe4, 0x1d], "XXH3-64, right")
    .put("page id", little(page, 8), String(page))
    .put("birth", little(12, 8), "commit 12")
    .put("begin", little(340, 8), "commit 340")
    .put("LSN", little(81_920, 8), "81920")
    .put("kind", [kind], ["free", "", "allocation map", "leaf", "branch", "extent"][kind] ?? "")
    .put("level", [level], String(level))
    .put("prefix", little(0, 2), "0 bytes")
    .put("count", little(counts[0], 2), `${counts[0]}`)
    .put("free", little(counts[1], 2), `${counts[1]} bytes`);
}

function plain(page: number, kind: "allocation_map" | "extent", code: number): InspectedPage {
  const writer = header(page, code, 0, [0, 0]).put("content", Array<number>(PAGE_SIZE - HEADER).fill(0xff), "in use");
  return { page, kind, level: 0, table: kind === "extent" ? "nodes" : null, bytes: writer.hex, fields: writer.fields, slots: [] };
}

interface PlacedCell {
  offset: number;
  len: number;
  key: string;
  value: string;
  child: number | null;
}

function tree(page: number, kind: "leaf" | "branch", level: number, cells: PlacedCell[]): InspectedPage {
  const lowest = Math.min(...cells.map((cell) => cell.offset));
  const slotsEnd = HEADER + 6 * cells.length;
  const writer = header(page, kind === "leaf" ? 3 : 4, level, [cells.length, lowest - slotsEnd]);
  cells.forEach((cell, slot) => writer.put(`slot ${slot}`, [...little(cell.offset, 2), 0, 0, 0, slot], `offset ${cell.offset}`));
  writer.put("gap", Array<number>(lowest - slotsEnd).fill(0), `${lowest - slotsEnd} bytes`);
  for (const [slot, cell] of [...cells.entries()].sort((a, b) => a[1].offset - b[1].offset)) {
    const hole = cell.offset - writer.bytes.length;
    if (hole > 0) writer.put("hole", Array<number>(hole).fill(0xee), `${hole} bytes`);
    writer.put(`cell ${slot}`, Array.from({ length: cell.len }, (_, at) => (slot * 31 + at * 7) % 256), cell.key);
  }
  const rest = PAGE_SIZE - writer.bytes.length;
  writer.put("hole", Array<number>(rest).fill(0xee), `${rest} bytes`);
  const slots: PageSlot[] = cells.map((cell, slot) => ({ slot, offset: cell.offset, len: cell.len, key: cell.key, value: cell.value, child: cell.child }));
  return { page, kind, level, table: "nodes", bytes: writer.hex, fields: writer.fields, slots };
}

function leafPage(page: number): InspectedPage {
  const first = (page - FIRST_LEAF) * LEAF_SLOTS;
  const cells = cellOffsets().map((offset, slot) => ({ offset, len: 96 + ((slot * 13) % 34), key: String(first + slot), value: "1 label, 3 properties", child: null }));
  return tree(page, "leaf", 0, cells);
}

function branchPage(page: number): InspectedPage {
  const root = page < 10;
  const count = root ? 32 : BRANCH_SLOTS;
  const child = (slot: number): number => (root ? 10 + slot : FIRST_LEAF + (page - 10) * BRANCH_SLOTS + slot);
  const cells = Array.from({ length: count }, (_, slot) => ({ offset: PAGE_SIZE - 7 * (slot + 1), len: 7, key: slot === 0 ? "" : String(slot * LEAF_SLOTS), value: "", child: child(slot) }));
  return tree(page, "branch", root ? 2 : 1, cells);
}
