/**
 * Writes the pages as the collector serves them: into the Python package, or into the folder that is given.
 *
 * The same sources give the same bytes, so that a test can hold what stands in the repository against them.
 */
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildElement } from "./element_build.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const target = process.argv[2] ?? here("../../src/sottovoce/collector/pages/assets");

const PAGES = ["survey", "dashboard"];

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
await build({
  entryPoints: PAGES.flatMap((page) => [here(`src/${page}/${page}.ts`), here(`src/${page}/${page}.css`)]),
  entryNames: "[name]",
  outdir: target,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
});
await buildElement(build, `${target}/element.js`);
for (const page of PAGES) copyFileSync(here(`src/${page}/${page}.html`), `${target}/${page}.html`);
for (const name of readdirSync(here("src/images"))) copyFileSync(here(`src/images/${name}`), `${target}/${name}`);
