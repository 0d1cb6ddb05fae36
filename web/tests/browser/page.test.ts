//! The page against the mock server, or against a real one given by `HOPDB_URL`.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { Page } from "playwright-core";

import type { Pool } from "../../src/types";
import { drawnCount, selectedId, untilDrawn, untilText, World } from "./harness";

let world: World;
before(async () => {
  world = await World.start();
});
after(() => world.stop());

const at = (id: string, more = ""): string => `#node=${id}&drawn=${id}${more}`;
const hash = (page: Page): string => new URL(page.url()).hash;

test("the start shows the database and draws something at once", async (t) => {
  const page = await world.open(t);
  const { database } = world.facts;
  await untilText(page.locator("#database-name"), new RegExp(database.name.slice(0, 8)));
  await untilText(page.locator(".overview .figures"), new RegExp(database.nodes.toLocaleString("en")));
  assert.equal(await page.locator(".overview .bars").count(), 2);
  await untilDrawn(page);
  assert.ok((await drawnCount(page)) >= 1);
});

test("search finds by text, with the keyboard alone", async (t) => {
  const { search } = world.facts;
  if (!search) return t.skip("the database has no index with a text in its first nodes");
  const page = await world.open(t);
  await untilDrawn(page);
  await page.keyboard.press("/");
  const input = page.locator("#search-input");
  await input.pressSequentially(search.text);
  const options = page.locator("#search-list [role=option]");
  await options.first().waitFor();
  assert.equal(await input.getAttribute("aria-expanded"), "true");
  assert.equal(await input.getAttribute("aria-activedescendant"), "search-option-0");
  if ((await options.count()) > 1) {
    await page.keyboard.press("ArrowDown");
    assert.equal(await input.getAttribute("aria-activedescendant"), "search-option-1");
    await page.keyboard.press("ArrowUp");
  }
  await page.keyboard.press("Enter");
  await page.locator("#panel-head h2").waitFor();
  assert.match(hash(page), /node=\d+/);
  assert.equal(await page.evaluate(() => document.activeElement?.id), "stage");
});

test("search finds a node by its id, and says when there is none", async (t) => {
  const page = await world.open(t, "", {}, /404/);
  await untilDrawn(page);
  await page.locator("#search-input").fill(`#${world.facts.node.id}`);
  await page.locator("#search-list [role=option]").click();
  await page.locator("#panel-head h2").waitFor();
  assert.equal(await selectedId(page), world.facts.node.id);
  await page.locator("#search-input").fill("#18446744073709551615");
  await untilText(page.locator("#search-status"), /18446744073709551615/);
});

test("the panel shows properties and pages through relationships", async (t) => {
  const { node } = world.facts;
  const page = await world.open(t, at(node.id));
  const [name] = Object.keys(node.properties);
  if (name !== undefined) await page.locator(".properties dt", { hasText: name }).first().waitFor();
  assert.equal(await untilGroups(page), node.degrees.length);
  await page.locator("details.group summary").first().click();
  const rows = page.locator("details.group").first().locator(".neighbours li");
  await rows.first().waitFor();
  assert.equal(await rows.count(), Math.min(20, node.degrees[0]?.count ?? 0));
});

/** How many groups there are, once there is one. */
async function untilGroups(page: Page): Promise<number> {
  await page.locator("details.group").first().waitFor();
  return page.locator("details.group").count();
}

test("a node is selected by a press and expanded by a second one", async (t) => {
  const { node } = world.facts;
  const page = await world.open(t, `#drawn=${node.id}`);
  await untilDrawn(page);
  await page.locator("#tab-drawn").click();
  await page.locator("#drawn-list .neighbour").nth(1).hover();
  const tip = page.locator("#tip");
  await tip.waitFor();
  const name = await page.locator("#tip-title").textContent();
  const place = await placeOfTip(page);
  await page.mouse.click(place.x, place.y);
  await untilText(page.locator("#panel-head h2"), /./);
  assert.equal(await page.locator("#panel-head h2").textContent(), name);
  const before = hash(page);
  await page.mouse.click(place.x, place.y);
  await page.waitForFunction((old) => location.hash !== old, before);
  const id = await selectedId(page);
  assert.match(hash(page), new RegExp(`drawn=[\\d,:]*\\b${id}\\b`));
});

