//! Fields, tints and the regions of a page; and that the mock's own answers keep the contract.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fieldAt, fromHex, tints, toAscii } from "../../src/panel/fields";
import { piecesOf, regionsOf, sizeOf } from "../../src/panel/pagemap";
import type { Cell, Field, InspectedNode, InspectedPage } from "../../src/types";
import { Answers } from "../mock/answers";
import { PAGE_SIZE } from "../mock/inspect";

const field = (name: string, start: number, len: number): Field => ({ name, start, len, value: "", depth: 0 });

function assertTiles(fields: Field[], length: number): void {
  let at = 0;
  for (const { start, len } of fields) {
    assert.equal(start, at);
    assert.ok(len > 0);
    at += len;
  }
  assert.equal(at, length);
}

test("hexadecimal text becomes bytes", () => {
  assert.deepEqual([...fromHex("00ff1a")], [0, 255, 26]);
  assert.deepEqual([...fromHex("")], []);
  assert.deepEqual([0x41, 0x7f, 0x1f].map(toAscii), ["A", "·", "·"]);
});

test("a byte finds its field", () => {
  const fields = [field("a", 0, 1), field("b", 1, 4), field("c", 5, 2)];
  assert.deepEqual([0, 1, 4, 5, 6, 7].map((at) => fieldAt(fields, at)), [0, 1, 1, 2, 2, -1]);
  assert.equal(fieldAt([], 0), -1);
});

test("neighbouring fields differ in tint, fields of a kind agree", () => {
  const found = tints([field("key 0", 0, 1), field("length 0", 1, 1), field("key 1", 2, 1), field("key 2", 3, 1)]);
  assert.equal(found[0], found[2]);
  for (let at = 1; at < found.length; at += 1) assert.notEqual(found[at], found[at - 1]);
});

test("regions tile every kind of page", () => {
  const answers = new Answers();
  for (const number of [0, 3, 4, 12, 120, 3_900]) {
    const page = answers.answer(`inspect/pages/${number}`, new URLSearchParams()) as InspectedPage;
    assertTiles(page.fields, PAGE_SIZE);
    const regions = regionsOf(page);
    assertTiles(regions.map(({ start, len }) => field("", start, len)), PAGE_SIZE);
    assert.equal(sizeOf(regions, "cell"), page.slots.reduce((sum, { len }) => sum + len, 0));
  }
});

test("a leaf has slots, a gap, cells and holes", () => {
  const page = new Answers().answer("inspect/pages/120", new URLSearchParams()) as InspectedPage;
  const kinds = new Set(regionsOf(page).map(({ kind }) => kind));
  assert.deepEqual([...kinds].sort(), ["cell", "gap", "header", "hole", "slots"]);
});

test("an empty leaf is header and gap", () => {
  const page: InspectedPage = { page: 9, kind: "leaf", level: 0, table: "t", bytes: "00".repeat(512), fields: [field("all", 0, 512)], slots: [] };
  assert.deepEqual(regionsOf(page).map(({ kind, len }) => [kind, len]), [["header", 48], ["gap", 464]]);
});

test("a region is cut at the ends of rows", () => {
  assert.deepEqual(piecesOf({ kind: "cell", start: 120, len: 20, slot: 0 }, 64), [
    { row: 1, column: 56, width: 8 },
    { row: 2, column: 0, width: 12 },
  ]);
});

test("the mock's cells are tiled by their fields", () => {
  const answers = new Answers();
  const assertCell = (cell: Cell): void => {
    assertTiles(cell.fields, cell.bytes.length / 2);
    if (cell.large) assertTiles(cell.large.fields, cell.large.bytes.length / 2);
  };
  for (const id of ["0", "12", "30001", "40000", "40001"]) {
    const node = answers.answer(`inspect/nodes/${id}`, new URLSearchParams()) as InspectedNode;
    assertCell(node.record);
    for (const { first } of node.adjacency) assertCell(first);
    for (const { cell } of node.indexes) assertCell(cell);
  }
});
