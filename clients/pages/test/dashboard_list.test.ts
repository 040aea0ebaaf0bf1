/** The list: which surveys match, what they come to, which count is asked for next. */
import type { Status, SurveyEntry, Surveys } from "../src/parts/api_types.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { periodsBegun } from "../src/views/surveys/card.js";
import { AGAIN, nextOf } from "../src/views/surveys/counting.js";
import { allSurveys, matching, nameOf, totals } from "../src/views/surveys/entries.js";
import { kindName } from "../src/questions/kinds.js";

const entry = (id: string, title: string, state: SurveyEntry["state"] = "open", kind = "shares"): SurveyEntry => ({
  id,
  title,
  state,
  kind,
  epsilon: 1,
  delta: 0,
});
const ALL = [
  entry("aa11aa11", "Favourite Colour"),
  entry("bb22bb22", "Ages", "sealed"),
  entry("cc33cc33", "", "open", "vector"),
];
const EVERYTHING = { text: "", state: "all", kind: "all" };
const ids = (entries: SurveyEntry[]): string[] => entries.map(({ id }) => id);

test("words are looked for in titles in any order and case, and at the beginning of ids", () => {
  assert.deepEqual(ids(matching(ALL, EVERYTHING)), ["aa11aa11", "bb22bb22", "cc33cc33"]);
  assert.deepEqual(ids(matching(ALL, { ...EVERYTHING, text: " colour FAV " })), ["aa11aa11"]);
  assert.deepEqual(ids(matching(ALL, { ...EVERYTHING, text: "bb22bb" })), ["bb22bb22"]);
  assert.deepEqual(ids(matching(ALL, { ...EVERYTHING, text: "22bb22" })), []);
  assert.deepEqual(ids(matching(ALL, { ...EVERYTHING, text: "bb22" })), []);
  assert.deepEqual(ids(matching(ALL, { ...EVERYTHING, text: "untitled" })), ["cc33cc33"]);
  assert.deepEqual(ids(matching(ALL, { ...EVERYTHING, text: ".*" })), []);
  assert.deepEqual(ids(matching(ALL, { text: "", state: "sealed", kind: "all" })), ["bb22bb22"]);
  assert.deepEqual(ids(matching(ALL, { text: "", state: "open", kind: "vector" })), ["cc33cc33"]);
});

test("a survey without a title is called by its id, one of an unknown kind by that kind", () => {
  assert.equal(nameOf({ title: "  ", id: "0123456789abcdef" }), "Untitled 0123456789ab");
  assert.equal(kindName("shares"), "One of a list");
  assert.equal(kindName("constructor"), "Constructor");
});

test("totals count what has arrived, counted or waiting, of the surveys that have told", () => {
  const status = (n_reports: number, waiting: number): Status => ({ n_reports, waiting }) as Status;
  const counts = new Map([
    ["aa11aa11", status(10, 2)],
    ["cc33cc33", status(5, 0)],
    ["gone", status(99, 0)],
  ]);
  assert.deepEqual(totals(ALL, counts), { surveys: 3, open: 2, reports: 17, told: 2 });
});

test("counts in sight come first, then all others once, then again those in sight, the oldest first", () => {
  const seen = (id: string): boolean => id === "b" || id === "c";
  const all = ["a", "b", "c", "d"];
  const asked = new Map<string, number>();
  const order: (string | null)[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const next = nextOf(all, seen, asked, turn);
    order.push(next);
    if (next !== null) asked.set(next, turn);
  }
  assert.deepEqual(order, ["b", "c", "a", "d", null]);
  assert.equal(nextOf(all, seen, asked, AGAIN), "b");
  assert.equal(nextOf(all, seen, new Map(asked).set("b", 10), AGAIN + 1), "c");
});

test("a long list is fetched page by page, each survey once, and its end is believed", async () => {
  const pages: Record<string, Surveys> = {
    "/v1/surveys": { surveys: [ALL[0]!, ALL[1]!], page: 1, pages: 4 },
    "/v1/surveys?page=2": { surveys: [ALL[1]!, ALL[2]!], page: 2, pages: 2 },
  };
  const asked: string[] = [];
  const found = await allSurveys(async (path) => {
    asked.push(path);
    return pages[path]!;
  });
  assert.deepEqual(ids(found), ids(ALL));
  assert.deepEqual(asked, Object.keys(pages));
});

test("a tracking survey says which of its periods it is in", () => {
  assert.equal(periodsBegun({ asked: 12, rounds: 52, every: "week" }), "week 12 of 52");
  assert.equal(periodsBegun({ asked: 3, rounds: null, every: 14 }), "period 3, without an end");
  assert.equal(periodsBegun({ asked: 0, rounds: 12, every: "month" }), "the first month has not begun");
});
