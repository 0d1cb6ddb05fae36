//! Runs the tests: bundles them into a folder of their own and hands them to node's runner.
//! `unit`, `browser`, or both; `mock` runs the mock server. Browser tests need `dist`.

import { build } from "esbuild";
import { spawn } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const out = at("../node_modules/.hopdb-tests");
const wanted = process.argv[2] ?? "all";

async function testsOf(kind) {
  const names = await readdir(at(kind));
  return names.filter((name) => name.endsWith(".test.ts")).map((name) => at(`${kind}/${name}`));
}

async function bundle(entryPoints, outbase) {
  await rm(out, { recursive: true, force: true });
  const options = { bundle: true, platform: "node", target: "node20", format: "esm", packages: "external", sourcemap: "inline", logLevel: "warning" };
  await build({ ...options, entryPoints, outdir: out, outbase, outExtension: { ".js": ".mjs" } });
}

function run(args) {
  const env = { ...process.env, HOPDB_DIST: process.env.HOPDB_DIST ?? at("../dist") };
  const child = spawn(process.execPath, ["--enable-source-maps", ...args], { stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code) => process.exit(code ?? 1));
}

if (wanted === "mock") {
  await bundle([at("mock/main.ts")], at("mock"));
  run([`${out}/main.mjs`]);
} else {
  const kinds = wanted === "all" ? ["unit", "browser"] : [wanted];
  if (kinds.includes("browser") && !existsSync(at("../dist/index.html"))) {
    console.error("There is no dist: run `npm run build` first.");
    process.exit(1);
  }
  const files = (await Promise.all(kinds.map(testsOf))).flat();
  const only = process.argv[3];
  const chosen = only ? files.filter((file) => file.includes(only)) : files;
  await bundle(chosen, at("."));
  const built = chosen.map((file) => file.replace(at("."), `${out}/`).replace(/\.ts$/, ".mjs"));
  // One file at a time: browsers side by side would spoil the measured frame rate.
  run(["--test", "--test-concurrency=1", ...built]);
}
