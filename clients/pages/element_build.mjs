/**
 * The one way in which the element is bundled: the collector serves these bytes, and the npm package holds the same, so
 * that one integrity hash is true of both.
 */
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Writes the element to a file; `build` is esbuild's, of the calling package. */
export async function buildElement(build, outfile) {
  const common = { bundle: true, minify: true, charset: "utf8", legalComments: "none" };
  /** A style sheet becomes a text that a script can adopt, with all that it imports. */
  const styles = {
    name: "styles",
    setup({ onLoad }) {
      onLoad({ filter: /\.css$/ }, async ({ path }) => {
        const { outputFiles } = await build({ ...common, entryPoints: [path], write: false });
        return { contents: outputFiles[0].text.trim(), loader: "text" };
      });
    },
  };
  await build({
    ...common,
    entryPoints: [here("src/element/element.ts")],
    outfile,
    format: "esm",
    target: "es2022",
    plugins: [styles],
  });
}
