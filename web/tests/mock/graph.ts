//! The mock server's graph: made up by arithmetic, the same on every run.
//!
//! People in circles of friends, films, cities; one city is a hub with 20,000 relationships. There
//! are parallel and self relationships, values of every type, and texts that try to be markup.

import type { Database, Direction, Id, NodeSummary, Relationship, Value } from "../../src/types";

export const HUB: Id = "30001";
export const HOSTILE: Id = "40000";
export const HUB_COUNT = 20_000;
export const HOSTILE_TEXT = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

const FIRST = ["Ada", "Grace", "Alan", "Emmy", "Kurt", "Sofia", "Niels", "Lise", "Carl", "Maria", "Leon", "Hedy", "Paul", "Rosa", "Otto", "Ines", "Ivo", "Mina", "Hugo", "Thea"];
const LAST = ["Lovelace", "Hopper", "Turing", "Noether", "Bauer", "Kowal", "Bohr", "Meitner", "Lindgren", "Agnes", "Moreau", "Silva", "Adler", "Keller", "Rossi", "Novak", "Brandt", "Castel", "Dubois", "Falk", "Haas", "Ibsen", "Jansen"];
const FILM_A = ["Silent", "Golden", "Last", "Hidden", "Northern", "Paper", "Distant", "Winter"];
const FILM_B = ["Harbour", "Garden", "Letter", "Orchard", "Station", "River", "Island", "Lantern", "Bridge"];
const CITIES = ["Uppsala", "Lisbon", "Krakow", "Ghent", "Trieste", "Bergen", "Graz", "Porto"];

/** What `/database` tells of a graph beyond its counts. */
interface Schema {
  name: string;
  labels: string[];
  types: string[];
  indexes: Database["indexes"];
}

export const LABELS = ["Person", "Film", "City", "Author"];
export const TYPES = ["KNOWS", "ACTED_IN", "LIVES_IN", "DIRECTED", "LIKES"];

const PEOPLE: Schema = {
  ...{ name: "people-and-films", labels: LABELS, types: TYPES },
  indexes: [
    { label: "Person", property: "name", unique: false },
    { label: "Film", property: "title", unique: true },
    { label: "City", property: "name", unique: true },
  ],
};
const STONES: Schema = {
  name: "stones",
  labels: ["Stone"],
  types: ["TOUCHES"],
  indexes: [{ label: "Stone", property: "name", unique: true }],
};
const STONE_COUNT = 24;

export class Graph {
  readonly name: string;
  readonly labels: string[];
  readonly types: string[];
  readonly indexes: Database["indexes"];
  readonly nodes = new Map<Id, NodeSummary>();
  readonly relationships = new Map<Id, Relationship>();
  readonly around = new Map<Id, { direction: Direction; relationship: Relationship }[]>();

  /** `stones` is a small graph that has nothing in common with the usual one but its ids. */
  constructor(kind: "people" | "stones" = "people") {
    const { name, labels, types, indexes } = kind === "people" ? PEOPLE : STONES;
    this.name = name;
    this.labels = labels;
    this.types = types;
    this.indexes = indexes;
    if (kind === "people") this.addPeople();
    else this.addStones();
  }

  private addStones(): void {
    for (let id = 0; id < STONE_COUNT; id += 1) this.node(id, ["Stone"], { name: `Stone ${id}` });
    for (let id = 0; id < STONE_COUNT; id += 1) this.add("TOUCHES", id, (id + 1) % STONE_COUNT);
  }

  private addPeople(): void {
    for (let id = 0; id < HUB_COUNT; id += 1) this.node(id, id % 17 === 0 ? ["Person", "Author"] : ["Person"], person(id));
    for (let film = 0; film < 72; film += 1) this.node(20_000 + film, ["Film"], filmOf(film));
    CITIES.forEach((name, index) => this.node(30_001 + index, ["City"], { name, inhabitants: 40_000 + 7_000 * index }));
    this.node(40_000, ["Person"], hostile());
    this.node(40_001, [], {});
    this.connect();
  }

