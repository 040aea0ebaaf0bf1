/**
 * What every field is that answers are given in, fields that are typed into, and fields put together.
 *
 * Browsers keep what was typed in order to fill it in again; `autocomplete` off tells them not to.
 */
import { el } from "../../parts/dom.js";

/** One field, or several that make one answer. */
export interface Field<Value = unknown> {
  readonly element: HTMLElement;
  /** What was given, null while that is not an answer. */
  read(): Value | null;
  /** What is wrong with it, for the person to read; empty when nothing is. */
  problem(): string;
  focus(): void;
  /** Whether nothing was given, not even something wrong. */
  isBlank?(): boolean;
  /** Choose an answer, where answers are listed. */
  set?(value: Value): void;
}

interface TypedSpec<Value> {
  readonly label: string;
  readonly id: string;
  readonly hint?: string;
  /** What stands behind what is typed. */
  readonly unit?: string;
  /** More attributes of the input. */
  readonly given?: Record<string, string>;
  /** What is wrong with a text; empty when nothing is, and then `parse` reads it. */
  fault(text: string): string;
  parse(text: string): Value | null;
  readonly isLong?: boolean;
}

export function typedField<Value>(spec: TypedSpec<Value>): Field<Value> {
  const { label, id, hint = "", unit = "", given = {}, fault, parse, isLong = false } = spec;
  const about = hint ? `${id}-hint` : null;
  const own = { id, autocomplete: "off", spellcheck: "false", "aria-describedby": about, ...given };
  const input = isLong ? el("textarea", { ...own, rows: 4 }) : el("input", { type: "text", ...own });
  return {
    element: el(
      "div",
      { class: "field" },
      el("label", { class: "name", for: id }, label),
      unit ? el("div", { class: "with-unit" }, input, el("span", {}, unit)) : input,
      hint ? el("p", { class: "quiet small", id: `${id}-hint` }, hint) : null,
    ),
    read: () => (fault(input.value) === "" ? parse(input.value) : null),
    problem: () => {
      const found = fault(input.value);
      return found && `${label}: ${found}`;
    },
    focus: () => input.focus(),
    isBlank: () => input.value.trim() === "",
  };
}

/** Several fields whose values make one list. */
export function together<Value>(fields: readonly Field<Value>[], note: HTMLElement | null, name: string): Field<Value[]> {
  const first = () => fields.find((field) => field.read() === null);
  return {
    element: el("div", { class: name }, ...fields.map((field) => field.element), note),
    read: () => (first() ? null : fields.map((field) => field.read() as Value)),
    problem: () => first()?.problem() ?? "",
    focus: () => (first() ?? fields[0])?.focus(),
  };
}

/** A field whose value is made from another's. */
export function mapped<Given, Value>(field: Field<Given>, value: (given: Given) => Value): Field<Value> {
  const read = () => {
    const given = field.read();
    return given === null ? null : value(given);
  };
  const { element, problem, focus, isBlank } = field;
  return { element, problem, focus, read, ...(isBlank ? { isBlank } : {}) };
}

/** A field that may be left blank where the survey says what no answer counts as, and that says so. */
export function orMissing<Value>(field: Field<Value>, missing: Value | null, label: string): Field<Value> {
  if (missing === null) return field;
  field.element.append(el("p", { class: "quiet small" }, `No answer counts as “${label}”.`));
  const read = () => (field.isBlank?.() ? missing : field.read());
  return { ...field, read, problem: () => (field.isBlank?.() ? "" : field.problem()) };
}