/** The point of the window that the tip stands beside. */
async function placeOfTip(page: Page): Promise<{ x: number; y: number }> {
  return page.evaluate(() => {
    const tip = document.getElementById("tip");
    const box = document.getElementById("stage")?.getBoundingClientRect();
    const [x = 0, y = 0] = (tip?.dataset["at"] ?? "").split(" ").map(Number);
    return { x: (box?.left ?? 0) + x, y: (box?.top ?? 0) + y };
  });
}

test("a walk lights up hop by hop, with its counts, and is ended", async (t) => {
  const { node } = world.facts;
  const page = await world.open(t, at(node.id));
  await untilDrawn(page);
  const rows = page.locator("#walk-table tbody tr");
  await page.locator("#walk-next").click();
  await rows.first().waitFor();
  const out = node.degrees.filter(({ direction }) => direction === "out").reduce((sum, { count }) => sum + count, 0);
  assert.equal(await rows.first().locator("td").first().textContent(), out.toLocaleString("en"));
  await untilText(page.locator("#live"), /Hop 1: /);
  await page.keyboard.press("w");
  await rows.nth(1).waitFor();
  await untilText(page.locator("#live"), /Hop 2: /);
  assert.match(hash(page), new RegExp(`walk=${node.id}&hops=2&direction=out`));
  await page.locator("#walk-reset").click();
  await page.locator("#walk-table").waitFor({ state: "hidden" });
  assert.doesNotMatch(hash(page), /walk=/);
});

test("a walk follows the type and direction that are chosen", async (t) => {
  const { node } = world.facts;
  const degree = node.degrees.find(({ direction }) => direction === "in") ?? node.degrees[0];
  assert.ok(degree);
  const page = await world.open(t, at(node.id));
  await untilDrawn(page);
  await page.locator("#walk-type").selectOption(degree.type);
  await page.locator(`#walk-direction input[value=${degree.direction}]`).check();
  await page.locator("#walk-next").click();
  const cell = page.locator("#walk-table tbody tr td").first();
  await cell.waitFor();
  assert.equal(await cell.textContent(), degree.count.toLocaleString("en"));
});

test("bytes and fields light up one another", async (t) => {
  const page = await world.open(t, at(world.facts.node.id, "&tab=bytes"));
  const cell = page.locator("details.cell .dump").first();
  const field = cell.locator(".field").nth(2);
  await field.hover();
  await cell.locator(".readout.on").waitFor();
  const index = await field.getAttribute("data-field");
  const lit = cell.locator(".hex-bytes .byte.lit");
  assert.ok((await lit.count()) >= 1);
  assert.equal(await lit.first().getAttribute("data-field"), index);
  await cell.locator(".hex-bytes .byte").first().hover();
  await cell.locator(".field.lit[data-field='0']").waitFor();
  assert.match((await cell.locator(".readout").textContent()) ?? "", /at 0x/);
  await cell.locator(".field").first().focus();
  await page.keyboard.press("ArrowDown");
  await cell.locator(".hex-bytes .byte.lit[data-field='1']").first().waitFor();
});

test("the fields of every cell cover its bytes", async (t) => {
  const page = await world.open(t, at(world.facts.node.id, "&tab=bytes"));
  await page.locator("details.cell").first().waitFor();
  const closed = page.locator("details.cell:not([open]) > summary");
  while ((await closed.count()) > 0) await closed.first().click();
  await page.waitForFunction(() => [...document.querySelectorAll("details.cell")].every((cell) => cell.querySelector(".byte")));
  assert.equal(await page.locator(".hex-bytes .byte[data-field='-1']").count(), 0);
});

test("the chain leads from the root to the leaf, and a page opens as a map", async (t) => {
  const page = await world.open(t, at(world.facts.node.id, "&tab=chain"));
  const boxes = page.locator(".page-box");
  await boxes.first().waitFor();
  assert.ok((await page.locator(".page-box.leaf").count()) === 1);
  assert.equal(await page.locator(".slot-strip .taken").count(), await boxes.count());
  await page.locator(".page-box.leaf").click();
  await untilText(page.locator(".page-title"), /leaf page/);
  assert.match(hash(page), /page=\d+/);
  const row = page.locator("table.slots tbody tr").first();
  await row.hover();
  await page.locator(".page-map .region.cell.lit").first().waitFor();
  await page.goBack();
  await boxes.first().waitFor();
});

