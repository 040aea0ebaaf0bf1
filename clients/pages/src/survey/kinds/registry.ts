/** Every kind of question that the page can ask. To add one: write its file, add its line. */
import { type Asked, Panel } from "../../../../js/src/index.js";
import type { TablesMechanism } from "../../../../js/src/mechanisms/tables.js";
import { choicesKind } from "./choices.js";
import type { Kind } from "./kind.js";
import { numberKind } from "./number.js";
import { recordsKind } from "./records.js";
import { valueKind } from "./value.js";
import { vectorKind } from "./vector.js";
import { wordsKind } from "./words.js";

/** How this survey is asked: a tracking survey as its periods are; a panel, or a round of one, of the panel's records. */
export function kindOf(survey: Asked): Kind {
  if (survey instanceof Panel || survey.seat) return valueKind(survey, survey.domain!);
  const { question } = survey;
  switch (question.kind) {
    case "vector":
      return vectorKind(question);
    case "number":
      return numberKind(question);
    case "records":
      return recordsKind(question, survey.mechanism as TablesMechanism);
    case "choices":
      return choicesKind(question);
    case "words":
      return wordsKind(question);
    default:
      return valueKind(survey, question.domain);
  }
}
