import assert from "node:assert/strict";
import { test } from "node:test";
import { captionOf } from "../src/charts/svg_export.js";
import { looksWords } from "../src/views/shared/looks.js";

test("while reports come in, the page says what its intervals mean", () => {
  assert.match(looksWords("population", "open", 0.95) ?? "", /however often you look.*95\s%.*one population/);
  assert.match(looksWords(null, "0", 0.99) ?? "", /one look.*99\s%/);
});

test("of a closed survey there is nothing to say", () => {
  assert.equal(looksWords(null, "open", 0.95), null);
});

test("a picture away from its page says that its intervals hold at every look", () => {
  const promise = { epsilon: 1, delta: 0 };
  assert.match(captionOf(1000, promise, 0.95, "population"), /intervals at every look$/);
  assert.match(captionOf(1000, promise, 0.95), /intervals$/);
});
