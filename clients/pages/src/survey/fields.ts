/**
 * Where a person says what is true of them: a field for each kind of answer that a survey can ask for.
 *
 * Browsers keep what was typed in order to fill it in again; `autocomplete` off tells them not to.
 */
import { type Domain, LabelDomain, ProductDomain, RangeDomain, TextDomain } from "../../../js/src/domain.js";
import type { Panel, Survey } from "../../../js/src/index.js";
import type { Vector } from "../../../js/src/questions/vector.js";
import { el } from "../parts/dom.js";
import { choices } from "./choices.js";
import { ends, inSteps, numbersFault, textFault, wholeFault } from "./faults.js";
import type { Field } from "./field.js";
import { numbersIn, wholeNumber } from "./typed.js";
import { named, plain } from "./values.js";

/** Up to so many whole numbers are listed rather than typed. */
const FEW_NUMBERS = 11n;
/** Up to so many numbers have a field each. */
const FEW_COORDINATES = 8;

/** The field for what a survey asks of a person. */
export function fieldOf(survey: Survey | Panel, legend: string, id: string): Field {
  if (survey.domain) return fieldFor(survey.domain, legend, id);
  return vectorField((survey as Survey).question as Vector, id);
}

/** The field for a domain's values. */
function fieldFor(domain: Domain, legend: string, id: string): Field {
  if (domain instanceof ProductDomain) return record(domain, id);
  if (domain instanceof LabelDomain) {
    const names = domain.names.map((name) => plain(String(name)));
    const listed = choices(names, legend, id);
    return { ...mapped(listed, (i) => domain.names[i]), set: (name) => listed.set?.(Number(domain.find(name))) };
  }
  if (domain instanceof RangeDomain && domain.size <= FEW_NUMBERS) {
    const names = Array.from({ length: Number(domain.size) }, (_, i) => domain.label(i));
    return mapped(choices(names, legend, id), (i) => domain.start + domain.step * BigInt(i));
  }
  if (domain instanceof RangeDomain) {
    const [low, high] = ends(domain);
    const hint = `A whole number from ${low} to ${high}${inSteps(domain)}.`;
    const keys = low >= 0n ? "numeric" : "text";
    const fault = (text: string) => wholeFault(text, domain);
    return typed(legend, id, hint, { inputmode: keys, class: "number" }, (text) => wholeNumber(text), fault);
  }
  return textField(domain as TextDomain, legend, id);
}

/** A short text. The empty one may be an answer too, but an untouched field is none. */
function textField(domain: TextDomain, legend: string, id: string): Field<string> {
  const hint = `At most ${domain.maxLength} characters, out of: ${plain(domain.alphabet)}`;
  const given = { autocapitalize: "none", autocorrect: "off" };
  const inner = typed(legend, id, hint, given, (text) => text, (text) => textFault(text, domain));
  const empty = el("input", { type: "checkbox", autocomplete: "off" });
  const read = () => (empty.checked ? "" : inner.read());
  const label = el("label", { class: "empty" }, empty, "It is the empty text");
  return {
    element: el("div", { class: "field" }, inner.element, label),
    read,
    problem: () => (read() === null ? inner.problem() : ""),
    focus: () => inner.focus(),
  };
}

/** The field for a vector; how long it may be is no bound, for a longer one is shortened. */
function vectorField({ dimension, radius }: Vector, id: string): Field<number[]> {
  const length = dimension === 1 ? `from ${-radius} to ${radius}` : `of length at most ${radius}`;
  if (dimension > FEW_COORDINATES) {
    const hint = `${dimension} numbers, with spaces or commas between them, ${length}; longer ones are scaled to that.`;
    const fault = (text: string) => numbersFault(text, dimension);
    return typed("Your numbers", id, hint, {}, (text) => numbersIn(text, dimension), fault, true);
  }
  const legend = (i: number) => (dimension === 1 ? "Your number" : `Number ${i + 1}`);
  const one = (text: string) => numbersIn(text, 1)?.[0] ?? null;
  const fault = (text: string) => numbersFault(text, 1);
  const fields = Array.from({ length: dimension }, (_, i) =>
    typed(legend(i), `${id}-${i}`, "", { class: "number" }, one, fault),
  );
  const said =
    dimension === 1
      ? `A number ${length}; what lies outside is moved to the nearer end.`
      : `Numbers ${length} together; longer ones are scaled to that.`;
  return together(fields, el("p", { class: "quiet small" }, said), "coordinates");
}

/** One field an attribute. */
function record(domain: ProductDomain, id: string): Field {
  const fields = domain.parts.map(([name, part], i) => fieldFor(part, named(name), `${id}-${i}`));
  return together(fields, null, "record");
}

/** Several fields whose values make one list. */
function together<Value>(fields: readonly Field<Value>[], note: HTMLElement | null, name: string): Field<Value[]> {
  const first = () => fields.find((field) => field.read() === null);
  return {
    element: el("div", { class: name }, ...fields.map((field) => field.element), note),
    read: () => (first() ? null : fields.map((field) => field.read() as Value)),
    problem: () => first()?.problem() ?? "",
    focus: () => (first() ?? fields[0])?.focus(),
  };
}

function mapped<Given, Value>(field: Field<Given>, value: (given: Given) => Value): Field<Value> {
  const read = () => {
    const given = field.read();
    return given === null ? null : value(given);
  };
  const { element, problem, focus } = field;
  return { element, problem, focus, read };
}

/** A field that is typed into; `fault` says what is wrong with a text, and where nothing is, `parse` reads it. */
function typed<Value>(
  label: string,
  id: string,
  hint: string,
  given: Record<string, string>,
  parse: (text: string) => Value | null,
  fault: (text: string) => string,
  long = false,
): Field<Value> {
  const about = hint ? `${id}-hint` : null;
  const own = { id, autocomplete: "off", spellcheck: "false", "aria-describedby": about, ...given };
  const input = long ? el("textarea", { ...own, rows: 4 }) : el("input", { type: "text", ...own });
  return {
    element: el(
      "div",
      { class: "field" },
      el("label", { class: "name", for: id }, label),
      input,
      hint ? el("p", { class: "quiet small", id: `${id}-hint` }, hint) : null,
    ),
    read: () => (fault(input.value) === "" ? parse(input.value) : null),
    problem: () => {
      const found = fault(input.value);
      return found && `${label}: ${found}`;
    },
    focus: () => input.focus(),
  };
}
