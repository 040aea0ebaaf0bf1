/**
 * Lets a program in another language ask this client: a JSON request a line in, a JSON answer a line out.
 *
 * Integers of any size travel as decimal text, doubles as the hexadecimal of their eight bytes, bytes as hexadecimal.
 * What the client refuses comes back as the name of its error; any other failure ends the program.
 */
import { createInterface } from "node:readline";
import { fromBase64url, fromHex, toHex } from "../src/core/bytes.js";
import { Device } from "../src/device/device.js";
import { readDomain } from "../src/domain/domain.js";
import { SottovoceError } from "../src/core/errors.js";
import { explain } from "../src/explain.js";
import { readQuery } from "../src/expressions/query.js";
import { fingerprint, verify } from "../src/core/signature.js";
import { MemoryStore } from "../src/device/store.js";
import { readSurvey } from "../src/surveys/read.js";
import { Survey } from "../src/surveys/survey.js";
import { checkLogProof, readLogProof } from "../src/transparency/evidence.js";
import { readCheckpoint } from "../src/transparency/tree_head.js";
import { encodeBatch } from "../src/device/wire.js";
import { readCode } from "../src/domain/word_codes.js";
import { lawOf } from "./enumerate.js";

/** A value as it was meant: integers beyond 2^53 and lists of doubles have forms of their own. */
function valueOf(stated: any): unknown {
  if (typeof stated?.integer === "string") return BigInt(stated.integer);
  if (typeof stated?.doubles === "string") return doubles(stated.doubles);
  if (typeof stated?.bytes === "string") return fromHex(stated.bytes);
  return Array.isArray(stated) ? stated.map(valueOf) : stated;
}

function doubles(hex: string): Float64Array {
  const view = new DataView(fromHex(hex).buffer);
  return Float64Array.from({ length: view.byteLength / 8 }, (_, i) => view.getFloat64(8 * i));
}

function bits(...numbers: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(8 * numbers.length));
  numbers.forEach((number, i) => view.setFloat64(8 * i, number));
  return toHex(new Uint8Array(view.buffer));
}

/** What an expression gives, by its kind. */
const told = (answer: unknown) => (typeof answer === "number" ? bits(answer) : String(answer));

function read({ statement, attachments = {} }: any) {
  const bytes = Object.entries<string>(attachments).map(([digest, hex]) => [digest, fromHex(hex)]);
  return readSurvey(statement, Object.fromEntries(bytes));
}

/** The survey of a request; the last one is kept, for requests about one survey follow each other. */
let last: { key: string; survey: Survey } | undefined;
async function surveyOf({ statement, attachments }: any): Promise<Survey> {
  const key = JSON.stringify([statement, attachments]);
  if (last?.key !== key) last = { key, survey: (await read({ statement, attachments })) as Survey };
  return last.survey;
}

/** What the devices of a test remember, by their owners. */
const stores = new Map<string, MemoryStore>();

function storeOf(owner: string): MemoryStore {
  if (!stores.has(owner)) stores.set(owner, new MemoryStore());
  return stores.get(owner)!;
}

const answers: { [name: string]: (request: any) => unknown } = {
  async survey(request) {
    const survey = await read(request);
    const canonical = new TextDecoder().decode(survey.canonical);
    const own = survey instanceof Survey ? { tag: toHex(survey.tag), width: survey.mechanism.reportBytes } : {};
    return { id: survey.id, canonical, kind: survey.kind, title: survey.title, epsilon: bits(survey.epsilon), ...own };
  },

  async reports(request) {
    const survey = await surveyOf(request);
    return request.values.map((value: unknown) => toHex(survey.randomize(valueOf(value)))).join("");
  },

  async inputs(request) {
    const survey = await surveyOf(request);
    return request.values.map((value: unknown) => {
      const input = survey.input(valueOf(value));
      return typeof input === "number" ? input : bits(...(input as Iterable<number>));
    });
  },

  async law(request) {
    const survey = await surveyOf(request);
    const { chances, denominator } = lawOf(survey.mechanism, survey.input(valueOf(request.value)));
    const listed = Array.from(chances, ([payload, chance]) => [payload, String(chance)]);
    return { of: String(denominator), chances: Object.fromEntries(listed) };
  },

  async explain(request) {
    const survey = await surveyOf(request);
    const values = request.values.map(valueOf);
    return request.reports.map((report: string) => {
      const found = explain(survey, fromHex(report));
      return {
        logs: bits(...values.map((value: unknown) => found.logLikelihood(value))),
        likelihoods: bits(...values.map((value: unknown) => found.likelihood(value))),
        highest: bits(found.highest),
        lowest: bits(found.lowest),
        ratio: bits(found.ratio),
        groups: found.groups?.map(({ probability, count }) => [bits(probability), String(count)]) ?? null,
        words: found.words,
      };
    });
  },

  async verify({ key, statement, signature }) {
    const trusted = fromBase64url(key, 32);
    await verify(trusted, new TextEncoder().encode(statement), fromBase64url(signature, 64));
    return fingerprint(trusted);
  },

  async log({ proof, key, survey, remembered }) {
    const trusted = fromBase64url(key, 32);
    const before = remembered === null ? null : await readCheckpoint(remembered, trusted);
    return (await checkLogProof(readLogProof(proof), trusted, survey, before)).size;
  },

  async answer({ owner, url, id, value, options = {} }) {
    const device = new Device(storeOf(owner), { patience: { attempts: 1 }, ...options });
    return (await device.answer(url, id, value)).state;
  },

  async remembered({ owner, key }) {
    const { conflicts, entries } = await new Device(storeOf(owner)).ledger();
    const heads = conflicts.map(({ remembered, found }) => [remembered, found]);
    return { checkpoint: await storeOf(owner).checkpoint(fromBase64url(key, 32)), conflicts: heads, answers: entries.length };
  },

  query({ domain, tree, records }) {
    const over = readDomain(domain);
    const { kind, low, high, of } = readQuery(tree, over);
    return {
      kind,
      ends: [told(low), told(high)],
      answers: records.map((record: string) => told(of(over.split(BigInt(record))))),
    };
  },

  domain({ domain, values, numbers }) {
    const over = readDomain(domain);
    return {
      size: String(over.size),
      stated: over.statement,
      found: values.map((value: unknown) => String(over.find(valueOf(value)))),
      labels: numbers.map((number: string) => over.label(BigInt(number))),
    };
  },

  words({ code, values, typed }) {
    const words = readCode(code);
    return {
      rows: values.map((value: unknown) => [toHex(words.row(valueOf(value))), words.has(valueOf(value))]),
      spellings: typed.map((text: string) => {
        const { value, word, reason } = words.spelling(text);
        return { word, reason, row: toHex(words.row(value)) };
      }),
    };
  },

  batch: ({ id, reports }) =>
    toHex(encodeBatch(id, reports.map((pair: [string, string]) => pair.map(fromHex)))),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, ...request } = JSON.parse(line);
  let answer: object;
  try {
    answer = { answer: await answers[ask]!(request) };
  } catch (error) {
    if (!(error instanceof SottovoceError)) throw error;
    answer = { refused: error.name, message: error.message };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
