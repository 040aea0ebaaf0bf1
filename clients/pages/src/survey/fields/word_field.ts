/** A field for one word, byte string or number that nobody listed. How it will be counted is said before it is drawn. */
import type { Words } from "../../../../js/src/questions/words.js";
import type { WordValue } from "../../../../js/src/domain/word_code.js";
import { toHex } from "../../../../js/src/core/bytes.js";
import { el, fill } from "../../parts/dom.js";
import { type Field, typedField } from "./field.js";
import { plain } from "./values.js";

export type Spelt = Pick<Words, "code" | "spelling">;

/** What a value counts as that is not a word of the survey. */
const OTHER = "other";

/** The keyboard that a phone shows, and what else the input is given, by the kind of code. */
const KEYS: Readonly<Record<string, Record<string, string>>> = {
  integers: { inputmode: "numeric", class: "number" },
  bytes: { inputmode: "text", class: "bytes", placeholder: "0x", autocapitalize: "none", autocorrect: "off" },
};
const TEXT = { autocapitalize: "none", autocorrect: "off", dir: "auto" };

/** What a typed text will be counted as; and why, where that is "other". */
export function countedAs(question: Spelt, typed: string): { word: string; since: string } {
  const { word, reason } = question.spelling(typed);
  return { word: word === null ? OTHER : plain(word), since: word === null && reason !== null ? `, since ${plain(reason)}` : "" };
}

/** An answer as somebody would type it. */
const typedForm = (value: WordValue): string => (value instanceof Uint8Array ? `0x${toHex(value)}` : String(value));

/** The word that an answer is counted as. */
export const wordOf = (question: Spelt, value: WordValue): string => countedAs(question, typedForm(value)).word;

/** A person's own answer as it is shown to them: one that is counted in another form with that form. */
export function wordText(question: Spelt, value: WordValue): string {
  const typed = typedForm(value);
  const word = wordOf(question, value);
  const shown = plain(typed.trim());
  return shown === word || shown === "" ? word : `${shown}, which counts as: ${word}`;
}

export function wordField(question: Spelt, label: string, id: string): Field<WordValue> {
  const inner = typedField<WordValue>({
    label,
    id,
    hint: `Allowed: ${plain(question.code.allowed)}. Everything else counts as “${OTHER}”.`,
    given: KEYS[question.code.kind] ?? TEXT,
    fault: (text) => (text.trim() === "" ? "nothing is written there yet." : ""),
    parse: (text) => question.spelling(text).value,
  });
  const none = el("input", { type: "checkbox", autocomplete: "off" });
  const told = el("p", { class: "counted-as", role: "status" });
  const element = el(
    "div",
    { class: "field" },
    inner.element,
    told,
    el("label", { class: "empty" }, none, `I have none: count me as “${OTHER}”`),
  );
  const read = (): WordValue | null => (none.checked ? "" : inner.read());
  element.addEventListener("input", () => {
    const value = none.checked ? null : inner.read();
    if (value === null) return fill(told, none.checked && `Will be counted as: ${OTHER}.`);
    const { word, since } = countedAs(question, typedForm(value));
    fill(told, "Will be counted as: ", el("b", {}, el("bdi", {}, word)), since, since && ".");
  });
  return {
    element,
    read,
    problem: () => (read() === null ? inner.problem() : ""),
    focus: () => inner.focus(),
  };
}
