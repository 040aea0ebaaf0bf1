/** One word of a person's own, which nobody listed; or a byte string, or a number. */
import type { WordValue } from "../../../../js/src/domain/word_code.js";
import { type Spelt, wordField, wordOf, wordText } from "../fields/word_field.js";
import type { Kind } from "./kind.js";

const ASKED: Readonly<Record<string, readonly [ask: string, many: string]>> = {
  integers: ["Write one whole number.", "numbers"],
  bytes: ["Write bytes, in hexadecimal digits after 0x.", "byte strings"],
};

export function wordsKind(question: Spelt): Kind<WordValue> {
  const [ask, many] = ASKED[question.code.kind] ?? ["Write one word, or a few that belong together.", "words"];
  return {
    size: null,
    words: [
      ask,
      `The collector learns which ${many} many people share, and about how many have each. It does not learn who wrote ` +
        "what, and what only a few people write it cannot find.",
    ],
    unfitting: "You may also be counted as “other”, which looks like every other answer from outside.",
    field: (legend, id) => wordField(question, legend, id),
    text: (value) => wordText(question, value),
    drawn: () => "",
    examples(_found, mine) {
      const answers = [...(mine !== null && question.code.has(mine) ? [mine] : []), ""];
      const label = (i: number) => wordOf(question, answers[i]!);
      return [{ view: "rows", about: "", size: answers.length, own: mine === null ? -1 : 0, label, value: (i) => answers[i]! }];
    },
  };
}
