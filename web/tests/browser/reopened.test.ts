//! The page while its server is started anew, with the same database or with another one.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import type { Page } from "playwright-core";

import type { Database, Pool } from "../../src/types";
import { Answers } from "../mock/answers";
import { Graph } from "../mock/graph";
import { drawnCount, isMock, selectedId, untilDrawn, untilText, World } from "./harness";

let world: World;
let usual: Answers;
before(async () => {
  if (!isMock) return;
  world = await World.start();
  usual = world.server.answers;
});
after(() => world?.stop());
afterEach(() => {
  if (isMock) Object.assign(world.server, { answers: usual, rewrite: null, interfere: null });
});

const skip = isMock ? false : "needs the mock server";
const LOST = /Failed to load resource|ERR_/;
const hash = (page: Page): string => new URL(page.url()).hash;

/** Opens a page with a node, a walk, its bytes and a page of the file. */
async function openFull(t: Parameters<World["open"]>[0]): Promise<Page> {
  const page = await world.open(t, "#node=12&drawn=12&walk=12&hops=1&direction=out&tab=bytes", {}, LOST);
  await untilDrawn(page);
  await page.locator("#walk-table tbody tr").first().waitFor();
  await page.locator("details.cell").first().waitFor();
  return page;
}

/** Nothing of the usual graph is left, and the other one is drawn. */
async function untilStones(page: Page): Promise<void> {
  await untilText(page.locator("#database-name"), /^stones$/);
  await untilDrawn(page);
  assert.equal(await page.locator("#panel-head").isVisible(), false, "nothing is selected");
  assert.equal(await page.locator("#walk-table").isVisible(), false, "no walk is shown");
  assert.equal(await page.locator("details.cell").count(), 0, "no bytes are shown");
  assert.equal(hash(page), "#tab=bytes");
  await page.locator("#tab-drawn").click();
  const names = await page.locator("#drawn-list .neighbour-name").allTextContents();
  assert.ok(names.length > 1 && names.every((name) => name.startsWith("Stone ")), names.join());
  assert.deepEqual(await page.locator(".legend-text").allTextContents(), ["Stone"]);
}

test("a server that comes back with another database: the page begins from scratch", { skip }, async (t) => {
  const page = await openFull(t);
  await world.server.stop();
  await page.locator("#banner").waitFor();
  world.server.answers = new Answers(new Graph("stones"));
  await world.server.start();
  await untilStones(page);
  await page.locator("#tab-chain").click();
  await page.locator("#search-input").fill("Stone 7");
  await page.locator("#search-list [role=option]").waitFor();
  await page.keyboard.press("Enter");
  await untilText(page.locator("#panel-head h2"), /^Stone 7$/);
});

test("a restart with another database is noticed even when no request was lost", { skip }, async (t) => {
  const page = await openFull(t);
  await page.locator("#search-input").fill("Ada");
  await page.locator("#search-list [role=option]").first().waitFor();
  world.server.answers = new Answers(new Graph("stones"));
  await untilText(page.locator("#notice"), /another database open now: stones/);
  assert.equal(await page.locator("#search-list [role=option]").count(), 0);
  await untilStones(page);
});

test("an older server tells by its uptime and its counts", { skip }, async (t) => {
  world.server.rewrite = (path, answer) => {
    if (path !== "database" && path !== "pool") return answer;
    const { opened: _, ...rest } = answer as Database | Pool;
    return rest;
  };
  const page = await openFull(t);
  world.server.answers = new Answers(new Graph("stones"));
  await untilStones(page);
});

test("the same database opened anew: the drawing stays, what is shown is read again", { skip }, async (t) => {
  const page = await openFull(t);
  const drawn = await drawnCount(page);
  const before = hash(page);
  const again = ["database", "nodes/12", "inspect/nodes/12"].map((path) => page.waitForResponse((response) => response.url().endsWith(`/v1/${path}`)));
  world.server.answers = new Answers(usual.graph);
  await Promise.all(again);
  await page.locator("details.cell").first().waitFor();
  assert.equal(await drawnCount(page), drawn);
  assert.equal(await selectedId(page), "12");
  assert.equal(await page.locator("#walk-table tbody tr").count(), 1);
  assert.equal(hash(page), before);
});
