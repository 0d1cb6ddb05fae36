//! Back and forward, and the restoring of an address while the person goes on.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import type { Page } from "playwright-core";

import { isMock, untilDrawn, untilText, World } from "./harness";

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
