//! What the page is looking at: the selected node, what is drawn, the walk, the open tab and page.
//!
//! The one place that changes this state; views listen to its events and never to one another.
//! Keeps the address equal to the state. Answers that come after the person went on are dropped.

import { formatAddress, formatRoots, LIMIT_FIRST, LIMIT_MAX, parseAddress, ROOTS_MAX, START, type Address, type Root, type Tab } from "./address";
import { ConnectionLost, explain, isAbort, type Api } from "./api";
import { Emitter } from "./emitter";
import { DrawnGraph, NODES_MAX, type Added } from "./graph/model";
import { changeOf, type Change } from "./opened";
import type { Database, Id, Node, NodeSummary, Pool, Relationship, Surroundings } from "./types";
import { Walker } from "./walk/walker";

/** Ids that are tried for the first picture. */
const FIRST_IDS = ["0", "1", "2", "3"];
/** The first picture is made richer by this many neighbours' surroundings while it has fewer nodes. */
const FIRST_NEIGHBOURS = 4;
const FIRST_NODES = 45;
const FIRST_LIMIT = 12;

export interface Selection {
  id: Id;
  /** The whole node; null until it has come. */
  node: Node | null;
  error: unknown;
}

export interface Notice {
  message: string;
  hint: string | null;
  /** Errors stay until they are closed; others go by themselves. */
  kind: "error" | "info";
}

/** `push: false` makes no entry of history; `restoring` belongs to the restoring of an address and ends with it. */
interface Doing {
  push?: boolean;
  restoring?: AbortSignal;
}

export interface SessionEvents {
  database: Database;
  /** The server was started anew, with the same database or with another one; ids of another mean other nodes. */
  opened: Exclude<Change, "same">;
  /** What is drawn has changed, and how much: 1 is all, 0.3 a little. */
  graph: number;
  selected: Selection | null;
  relationship: Id | null;
  /** A list points at a node, so that the drawing shows where it is. */
  pointed: Id | null;
  tab: Tab;
  page: number | null;
  notice: Notice;
  /** To be said to those who do not see the picture. */
  said: string;
}

export class Session extends Emitter<SessionEvents> {
  readonly graph = new DrawnGraph();
  readonly walker: Walker;
  database: Database | null = null;
  selection: Selection | null = null;
  tab: Tab = START.tab;
  page: number | null = null;
  /** Nodes whose surroundings are drawn, oldest first. */
  roots: Root[] = [];
  private selecting = new AbortController();
  /** Grows with each restoring of an address: what was asked for before it is not drawn. */
  private epoch = 0;
  /** The restoring of an address; given up when the person goes on by themselves. */
  private restoring = new AbortController();
  /** The server was started anew since the database was read. */
  private outdated = false;
  private checking = false;

  constructor(readonly api: Api) {
    super();
    this.walker = new Walker(this);
  }

  /** Reads what the database is; when it is no longer the one that is drawn, begins from scratch. */
  async readDatabase(): Promise<Database> {
    const database = await this.api.get<Database>("/database");
    const change = this.database ? changeOf(this.database, database) : "same";
    this.database = database;
    this.outdated = false;
    if (change === "other") this.clear();
    this.emit("database", database);
    if (change === "same") return database;
    this.emit("opened", change);
    if (change === "reopened") void this.reload();
    else {
      const hint = "What was drawn has gone: its ids mean other nodes there.";
      this.emit("notice", { message: `The server has another database open now: ${database.name}.`, hint, kind: "info" });
      void this.restore();
    }
    return database;
  }

  /** Reads the database again when an answer of the pool tells that the server was started anew. */
  async check({ opened }: Pool, restarted: boolean): Promise<void> {
    const before = this.database?.opened;
    this.outdated ||= opened === undefined || before === undefined ? restarted : opened !== before;
    if (!this.outdated || this.checking || this.database === null) return;
    this.checking = true;
    try {
      await this.readDatabase();
    } catch {
      // The next answer of the pool leads here again; a lost connection has its banner.
    } finally {
      this.checking = false;
    }
  }

  /** Forgets all that came from another database, in the address too; the open tab stays. */
  private clear(): void {
    this.takeOver();
    this.epoch += 1;
    this.selecting.abort();
    this.selection = null;
    this.page = null;
    this.roots = [];
    this.graph.forget();
    this.walker.type = null;
    this.walker.forget();
    this.emit("relationship", null);
    this.emit("pointed", null);
    this.emit("selected", null);
    this.emit("page", null);
    this.emit("graph", 1);
    this.replaceAddress();
  }

