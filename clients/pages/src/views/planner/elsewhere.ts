/** The plan on the command line and in Python. */
import type { ParameterEntry } from "../../parts/api_types.js";
import { isPanel } from "../../questions/declared.js";
import { isSpan, type AttributeValues, type Labels, type Range } from "../../questions/answers.js";
import { KINDS } from "../../questions/kinds.js";
import { readParameters, type Value } from "../../questions/typed.js";
import { criterionOf, given, groupsOf, numbersOf, periodsOf, roundsOf, type PlanState } from "./state.js";

/** The parameters that are not as they are by default, with their values. */
function told(state: PlanState): { parameter: ParameterEntry; value: Value }[] {
  const values = readParameters(given(state), state.typed, new Map());
  return given(state).flatMap((parameter) => {
    const value = values[parameter.name];
    return value === undefined || value === parameter.default ? [] : [{ parameter, value }];
  });
}

export function commandLine(state: PlanState): string {
  const asked = told(state).map(({ parameter, value }): [string, string] => [parameter.name, commandValue(value)]);
  const plain = Object.entries({ ...roundsOf(state), ...periodsOf(state), ...numbersOf(state), ...groupsOf(state), ...criterionOf(state) }).map(
    ([name, value]): [string, string] => [name, shellWord(String(value))],
  );
  const flags = [...asked, ...plain].map(([name, words]) => `--${name.replaceAll("_", "-")} ${words}`);
  return `sottovoce plan ${state.question.kind} ${flags.join(" ")}`;
}

/** A value as the command line takes it: one word, or one for each attribute. */
function commandValue(value: Value): string {
  if (typeof value !== "object") return shellWord(String(value));
  if (Array.isArray(value) || isRange(value) || isSpan(value)) return shellWord(listed(value));
  return Object.entries(value).map(([name, values]) => shellWord(`${name}=${listed(values)}`)).join(" ");
}

const isRange = (value: object): value is Range =>
  "start" in value && "stop" in value && typeof value.start === "number";

/** Whether it is the values of one attribute, and not a record of several of any name. */
const isStated = (value: object): value is (Labels | Range) & { missing?: string } =>
  isRange(value) || ("labels" in value && Array.isArray(value.labels) && typeof (value as { missing?: unknown }).missing === "string");

function listed(values: AttributeValues): string {
  if (Array.isArray(values)) return values.join(",");
  if (values.missing !== undefined) {
    const { missing, ...own } = values;
    return `${listed(own)} missing ${missing}`;
  }
  if ("labels" in values) return values.labels.join(",");
  if (!isSpan(values)) return `${values.start}..${values.stop}`;
  return `number:${values.low}..${values.high}${values.unit ? `:${values.unit}` : ""}`;
}

const shellWord = (text: string): string => (/^[\w:=,.+-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

const FIRST_ARGUMENTS: ReadonlySet<string> = new Set(["workload", "fields"]);

export function pythonLines(state: PlanState): string {
  const numbers = Object.entries({ ...roundsOf(state), ...periodsOf(state), ...numbersOf(state), ...groupsOf(state) }).map(([name, value]) => `${name}=${pythonNumber(value)}`);
  const criterion = Object.entries(criterionOf(state)).map(([name, value]) => `${name}="${value}"`);
  const asked = told(state).map(({ parameter, value }) => {
    const written = parameter.kind === "workload" ? `parse_workload(${JSON.stringify(value)})` : pythonValue(value);
    // The ways to give a domain are one argument, the first; queries and fields are the first one too.
    return parameter.group === "" && !FIRST_ARGUMENTS.has(parameter.kind) ? `${parameter.name}=${written}` : written;
  });
  const parse = asked.some((one) => one.includes("parse_workload(")) ? "from sottovoce.workloads import parse_workload\n" : "";
  const call = isPanel(state.question)
    ? `plan_panel(${[...asked, ...numbers].join(", ")})`
    : `plan(${[pythonQuestion(state.question.kind, asked), ...numbers, ...criterion].join(", ")})`;
  return `import sottovoce as sv\n${parse}sv.${call}`;
}

/** The call that makes a question: a function of the package, or by name where the kind is another package's. */
const pythonQuestion = (kind: string, asked: string[]): string =>
  KINDS.includes(kind) ? `sv.${kind}(${asked.join(", ")})` : `sv.questions.make_question(${[JSON.stringify(kind), ...asked].join(", ")})`;

function pythonValue(value: Value): string {
  if (typeof value === "number") return pythonNumber(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((label) => JSON.stringify(label)).join(", ")}]`;
  const policy = "missing" in value && typeof value.missing === "string" ? [`missing=${JSON.stringify(value.missing)}`] : [];
  if (isSpan(value)) {
    const more = [...(value.unit ? [JSON.stringify(value.unit)] : []), ...(value.points ? [`points=${value.points}`] : [])];
    return `sv.number(${[value.low, value.high, ...more, ...policy].join(", ")})`;
  }
  if (isStated(value)) {
    const values = "labels" in value ? pythonValue(value.labels) : `range(${value.start}, ${value.stop + 1})`;
    return policy.length > 0 ? `sv.shares(${[values, ...policy].join(", ")})` : values;
  }
  return `{${Object.entries(value).map(([name, values]) => `${JSON.stringify(name)}: ${pythonValue(values)}`).join(", ")}}`;
}

/** Large whole numbers with an underscore for every three digits. */
const pythonNumber = (value: number): string =>
  Number.isInteger(value) && value >= 10_000 ? String(BigInt(value)).replace(/\B(?=(\d{3})+$)/gu, "_") : String(value);
