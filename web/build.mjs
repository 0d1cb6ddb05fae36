//! Builds the page into `dist`: one script, one style sheet, the icon, and `index.html`.
//! Names are fixed; the server tells versions apart by ETag. Nothing is fetched from elsewhere.

import { build } from "esbuild";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

await rm(at("dist"), { recursive: true, force: true });
await mkdir(at("dist/assets"), { recursive: true });
await build({
  entryPoints: { app: at("src/main.ts"), page: at("style/page.css") },
  outdir: at("dist/assets"),
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: true,
  legalComments: "eof",
  logLevel: "warning",
});
await copyFile(at("index.html"), at("dist/index.html"));
await copyFile(at("assets/icon.svg"), at("dist/assets/icon.svg"));
