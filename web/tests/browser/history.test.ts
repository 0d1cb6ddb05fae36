//! Back and forward, and the restoring of an address while the person goes on.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import type { Page } from "playwright-core";

import { isMock, selectedId, untilDrawn, untilText, World } from "./harness";

let world: World;
before(async () => {
  if (isMock) world = await World.start();
});
after(() => world?.stop());
afterEach(() => {
  if (isMock) world.server.interfere = null;
});

const skip = isMock ? false : "needs the mock server";
const entries = (page: Page): Promise<number> => page.evaluate(() => history.length);
const hash = (page: Page): string => new URL(page.url()).hash;

test("selecting a node that is not drawn makes one entry, and back leads to what was before", { skip }, async (t) => {
  const page = await world.open(t, "#node=0&drawn=0");
  await untilDrawn(page);
  const before = await entries(page);
  await page.locator("#search-input").fill("#77");
  await page.locator("#search-list [role=option]").waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash === "#node=77&drawn=0,77");
  assert.equal(await entries(page), before + 1);
  await page.goBack();
  await page.waitForFunction(() => location.hash === "#node=0&drawn=0");
  await untilText(page.locator("#panel-head .id"), /^#0$/);
});

test("a link to a node that is not drawn can be left by back", { skip }, async (t) => {
  const page = await world.open(t, "#node=0&drawn=0");
  await untilDrawn(page);
  const before = await entries(page);
  await page.evaluate(() => (location.hash = "#node=77"));
  await untilText(page.locator("#panel-head .id"), /^#77$/);
  await untilText(page.locator("#live"), /relationships drawn/);
  await untilDrawn(page);
  assert.equal(await entries(page), before + 1);
  assert.equal(hash(page), "#node=77");
  await page.goBack();
  await untilText(page.locator("#panel-head .id"), /^#0$/);
  assert.equal(hash(page), "#node=0&drawn=0");
});

/** Holds back the answers whose path matches; gives what lets them go. */
function hold(pattern: RegExp): () => void {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  world.server.interfere = async (path) => {
    if (pattern.test(path)) await held;
    return false;
  };
  return release;
}

/** Waits for two more answers of the pool: what was let go before has come by then. */
async function settled(page: Page): Promise<void> {
  for (let answers = 0; answers < 2; answers += 1) await page.waitForResponse(/\/pool$/);
}

test("a slow restoring does not undo what was selected meanwhile", { skip }, async (t) => {
  const release = hold(/^nodes\/(24|36)\/surroundings/);
  const page = await world.open(t, "#node=36&drawn=12,24,36&walk=36&hops=1&direction=out");
  await untilDrawn(page);
  await page.locator("#tab-drawn").click();
  await page.locator("#drawn-list .neighbour[data-node='13']").click();
  await untilText(page.locator("#panel-head .id"), /^#13$/);
  release();
  await settled(page);
  assert.equal(await selectedId(page), "13");
  assert.equal(await page.locator("#walk-table").isVisible(), false, "no walk of the address");
  assert.match(hash(page), /^#node=13&drawn=12&tab=drawn$/);
});

test("a slow restoring does not undo a walk that was begun meanwhile", { skip }, async (t) => {
  const release = hold(/^nodes\/(24|36)\/surroundings/);
  const page = await world.open(t, "#node=36&drawn=12,24,36&walk=36&hops=3&direction=out");
  await untilDrawn(page);
  await page.locator("#walk-next").click();
  await untilText(page.locator("#live"), /Hop 1: /);
  release();
  await settled(page);
  assert.equal(await page.locator("#walk-table tbody tr").count(), 1);
  assert.match(hash(page), /walk=12&hops=1/);
});

test("a tab opened while an address is restored does not shorten the address", { skip }, async (t) => {
  const release = hold(/^nodes\/24\/surroundings/);
  const page = await world.open(t, "#node=24&drawn=12,24&walk=24&hops=1&direction=out");
  await untilDrawn(page);
  await page.locator("#tab-bytes").click();
  release();
  await page.locator("#walk-table tbody tr").first().waitFor();
  await page.waitForFunction(() => location.hash === "#node=24&drawn=12,24&walk=24&hops=1&direction=out&tab=bytes");
});

test("back and forward between views of one walk do not walk again", { skip }, async (t) => {
  const page = await world.open(t, "#node=0&drawn=0");
  await untilDrawn(page);
  await page.locator("#walk-next").click();
  await page.locator("#walk-table tbody tr").first().waitFor();
  await page.locator("#tab-drawn").click();
  await page.locator("#drawn-list .neighbour").nth(1).click();
  await page.waitForFunction(() => !location.hash.includes("node=0&"));
  const walks = (): number => world.server.asked.filter((path) => path.endsWith("/walk")).length;
  const before = walks();
  await page.goBack();
  await untilText(page.locator("#panel-head .id"), /^#0$/);
  await settled(page);
  assert.equal(walks(), before);
});
