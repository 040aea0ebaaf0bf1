/** What the survey page says of a relay: who sees what, what that rests on, and where a report is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { restsOn, sealedWords, whoSees } from "../src/survey/words.js";
import { titleOf } from "../src/survey/status_view.js";

const RELAY = { url: "https://relay.example.org/ldp", least: 10_000, delta: 1e-6 };

test("one sentence says who sees what, and the next what it rests on and what the page cannot hide", () => {
  const sentence = whoSees(RELAY, "https://stats.example.org");
  assert.match(sentence, /^The relay at relay\.example\.org sees your address .*, but not your report; the collector at stats\.example\.org .* not whose it is\.$/);
  assert.equal(sentence.split(". ").length, 1);
  assert.match(restsOn(RELAY), /do not share what they see.*10,000.*saw your address/);
  assert.match(sealedWords(RELAY.url), /relay\.example\.org, the relay, gets a message of a fixed size/);
});

test("a report that was sent is held at the relay, where there is one", () => {
  assert.match(titleOf("sent", true), /held at the relay/);
  assert.match(titleOf("sent", false), /arrived/);
  for (const sending of ["asked", "trying", "kept", "refused"] as const) {
    assert.equal(titleOf(sending, true), titleOf(sending, false));
  }
});
