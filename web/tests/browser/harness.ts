//! What browser tests share: Chromium, the mock server or the one of `HOPDB_URL`, and a page that
//! notes every error of the console and every breach of the CSP.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";

import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from "playwright-core";

import type { Database, Id, Node } from "../../src/types";
import { HUB } from "../mock/graph";
import { MockServer } from "../mock/server";

/** The server that tests run against when it is not the mock; `HOPDB_TOKEN` and `HOPDB_HUB` go with it. */
const REAL = process.env["HOPDB_URL"]?.replace(/\/*$/, "/");
/** Longest wait for a condition, in milliseconds. */
const PATIENCE_MS = 20_000;
/** Ids that are looked through for a node of some kind. */
const IDS_TRIED = 400;

export const isMock = REAL === undefined;

/** What tests know of the database, found out by its API. */
export interface Facts {
  database: Database;
  /** A node with a few relationships, more than one of them outgoing. */
  node: Node;
  /** A node that search finds by `text` in one of its indexed properties; null without such an index. */
  search: { text: string; id: Id } | null;
  /** A node with more relationships than one expansion draws. */
  hub: Node | null;
}

export class World {
  private constructor(
    readonly browser: Browser,
    readonly server: MockServer,
    readonly url: string,
    readonly facts: Facts,
  ) {}

  static async start(): Promise<World> {
    const server = new MockServer(process.env["HOPDB_DIST"] ?? "dist");
    await server.start();
    const url = REAL ?? server.url;
    const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
    const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
    return new World(browser, server, url, await findFacts(url));
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.server.stop();
  }

  /** Opens the page at an address; what it notes must be empty when the test ends, but for `allowed`. */
  async open(t: TestContext, hash = "", options: BrowserContextOptions = {}, allowed: RegExp | null = null): Promise<Page> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const noted: string[] = [];
    const note = (text: string): void => {
      if (!allowed?.test(text)) noted.push(text);
    };
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") note(message.text());
    });
    page.on("pageerror", (error) => note(String(error)));
    t.after(async () => {
      await context.close();
      assert.deepEqual(noted, [], "the console must stay clean, and the CSP kept");
    });
    await page.goto(this.url + withToken(hash));
    return page;
  }
}

function withToken(hash: string): string {
  const token = process.env["HOPDB_TOKEN"];
  if (token === undefined) return hash;
  return `${hash === "" ? "#" : `${hash}&`}token=${encodeURIComponent(token)}`;
}

async function ask<T>(url: string, path: string): Promise<T | null> {
  const token = process.env["HOPDB_TOKEN"];
  const response = await fetch(`${url}api/v1${path}`, token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } });
  return response.ok ? ((await response.json()) as T) : null;
}

function degree(node: Node): number {
  return node.degrees.reduce((sum, { count }) => sum + count, 0);
}

async function findFacts(url: string): Promise<Facts> {
  const database = await ask<Database>(url, "/database");
  assert.ok(database, "the server must answer /database");
  let found: Node | null = null;
  let search: Facts["search"] = null;
  for (let id = 0; id < IDS_TRIED && !(found && search); id += 1) {
    const node = await ask<Node>(url, `/nodes/${id}`);
    if (!node) continue;
    const outgoing = node.degrees.some((one) => one.direction === "out" && one.count > 1);
    if (outgoing && degree(node) >= 3 && degree(node) <= 50) found ??= node;
    search ??= searchable(database, node);
  }
  assert.ok(found, `none of the first ${IDS_TRIED} ids is a node with a few relationships`);
  const hub = isMock ? HUB : process.env["HOPDB_HUB"];
  return { database, node: found, search, hub: hub === undefined ? null : await ask<Node>(url, `/nodes/${hub}`) };
}

function searchable({ indexes }: Database, node: Node): Facts["search"] {
  for (const { label, property } of indexes) {
    const value = node.properties[property];
    if (node.labels.includes(label) && typeof value === "string" && value.length > 1) return { text: value, id: node.id };
  }
  return null;
}

/** Waits until an element's text matches. */
export async function untilText(place: Locator, pattern: RegExp): Promise<string> {
  await place.filter({ hasText: pattern }).first().waitFor();
  return (await place.first().textContent()) ?? "";
}

/** Waits until the drawing has nodes and has come to rest. */
export async function untilDrawn(page: Page): Promise<void> {
  await page.locator("#drawn-state", { hasText: /^[1-9]/ }).waitFor({ state: "attached" });
  await page.locator("#stage:not([aria-busy])").waitFor();
}

/** How many nodes are drawn. */
export async function drawnCount(page: Page): Promise<number> {
  return Number.parseInt(((await page.locator("#drawn-state").textContent()) ?? "").replaceAll(",", ""), 10);
}

/** The selected node's id, as the panel's head has it. */
export async function selectedId(page: Page): Promise<Id> {
  return ((await page.locator("#panel-head .head-line .id").textContent()) ?? "").replace("#", "");
}
