/** Every kind of field that the page can ask with, by what a question asks for. To add one: write its file, add its line. */
import { type Asked, Panel } from "../../../../js/src/index.js";
import type { AskedFor } from "../../../../js/src/questions/question.js";
import { choicesKind } from "./choices.js";
import type { Kind } from "./kind.js";
import { numberKind } from "./number.js";
import { recordsKind } from "./records.js";
import { valueKind } from "./value.js";
import { vectorKind } from "./vector.js";
import { wordsKind } from "./words.js";

type Made = (question: any, survey: any) => Kind;

const KINDS: Readonly<Record<AskedFor, Made>> = {
  value: (question, survey) => valueKind(survey, question.domain),
  number: numberKind,
  set: choicesKind,
  record: recordsKind,
  vector: vectorKind,
  word: wordsKind,
};

/** How this survey is asked: a tracking survey as its periods are; a panel, or a round of one, of the panel's records. */
export function kindOf(survey: Asked): Kind {
  if (survey instanceof Panel || survey.seat) return valueKind(survey, survey.domain!);
  return KINDS[survey.question.asks](survey.question, survey);
}
