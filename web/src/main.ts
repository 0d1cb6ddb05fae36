//! Puts the page together: the session, the drawing, the panel, the strip of the pool.
//! Decides nothing itself beyond who listens to whom.

import { parseAddress } from "./address";
import { Api, explain } from "./api";
import { Labels } from "./colours";
import { Connection } from "./connection";
import { byId } from "./dom";
import { count } from "./format";
import type { Margins } from "./graph/camera";
import { NODES_MAX, type DrawnNode, type DrawnRelationship } from "./graph/model";
import { PointerInput } from "./graph/pointer";
import { GraphView } from "./graph/view";
import { Keyboard } from "./keyboard";
import { Legend } from "./legend";
import { askToken, showConnection, showNotices, speak } from "./messages";
import { BytesTab } from "./panel/bytes";
import { ChainTab } from "./panel/chain";
import { DrawnTab } from "./panel/drawn";
import { PanelHead } from "./panel/head";
import { Inspected } from "./panel/inspected";
import { Panel } from "./panel/panel";
import { PropertiesTab } from "./panel/properties";
import { untilAnswered } from "./patience";
import { PoolStrip } from "./pool";
import { SearchBox } from "./search";
import { Session } from "./session";
import { ThemeSwitch } from "./theme";
import type { Database } from "./types";
import { WalkCard } from "./walk/card";

let beginning = false;
const connection = new Connection(() => session.readDatabase());
const api = new Api("api/v1", {
  lost: () => connection.lost(),
  reached: () => connection.reached(),
  askToken,
});
takeToken();
const session = new Session(api);
const labels = new Labels();
// First of all listeners: the others show labels in these colours.
session.on("database", (database) => labels.set(database.labels.map(({ name }) => name)));

showConnection(connection);
showNotices(session);
speak(session);

const view = new GraphView(byId<HTMLCanvasElement>("stage"), session.graph, labels, margins);
new ThemeSwitch(() => view.repaint());
new Legend(session, view, labels);
new WalkCard(session);
new Panel(session);
new PanelHead(session, labels);
new PropertiesTab(session, labels);
const inspected = new Inspected(session);
new BytesTab(session, inspected);
new ChainTab(session, inspected);
new DrawnTab(session, labels);
const pool = new PoolStrip(api, (answer, restarted) => void session.check(answer, restarted));
const search = new SearchBox(session, labels);
new Keyboard(session, view, search);
new PointerInput(view, {
  select: (id) => void session.select(id),
  expand: (id) => void session.expand(id),
  showRelationship: (id) => session.showRelationship(id),
  isSelected: (id) => session.selection?.id === id,
  hover: showTip,
});

joinViews();
joinTools();
void begin();

/** Takes an access token out of the address, where it must not stay. */
function takeToken(): void {
  const { token } = parseAddress(location.hash);
  if (token === null) return;
  api.setToken(token);
  const params = new URLSearchParams(location.hash.slice(1));
  params.delete("token");
  history.replaceState(null, "", `#${params.toString()}`);
}

/** What the drawing shows follows the session. */
function joinViews(): void {
  session.on("database", showDatabase);
  session.on("graph", (warmth) => {
    view.changed(warmth);
    showCounts();
  });
  session.on("selected", (selection) => {
    view.set({ selected: selection?.id ?? null });
    if (selection?.node) session.say(`Selected ${view.graph.nodes.get(selection.id)?.caption ?? selection.id}.`);
  });
  session.on("pointed", (id) => {
    const place = id === null ? null : view.placeOf(id);
    view.set({ hoveredNode: place ? id : null });
    showTip(place && id !== null ? (view.graph.nodes.get(id) ?? null) : null, place?.x ?? 0, place?.y ?? 0);
  });
  session.on("relationship", (id) => view.set({ selectedRelationship: id }));
  session.walker.on("changed", ({ animate }) => {
    view.showTrail(session.walker.trail, animate);
    if (animate !== null) pool.hurry();
  });
  connection.on("lost", () => document.body.classList.add("lost"));
  connection.on("back", () => {
    document.body.classList.remove("lost");
    void resume();
  });
  window.addEventListener("popstate", () => void session.restore());
}

