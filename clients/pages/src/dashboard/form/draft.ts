/** A survey as a form holds it, and as the collector is asked to state it. */
import { MAX_EPSILON, MIN_EPSILON } from "../../../../js/src/limits.js";
import { figure } from "../../parts/format.js";
import { readLabels, readRange, readValues, sizeOf, wholeNumber, type Read, type Values } from "./answers.js";
import { KINDS, type Kind } from "../list/kinds.js";

/** Everything that can be typed, as it was typed. */
export interface Filled {
  kind: Kind;
  title: string;
  answers: "labels" | "range" | "attributes";
  labels: string;
  from: string;
  to: string;
  attributes: { name: string; values: string }[];
  workload: string;
  dimension: string;
  radius: string;
  rounds: string;
  epsilon: string;
  mechanism: string;
  minimum: string;
}

const EPSILON_ALLOWED = `Epsilon is a number from ${figure(MIN_EPSILON)} to ${MAX_EPSILON}; 1 is a good beginning.`;

const TYPED = [
  "title",
  "labels",
  "from",
  "to",
  "workload",
  "dimension",
  "radius",
  "rounds",
  "epsilon",
  "mechanism",
  "minimum",
] as const;

export const BLANK: Filled = {
  kind: "distribution",
  title: "",
  answers: "labels",
  labels: "",
  from: "0",
  to: "99",
  attributes: [
    { name: "age", values: "0 to 99" },
    { name: "country", values: "" },
  ],
  workload: "prefix:64",
  dimension: "20",
  radius: "1",
  rounds: "20",
  epsilon: "1",
  mechanism: "auto",
  minimum: "",
};

/** What was kept of a form as text; whatever is missing or of another shape is as in a blank one. */
export function filledFrom(text: string | null): Filled {
  const filled = structuredClone(BLANK);
  try {
    const { kind, answers, attributes, ...rest } = JSON.parse(text ?? "{}");
    if (Object.hasOwn(KINDS, kind)) filled.kind = kind;
    if (["labels", "range", "attributes"].includes(answers)) filled.answers = answers;
    if (Array.isArray(attributes))
      filled.attributes = attributes.map(({ name, values }) => ({ name: String(name), values: String(values) }));
    for (const name of TYPED) if (typeof rest[name] === "string") filled[name] = rest[name];
    return filled;
  } catch {
    return structuredClone(BLANK);
  }
}

/** A blank form with what the address says of it: the planner's `kind`, `epsilon`, `size`, `workload` and so on. */
export function filledFromAddress(query: URLSearchParams): Filled {
  const size = wholeNumber(query.get("size") ?? "");
  const range = size === null || size < 2 ? {} : { answers: "range", from: "0", to: String(size - 1) };
  return filledFrom(JSON.stringify({ ...Object.fromEntries(query), ...range }));
}

/** What `POST /v1/drafts` takes. */
export type Draft = Record<string, unknown> & { kind: Kind; epsilon: number };

/** What is wrong, by the name of the field. */
export type Faults = Map<string, string>;

/** The draft, or everything that is wrong; what only the collector can know, it says itself. */
export function draftOf(filled: Filled): { draft: Draft; minimum: number | null } | { faults: Faults } {
  const faults: Faults = new Map();
  const kind = filled.kind;
  const number = (name: "epsilon" | "radius", what: string): number => {
    const value = Number(filled[name].trim().replace(",", "."));
    if (filled[name].trim() === "" || !(value > 0) || !Number.isFinite(value)) faults.set(name, what);
    return value;
  };
  const whole = (name: "dimension" | "rounds", what: string): number => {
    const value = wholeNumber(filled[name]);
    if (value === null || value < 1) faults.set(name, what);
    return value ?? 0;
  };

  const title = filled.title.trim();
  if (title === "") faults.set("title", "Say what people are asked; they read it before they answer.");
  const epsilon = number("epsilon", EPSILON_ALLOWED);
  if (epsilon < MIN_EPSILON || epsilon > MAX_EPSILON) faults.set("epsilon", EPSILON_ALLOWED);
  const draft: Draft = {
    kind,
    title,
    epsilon,
  };
  if (kind === "distribution" || kind === "adaptive") Object.assign(draft, valuesOf(filled, faults));
  if (kind === "adaptive")
    draft["rounds"] = whole("rounds", "How many questions may be asked: a whole number, 1 or more.");
  if (kind === "queries") {
    draft["workload"] = filled.workload.trim();
    if (draft["workload"] === "") faults.set("workload", "Say which queries; one of the examples is a beginning.");
  }
  if (kind === "mean") {
    draft["dimension"] = whole("dimension", "How many numbers each device holds: a whole number, 1 or more.");
    draft["radius"] = number("radius", "The largest length of a person's numbers, taken as a vector: above 0.");
  }
  if (kind !== "adaptive" && filled.mechanism !== "auto") draft["mechanism"] = filled.mechanism;
  const minimum = filled.minimum.trim() === "" ? null : wholeNumber(filled.minimum);
  if (filled.minimum.trim() !== "" && (minimum === null || minimum < 1))
    faults.set("minimum_reports", "A whole number, or nothing for the collector's own.");
  return faults.size > 0 ? { faults } : { draft, minimum };
}

/** The answers, under the one name that the collector knows them by. */
function valuesOf(filled: Filled, faults: Faults): Record<string, unknown> {
  if (filled.answers === "attributes") return { attributes: attributesOf(filled, faults) };
  const read: Read<Values> =
    filled.answers === "labels" ? readLabels(filled.labels) : readRange(filled.from, filled.to);
  if ("wrong" in read) {
    faults.set(filled.answers, read.wrong);
    return {};
  }
  return { [filled.answers]: read.found };
}

function attributesOf(filled: Filled, faults: Faults): Record<string, Values> {
  // Without a prototype, so that an attribute may have any name.
  const found: Record<string, Values> = Object.create(null);
  const fault = (row: number, what: string): void =>
    void (faults.has("attributes") || faults.set("attributes", `Attribute ${row + 1}: ${what}`));
  for (const [row, { name, values }] of filled.attributes.entries()) {
    const called = name.trim();
    if (called === "" && values.trim() === "") continue;
    const read = readValues(values);
    if (called === "") fault(row, "give it a name.");
    else if (called in found) fault(row, `there is another one called “${called}”.`);
    else if ("wrong" in read) fault(row, read.wrong);
    else found[called] = read.found;
  }
  if (Object.keys(found).length === 0) fault(0, "give it a name, and its values.");
  return found;
}

/** What `POST /v1/plan` takes to foretell the error with so many people. */
export function planOf(draft: Draft, users: number): Record<string, unknown> {
  const { kind, epsilon } = draft;
  const asked = { kind, epsilon, users };
  if (kind === "queries") return { ...asked, workload: draft["workload"] };
  if (kind === "mean") return { ...asked, dimension: draft["dimension"], radius: draft["radius"] };
  if (kind === "adaptive") return { ...asked, rounds: draft["rounds"] };
  return { ...asked, size: domainSize(draft) };
}

/** How many different answers there are. */
export function domainSize(draft: Draft): number {
  const attributes = draft["attributes"] as Record<string, Values> | undefined;
  if (attributes !== undefined)
    return Object.values(attributes).reduce((product, values) => product * sizeOf(values), 1);
  return sizeOf((draft["labels"] ?? draft["range"]) as Values);
}
