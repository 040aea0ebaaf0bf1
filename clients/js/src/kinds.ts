/** Every kind of survey that a device answers, by its name in JSON. */
import { readDistribution } from "./distribution.js";
import type { Reader } from "./kind.js";
import { readMean } from "./means.js";
import { readQueries } from "./queries.js";
import { readChoice, readQuestion } from "./rounds.js";

export const READERS: ReadonlyMap<string, Reader> = new Map([
  ["distribution", readDistribution],
  ["queries", readQueries],
  ["mean", readMean],
  ["adaptive_question", readQuestion],
  ["adaptive_choice", readChoice],
]);
