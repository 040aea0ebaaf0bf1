/**
 * Runs a device client in JavaScript for `sottovoce audit --client`: a JSON request a line in, a JSON answer a line out.
 *
 * {load: path, statement, attachments} reads a survey with the ES module at that path, which exports `readSurvey` and
 * `Source`; the answer is its number, or what the client says against it. {run: numbers, values, tapes, reports, deployed}
 * gives each value to these clients, with the bytes of its tape as their randomness; the answer is, for every client, nothing
 * if it sends these reports, or else the first place `at` where it does not, and what it does there. Some are made twice: with
 * a source that is given exactly what it reads, and with one of the platform, which reads in blocks. Those of a request
 * that is `deployed` are made as an application makes them: without a source, and the platform's bytes are the tapes. A
 * client reads these in blocks and keeps what is left, so that there can be one such request only; its answer is the number
 * of blocks. {refused: surveys, load: path} is answered with the places of those that the client reads all the same.
 */
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const loaded = [];

const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));

/** Forms of their own have byte strings, integers beyond 2^53, vectors, and doubles that JSON does not hold. */
function valueOf(stated) {
  if (typeof stated?.integer === "string") return BigInt(stated.integer);
  if (typeof stated?.double === "string") return new Float64Array(bytes(stated.double).buffer)[0];
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

/** Have the platform give these pieces in place of chance; the answer says how often it was asked. */
function playPlatform(pieces) {
  let next = 0;
  let blocks = 0;
  globalThis.crypto.getRandomValues = (into) => {
    let at = 0;
    blocks++;
    into.fill(255);
    while (next < pieces.length && at + pieces[next].length <= into.length) {
      into.set(pieces[next], at);
      at += pieces[next++].length;
    }
    return into;
  };
  return () => blocks;
}

/** How many runs of a request are made again with a source of the platform. */
const AGAIN = 256;

function difference(client, values, tapes, reports, deployed) {
  const tapeOf = (at) => tapes[at % tapes.length];
  if (deployed) {
    const blocks = playPlatform(tapes.flat());
    for (const [at, value] of values.entries()) {
      const does = done(client, value);
      if (does !== `sends ${reports[at]}`) return { at, does: `${does}, called without a source,` };
    }
    return { blocks: blocks() };
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
  return {};
}

/** The survey as the client at that path reads it, and its class of sources. */
async function read(load, statement, attachments) {
  const { readSurvey, Source } = await import(pathToFileURL(load));
  const attached = Object.entries(attachments).map(([digest, content]) => [digest, bytes(content)]);
  return { survey: await readSurvey(statement, Object.fromEntries(attached)), Source };
}

async function accepted(load, surveys) {
  const places = [];
  for (const [at, { statement, attachments }] of surveys.entries()) {
    await read(load, statement, attachments).then(() => places.push(at), () => {});
  }
  return places;
}

async function answer({ load, statement, attachments, refused, run, values, tapes, reports, deployed }) {
  if (refused !== undefined) return accepted(load, refused);
  if (load === undefined) {
    const given = values.map(valueOf);
    const pieces = tapes.map((tape) => (tape === "" ? [] : tape.split(",").map(bytes)));
    return run.map((number) => difference(loaded[number], given, pieces, reports, deployed));
  }
  try {
    return loaded.push(await read(load, statement, attachments)) - 1;
  } catch (error) {
    return { problem: String(error?.message) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
