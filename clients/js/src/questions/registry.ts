/** Every kind of question. To add one: write its file, add its line. */
import { SurveyError } from "../core/errors.js";
import { isObject, type Json, type JsonObject } from "../core/json.js";
import { Choices } from "./choices.js";
import { NumberQuestion } from "./number.js";
import { Queries } from "./queries.js";
import { Records } from "./records.js";
import { Relation } from "./relation.js";
import { Shares } from "./shares.js";
import { Vector } from "./vector.js";
import { Words } from "./words.js";

export type AnyQuestion = Shares | Queries | Vector | NumberQuestion | Choices | Records | Relation | Words;

const QUESTIONS = new Map<unknown, new (stated: JsonObject) => AnyQuestion>([
  ["shares", Shares],
  ["queries", Queries],
  ["vector", Vector],
  ["number", NumberQuestion],
  ["choices", Choices],
  ["records", Records],
  ["relation", Relation],
  ["words", Words],
]);

/**
 * The question in a survey's JSON; refuses what is not exactly the fields of its kind, in their ranges. A kind of another
 * package is answered as the plain question that it states itself to be asked as.
 */
export function readQuestion(stated: Json | undefined): AnyQuestion {
  const Kind = isObject(stated) && QUESTIONS.get(stated.kind);
  if (!Kind && isObject(stated) && typeof stated.kind === "string" && isObject(stated.asked_as)) {
    if (stated.asked_as.kind === "queries") return readQuestion(stated.asked_as);
  }
  if (!Kind) throw new SurveyError(`a question's kind must be one of ${[...QUESTIONS.keys()].join(", ")}`);
  return new Kind(stated);
}
