/** What was typed for the parameters of a question: kept as it was typed, and read when the collector is asked. */
import type { ParameterEntry } from "../parts/api_types.js";
import { count, figure } from "../parts/format.js";
import { numberFrom, readLabels, readRange, readValues, wholeNumber, withMissing, type Read, type AttributeValues } from "./answers.js";
import { slotsOf, type ParameterKind, type Slot } from "./declared.js";

/** One attribute of a person. */
export interface AttributeRow {
  name: string;
  values: string;
  /** What no answer counts as; nothing where it is refused. */
  missing?: string;
}

/** By the names of parameters, so that it outlives a change of the question's kind. */
export interface Typed {
  /** The parameter that was chosen, by group. */
  ways: Record<string, string>;
  texts: Record<string, string>;
  rows: Record<string, AttributeRow[]>;
}

/** A parameter as `POST /v1/drafts` and `POST /v1/plans` take it. */
export type Value = number | string | AttributeValues | Record<string, AttributeValues>;

/** What is wrong, by the name of the field. */
export type Faults = Map<string, string>;

export const nothingTyped = (): Typed => ({ ways: {}, texts: {}, rows: {} });

/** The parameter of a slot that is given: the chosen one, else the first one of the kind that is preferred. */
export function wayOf({ group, ways }: Slot, typed: Typed, preferred: ParameterKind): ParameterEntry {
  const chosen = ways.find(({ name }) => name === typed.ways[group]) ?? ways.find(({ kind }) => kind === preferred);
  return chosen ?? ways[0]!;
}

/** The text of a parameter: what was typed, else its default or its example. Names of values have no good example. */
export function textOf(parameter: ParameterEntry, typed: Typed): string {
  const hasExample = parameter.kind !== "labels" && parameter.kind !== "text" && !isOptional(parameter);
  return typed.texts[parameter.name] ?? String(parameter.default ?? (hasExample ? parameter.example : ""));
}

/** Whether it may be left empty. */
const isOptional = ({ required, group, default: first }: ParameterEntry): boolean => !required && group === "" && first === null;

/** Whether it is given as rows of names and values. */
const hasRows = ({ kind }: ParameterEntry): boolean => kind === "attributes" || kind === "fields";

/** The rows of a parameter, which are changed as somebody types: as many as its example has, to begin with. */
export const rowsOf = ({ name, example }: ParameterEntry, typed: Typed): AttributeRow[] =>
  (typed.rows[name] ??= example.split(" ").map(() => ({ name: "", values: "" })));

/** The parameters that are given, one of each slot. */
export const givenOf = (parameters: readonly ParameterEntry[], typed: Typed, preferred: ParameterKind): ParameterEntry[] =>
  slotsOf(parameters).map((slot) => wayOf(slot, typed, preferred));

/** The values of these parameters; what is wrong goes to `faults`. */
export function readParameters(given: readonly ParameterEntry[], typed: Typed, faults: Faults): Record<string, Value> {
  const found: Record<string, Value> = {};
  for (const parameter of given) {
    if (isOptional(parameter) && textOf(parameter, typed).trim() === "") continue;
    const read = readParameter(parameter, typed);
    if ("wrong" in read) faults.set(parameter.name, read.wrong);
    else found[parameter.name] = read.found;
  }
  return found;
}

function readParameter(parameter: ParameterEntry, typed: Typed): Read<Value> {
  const text = textOf(parameter, typed);
  switch (parameter.kind) {
    case "integer":
      return within(parameter, wholeNumber(text), "A whole number", count, Number.MAX_SAFE_INTEGER);
    case "number":
      return within(parameter, numberFrom(text), "A number", figure);
    case "labels":
      return readLabels(text);
    case "range":
      return readRange(...endsOf(text));
    case "attributes":
    case "fields":
      return readRows(rowsOf(parameter, typed), parameter.kind === "fields");
    case "text":
    case "missing":
      return { found: text.trim() };
    case "choice":
      return parameter.choices.includes(text) ? { found: text } : { wrong: `One of ${parameter.choices.join(", ")}.` };
    case "alphabet":
      return readAlphabet(parameter, text);
    case "workload":
      return text.trim() === "" ? { wrong: `Write one like ${parameter.example}.` } : { found: text.trim() };
  }
}

