/** What a filling round says, and what a saved conversation holds. */
import type { Picture, RoundStatus, Status } from "../src/parts/api_types.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { conversationOf } from "../src/views/conversation/conversation.js";
import { barLength, fillingWords } from "../src/views/conversation/round.js";
import { overtaken } from "../src/views/conversation/rounds.js";

test("a filling round says what it has, what it needs, and what is usual", () => {
  assert.equal(fillingWords(12, 0, 1000, null), "1,000 are needed for an answer");
  assert.equal(fillingWords(1200, 3, 1000, 4000.4), "the minimum of 1,000 is reached; earlier rounds had 4,000 on average; 3 more on their way");
});

test("the bar has room for the minimum and for the usual number, and is never of no length", () => {
  for (const [n, minimum, expected] of [[0, 0, null], [0, 1, null], [5, 100, null], [5, 100, 1000], [5000, 100, 1000]] as const) {
    const length = barLength(n, minimum, expected);
    assert.ok(length > 0 && length >= n && length >= minimum && length >= (expected ?? 0));
  }
});

test("a conversation is saved with every question, and no answer where there is none", () => {
  const status = { id: "f".repeat(64), title: "</script>", kind: "panel", epsilon: 1, rounds: 3, minimum_reports: 10 } as Status;
  const info: RoundStatus = { id: "a".repeat(64), round: 1, state: "sealed", n_reports: 40, waiting: 0, query: "age < 30", labels: [] };
  const picture = { n_reports: 41, level: 0.95, positions: null, labels: ["age < 30"], value: [0.2], raw: [0.2], low: [0.1], high: [null] } as unknown as Picture;
  const saved: any = conversationOf(status, [{ info, picture }, { info: { ...info, round: 2, n_reports: 3 }, picture: null }]);
  assert.equal(saved.title, "</script>");
  assert.deepEqual(saved.asked.map((one: any) => [one.round, one.n_reports, one.answer?.value ?? null]), [[1, 41, [0.2]], [2, 3, null]]);
  assert.ok(!("positions" in saved.asked[0].answer));
});

test("news that was overtaken on its way opens no closed round again, and takes none away", () => {
  const round = (id: string, state: RoundStatus["state"], n_reports = 0): RoundStatus => ({ id, round: 1, state, n_reports, waiting: 0, query: "", labels: [] });
  assert.ok(overtaken([round("a", "open", 9)], [round("a", "sealed", 9)]));
  assert.ok(overtaken([round("a", "sealed")], [round("a", "sealed"), round("b", "open")]));
  assert.ok(!overtaken([round("a", "sealed", 5)], [round("a", "open", 9)]));
  assert.ok(!overtaken([round("a", "sealed"), round("b", "open")], [round("a", "sealed")]));
  assert.ok(!overtaken([round("a", "deleted")], [round("a", "sealed")]));
  assert.ok(!overtaken([], []));
});
