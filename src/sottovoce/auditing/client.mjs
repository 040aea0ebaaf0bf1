/**
 * Runs a device client in JavaScript for `sottovoce audit --client`: a JSON request a line in, a JSON answer a line out.
 *
 * {load: path, statement, attachments} reads a survey with the ES module at that path, which exports `readSurvey` and
 * `Source`; the answer is its number, or what the client says against it. {run: numbers, values, tapes, reports, deployed}
 * gives each value to these clients, with the bytes of its tape as their randomness; the answer is, for every client, null
 * if it sends these reports, or else the first place where it does not, and what it does there. Some are made twice: with
 * a source that is given exactly what it reads, and with one of the platform, which reads in blocks. Those of a request
 * that is `deployed` are made as an application makes them: without a source, and the platform's bytes are the tapes. A
 * client reads these in blocks and keeps what is left, so that there can be one such request only.
 */
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const loaded = [];

const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));

/** Byte strings have a form of their own, and integers beyond 2^53 and vectors, since JSON's numbers do not hold them all. */
function valueOf(stated) {
  if (typeof stated?.integer === "string") return BigInt(stated.integer);
  if (typeof stated?.doubles === "string") return new Float64Array(bytes(stated.doubles).buffer);
  if (typeof stated?.bytes === "string") return bytes(stated.bytes);
  return Array.isArray(stated) ? stated.map(valueOf) : stated;
}

/** What a client does with a value and, unless it is to use its own, a source. */
function done({ survey }, value, ...source) {
  try {
    return `sends ${Buffer.from(survey.randomize(value, ...source)).toString("hex")}`;
  } catch (error) {
    return `fails (${error?.message})`;
  }
}

/** The same with random bytes that are given piece by piece as they are read: other pieces are not read. */
function doneWith(client, value, pieces) {
  let next = 0;
  const source = new client.Source((into) => {
    const piece = pieces[next++];
    if (piece?.length !== into.length) throw new Error(`draw ${next} reads ${into.length} bytes, not ${piece?.length ?? 0}`);
    into.set(piece);
  });
  const does = done(client, value, source);
  return next === pieces.length || does.startsWith("fails") ? does : `reads ${next} times, not ${pieces.length}`;
}

/** Have the platform give these pieces in place of chance. */
function playPlatform(pieces) {
  let next = 0;
  globalThis.crypto.getRandomValues = (into) => {
    let at = 0;
    into.fill(255);
    while (next < pieces.length && at + pieces[next].length <= into.length) {
      into.set(pieces[next], at);
      at += pieces[next++].length;
    }
    return into;
  };
}

/** How many runs of a request are made again with a source of the platform. */
const AGAIN = 256;

function difference(client, values, tapes, reports, deployed) {
  const tapeOf = (at) => tapes[at % tapes.length];
  if (deployed) {
    playPlatform(tapes.flat());
    for (const [at, value] of values.entries()) {
      const does = done(client, value);
      if (does !== `sends ${reports[at]}`) return { at, does: `${does}, called without a source,` };
    }
    return null;
  }
  for (const [at, value] of values.entries()) {
    const does = doneWith(client, value, tapeOf(at));
    if (does !== `sends ${reports[at]}`) return { at, does };
  }
  const again = values.slice(0, AGAIN);
  playPlatform(again.flatMap((_, at) => tapeOf(at)));
  const source = new client.Source();
  for (const [at, value] of again.entries()) {
    const does = done(client, value, source);
    if (does !== `sends ${reports[at]}`) return { at, does: `${does}, with bytes that come in blocks,` };
  }
  return null;
}

async function answer({ load, statement, attachments, run, values, tapes, reports, deployed }) {
  if (load === undefined) {
    const given = values.map(valueOf);
    const pieces = tapes.map((tape) => (tape === "" ? [] : tape.split(",").map(bytes)));
    return run.map((number) => difference(loaded[number], given, pieces, reports, deployed));
  }
  try {
    const { readSurvey, Source } = await import(pathToFileURL(load));
    const attached = Object.entries(attachments).map(([digest, content]) => [digest, bytes(content)]);
    return loaded.push({ survey: await readSurvey(statement, Object.fromEntries(attached)), Source }) - 1;
  } catch (error) {
    return { problem: String(error?.message) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