  private node(id: number, labels: string[], properties: Record<string, Value>): void {
    this.nodes.set(String(id), { id: String(id), labels, properties });
    this.around.set(String(id), []);
  }

  private add(type: string, start: number, end: number): void {
    const id = String(this.relationships.size);
    const relationship = { id, type, start: String(start), end: String(end) };
    this.relationships.set(id, relationship);
    this.around.get(relationship.start)?.push({ direction: "out", relationship });
    this.around.get(relationship.end)?.push({ direction: "in", relationship });
  }

  private connect(): void {
    for (let id = 0; id < HUB_COUNT; id += 1) {
      const circle = id - (id % 12);
      for (const step of [1, 2, 5]) this.add("KNOWS", id, circle + ((id + step) % 12));
      if (id % 3 === 0) this.add("KNOWS", id, (id * 7 + 31) % HUB_COUNT);
      if (id % 2 === 0) this.add("ACTED_IN", id, 20_000 + ((id * 5) % 72));
      this.add("LIVES_IN", id, 30_001);
    }
    for (let film = 0; film < 72; film += 1) this.add("DIRECTED", (film * 12) % 600, 20_000 + film);
    for (const type of ["LIKES", "LIKES", "DIRECTED"]) this.add(type, 0, 20_000);
    this.add("LIKES", 20_000 - 1, 20_000 - 1);
    this.add("LIKES", 0, 0);
    this.add("LIKES", 40_000, 0);
    this.add("LIKES", 0, 40_000);
    for (let city = 1; city < CITIES.length; city += 1) this.add("LIKES", city * 12, 30_001 + city);
  }

  /** Sides of a node in the contract's order: out before in, then type, neighbour, relationship. */
  sides(id: Id): { direction: Direction; relationship: Relationship }[] {
    const key = (side: { direction: Direction; relationship: Relationship }): [number, number, number, number] => [
      side.direction === "out" ? 0 : 1,
      this.types.indexOf(side.relationship.type),
      Number(side.direction === "out" ? side.relationship.end : side.relationship.start),
      Number(side.relationship.id),
    ];
    return [...(this.around.get(id) ?? [])].sort((a, b) => {
      const left = key(a);
      const right = key(b);
      const at = left.findIndex((value, index) => value !== right[index]);
      return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
    });
  }
}

function person(id: number): Record<string, Value> {
  const name = `${FIRST[id % FIRST.length]} ${LAST[(id * 3 + Math.floor(id / 20)) % LAST.length]}`;
  const properties: Record<string, Value> = {
    name,
    born: { $type: "Date", _value: `${1_930 + (id % 70)}-0${1 + (id % 9)}-1${id % 10}` },
    score: (id % 97) / 8,
  };
  if (id % 5 === 0) properties["tags"] = ["early", "member", id % 3];
  if (id === 0) {
    properties["big"] = { $type: "Integer", _value: "9223372036854775807" };
    properties["home"] = { $type: "Point", _value: "point({srid: 4326, x: 17.6389, y: 59.8586})" };
    properties["biography"] = "She wrote the first notes on what an engine could do. ".repeat(24).trim();
    properties["settings"] = { $type: "Map", _value: { theme: "dark", zoom: 1.5 } };
  }
  return properties;
}

function filmOf(film: number): Record<string, Value> {
  return { title: `The ${FILM_A[film % FILM_A.length]} ${FILM_B[film % FILM_B.length]}`, year: 1_950 + film, rating: { $type: "Float", _value: "NaN" } };
}

function hostile(): Record<string, Value> {
  return {
    name: HOSTILE_TEXT,
    "<b>key</b>": "</script><svg onload=window.hacked=1>",
    "right-to-left": "\u202Etxet desrever",
    long: "x".repeat(5_000),
    empty: "",
    "__proto__x": "fine",
  };
}