/** The name of an alphabet, or its characters; a space may be one of them. */
function readAlphabet({ choices }: ParameterEntry, text: string): Read<string> {
  if (choices.includes(text.trim())) return { found: text.trim() };
  const isWritten = text.trim() !== "" && [...text].length >= 2;
  return isWritten ? { found: text } : { wrong: `One of ${choices.join(", ")}; or the characters themselves, two or more.` };
}

/** `exact` is the largest number that can be sent as it was typed. */
function within({ low, high }: ParameterEntry, value: number | null, what: string, written: (n: number) => string, exact = Infinity): Read<number> {
  const [least, most] = [low ?? -Infinity, Math.min(high ?? Infinity, exact)];
  if (value !== null && value >= least && value <= most) return { found: value };
  return { wrong: `${what} from ${written(least)} to ${written(most)}.` };
}

/** "18..99" as its two ends. */
export function endsOf(text: string): [string, string] {
  const [from = "", to = ""] = text.split("..");
  return [from, to];
}

function readRows(rows: readonly AttributeRow[], inForm: boolean): Read<Record<string, AttributeValues>> {
  // Without a prototype, so that an attribute may have any name.
  const found: Record<string, AttributeValues> = Object.create(null);
  for (const [at, { name, values, missing = "" }] of rows.entries()) {
    const called = name.trim();
    if (called === "" && values.trim() === "") continue;
    const wrong = (what: string): Read<never> => ({ wrong: `Attribute ${at + 1}: ${what}` });
    const read = readValues(values, inForm);
    if (called === "") return wrong("give it a name.");
    if (called in found) return wrong(`there is another one called “${called}”.`);
    if ("wrong" in read) return wrong(read.wrong);
    found[called] = missing.trim() === "" ? read.found : withMissing(read.found, `as ${missing.trim()}`);
  }
  return Object.keys(found).length > 0 ? { found } : { wrong: "Attribute 1: give it a name and its values." };
}

/** The given parameters as an address holds them. */
export const toAddress = (given: readonly ParameterEntry[], typed: Typed): Record<string, string> =>
  Object.fromEntries(
    given.map((parameter) => [
      parameter.name,
      hasRows(parameter) ? JSON.stringify(rowsOf(parameter, typed)) : textOf(parameter, typed),
    ]),
  );

/** What an address says of the parameters; whatever is not one of them, or is spoilt, is left out. */
export function fromAddress(parameters: readonly ParameterEntry[], query: URLSearchParams): Typed {
  const typed = nothingTyped();
  for (const parameter of parameters) {
    const { name, group } = parameter;
    const text = query.get(name);
    if (text === null) continue;
    if (hasRows(parameter)) {
      const rows = rowsFrom(text);
      if (rows === null) continue;
      typed.rows[name] = rows;
    } else typed.texts[name] = text;
    if (group !== "") typed.ways[group] = name;
  }
  return typed;
}

/** What was kept as JSON; blank where it is of another shape. */
export function typedFrom(kept: unknown): Typed {
  const typed = nothingTyped();
  if (!isRecord(kept)) return typed;
  for (const part of ["ways", "texts"] as const)
    if (isRecord(kept[part]))
      for (const [name, text] of Object.entries(kept[part])) if (typeof text === "string") typed[part][name] = text;
  if (isRecord(kept["rows"]))
    for (const [name, rows] of Object.entries(kept["rows"])) {
      const read = rowsFrom(JSON.stringify(rows));
      if (read !== null) typed.rows[name] = read;
    }
  return typed;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function rowsFrom(text: string): AttributeRow[] | null {
  try {
    const rows: unknown = JSON.parse(text);
    const good = (row: unknown): row is AttributeRow =>
      isRecord(row) && typeof row["name"] === "string" && typeof row["values"] === "string";
    if (!Array.isArray(rows) || rows.length === 0 || !rows.every(good)) return null;
    return rows.map(({ name, values, missing }) =>
      typeof missing === "string" && missing !== "" ? { name, values, missing } : { name, values },
    );
  } catch {
    return null;
  }
}
