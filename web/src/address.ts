//! What of the page's state lies in the address behind `#`, so that a link shows the same view.
//! Pure: reads and writes texts. Parts that make no sense are left out, never an error.

import type { Id, WalkDirection } from "./types";

export const TABS = ["properties", "bytes", "chain", "drawn"] as const;
export type Tab = (typeof TABS)[number];

/** Hops that one walk can ask for. */
export const HOPS_MAX = 8;
/** Root nodes that an address carries. */
export const ROOTS_MAX = 24;

export interface WalkAddress {
  from: Id;
  direction: WalkDirection;
  type: string | null;
  hops: number;
}

/** Whether two addresses ask for one walk. */
export function isSameWalk(a: WalkAddress | null, b: WalkAddress | null): boolean {
  if (a === null || b === null) return a === b;
  return a.from === b.from && a.direction === b.direction && a.type === b.type && a.hops === b.hops;
}

/** A node whose surroundings are drawn, and how many of its relationships at most. */
export interface Root {
  id: Id;
  limit: number;
}

export interface Address {
  /** The selected node. */
  node: Id | null;
  /** Oldest first. */
  roots: Root[];
  walk: WalkAddress | null;
  tab: Tab;
  /** The page whose map is open. */
  page: number | null;
}

export const START: Address = { node: null, roots: [], walk: null, tab: "properties", page: null };

/** Relationships that one expansion draws, and the most that expanding again comes to. */
export const LIMIT_FIRST = 60;
export const LIMIT_MAX = 240;

const ID = /^(0|[1-9]\d{0,19})$/;

/** Whether a text is a node's id. */
export function isId(text: string): boolean {
  return ID.test(text);
}

/** The state in `hash`, and the access token when it brings one. */
export function parseAddress(hash: string): { address: Address; token: string | null } {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const node = params.get("node");
  const tab = TABS.find((name) => name === params.get("tab")) ?? START.tab;
  const page = params.get("page");
  return {
    address: {
      node: node !== null && isId(node) ? node : null,
      roots: parseRoots(params.get("drawn") ?? ""),
      walk: parseWalk(params),
      tab,
      page: page !== null && /^\d{1,15}$/.test(page) ? Number(page) : null,
    },
    token: params.get("token"),
  };
}

/** Ids with commas between; behind a colon a limit that is not the usual one. */
function parseRoots(text: string): Root[] {
  const roots = new Map<Id, Root>();
  for (const part of text.split(",")) {
    const [id = "", written = String(LIMIT_FIRST)] = part.split(":");
    const limit = Number(written);
    if (isId(id) && Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) roots.set(id, { id, limit });
  }
  return [...roots.values()].slice(-ROOTS_MAX);
}

/** Roots as the address has them. */
export function formatRoots(roots: Root[]): string {
  return roots.map(({ id, limit }) => (limit === LIMIT_FIRST ? id : `${id}:${limit}`)).join(",");
}

function parseWalk(params: URLSearchParams): WalkAddress | null {
  const from = params.get("walk");
  const hops = Number(params.get("hops"));
  const direction = params.get("direction") ?? "both";
  if (from === null || !isId(from)) return null;
  if (!Number.isInteger(hops) || hops < 1 || hops > HOPS_MAX) return null;
  if (direction !== "out" && direction !== "in" && direction !== "both") return null;
  return { from, hops, direction, type: params.get("type") || null };
}

/** The text behind `#`; empty for the start. */
export function formatAddress(address: Address): string {
  const params = new URLSearchParams();
  if (address.node !== null) params.set("node", address.node);
  if (address.roots.length > 0) params.set("drawn", formatRoots(address.roots));
  if (address.walk) {
    params.set("walk", address.walk.from);
    params.set("hops", String(address.walk.hops));
    params.set("direction", address.walk.direction);
    if (address.walk.type !== null) params.set("type", address.walk.type);
  }
  if (address.tab !== START.tab) params.set("tab", address.tab);
  if (address.page !== null) params.set("page", String(address.page));
  return params.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
}