function joinTools(): void {
  byId("fit").addEventListener("click", () => view.fit());
  byId("zoom-in").addEventListener("click", () => view.zoom(1.3));
  byId("zoom-out").addEventListener("click", () => view.zoom(1 / 1.3));
  byId("home").addEventListener("click", () => void session.select(null));
  byId("copy").addEventListener("click", () => void copyAddress());
  byId("skip-graph").addEventListener("click", () => byId("stage").focus());
  byId("skip-panel").addEventListener("click", () => byId(`tab-${session.tab}`).focus());
}

/** Reads the database, however often the server refuses, and brings the page to its address. */
async function begin(): Promise<void> {
  if (beginning) return;
  beginning = true;
  try {
    await untilAnswered(() => session.readDatabase(), (error, pause) => {
      const { message } = explain(error);
      session.emit("notice", { message, hint: `The page asks again in ${Math.ceil(pause / 1_000)} s.`, kind: "info" });
    });
    await session.restore();
  } catch (error) {
    // A lost connection goes on in `resume`.
    session.fail(error);
  } finally {
    beginning = false;
  }
}

/** Goes on after the connection was lost: reads again what may have changed. */
async function resume(): Promise<void> {
  pool.wake();
  try {
    if (session.database === null) return await begin();
    await session.readDatabase();
    if (session.graph.nodes.size === 0) await session.restore();
    else await session.reload();
    if (inspected.error) inspected.again();
  } catch (error) {
    session.fail(error);
  }
}

function showDatabase({ name, nodes, relationships }: Database): void {
  byId("database-name").textContent = name;
  byId("database-counts").textContent = `${count(nodes)} nodes, ${count(relationships)} relationships`;
  document.title = `${name} – HopDB`;
  view.repaint();
  showCounts();
}

function showCounts(): void {
  const { nodes, relationships } = session.graph;
  byId("drawn-state").textContent = `${count(nodes.size)} of at most ${count(NODES_MAX)} nodes · ${count(relationships.size)} relationships`;
  byId("stage-empty").hidden = nodes.size > 0 || session.database === null;
}

/** What the pointer is on, in words, beside it. */
function showTip(what: DrawnNode | DrawnRelationship | null, x: number, y: number): void {
  const tip = byId("tip");
  tip.hidden = what === null;
  if (!what) return;
  const isNode = "caption" in what;
  byId("tip-title").textContent = isNode ? what.caption : what.type;
  byId("tip-text").textContent = isNode
    ? `${what.summary.labels.join(" · ") || "no label"}   #${what.id}`
    : `${what.source.caption} → ${what.target.caption}`;
  const { width, height } = view.scene;
  const left = Math.min(x + 14, width - tip.offsetWidth - 8);
  const top = y + tip.offsetHeight + 24 > height ? y - tip.offsetHeight - 12 : y + 16;
  tip.dataset["at"] = `${x} ${y}`;
  tip.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`;
}

async function copyAddress(): Promise<void> {
  session.replaceAddress();
  const text = byId("copy-text");
  try {
    await navigator.clipboard.writeText(location.href);
    text.textContent = "Copied";
    session.say("Link copied.");
  } catch {
    text.textContent = "In the address bar";
    session.say("The link is in the address bar.");
  }
  setTimeout(() => (text.textContent = "Copy link"), 2_000);
}

/** What lies over the drawing and must stay free when it is fitted. */
function margins(): Margins {
  const narrow = window.innerWidth < 760;
  const side = narrow ? 62 : 96;
  const air = narrow ? 28 : 34;
  return {
    left: side,
    right: side,
    top: byId("legend").offsetHeight + air,
    bottom: byId("walk").offsetHeight + air + 16,
  };
}
