/** Writes `dist`: the minified ES module, the one that explains reports, the element, and the types beside them. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildElement } from "../pages/element_build.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

rmSync(here("dist"), { recursive: true, force: true });
const options = {
  bundle: true,
  minify: true,
  format: "esm",
  platform: "neutral",
  target: "es2022",
  legalComments: "none",
};
await build({ ...options, entryPoints: [here("src/index.ts")], outfile: here("dist/sottovoce.min.js") });

/** Errors are the main module's own: code that catches one tests its class. */
const sharedErrors = {
  name: "shared errors",
  setup({ onResolve }) {
    onResolve({ filter: /\/errors\.js$/ }, () => ({ path: "./sottovoce.min.js", external: true, sideEffects: false }));
  },
};
await build({
  ...options,
  entryPoints: [here("src/explain.ts")],
  outfile: here("dist/explain.min.js"),
  plugins: [sharedErrors],
});
await buildElement(build, here("dist/element.min.js"));
const types = ["--declaration", "--emitDeclarationOnly", "--rootDir", "src", "--outDir", "dist"];
execFileSync(process.execPath, [here("node_modules/typescript/bin/tsc"), "-p", here("tsconfig.build.json"), ...types], {
  stdio: "inherit",
});
