/** What is shipped: small, without dependencies, and as the README says. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { toBase64url } from "../src/core/bytes.js";
import { canonicalBytes } from "../src/core/json.js";
import { gatewayKey, TestRelay } from "./relay_server.js";
import { Signer, TestCollector } from "./server.js";
import { shares } from "./stated.js";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const run = promisify(execFile);

test("everything is below 46 kB minified and gzipped", () => {
  // Two of them are the look into the collector's log: tree, proofs, checkpoint, and what is kept of it; one is relations.
  const bytes = gzipSync(read("dist/sottovoce.min.js"), { level: 9 }).length;
  assert.ok(bytes < 46_000, `${bytes} bytes`);
});

test("no dependency at run time, nothing imported, no other source of randomness", () => {
  const { dependencies, peerDependencies } = JSON.parse(read("package.json"));
  assert.deepEqual([dependencies, peerDependencies], [undefined, undefined]);
  // What explains reports takes its errors from the main module, so that they are the same classes.
  const explaining = read("dist/explain.min.js").replaceAll(/import\{[^}]*\}from"\.\/sottovoce\.min\.js";/g, "");
  for (const bundle of [read("dist/sottovoce.min.js"), explaining]) {
    assert.ok(!/\bimport\b|\brequire\(|Math\.random|\beval\(|new Function/.test(bundle));
  }
  assert.ok(read("dist/index.d.ts").includes("readSurvey"));
  assert.ok(read("dist/explain.d.ts").includes("Explanation"));
});

test("errors of both modules are of the same classes", async () => {
  const main = await import(`${root}dist/sottovoce.min.js`);
  const { explain } = await import(`${root}dist/explain.min.js`);
  const survey = await main.readSurvey(JSON.stringify(shares({ labels: ["a", "b"] }, { name: "hadamard" })));
  assert.throws(() => explain(survey, new Uint8Array(2)), main.ReportError);
  assert.throws(() => explain(survey, new Uint8Array(5)), main.MismatchError);
  assert.throws(() => explain(survey, survey.randomize("a")).likelihood("c"), main.ValueOutsideDomainError);
});

/** Code blocks of the README in a language. */
const examples = (language: string): string[] =>
  [...read("README.md").matchAll(/```(\w+)\n(.*?)```/gs)].flatMap(([, found, code]) =>
    found === language ? [code!] : [],
  );

/** What a block prints, run as a program of its own; it must say so itself, behind each `console.log`. */
async function checkExample(code: string, args: string[]): Promise<void> {
  // Within the package, which the example imports by its name.
  const folder = mkdtempSync(fileURLToPath(new URL("build/example-", root)));
  try {
    writeFileSync(`${folder}/example.mjs`, code);
    const { stdout } = await run(process.execPath, [`${folder}/example.mjs`, ...args]);
    const expected = [...code.matchAll(/console\.log\(.*\/\/ (.*)/g)].map(([, told]) => told);
    assert.ok(expected.length > 0);
    assert.deepEqual(stdout.trim().split("\n"), expected);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The example of a relay, before a collector that nobody but the relay may ask. */
async function checkRelayedExample(code: string): Promise<void> {
  const [server, relay, signer] = [new TestCollector(), new TestRelay(), new Signer()] as const;
  try {
    await server.start();
    const url = await relay.start();
    const stated = { ...shares({ labels: ["tea", "water"] }, { name: "hadamard" }), relay: { delta: 1e-6, least: 2, url } };
    const envelope = await signer.envelope(new TextDecoder().decode(canonicalBytes(stated as never)));
    server.publish(envelope);
    relay.serve(envelope.id, signer, await gatewayKey(1));
    relay.passTo(server);
    await checkExample(code, ["https://stats.example.org", envelope.id, url, toBase64url(signer.public)]);
    assert.deepEqual([relay.held.length, server.sent.length], [1, 0]);
  } finally {
    await Promise.all([server.stop(), relay.stop()]);
  }
}

test("the README's examples run and print what they say", async () => {
  const [report, device, relayed, explained, spelling, ...others] = examples("js");
  assert.equal(others.length, 0);
  await checkExample(report!, []);
  await checkExample(explained!, []);
  await checkExample(spelling!, []);
  const server = new TestCollector();
  try {
    const url = await server.start();
    const statement = report!
      .match(/'(\{.*)' \+\n\s*'(.*\})'/)!
      .slice(1)
      .join("");
    const envelope = await new Signer().envelope(statement);
    server.publish(envelope);
    await checkExample(device!, [url, envelope.id]);
    assert.equal(server.sent.length, 1);
  } finally {
    await server.stop();
  }
  await checkRelayedExample(relayed!);
});

test("the element is below 68 kB minified and gzipped, stands alone, and is not dropped by bundlers", () => {
  const element = read("dist/element.min.js");
  const bytes = gzipSync(element, { level: 9 }).length;
  assert.ok(bytes < 68_000, `${bytes} bytes`);
  assert.ok(!/\bimport\b|\brequire\(|Math\.random|\beval\(|new Function|innerHTML/.test(element));
  const { exports, sideEffects } = JSON.parse(read("package.json"));
  assert.deepEqual(exports["./element"], { types: "./dist/element.d.ts", default: "./dist/element.min.js" });
  assert.deepEqual(sideEffects, ["./dist/element.min.js"]);
  assert.ok(read("dist/element.d.ts").includes('"sottovoce-survey"'));
});

test("the element is the one that the collector serves, byte for byte: one integrity hash is true of both", () => {
  assert.equal(read("dist/element.min.js"), read("../../src/sottovoce/collector/pages/assets/element.js"));
});

test("importing the element where there is no page does nothing", async () => {
  await import(`${root}dist/element.min.js`);
  assert.equal("customElements" in globalThis, false);
});
