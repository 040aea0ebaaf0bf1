/** What stops the element is told in a code, in words for the person, and in a remedy for the author of the page. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import {
  BudgetError,
  ClockError,
  LedgerError,
  MechanismError,
  MismatchError,
  ServiceError,
  SignatureError,
  TransparencyError,
} from "../../js/src/core/errors.js";
import { mistake, setbackOf, Stopped } from "../src/element/setback.js";
import { surveyId, wantedBy } from "../src/element/wanted.js";

const ID = "3f".repeat(32);
const KEY = "x71irfJFQ_88tDhl0ZRAB3i0t8h5Y5ATqkPHlzZyETY";
const URL_ = "https://stats.example.org";
const place = { url: URL_, name: "Drinks" };

test("every failure has a code and a remedy, and is a decision or a fault", () => {
  const found: readonly (readonly [unknown, string, boolean, RegExp])[] = [
    [new ServiceError("x", "survey_deleted", 410), "survey_deleted", true, /take the element away/],
    [new ServiceError("x", "survey_sealed", 409), "survey_sealed", true, /publish another/],
    [new ServiceError("x", "unknown_survey", 404), "unknown_survey", false, /stats\.example\.org has no survey "Drinks".*survey list/],
    [new ServiceError("must look like", "bad_address"), "bad_address", false, /must look like/],
    [new ServiceError("not JSON", "bad_answer"), "not_a_collector", false, /check the collector attribute/],
    [new ServiceError("cannot be reached"), "unreachable", false, /cannot be reached\. Check/],
    [new ServiceError("x", "busy", 503), "busy", false, /busy/],
    [new ServiceError("no", "bad", 400), "refused_by_collector", true, /says: no/],
    [new BudgetError("spent"), "budget_spent", true, /one budget for all surveys of this page's origin/],
    [new SignatureError("altered"), "not_as_signed", true, /survey embed/],
    [new TransparencyError("not in it"), "not_in_log", true, /not in it\..*log check/],
    [new TransparencyError("shorter", true), "two_logs", true, /shorter\..*log check/],
    [new LedgerError("blocked"), "no_storage", false, /IndexedDB/],
    [new ClockError("off"), "clock", false, /own clock/],
    [new MismatchError("no relay"), "mismatch", true, /no relay/],
    [new MechanismError("gaussian"), "unsupported", false, /another mechanism/],
    [new TypeError("tea"), "unforeseen", false, /reloading may help/],
    [mistake("no_survey", "say which"), "no_survey", false, /say which/],
  ];
  for (const [error, code, isRefusal, remedy] of found) {
    const setback = setbackOf(error, place);
    assert.deepEqual([setback.code, setback.isRefusal], [code, isRefusal]);
    assert.match(setback.remedy, remedy);
    assert.ok(setback.trouble.title && setback.trouble.text, code);
  }
});

test("an epsilon above the cap is told from a budget that is spent", () => {
  const { code, remedy } = setbackOf(new BudgetError("x"), { ...place, survey: { title: "Drinks", epsilon: 5 } });
  assert.equal(code, "above_cap");
  assert.match(remedy, /asks for epsilon 5, and browsers give one survey at most 2/);
});

test("words of an error that nobody foresaw go nowhere: they might hold an answer", () => {
  assert.ok(!JSON.stringify(setbackOf(new TypeError("tea"), place).remedy).includes("tea"));
});

const wanted = (given: Record<string, string>) => wantedBy((name) => given[name] ?? null);

/** The setback that wrong attributes bring. */
function stopped(given: Record<string, string>): [code: string, remedy: string] {
  try {
    wanted(given);
  } catch (error) {
    const { code, remedy } = setbackOf(error, place);
    return [code, remedy];
  }
  return ["", ""];
}

test("attributes are read, and what is wrong with them is said by name", () => {
  assert.deepEqual(wanted({ collector: ` ${URL_}/ `, survey: "Drinks" }), { url: URL_, name: "Drinks", trusting: {}, lang: "", group: "" });
  const full = wanted({ collector: URL_, survey: ID, key: KEY, relay: "https://relay.example.org", lang: "it" });
  assert.deepEqual(full.trusting, { key: KEY, relay: "https://relay.example.org", insistOnRelay: true });
  assert.equal(full.lang, "it");
  assert.match(stopped({ survey: ID }).join(), /bad_address,The collector attribute is missing/);
  assert.match(stopped({ collector: "stats.example.org", survey: ID }).join(), /bad_address,.*must look like https/);
  assert.match(stopped({ collector: "http://stats.example.org", survey: ID }).join(), /bad_address,.*begin with https/);
  assert.match(stopped({ collector: URL_ }).join(), /no_survey,The survey attribute is missing/);
  for (const key of [KEY.slice(1), `${KEY}A`, "A".repeat(43), "tea"]) {
    assert.match(stopped({ collector: URL_, survey: ID, key }).join(), /bad_key,The key attribute must be/);
  }
  assert.match(stopped({ collector: URL_, survey: "Drinks", relay: "https://r.example" }).join(), /title_with_relay,.*by its id/);
});

/** A collector that only lists its surveys, on so many pages. */
async function listing<Found>(pages: readonly unknown[], use: (url: string) => Promise<Found>): Promise<Found> {
  const server = createServer((request, response) => {
    const page = Number(new URL(request.url!, "http://x").searchParams.get("page"));
    response.end(JSON.stringify(pages[page - 1]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const line = (id: string, title: string) => ({ id, title });

test("a title is looked up on all pages of the list, and an id on none", async () => {
  const other = "a0".repeat(32);
  const pages = [
    { surveys: [line(other, "Colours"), line("x", "Drinks")], pages: 2 },
    { surveys: [line(ID, "Drinks"), line(ID, "Drinks")], pages: 2 },
  ];
  await listing(pages, async (url) => assert.equal(await surveyId(wanted({ collector: url, survey: "Drinks" })), ID));
  assert.equal(await surveyId(wanted({ collector: "http://127.0.0.1:1", survey: other })), other);
});

test("a title that two surveys have, or none, is an error that says what to do", async () => {
  const other = "a0".repeat(32);
  const pages = [{ surveys: [line(ID, "Drinks"), line(other, "Drinks")], pages: 1 }];
  await listing(pages, async (url) => {
    const asked = (survey: string) => surveyId(wanted({ collector: url, survey }));
    const isStopped = (code: string, words: string[]) => (error: unknown) =>
      error instanceof Stopped && error.setback.code === code && words.every((word) => error.setback.remedy.includes(word));
    await assert.rejects(asked("Drinks"), isStopped("ambiguous_title", [ID, other, "by its id"]));
    await assert.rejects(asked("drinks"), isStopped("unknown_survey", ['"drinks"', "survey list"]));
  });
  await listing([{ nothing: 1 }], (url) =>
    assert.rejects(surveyId(wanted({ collector: url, survey: "Drinks" })), { name: "ServiceError", code: "bad_answer" }),
  );
});