  /** Selects a node, reads it whole, and draws it when it is not drawn. */
  async select(id: Id | null, options: Doing = {}): Promise<void> {
    if (!options.restoring) this.takeOver();
    this.selecting.abort();
    this.selecting = new AbortController();
    this.selection = id === null ? null : { id, node: null, error: null };
    this.emit("relationship", null);
    this.emit("selected", this.selection);
    if (options.push !== false) this.pushAddress();
    if (id === null) return;
    await Promise.all([this.readSelected(id, this.selecting.signal), this.graph.nodes.has(id) ? null : this.drawSelected(id, options)]);
  }

  /** Draws a node that was selected; the entry of its selection then names it as drawn, no new one is made. */
  private async drawSelected(id: Id, options: Doing): Promise<void> {
    if ((await this.expand(id, { ...options, push: false })) && options.push !== false) this.replaceAddress();
  }

  /** The person goes on: what an address would still bring must not undo it. */
  takeOver(): void {
    this.restoring.abort();
  }

  /** Reads the selected node again, as after a lost connection. */
  async reload(): Promise<void> {
    if (this.selection) await this.readSelected(this.selection.id, this.selecting.signal);
  }

  private async readSelected(id: Id, signal: AbortSignal): Promise<void> {
    const selection: Selection = { id, node: null, error: null };
    try {
      selection.node = await this.api.get<Node>(`/nodes/${id}`, {}, signal);
    } catch (error) {
      if (isAbort(error)) return;
      selection.error = error;
    }
    if (signal.aborted || this.selection?.id !== id) return;
    this.selection = selection;
    this.emit("selected", selection);
  }

  /** Draws the surroundings of a node, once more of them each time; says whether there is such a node. */
  async expand(id: Id, options: Doing & { quiet?: boolean; limit?: number } = {}): Promise<boolean> {
    const { restoring } = options;
    if (!restoring) this.takeOver();
    const epoch = this.epoch;
    const limit = options.limit ?? this.nextLimit(id);
    try {
      const answer = await this.api.get<Surroundings>(`/nodes/${id}/surroundings`, { limit }, restoring);
      if (epoch !== this.epoch || restoring?.aborted) return false;
      this.drawSurroundings(answer, limit, options.quiet === true);
      if (options.push !== false) this.pushAddress();
      return true;
    } catch (error) {
      if (epoch === this.epoch && !options.quiet) this.fail(error);
      return false;
    }
  }

  /** Expanding again draws more, where there is more. */
  private nextLimit(id: Id): number {
    const root = this.roots.find((one) => one.id === id);
    const drawn = this.graph.nodes.get(id);
    if (!root || !drawn || drawn.total === null) return LIMIT_FIRST;
    if (drawn.degree >= drawn.total) return root.limit;
    return Math.min(LIMIT_MAX, root.limit < LIMIT_FIRST ? LIMIT_FIRST : 2 * root.limit);
  }

  private drawSurroundings({ node, groups, nodes }: Surroundings, limit: number, quiet: boolean): void {
    const relationships = groups.flatMap((group) => group.relationships);
    const before = this.graph.nodes.size;
    this.roots = [...this.roots.filter(({ id }) => id !== node.id), { id: node.id, limit }].slice(-ROOTS_MAX);
    const added = this.draw([node, ...nodes], relationships, node.id);
    const drawn = this.graph.nodes.get(node.id);
    const total = groups.reduce((sum, group) => sum + group.count, 0) - selfCount(relationships);
    if (drawn) drawn.total = total;
    this.emit("graph", before === 0 ? 1 : 0.5);
    if (!quiet) this.say(`${drawn?.caption ?? node.id}: ${drawn?.degree ?? 0} of ${total} relationships drawn. ${roomText(added)}`);
  }

  /** Draws nodes and relationships that some view has read, and says when there was no room. */
  draw(nodes: NodeSummary[], relationships: Relationship[], near: Id | null): Added {
    const added = this.graph.add(nodes, relationships, near, (id) => this.isKept(id));
    this.roots = this.roots.filter(({ id }) => this.graph.nodes.has(id));
    if (added.refused > 0) {
      const message = `${added.refused} nodes are not drawn: ${NODES_MAX} are the most.`;
      this.emit("notice", { message, hint: "“Only this” keeps the selected node and makes room.", kind: "error" });
    } else if (added.removed > 0) {
      const message = `${added.removed} of the oldest nodes made room: ${NODES_MAX} are the most drawn at once.`;
      this.emit("notice", { message, hint: null, kind: "info" });
    }
    return added;
  }

  private isKept(id: Id): boolean {
    return id === this.selection?.id || this.roots.some((root) => root.id === id) || this.walker.trail?.nodeHop.has(id) === true;
  }