test("every page kind opens; beyond the file's end the page says so", async (t) => {
  const page = await world.open(t, at(world.facts.node.id, "&tab=chain&page=0"), {}, /404/);
  await untilText(page.locator(".page-title"), /header slot/);
  for (const [number, kind] of [[2, /branch page|leaf page/], [3, /allocation map/]] as const) {
    await page.evaluate((to) => (location.hash = location.hash.replace(/page=\d+/, `page=${to}`)), number);
    await untilText(page.locator(".page-title"), kind);
  }
  await page.evaluate(() => (location.hash = location.hash.replace(/page=\d+/, "page=999999999")));
  await page.locator(".page-view .failure").waitFor();
});

test("the pool is shown live", async (t) => {
  const page = await world.open(t);
  await untilText(page.locator("#pool-frames"), /of [\d,]+ frames/);
  await page.locator("#pool-toggle").click();
  const requests = page.locator("#pool-facts div", { hasText: "Requests" }).first().locator("dd");
  const first = await requests.textContent();
  await page.waitForFunction((old) => [...document.querySelectorAll("#pool-facts div")].some((row) => row.textContent?.startsWith("Requests") && row.querySelector("dd")?.textContent !== old), first);
  await page.locator("#pool-reads-spark polyline").waitFor({ state: "attached" });
});

test("a few frames of many can be seen in the pool's bar", async (t) => {
  const page = await world.open(t);
  await untilText(page.locator("#pool-frames"), /of [\d,]+ frames/);
  const rewritten = { frames_max: 65_536, resident: 229, dirty: 1, pinned: 0 };
  await page.route(/\/pool$/, async (route) => {
    const answer = (await (await route.fetch()).json()) as Pool;
    await route.fulfill({ json: { ...answer, ...rewritten } });
  });
  await untilText(page.locator("#pool-frames"), /^229 of 65,536 frames$/);
  // The widths come by a transition.
  const widths = await page.waitForFunction(() => {
    const parts = ["resident", "dirty", "pinned"].map((part) => document.getElementById(`pool-${part}`));
    if (parts.some((part) => (part?.getAnimations().length ?? 0) > 0)) return null;
    return parts.map((part) => part?.getBoundingClientRect().width);
  });
  assert.deepEqual(await widths.jsonValue(), [2, 2, 0]);
});

test("the keyboard alone does everything", async (t) => {
  const { node } = world.facts;
  const page = await world.open(t, `#drawn=${node.id}`);
  await untilDrawn(page);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "skip-graph");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "stage");
  await page.keyboard.press("Enter");
  await untilText(page.locator("#panel-head .id"), new RegExp(`#${node.id}`));
  await moveToNeighbour(page, node.id);
  const neighbour = await selectedId(page);
  await untilText(page.locator("#live"), /Selected /);
  await page.keyboard.press("Enter");
  await page.waitForFunction((id) => new RegExp(`drawn=[\\d,:]*\\b${id}\\b`).test(location.hash), neighbour);
  await page.keyboard.press("w");
  await page.locator("#walk-table tbody tr").first().waitFor();
  await page.keyboard.press("r");
  await page.locator("#walk-table").waitFor({ state: "hidden" });
  await page.keyboard.press("?");
  await page.locator("#help[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("#help").waitFor({ state: "hidden" });
  await page.locator("#tab-properties").focus();
  for (const tab of ["bytes", "chain", "drawn"]) {
    await page.keyboard.press("ArrowRight");
    await page.locator(`#panel-${tab}`).waitFor();
  }
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  assert.ok(await page.evaluate(() => document.activeElement?.classList.contains("neighbour")));
});

test("single letters do nothing while the focus is in the panel or on a tool of the page", async (t) => {
  const { node } = world.facts;
  const page = await world.open(t, at(node.id));
  await untilDrawn(page);
  for (const place of ["#tab-properties", "#theme", "#pool-toggle"]) {
    await page.locator(place).focus();
    for (const key of ["w", "?", "/"]) await page.keyboard.press(key);
    assert.equal(await page.evaluate(() => `#${document.activeElement?.id}`), place);
  }
  assert.equal(await page.locator("#walk-next-text").textContent(), "Next hop");
  assert.doesNotMatch(hash(page), /walk=/);
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press("w");
  await page.locator("#walk-table tbody tr").first().waitFor();
});

