//! What became of the database: the same, opened anew, or another one.

import assert from "node:assert/strict";
import { test } from "node:test";

import { changeOf } from "../../src/opened";
import { Rates, type Counters } from "../../src/rates";
import type { Database } from "../../src/types";

const BEFORE: Database = {
  ...{ name: "a", version: "0.1.0", format_version: 0, page_size: 4_096, file_bytes: 4_096, nodes: 5, relationships: 7 },
  ...{ labels: [], relationship_types: [], property_keys: [], indexes: [], writable: false, opened: "x" },
};

function without(database: Database): Database {
  const { opened: _, ...rest } = database;
  return rest;
}

test("the server says by `opened` whether the database was opened anew", () => {
  assert.equal(changeOf(BEFORE, BEFORE), "same");
  assert.equal(changeOf(BEFORE, { ...BEFORE, nodes: 6 }), "same", "written to");
  assert.equal(changeOf(BEFORE, { ...BEFORE, opened: "y" }), "reopened");
  for (const other of [{ name: "b" }, { nodes: 6 }, { relationships: 8 }]) assert.equal(changeOf(BEFORE, { ...BEFORE, ...other, opened: "y" }), "other");
});

test("without `opened` name and counts tell", () => {
  assert.equal(changeOf(without(BEFORE), without(BEFORE)), "same");
  assert.equal(changeOf(without(BEFORE), { ...without(BEFORE), name: "b" }), "other");
  assert.equal(changeOf(BEFORE, without({ ...BEFORE, nodes: 6 })), "other");
});

test("a restart shows in the counters, however late they are asked for", () => {
  const counters = (uptime_ms: number, opened?: string): Counters => ({ pages_read: 0, pages_written: 0, uptime_ms, ...(opened === undefined ? {} : { opened }) });
  const restarted = (before: Counters, now: Counters, elapsed: number): boolean => {
    const rates = new Rates();
    rates.add(before, 0);
    rates.add(now, elapsed);
    return rates.restarted;
  };
  assert.equal(restarted(counters(5_000), counters(5_500), 500), false);
  assert.equal(restarted(counters(5_000), counters(5_300), 500), false, "clocks differ");
  assert.equal(restarted(counters(5_000), counters(100), 500), true);
  assert.equal(restarted(counters(5_000), counters(60_000), 3_600_000), true, "while the page was hidden");
  assert.equal(restarted(counters(100, "x"), counters(600, "y"), 500), true);
});
