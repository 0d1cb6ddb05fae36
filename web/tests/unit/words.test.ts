//! Numbers as text, rates, looks of labels, names of indexes, and the back-off of the connection.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Labels } from "../../src/colours";
import { Connection } from "../../src/connection";
import { bytes, count, counted, hex, micros, percent, rate } from "../../src/format";
import { Rates } from "../../src/rates";
import { indexName } from "../../src/search";

test("numbers read well", () => {
  assert.deepEqual([count(20_000), counted(1, "node"), counted(2, "node")], ["20,000", "1 node", "2 nodes"]);
  assert.deepEqual([0, 512, 4_096, 1_572_864].map(bytes), ["0 B", "512 B", "4 KiB", "1.5 MiB"]);
  assert.deepEqual([0, 15.43, 1_200, 3_400_000].map(micros), ["0 µs", "15.4 µs", "1.2 ms", "3.4 s"]);
  assert.deepEqual([0, 0.5, 0.99999, 1].map(percent), ["0 %", "50 %", "> 99.9 %", "100 %"]);
  assert.deepEqual([0, 7.53, 1_200].map(rate), ["0", "7.5", "1,200"]);
  assert.equal(hex(4_000), "0x0fa0");
});

test("rates are differences by time, and start anew with the server", () => {
  const rates = new Rates();
  const at = (pages_read: number, uptime_ms: number): { pages_read: number; pages_written: number; uptime_ms: number } => ({ pages_read, pages_written: 0, uptime_ms });
  assert.equal(rates.add(at(100, 1_000), 0).length, 0);
  assert.deepEqual(rates.add(at(150, 1_500), 500).at(-1), { reads: 100, writes: 0 });
  assert.equal(rates.add(at(5, 10), 1_000).length, 1);
  for (let step = 1; step < 100; step += 1) rates.add(at(5, 10 + step), 1_000 + step);
  assert.equal(rates.add(at(5, 900), 2_000).length, Rates.LENGTH);
});

test("labels have looks by position: six hues, then other forms", () => {
  const labels = new Labels();
  labels.set(Array.from({ length: 20 }, (_, index) => `L${index}`));
  assert.deepEqual(labels.look("L0"), { hue: 0, form: "disc" });
  assert.deepEqual(labels.look("L7"), { hue: 1, form: "ring" });
  assert.deepEqual(labels.look("L13"), { hue: 1, form: "target" });
  assert.deepEqual(labels.look("other"), { hue: null, form: "disc" });
  assert.equal(labels.leading(["L5", "L2"]), "L2");
  assert.equal(labels.leading([]), null);
});

test("index names are quoted where they must be", () => {
  assert.equal(indexName("Person", "name"), "Person.name");
  assert.equal(indexName("My Label", "a`b"), "`My Label`.`a``b`");
  assert.equal(indexName("C:\\new", "two\r\nlines"), "`C:\\\\new`.`two\\r\\nlines`");
});

test("the connection tries again with growing pauses until the server answers", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const events: unknown[] = [];
  let attempts = 0;
  const connection = new Connection(() => {
    attempts += 1;
    return Promise.reject(new Error("still gone"));
  });
  connection.on("lost", () => events.push("lost"));
  connection.on("waiting", (ms) => events.push(ms));
  connection.on("back", () => events.push("back"));
  connection.lost();
  connection.lost();
  for (const ms of [500, 1_000]) {
    mock.timers.tick(ms);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(attempts, 2);
  connection.reached();
  assert.deepEqual(events, ["lost", 500, 1_000, 2_000, "back"]);
  assert.ok(!connection.isLost);
  mock.timers.reset();
});