test("the bar beside the panel tells its bounds, and keeps them", async (t) => {
  const page = await world.open(t);
  const bar = page.locator("#splitter");
  const value = async (name: string): Promise<number> => Number(await bar.getAttribute(`aria-value${name}`));
  assert.deepEqual([await value("min"), await value("max")], [340, 896]);
  await bar.focus();
  for (let presses = 0; presses < 40; presses += 1) await page.keyboard.press("ArrowLeft");
  assert.equal(await value("now"), await value("max"));
  await page.setViewportSize({ width: 1_000, height: 800 });
  await page.waitForFunction(() => document.getElementById("splitter")?.getAttribute("aria-valuemax") !== "896");
  const [least, now, most] = [await value("min"), await value("now"), await value("max")];
  assert.ok(least <= now && now <= most, `${least} ${now} ${most}`);
});

/** Presses arrows until one leads to a neighbour. */
async function moveToNeighbour(page: Page, from: string): Promise<void> {
  for (const key of ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"]) {
    await page.keyboard.press(key);
    if ((await selectedId(page)) !== from) return;
  }
  assert.fail("no arrow key leads to a neighbour");
}

test("a hub is drawn in part and paged through", async (t) => {
  const { hub } = world.facts;
  if (!hub) return t.skip("HOPDB_HUB does not name a node with many relationships");
  const page = await world.open(t, at(hub.id));
  await untilDrawn(page);
  const nodes = await drawnCount(page);
  assert.ok(nodes > 10 && nodes <= 61, `${nodes} nodes are drawn`);
  await untilText(page.locator("#live"), /60 of [\d]+ relationships drawn/);
  const degree = [...hub.degrees].sort((a, b) => b.count - a.count)[0];
  const group = page.locator("details.group", { hasText: degree?.count.toLocaleString("en") ?? "" }).first();
  await group.locator("summary").click();
  await untilText(group.locator(".more"), /^20 of /);
  await group.locator(".more button").click();
  await untilText(group.locator(".more"), /^40 of /);
  assert.equal(await group.locator(".neighbours li").count(), 40);
  await page.locator(".actions button", { hasText: "Expand" }).click();
  await page.waitForFunction((old) => Number.parseInt(document.getElementById("drawn-state")?.textContent ?? "0", 10) > old, nodes);
});

test("an address brings the view back, and back and forward go through it", async (t) => {
  const { node } = world.facts;
  const page = await world.open(t, at(node.id));
  await untilDrawn(page);
  await page.locator("#walk-next").click();
  await page.locator("#walk-table tbody tr").first().waitFor();
  await page.locator("#walk-next").click();
  await page.locator("#walk-table tbody tr").nth(1).waitFor();
  await page.locator("#tab-bytes").click();
  await page.waitForFunction(() => location.hash.includes("tab=bytes") && location.hash.includes("hops=2"));
  const link = hash(page);
  const other = await world.open(t, link);
  await other.locator("#walk-table tbody tr").nth(1).waitFor();
  await other.locator("details.cell").first().waitFor();
  assert.equal(await selectedId(other), node.id);
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll("#walk-table tbody tr").length === 1);
  await page.goForward();
  await page.waitForFunction(() => document.querySelectorAll("#walk-table tbody tr").length === 2);
});

test("light and dark follow the system and the switch", async (t) => {
  const ground = (page: Page): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await world.open(t, "", { colorScheme: "light" });
  const dark = await world.open(t, "", { colorScheme: "dark" });
  await untilDrawn(dark);
  const [bright, dim] = [await ground(light), await ground(dark)];
  assert.notEqual(bright, dim);
  await dark.locator("#theme").click();
  assert.equal(await ground(dark), bright);
  await dark.reload();
  await untilDrawn(dark);
  assert.equal(await ground(dark), bright);
});

test("a narrow window holds everything", async (t) => {
  const { node } = world.facts;
  const page = await world.open(t, at(node.id), { viewport: { width: 360, height: 740 }, hasTouch: true });
  await untilDrawn(page);
  for (const tab of ["properties", "bytes", "chain", "drawn"]) {
    await page.locator(`#tab-${tab}`).tap();
    await page.locator(`#panel-${tab}`).waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(wide, 360, `the tab ${tab} is ${wide} wide`);
  }
  const stage = await page.locator("#stage").boundingBox();
  assert.ok(stage && stage.height > 180, "the drawing keeps its room");
  await page.locator("#walk-next").tap();
  await page.locator("#walk-table tbody tr").first().waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
});
