//! Colours: which label has which, and what the canvas reads from the style sheet.
//!
//! A label's colour follows its position in `/database`, so it is the same on every visit. There are
//! six hues that colour-blind people tell apart; labels after the sixth share a hue but differ in form.

import { HOPS_MAX } from "./address";

export const HUES = 6;
export const FORMS = ["disc", "ring", "target"] as const;
export type Form = (typeof FORMS)[number];

/** The look of a node: a hue, or none for nodes without a label, and a form. */
export interface Look {
  hue: number | null;
  form: Form;
}

/** The looks of labels by their order in the database. */
export class Labels {
  private positions = new Map<string, number>();

  set(names: string[]): void {
    this.positions = new Map(names.map((name, position) => [name, position]));
  }

  /** The look of the `position`-th label. */
  static at(position: number): Look {
    return { hue: position % HUES, form: FORMS[Math.floor(position / HUES) % FORMS.length] ?? "disc" };
  }

  look(name: string): Look {
    const position = this.positions.get(name);
    return position === undefined ? { hue: null, form: "disc" } : Labels.at(position);
  }

  /** The label that gives a node its colour: the first in the database's order. */
  leading(names: string[]): string | null {
    const known = (name: string): number => this.positions.get(name) ?? Infinity;
    return names.reduce<string | null>((best, name) => (best === null || known(name) < known(best) ? name : best), null);
  }

  lookOf(names: string[]): Look {
    const name = this.leading(names);
    return name === null ? { hue: null, form: "disc" } : this.look(name);
  }

  /** The class that gives an element this label's colour. */
  static className({ hue, form }: Look): string {
    return `swatch ${form} ${hue === null ? "hue-none" : `hue-${hue}`}`;
  }
}

/** The style sheet's colours as the canvas needs them. */
export interface Palette {
  paper: string;
  grid: string;
  ink: string;
  inkSoft: string;
  line: string;
  lineStrong: string;
  accent: string;
  none: string;
  hues: string[];
  hops: string[];
  font: string;
}

/** Reads the palette of the theme that is in force; an element inside `place` resolves its colours. */
export function readPalette(place: Element): Palette {
  const probe = document.createElement("span");
  place.append(probe);
  const read = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const palette: Palette = {
    paper: read("--stage"),
    grid: read("--grid"),
    ink: read("--ink"),
    inkSoft: read("--ink-soft"),
    line: read("--relationship"),
    lineStrong: read("--relationship-strong"),
    accent: read("--accent"),
    none: read("--hue-none"),
    hues: Array.from({ length: HUES }, (_, index) => read(`--hue-${index}`)),
    hops: Array.from({ length: HOPS_MAX + 1 }, (_, index) => read(`--hop-${index}`)),
    font: getComputedStyle(probe).fontFamily,
  };
  probe.remove();
  return palette;
}
