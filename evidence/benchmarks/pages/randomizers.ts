/** How long a browser takes for one report of a survey, best of several turns. */
import { readSurvey, Survey } from "../../clients/js/src/index.js";

const TURN_MILLISECONDS = 250;
const TURNS = 8;

/** Milliseconds a report. */
async function perReport(statement: string, value: unknown): Promise<number> {
  const survey = (await readSurvey(statement)) as Survey;
  let best = Infinity;
  for (let turn = 0; turn < TURNS; turn++) {
    const began = performance.now();
    let reports = 0;
    let took = 0;
    do {
      for (let i = 0; i < 20; i++) survey.randomize(value);
      reports += 20;
      took = performance.now() - began;
    } while (took < TURN_MILLISECONDS);
    best = Math.min(best, took / reports);
  }
  return best;
}

Object.assign(globalThis, { perReport });
