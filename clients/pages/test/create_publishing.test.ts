/** Publishing while the collector goes away: the same survey again until it is taken, and refusals at once. */
import type { DraftAnswer } from "../src/parts/api_types.js";
import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { publish } from "../src/views/create/draft.js";
import { Refusal, Unreachable } from "../src/parts/api.js";

const STATED: DraftAnswer = {
  id: "ab".repeat(32),
  statement: '{"format":2}',
  attachments: { cd: "AAAA" },
  strategy: "histogram",
  mechanism: "hadamard",
  report_bytes: 1,
  people: 1000,
  margin: 0.1,
  l2: 0.1,
  explanation: "",
  promise: null,
  central: null,
  notes: [],
};

let sent: string[] = [];
let answers: (() => Response)[] = [];

beforeEach(() => {
  sent = [];
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  Object.assign(globalThis, {
    fetch: async (path: string, { body }: { body: string }) => {
      sent.push(`${path} ${body}`);
      return (answers.shift() ?? gone)();
    },
  });
});

const gone = (): Response => {
  throw new TypeError("no connection");
};
const taken = (): Response => new Response("{}", { status: 201 });
const refused = (): Response =>
  new Response(JSON.stringify({ error: { code: "minimum_too_low", message: "more", field: "minimum_reports" } }), {
    status: 422,
  });

test("the same bytes are sent until there is an answer", async () => {
  answers = [gone, () => new Response("", { status: 502 }), taken];
  const waits: Error[] = [];
  const published = publish(STATED, 200, (error) => waits.push(error));
  for (let turn = 0; turn < 20; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    mock.timers.tick(1_000);
  }
  assert.equal(await published, STATED.id);
  assert.equal(waits.length, 2);
  assert.ok(waits.every((error) => error instanceof Unreachable));
  assert.equal(sent.length, 3);
  assert.equal(new Set(sent).size, 1);
  assert.equal(
    sent[0],
    `/v1/surveys {"statement":"{\\"format\\":2}","attachments":{"cd":"AAAA"},"minimum_reports":200}`,
  );
});

test("a refusal is thrown, with its field, and nothing is sent again", async () => {
  answers = [refused];
  await assert.rejects(
    publish(STATED, null, () => undefined),
    (error: Refusal) => error.field === "minimum_reports",
  );
  assert.equal(sent.length, 1);
  assert.ok(!sent[0]?.includes("minimum_reports"), "left out where the form has none");
});
