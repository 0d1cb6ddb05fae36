//! A page cut into regions for its map: header, slots, gap, cells and holes. Pure.
//!
//! Regions are worked out from the page's slots and fields, and tile the page: every byte is in
//! exactly one. Names of fields are not read.

import type { InspectedPage } from "../types";

export type RegionKind = "header" | "slots" | "gap" | "cell" | "hole" | "bitmap" | "payload" | "free";

export interface Region {
  kind: RegionKind;
  start: number;
  len: number;
  /** The slot whose cell this is. */
  slot: number | null;
}

/** Bytes of the header of every page but the two header slots, and of one slot of a tree page. */
const HEADER_BYTES = 48;
const SLOT_BYTES = 6;

export function regionsOf(page: InspectedPage): Region[] {
  const size = page.bytes.length / 2;
  const header = Math.min(HEADER_BYTES, size);
  const rest = (kind: RegionKind): Region[] => [
    { kind: "header", start: 0, len: header, slot: null },
    ...(size > header ? [{ kind, start: header, len: size - header, slot: null }] : []),
  ];
  switch (page.kind) {
    case "header":
      return headerRegions(page, size);
    case "allocation_map":
      return rest("bitmap");
    case "extent":
      return rest("payload");
    case "free":
      return rest("free");
    case "leaf":
    case "branch":
      return treeRegions(page, size);
  }
}

/** A header slot: its fields, and what is left of the page unused. */
function headerRegions(page: InspectedPage, size: number): Region[] {
  const last = page.fields.at(-1);
  const unused = last && page.fields.length > 1 && last.len > size / 2 ? last.start : size;
  const regions: Region[] = [{ kind: "header", start: 0, len: unused, slot: null }];
  if (unused < size) regions.push({ kind: "free", start: unused, len: size - unused, slot: null });
  return regions;
}

function treeRegions(page: InspectedPage, size: number): Region[] {
  const slotsEnd = Math.min(size, HEADER_BYTES + SLOT_BYTES * page.slots.length);
  const regions: Region[] = [{ kind: "header", start: 0, len: HEADER_BYTES, slot: null }];
  if (page.slots.length > 0) regions.push({ kind: "slots", start: HEADER_BYTES, len: slotsEnd - HEADER_BYTES, slot: null });
  const cells = [...page.slots].sort((a, b) => a.offset - b.offset);
  let at = slotsEnd;
  let first = true;
  for (const { offset, len, slot } of cells) {
    // The gap between the slots and the cells is one; further space between cells are holes.
    if (offset > at) regions.push(...between(page, at, offset, first));
    first = false;
    if (offset < at) continue;
    regions.push({ kind: "cell", start: offset, len, slot });
    at = offset + len;
  }
  if (at < size) regions.push({ kind: first ? "gap" : "hole", start: at, len: size - at, slot: null });
  return regions;
}

/** Space before a cell: the gap, then a hole where a field's border says that cells had begun. */
function between(page: InspectedPage, start: number, end: number, first: boolean): Region[] {
  if (!first) return [{ kind: "hole", start, len: end - start, slot: null }];
  const border = page.fields.find((field) => field.start > start && field.start < end)?.start ?? end;
  const gap: Region = { kind: "gap", start, len: border - start, slot: null };
  return border < end ? [gap, { kind: "hole", start: border, len: end - border, slot: null }] : [gap];
}

/** Bytes of all regions of a kind. */
export function sizeOf(regions: Region[], kind: RegionKind): number {
  return regions.reduce((sum, region) => sum + (region.kind === kind ? region.len : 0), 0);
}

/** A piece of a region in one row of the map. */
export interface Piece {
  row: number;
  column: number;
  width: number;
}

/** A region as pieces of rows of `perRow` bytes. */
export function piecesOf(region: Region, perRow: number): Piece[] {
  const pieces: Piece[] = [];
  let at = region.start;
  const end = region.start + region.len;
  while (at < end) {
    const column = at % perRow;
    const width = Math.min(perRow - column, end - at);
    pieces.push({ row: Math.floor(at / perRow), column, width });
    at += width;
  }
  return pieces;
}
