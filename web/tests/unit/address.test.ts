//! The address: what is written is read again, and nonsense is left out.

import assert from "node:assert/strict";
import { test } from "node:test";

import { formatAddress, isSameWalk, parseAddress, ROOTS_MAX, START, type Address } from "../../src/address";

test("the start is an empty text", () => {
  assert.equal(formatAddress(START), "");
  assert.deepEqual(parseAddress("").address, START);
});

test("what is written is read again", () => {
  const addresses: Address[] = [
    { ...START, node: "0" },
    { ...START, node: "18446744073709551615", roots: [{ id: "1", limit: 60 }, { id: "2", limit: 120 }], tab: "bytes" },
    { ...START, walk: { from: "3", direction: "in", type: "A & B=#,", hops: 8 }, page: 4_294_967_296, tab: "chain" },
  ];
  for (const address of addresses) assert.deepEqual(parseAddress(`#${formatAddress(address)}`).address, address);
});

test("roots are written short", () => {
  const roots = [{ id: "7", limit: 60 }, { id: "8", limit: 120 }];
  assert.equal(formatAddress({ ...START, roots }), "drawn=7,8:120");
});

test("nonsense is left out", () => {
  const texts = ["node=x", "node=01", "node=-1", "drawn=a,,1.5,9:0,9:x,9:99999", "walk=1&hops=9", "walk=1&hops=0", "walk=1&hops=2&direction=up", "tab=secret", "page=-3", "page=1e9"];
  for (const text of texts) assert.deepEqual(parseAddress(`#${text}`).address, START, text);
});

test("roots are unique and bounded, the newest stay", () => {
  const text = Array.from({ length: ROOTS_MAX + 5 }, (_, id) => String(id)).join(",");
  const { roots } = parseAddress(`#drawn=${text},28`).address;
  assert.equal(roots.length, ROOTS_MAX);
  assert.equal(roots.at(-1)?.id, "28");
});

test("a token is found beside the state", () => {
  assert.equal(parseAddress("#token=s3cret&node=4").token, "s3cret");
  assert.equal(parseAddress("#node=4").token, null);
});

test("walks are compared by what they ask for", () => {
  const { walk } = parseAddress("#walk=3&hops=2&direction=in&type=KNOWS").address;
  assert.ok(walk);
  assert.ok(isSameWalk(walk, { type: "KNOWS", direction: "in", hops: 2, from: "3" }));
  for (const other of [{ from: "4" }, { hops: 3 }, { direction: "out" as const }, { type: null }]) assert.ok(!isSameWalk(walk, { ...walk, ...other }));
  assert.ok(isSameWalk(null, null) && !isSameWalk(walk, null) && !isSameWalk(null, walk));
});
