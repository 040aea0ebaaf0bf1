/** Whatever stops the survey page is said in words, by what went wrong. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BudgetError,
  LedgerError,
  MechanismError,
  MismatchError,
  ServiceError,
  SignatureError,
  SurveyError,
  TransparencyError,
  ValueOutsideDomainError,
} from "../../js/src/core/errors.js";
import { platformTrouble, surveyIn, troubleOf } from "../src/survey/trouble.js";

test("every kind of failure has its own title", () => {
  const found: readonly (readonly [unknown, RegExp, boolean])[] = [
    [new ServiceError("x", "survey_deleted", 410), /deleted/, false],
    [new ServiceError("x", "unknown_survey", 404), /does not exist here/, false],
    [new ServiceError("x", "survey_sealed", 409), /closed/, false],
    [new ServiceError("x"), /cannot be reached/, true],
    [new ServiceError("x", "busy", 503), /busy/, true],
    [new ServiceError("x", "bad", 400), /refused/, false],
    [new SignatureError("the survey was altered"), /not what its owner signed/, false],
    [new SignatureError("this platform cannot check Ed25519 signatures"), /cannot check who asks/, false],
    [new TransparencyError("x"), /not in the list that everybody can see/, false],
    [new TransparencyError("x", true), /two lists of its surveys/, false],
    [new LedgerError("(storage is full)"), /storage is full/, false],
    [new LedgerError("(cleared while open)"), /cleared/, false],
    [new LedgerError("(IndexedDB is blocked)"), /does not let/, false],
    [new BudgetError("x"), /more than your ledger allows/, false],
    [new MechanismError("x"), /cannot answer this survey/, false],
    [new SurveyError("a relay needs encryption that this platform lacks (X25519)"), /through a relay/, false],
    [new MismatchError("x"), /not go together/, false],
    [new ValueOutsideDomainError("x"), /not one of the possible answers/, false],
    [new TypeError("x"), /unforeseen/, false],
  ];
  for (const [error, title, passing] of found) {
    const trouble = troubleOf(error);
    assert.match(trouble.title, title);
    assert.equal(trouble.passing, passing, trouble.title);
    assert.ok(trouble.text.length > 0);
  }
});

test("a refusal says which limit it is: that of one survey, or that of all together", () => {
  const over = troubleOf(new BudgetError("x"), { title: "Drinks\u202e", epsilon: 2.0001, delta: 0 });
  assert.match(over.title, /more than this page gives/);
  assert.match(over.text, /asks for epsilon 2\.0001; this page answers up to 2 for one survey\. .*--cap/);
  assert.equal(over.about, "Drinks⟨U+202E⟩");
  const rare = troubleOf(new BudgetError("x"), { title: "", epsilon: 1, delta: 0.5 });
  assert.match(rare.text, /delta 0\.5; this page answers up to 0\.000001 for one survey/);
  const spent = troubleOf(new BudgetError("x"), { title: "Drinks", epsilon: 2 });
  assert.match(spent.title, /more than your ledger allows/);
  assert.match(spent.text, /together may take an epsilon of 8/);
});

test("evidence goes with the refusal that it is about, and with no other", () => {
  const heads = ["one\n", "other\n"];
  assert.deepEqual(troubleOf(new TransparencyError("x", true, heads)).evidence, heads);
  assert.equal(troubleOf(new TransparencyError("x")).evidence, undefined);
  assert.match(troubleOf(new TransparencyError("x", true, heads)).text, /Nothing was drawn and nothing was sent\./);
});

test("a platform without cryptography is told apart: plain http, or too old", () => {
  assert.equal(platformTrouble({ isSecureContext: true, crypto: { subtle: {} } }), null);
  assert.match(platformTrouble({ isSecureContext: false, crypto: {} })!.title, /not safe/);
  assert.match(platformTrouble({ isSecureContext: true })!.title, /too old/);
});

test("the survey is the one of the page's path", () => {
  const id = "0f".repeat(32);
  assert.equal(surveyIn(`/s/${id}`), id);
  assert.equal(surveyIn(`/s/${id}/`), id);
  for (const path of ["/", "/s/", `/s/${id}0`, `/s/${id.toUpperCase()}`, `/s/../${id}`]) {
    assert.equal(surveyIn(path), null, path);
  }
});
