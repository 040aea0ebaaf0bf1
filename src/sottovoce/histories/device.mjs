/**
 * Runs the device of a client in JavaScript for `sottovoce audit --device`: a JSON request a line in, a JSON answer a line out.
 *
 * {load: path} imports the ES module at that path, which exports `Device` and `MemoryStore`; the answer is what is against
 * it. {begin: secret, settings, key, now} makes a new store and device, {restart} another device with the same store.
 * {call, url, question, values, crash, meanwhile, now, later} lets the owner do something at that time; the answer says
 * whether the person was asked, and how the device has failed, if it has. {ledger} is all that the store has of answers.
 *
 * The client is not changed. A crash is a call of its store that never returns: nothing after it runs. Every report that it
 * posts carries the ledger of that moment in a header, which the platform's `fetch` adds here.
 */
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

let client, store, device, settings, now;

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const bytes = (text) => new Uint8Array(Buffer.from(text, "hex"));

/** As in the audit of reports: what JSON's numbers do not hold has a form of its own. */
function valueOf(stated) {
  if (typeof stated?.integer === "string") return BigInt(stated.integer);
  if (typeof stated?.doubles === "string") return new Float64Array(bytes(stated.doubles).buffer);
  if (typeof stated?.bytes === "string") return bytes(stated.bytes);
  return Array.isArray(stated) ? stated.map(valueOf) : stated;
}

async function ledger() {
  const kept = await store.answers();
  const fields = ({ question, window, survey, reportId, report, epsilon, day }) =>
    [question, window, survey, hex(reportId), hex(report), epsilon, day];
  return kept.map(fields);
}

const platformFetch = globalThis.fetch;

globalThis.fetch = async (target, options = {}) => {
  const told = options.method === "POST" ? { "Audit-Ledger": JSON.stringify(await ledger()) } : {};
  return platformFetch(target, { ...options, headers: { ...options.headers, ...told } });
};

/** The store, of which one call never returns: the process has died there. */
function dying(crash, died) {
  return new Proxy(store, {
    get: (inner, name) => async (...given) => {
      const die = () => (died(), new Promise(() => {}));
      if (crash === `before ${name}`) return die();
      const result = await inner[name](...given);
      return crash === `after ${name}` ? die() : result;
    },
  });
}

const opened = (kept) => new client.Device(kept, { ...settings, patience: { attempts: 2, first: 0 }, timeout: 5, clock: () => now });

async function run({ call, url, question, values, crash, meanwhile, later }) {
  let asked = false;
  const value = async () => {
    asked = true;
    if (meanwhile === "days pass") now = later;
    if (meanwhile === "another process") await opened(store).answer(url, question, valueOf(values[1])).catch(() => {});
    return valueOf(values[0]);
  };
  let died;
  const death = new Promise((resolve) => (died = () => resolve("died")));
  const used = crash ? opened(dying(crash, died)) : device;
  const calls = {
    answer: () => used.answer(url, question, value),
    answer_due: () => used.answerDue(value),
    join: () => used.join(url, question),
    refuse_renewals: () => used.refuseRenewals(question),
    flush: () => used.flush(),
  };
  try {
    if ((await Promise.race([calls[call](), death])) === "died") device = opened(store);
  } catch (error) {
    if (!(error instanceof client.SottovoceError)) return { asked, failure: `the device fails with ${error?.name}: ${error?.message}` };
  }
  return { asked, failure: "" };
}

async function answer(request) {
  if (request.now !== undefined) now = request.now;
  if (request.load !== undefined) {
    try {
      client = await import(pathToFileURL(request.load));
      return client.Device && client.MemoryStore ? "" : "it exports no Device and MemoryStore";
    } catch (error) {
      return String(error?.message);
    }
  }
  if (request.begin !== undefined) {
    settings = { ...request.settings, key: request.key };
    store = new client.MemoryStore();
    await store.secret(bytes(request.begin));
    device = opened(store);
    return "";
  }
  if (request.ledger) return ledger();
  if (request.call !== undefined) return run(request);
  device = opened(store);
  return "";
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
process.exit(0);
