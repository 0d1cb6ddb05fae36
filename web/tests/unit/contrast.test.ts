//! Texts stand out from their grounds as WCAG's level AA asks, light and dark; marks by 3 to 1.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

const TEXTS = ["--ink", "--ink-soft"];
const GROUNDS = ["--stage", "--surface", "--surface-2", "--surface-3"];
const PAIRS: [string, string][] = [
  ["--accent", "--surface"],
  ["--accent", "--accent-soft"],
  ["--accent-ink", "--accent"],
  ["--danger", "--danger-soft"],
  ["--ink", "--danger-soft"],
  ["--ink", "--accent-soft"],
  ...Array.from({ length: 8 }, (_, tint): [string, string] => ["--ink", `--tint-${tint}`]),
];
const MARKS = ["--relationship-strong", ...Array.from({ length: 9 }, (_, hop) => `--hop-${hop}`)];

async function tokens(): Promise<Map<string, [string, string]>> {
  const folder = process.env["HOPDB_DIST"] ?? "dist";
  const text = await readFile(join(folder, "..", "style", "tokens.css"), "utf8");
  const found = [...text.matchAll(/(--[\w-]+): light-dark\((#\w{6}), (#\w{6})\);/g)];
  return new Map(found.map(([, name = "", light = "", dark = ""]) => [name, [light, dark]]));
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

test("contrasts hold in both themes", async () => {
  const colours = await tokens();
  const texts: [string, string, number][] = TEXTS.flatMap((text) => GROUNDS.map((ground): [string, string, number] => [text, ground, 4.5]));
  const pairs = PAIRS.map(([text, ground]): [string, string, number] => [text, ground, 4.5]);
  const marks = MARKS.map((mark): [string, string, number] => [mark, "--stage", 3]);
  for (const [front, ground, least] of [...texts, ...pairs, ...marks]) {
    for (const theme of [0, 1]) {
      const [a, b] = [colours.get(front)?.[theme], colours.get(ground)?.[theme]];
      assert.ok(a && b, `${front} or ${ground} is missing`);
      const found = contrast(a, b);
      assert.ok(found >= least, `${front} on ${ground}, ${theme === 0 ? "light" : "dark"}: ${found.toFixed(2)}`);
    }
  }
});
