//! What the mock answers: the API of the contract over the made-up graph. Pure but for counters.

import type { Database, Degree, Direction, Hop, Id, Node, NodeSummary, Pool, Relationship, SearchResult, Value } from "../../src/types";
import { Graph } from "./graph";
import { inspectNode, inspectPage, PAGES, PAGE_SIZE } from "./inspect";

/** A refusal as the contract has it. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null = null,
  ) {
    super(message);
  }
}

let openings = 0;

export class Answers {
  readonly started = Date.now();
  readonly opened = `opening-${(openings += 1)}`;
  requests = 0;
  private readonly counts = { hits: 90_000, misses: 700, read: 700 };

  constructor(readonly graph = new Graph()) {}

  answer(path: string, query: URLSearchParams): unknown {
    this.requests += 1;
    const [head, id = "", tail] = path.split("/");
    if (head === "database") return this.database();
    if (head === "pool") return this.pool();
    if (head === "search") return this.search(query);
    if (head === "relationships") return this.relationship(id);
    if (head === "inspect") return id === "nodes" ? this.inspectNode(tail ?? "") : this.inspectPage(Number(tail));
    if (head !== "nodes") throw new Refusal(404, "not_found", "There is no such path.");
    this.counts.hits += 40;
    if (tail === undefined) return this.node(id);
    if (tail === "relationships") return this.relationships(id, query);
    if (tail === "surroundings") return this.surroundings(id, Number(query.get("limit") ?? 60));
    if (tail === "walk") return this.walk(id, query);
    throw new Refusal(404, "not_found", "There is no such path.");
  }

  private database(): Database {
    const nodes = [...this.graph.nodes.values()];
    const relationships = [...this.graph.relationships.values()];
    return {
      name: this.graph.name,
      version: "0.1.0",
      format_version: 0,
      page_size: PAGE_SIZE,
      file_bytes: PAGES * PAGE_SIZE,
      nodes: nodes.length,
      relationships: relationships.length,
      labels: this.graph.labels.map((name) => ({ name, nodes: nodes.filter((node) => node.labels.includes(name)).length })),
      relationship_types: this.graph.types.map((name) => ({ name, relationships: relationships.filter(({ type }) => type === name).length })),
      property_keys: ["name", "born", "score", "tags", "title", "year", "rating"],
      indexes: this.graph.indexes,
      writable: false,
      opened: this.opened,
    };
  }

  private pool(): Pool {
    const { hits, misses, read } = this.counts;
    return {
      ...{ frames_max: 4_096, resident: Math.min(4_096, 900 + misses), dirty: 160, pinned: 24, older_versions: 3 },
      ...{ hits, misses, evictions: 0, pages_read: read, pages_written: 64, data_syncs: 4, log_syncs: 11 },
      ...{ page_size: PAGE_SIZE, uptime_ms: Date.now() - this.started, requests: this.requests, requests_now: 1 },
      opened: this.opened,
    };
  }

  private summary(id: Id): NodeSummary {
    const node = this.graph.nodes.get(id);
    if (!node) throw new Refusal(404, "not_found", `There is no node ${id}.`, "Ids run from 0; search finds nodes by their properties.");
    const properties = Object.entries(node.properties).map(([key, value]): [string, Value] => [key, typeof value === "string" ? value.slice(0, 256) : value]);
    return { ...node, properties: Object.fromEntries(properties) };
  }

  private node(id: Id): Node {
    this.summary(id);
    const { labels = [], properties = {} } = this.graph.nodes.get(id) ?? {};
    const degrees = new Map<string, Degree>();
    for (const { direction, relationship } of this.graph.sides(id)) {
      const key = `${direction} ${relationship.type}`;
      const degree = degrees.get(key) ?? { type: relationship.type, direction, count: 0 };
      degree.count += 1;
      degrees.set(key, degree);
    }
    return { id, labels, properties, degrees: [...degrees.values()] };
  }

  private relationship(id: Id): unknown {
    const relationship = this.graph.relationships.get(id);
    if (!relationship) throw new Refusal(404, "not_found", `There is no relationship ${id}.`);
    return { ...relationship, properties: { since: 1_990 + (Number(id) % 30) } };
  }

  private relationships(id: Id, query: URLSearchParams): unknown {
    this.summary(id);
    const direction = query.get("direction") ?? "both";
    const type = query.get("type");
    const limit = Number(query.get("limit") ?? 100);
    const from = Number(query.get("after") ?? 0);
    const all = this.graph.sides(id).filter((side) => (direction === "both" || side.direction === direction) && (type === null || side.relationship.type === type));
    const page = all.slice(from, from + limit);
    return {
      relationships: page.map(({ relationship }) => relationship),
      nodes: this.others(page.map((side) => otherEnd(side.relationship, side.direction))),
      next: from + limit < all.length ? String(from + limit) : null,
    };
  }

  private others(ids: Id[]): NodeSummary[] {
    return [...new Set(ids)].map((id) => this.summary(id));
  }

  private surroundings(id: Id, limit: number): unknown {
    const node = this.summary(id);
    const { degrees } = this.node(id);
    const share = Math.max(1, Math.floor(limit / Math.max(1, degrees.length)));
    let left = limit;
    const small = [...degrees].sort((a, b) => a.count - b.count);
    const groups = small.map((degree, index) => {
      const fair = Math.max(share, Math.floor(left / (small.length - index)));
      const sides = this.graph.sides(id).filter((side) => side.direction === degree.direction && side.relationship.type === degree.type);
      const relationships = sides.slice(0, Math.min(fair, left)).map(({ relationship }) => relationship);
      left -= relationships.length;
      return { ...degree, relationships };
    });
    const ends = groups.flatMap((group) => group.relationships.map((one) => otherEnd(one, group.direction)));
    return { node, groups, nodes: this.others(ends) };
  }

  private walk(id: Id, query: URLSearchParams): unknown {
    this.summary(id);
    const direction = query.get("direction") ?? "both";
    const type = query.get("type");
    const sample = Number(query.get("sample") ?? 100);
    const seen = new Set([id]);
    let frontier = new Set([id]);
    let drawn = new Set([id]);
    const hops: Hop[] = [];
    for (let hop = 0; hop < Number(query.get("hops") ?? 1); hop += 1) {
      const sides = this.sidesOf([...frontier], direction, type);
      const reached = new Set(sides.map(({ to }) => to));
      const fresh = [...reached].filter((to) => !seen.has(to));
      const chosen = spread(sides.filter(({ from }) => drawn.has(from)), sample);
      for (const to of fresh) seen.add(to);
      drawn = new Set(chosen.map(({ to }) => to));
      frontier = new Set(fresh);
      this.counts.misses += 15 * (hop + 1);
      this.counts.read += 15 * (hop + 1);
      hops.push({
        relationships: sides.length,
        nodes: reached.size,
        new_nodes: fresh.length,
        micros: 14 + sides.length * 0.11,
        pages_read: 15 * hop,
        sample: chosen.map(({ relationship }) => relationship),
      });
    }
    const ends = hops.flatMap((hop) => hop.sample.flatMap(({ start, end }) => [start, end]));
    return { start: id, hops, nodes: this.others(ends), complete: true };
  }

  private sidesOf(ids: Id[], direction: string, type: string | null): { from: Id; to: Id; relationship: Relationship }[] {
    return [...new Set(ids)].flatMap((from) =>
      (this.graph.around.get(from) ?? [])
        .filter((side) => (direction === "both" || side.direction === direction) && (type === null || side.relationship.type === type))
        .map((side) => ({ from, to: otherEnd(side.relationship, side.direction), relationship: side.relationship })),
    );
  }

  private search(query: URLSearchParams): unknown {
    const text = query.get("q") ?? "";
    const index = query.get("index");
    const limit = Number(query.get("limit") ?? 20);
    const from = Number(query.get("after") ?? 0);
    const names = this.database().indexes.map(({ label, property }) => `${label}.${property}`);
    if (index !== null && !names.includes(index)) {
      throw new Refusal(404, "not_found", `There is no index ${index}.`, `There are ${names.join(", ")}.`);
    }
    const results: SearchResult[] = [];
    for (const name of index === null ? names : [index]) {
      const [label = "", property = ""] = name.split(".");
      for (const node of this.graph.nodes.values()) {
        const value = node.properties[property];
        if (!node.labels.includes(label) || typeof value !== "string" || !value.startsWith(text)) continue;
        results.push({ node: this.summary(node.id), index: name, value });
      }
    }
    results.sort((a, b) => String(a.value).localeCompare(String(b.value)));
    return { results: results.slice(from, from + limit), next: from + limit < results.length ? String(from + limit) : null };
  }

  private inspectNode(id: Id): unknown {
    const node = this.node(id);
    return inspectNode(node, (degree) =>
      this.graph
        .sides(id)
        .filter((side) => side.direction === degree.direction && side.relationship.type === degree.type)
        .slice(0, 70)
        .map((side) => Number(otherEnd(side.relationship, side.direction))),
    );
  }

  private inspectPage(page: number): unknown {
    if (page === 13) throw new Refusal(500, "damaged", "Page 13 does not have its checksum.", "Run `hop check` and restore from a copy.");
    if (page < PAGES) return inspectPage(page);
    throw new Refusal(404, "not_found", `There is no page ${page}.`, `The file ends with page ${PAGES - 1}.`);
  }
}

function otherEnd(relationship: Relationship, direction: Direction): Id {
  return direction === "out" ? relationship.end : relationship.start;
}

/** `count` of `all`, evenly from beginning to end. */
function spread<T>(all: T[], count: number): T[] {
  if (all.length <= count) return all;
  return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)] as T);
}
