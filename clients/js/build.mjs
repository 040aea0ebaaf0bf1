/** Writes `dist`: one minified ES module, and the types beside it. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

rmSync(here("dist"), { recursive: true, force: true });
await build({
  entryPoints: [here("src/index.ts")],
  outfile: here("dist/sottovoce.min.js"),
  bundle: true,
  minify: true,
  format: "esm",
  platform: "neutral",
  target: "es2022",
  legalComments: "none",
});
const types = ["--declaration", "--emitDeclarationOnly", "--rootDir", "src", "--outDir", "dist"];
execFileSync(process.execPath, [here("node_modules/typescript/bin/tsc"), "-p", here("tsconfig.build.json"), ...types], {
  stdio: "inherit",
});
