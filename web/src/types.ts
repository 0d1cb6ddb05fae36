//! The shapes of the HTTP API, version 1, as the server sends them. No code, only types.
//! Graph ids are strings of digits: 64-bit numbers do not survive as JavaScript numbers.

export type Id = string;
export type Direction = "out" | "in";
export type WalkDirection = Direction | "both";

export interface TypedValue {
  $type: string;
  _value: string | Record<string, Value>;
}
export type Value = null | boolean | number | string | Value[] | TypedValue;

export interface NodeSummary {
  id: Id;
  labels: string[];
  properties: Record<string, Value>;
  cut?: true;
}

export interface Degree {
  type: string;
  direction: Direction;
  count: number;
}

export interface Node {
  id: Id;
  labels: string[];
  properties: Record<string, Value>;
  degrees: Degree[];
}

export interface Relationship {
  id: Id;
  type: string;
  start: Id;
  end: Id;
}

export interface RelationshipWhole extends Relationship {
  properties: Record<string, Value>;
}

export interface Database {
  name: string;
  version: string;
  format_version: number;
  page_size: number;
  file_bytes: number;
  nodes: number;
  relationships: number;
  labels: { name: string; nodes: number }[];
  relationship_types: { name: string; relationships: number }[];
  property_keys: string[];
  indexes: { label: string; property: string; unique: boolean }[];
  writable: boolean;
  /** The same for as long as the same server has the same file open; older servers do not send it. */
  opened?: string;
}

export interface Pool {
  frames_max: number;
  resident: number;
  dirty: number;
  pinned: number;
  older_versions: number;
  hits: number;
  misses: number;
  evictions: number;
  pages_read: number;
  pages_written: number;
  data_syncs: number;
  log_syncs: number;
  page_size: number;
  uptime_ms: number;
  requests: number;
  requests_now: number;
  /** As that of `Database`. */
  opened?: string;
}

export interface RelationshipPage {
  relationships: Relationship[];
  nodes: NodeSummary[];
  next: string | null;
}

export interface Group extends Degree {
  relationships: Relationship[];
}

export interface Surroundings {
  node: NodeSummary;
  groups: Group[];
  nodes: NodeSummary[];
}

export interface Hop {
  relationships: number;
  nodes: number;
  new_nodes: number;
  micros: number;
  pages_read: number;
  sample: Relationship[];
}

export interface Walk {
  start: Id;
  hops: Hop[];
  nodes: NodeSummary[];
  complete: boolean;
}

export interface SearchResult {
  node: NodeSummary;
  index: string;
  value: Value;
}

export interface SearchPage {
  results: SearchResult[];
  next: string | null;
}

/** Bytes `[start, start + len)`; the fields of a list tile its bytes, ascending. */
export interface Field {
  name: string;
  start: number;
  len: number;
  value: string;
  depth: number;
}

export interface ChainStep {
  page: number;
  kind: "branch" | "leaf";
  level: number;
  slot: number;
  slots: number;
  key: string | null;
  free_bytes: number;
}

export interface Large {
  length: number;
  extents: { first_page: number; pages: number }[];
  bytes: string;
  fields: Field[];
  cut: boolean;
}

export interface Cell {
  table: string;
  chain: ChainStep[];
  offset: number;
  bytes: string;
  fields: Field[];
  large: Large | null;
}

export interface InspectedNode {
  node: Node;
  record: Cell;
  adjacency: { direction: Direction; type: string; relationships: number; blocks: number; first: Cell }[];
  indexes: { index: string; unique: boolean; cell: Cell }[];
}

export type PageKind = "header" | "free" | "allocation_map" | "leaf" | "branch" | "extent";

export interface PageSlot {
  slot: number;
  offset: number;
  len: number;
  key: string;
  value: string;
  child: number | null;
}

export interface InspectedPage {
  page: number;
  kind: PageKind;
  level: number;
  table: string | null;
  bytes: string;
  fields: Field[];
  slots: PageSlot[];
}
