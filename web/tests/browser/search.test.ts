//! The search box while answers are slow, and by the keyboard alone.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { isMock, selectedId, untilDrawn, untilText, World } from "./harness";

let world: World;
before(async () => {
  if (isMock) world = await World.start();
});
after(() => world?.stop());
afterEach(() => {
  if (isMock) Object.assign(world.server, { interfere: null, rewrite: null });
});

const skip = isMock ? false : "needs the mock server";

test("Enter just after typing chooses for the text that stands there", { skip }, async (t) => {
  const page = await world.open(t);
  await untilDrawn(page);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  world.server.interfere = async (path, query) => {
    if (path === "search" && query.get("q") === "The Silent Harbour") await held;
    return false;
  };
  const input = page.locator("#search-input");
  await input.fill("Ada");
  const options = page.locator("#search-list [role=option]");
  await options.first().waitFor();
  const asked = page.waitForRequest(/q=The\+Silent\+Harbour/);
  await input.fill("The Silent Harbour");
  assert.equal(await input.getAttribute("aria-activedescendant"), null, "results of an older text are not chosen");
  assert.ok(await page.locator("#search-popup.waiting").count());
  await page.keyboard.press("Enter");
  await asked;
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#panel-head").isVisible(), false, "nothing is selected before the answer");
  release();
  await untilText(page.locator("#panel-head h2"), /^The Silent Harbour$/);
  assert.equal(await selectedId(page), "20000");
});

test("typing on after Enter chooses nothing", { skip }, async (t) => {
  const page = await world.open(t);
  await untilDrawn(page);
  const input = page.locator("#search-input");
  await page.evaluate(() => {
    const box = document.getElementById("search-input") as HTMLInputElement;
    box.focus();
    const type = (text: string): void => {
      box.value = text;
      box.dispatchEvent(new InputEvent("input"));
    };
    type("Ada");
    box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", cancelable: true }));
    type("The Silent Harbour");
  });
  await untilText(page.locator("#search-list [role=option]").first(), /The Silent Harbour/);
  assert.equal(await page.locator("#panel-head").isVisible(), false);
  assert.equal(await input.getAttribute("aria-activedescendant"), "search-option-0");
});

test("“Show more” pressed by the keyboard keeps the list to its end", { skip }, async (t) => {
  const page = await world.open(t);
  await untilDrawn(page);
  const input = page.locator("#search-input");
  await page.locator("#search-index").selectOption("Film.title");
  await input.fill("The");
  const options = page.locator("#search-list [role=option]");
  const more = page.locator("#search-more button");
  await more.waitFor();
  await more.focus();
  for (let shown = 12; shown < 72; shown += 12) {
    await options.nth(shown - 1).waitFor();
    await page.keyboard.press("Enter");
    await options.nth(shown).waitFor();
  }
  await more.waitFor({ state: "hidden" });
  assert.equal(await options.count(), 72);
  assert.equal(await page.evaluate(() => document.activeElement?.id), "search-input");
  await page.keyboard.press("ArrowUp");
  assert.equal(await input.getAttribute("aria-activedescendant"), "search-option-71");
});
