/** Surveys of one mechanism each: identity, thresholds by their effect, and reports, byte for byte. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "../src/core/bytes.js";
import { SottovoceError, ValueOutsideDomainError } from "../src/core/errors.js";
import { FINITE } from "../src/mechanisms/registry.js";
import { Source } from "../src/randomness/source.js";
import { readSurvey } from "../src/surveys/read.js";
import { Survey } from "../src/surveys/survey.js";
import { replay } from "./replay.js";
import { range, shares } from "./stated.js";
import { valueAt } from "./values.js";
import { vectors } from "./vectors.js";

for (const name of FINITE.keys()) {
  test(`${name}: every report of the vectors`, async () => {
    let compared = 0;
    for (const entry of vectors(name)) {
      const survey = (await readSurvey(entry.canonical)) as Survey;
      assert.equal(survey.id, entry.id);
      assert.equal(toHex(survey.tag), entry.tag);
      assert.equal(survey.mechanism.name, name);
      assert.equal(survey.mechanism.reportBytes, entry.report_bytes);
      const reordered = (await readSurvey(JSON.stringify(entry.survey, null, 2))) as Survey;
      assert.equal(reordered.id, entry.id);
      for (const { value, tape, payload, report } of entry.reports) {
        assert.equal(toHex(replay(tape, (source) => survey.mechanism.randomize(value, source))), payload);
        assert.equal(toHex(replay(tape, (source) => survey.randomize(valueAt(survey.domain!, value), source))), report);
        compared++;
      }
      for (const outside of [-1, entry.domain_size, 0.5, NaN, "0", true, null]) {
        assert.throws(
          () => survey.mechanism.randomize(outside as number, new Source(() => assert.fail("drawn"))),
          ValueOutsideDomainError,
        );
      }
    }
    assert.ok(compared >= 20);
  });
}

test("a mechanism of another package is refused, with those that there are", async () => {
  const stated = JSON.stringify(shares(range(5), { name: "lazy_response_of_mine" }));
  await assert.rejects(readSurvey(stated), { name: "MechanismError", message: /one of randomized_response, .*option mechanisms/ });
});

test("every bad survey is refused", async () => {
  for (const { fault, text } of vectors("bad_surveys")) {
    await assert.rejects(readSurvey(text), SottovoceError, fault);
    await assert.rejects(readSurvey(new TextEncoder().encode(text)), SottovoceError, fault);
  }
});

test("a good survey's neighbours: only the fault makes them bad", async () => {
  const good = JSON.stringify(shares(range(16), { name: "subset_selection", subset_size: 4 }));
  await readSurvey(good);
  await readSurvey(good.replace('"epsilon":1,', '"epsilon":16,'));
  await readSurvey(good.replace('"title":""', '"title":"Grün — 緑 😀"'));
  for (const [found, put] of [
    ['"epsilon":1,', '"epsilon":1e-7,'],
    ['"epsilon":1,', '"epsilon":16.000000000000004,'],
    ['"title":""', '"title":"a\\u202eb"'],
    ['"title":""', '"title":"a\\u00a0b"'],
    ['"title":""', '"title":"\\ud800"'],
    ['"subset_size":4', '"subset_size":4.5'],
    ['"kind":"shares"', '"kind":"__proto__"'],
    ['"strategy":"histogram"', '"strategy":"toString"'],
    ['"name":"subset_selection"', '"name":"toString"'],
  ] as const) {
    assert.ok(good.includes(found));
    await assert.rejects(readSurvey(good.replace(found, put)), SottovoceError, put);
  }
});

test("reports too large to send are refused before anything is drawn", async () => {
  const read = (mechanism: { name: string; subset_size?: number }) =>
    readSurvey(JSON.stringify(shares(range(8388609), mechanism)));
  await assert.rejects(read({ name: "unary_optimized" }), { name: "MechanismError" });
  await assert.rejects(read({ name: "subset_selection", subset_size: 4000000 }), { name: "MechanismError" });
  await read({ name: "hadamard" });
});