  /** Draws a neighbour that a list showed, with its relationship, and selects it. */
  visit(node: NodeSummary, relationship: Relationship): void {
    const near = relationship.start === node.id ? relationship.end : relationship.start;
    this.draw([node], [relationship], near);
    this.emit("graph", 0.3);
    void this.select(node.id);
  }

  /** Takes everything away but the selected node (or the newest root) and its surroundings. */
  async onlyThis(): Promise<void> {
    const id = this.selection?.id ?? this.roots.at(-1)?.id;
    if (id === undefined) return;
    this.takeOver();
    this.walker.forget();
    this.roots = [];
    this.graph.retain((node) => node === id);
    await this.expand(id);
  }

  showTab(tab: Tab): void {
    this.tab = tab;
    this.emit("tab", tab);
    this.replaceAddress();
  }

  /** Opens the map of a page of the file, or closes it. */
  openPage(page: number | null): void {
    this.page = page;
    if (page !== null && this.tab !== "chain") this.tab = "chain";
    this.emit("tab", this.tab);
    this.emit("page", page);
    this.pushAddress();
  }

  showRelationship(id: Id): void {
    if (this.tab !== "properties") this.showTab("properties");
    this.emit("relationship", id);
  }

  say(text: string): void {
    this.emit("said", text.trim());
  }

  /** Tells the person about an error; a lost connection has its own banner. */
  fail(error: unknown): void {
    if (isAbort(error) || error instanceof ConnectionLost) return;
    this.emit("notice", { ...explain(error), kind: "error" });
  }

  /** The state as an address. */
  address(): Address {
    const { selection, roots, tab, page } = this;
    return { node: selection?.id ?? null, roots, walk: this.walker.address(), tab, page };
  }

  pushAddress(): void {
    const hash = `#${formatAddress(this.address())}`;
    if (hash !== location.hash && hash !== `#${location.hash}`) history.pushState(null, "", hash);
  }

  replaceAddress(): void {
    history.replaceState(null, "", `#${formatAddress(this.address())}`);
  }

  /** Brings the page to the state of the address, as at the start and after back or forward. */
  async restore(): Promise<void> {
    const { address } = parseAddress(location.hash);
    this.restoring.abort();
    const { signal } = (this.restoring = new AbortController());
    this.epoch += 1;
    this.tab = address.tab;
    this.page = address.page;
    this.emit("tab", this.tab);
    this.emit("page", this.page);
    if (address.roots.length === 0 && address.node === null) await this.restoreStart(signal);
    else await this.restoreRoots(address.roots, signal);
    if (signal.aborted) return;
    await this.select(address.node, { push: false, restoring: signal });
    if (signal.aborted) return;
    await this.walker.restore(address.walk, signal);
    // Another tab or page, opened meanwhile, was written beside a state that was not whole yet.
    if (!signal.aborted && (this.tab !== address.tab || this.page !== address.page)) this.replaceAddress();
  }

  private async restoreRoots(roots: Root[], restoring: AbortSignal): Promise<void> {
    const has = (list: Root[], { id, limit }: Root): boolean => list.some((root) => root.id === id && root.limit === limit);
    if (formatRoots(roots) === formatRoots(this.roots)) return;
    if (!this.roots.every((root) => has(roots, root))) {
      this.graph.clear();
      this.roots = [];
    }
    for (const root of roots) {
      if (restoring.aborted) return;
      if (!has(this.roots, root)) await this.expand(root.id, { push: false, limit: root.limit, restoring });
    }
  }

  /** The first picture: around the first node there is. */
  private async restoreStart(restoring: AbortSignal): Promise<void> {
    this.graph.clear();
    this.roots = [];
    for (const id of this.database?.nodes === 0 ? [] : FIRST_IDS) {
      if (restoring.aborted) return;
      if (await this.expand(id, { push: false, quiet: true, restoring })) return this.enrich(id, restoring);
    }
    this.emit("graph", 1);
  }

  /** Draws the surroundings of some neighbours too. */
  private async enrich(id: Id, restoring: AbortSignal): Promise<void> {
    for (const { id: neighbour } of this.graph.neighbours(id).slice(0, FIRST_NEIGHBOURS)) {
      if (restoring.aborted || this.graph.nodes.size >= FIRST_NODES) return;
      await this.expand(neighbour, { push: false, quiet: true, limit: FIRST_LIMIT, restoring });
    }
  }
}

/** Self relationships are counted on both sides. */
function selfCount(relationships: Relationship[]): number {
  return new Set(relationships.filter(({ start, end }) => start === end).map(({ id }) => id)).size;
}

function roomText(added: Added): string {
  if (added.removed > 0) return `${added.removed} older nodes made room.`;
  return added.refused > 0 ? `No room for ${added.refused} nodes.` : "";
}
