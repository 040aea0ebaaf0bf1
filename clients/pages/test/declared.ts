/** What a collector declares, as far as tests need it: every kind of parameter, a group, a default, a panel. */
import type { ParameterEntry, Questions } from "../src/parts/api_types.js";

const parameter = (given: Partial<ParameterEntry> & Pick<ParameterEntry, "name" | "kind" | "example">): ParameterEntry => ({
  help: `about ${given.name}`,
  default: null,
  required: true,
  group: "",
  low: null,
  high: null,
  choices: [],
  ...given,
});

const VALUES = [
  parameter({ name: "values", kind: "integer", example: "40", low: 2, high: 2 ** 40, group: "values" }),
  parameter({ name: "labels", kind: "labels", example: "red,green,blue", group: "values" }),
  parameter({ name: "range", kind: "range", example: "18..99", group: "values" }),
  parameter({ name: "attributes", kind: "attributes", example: "age=0..99 country=DE,FR", group: "values" }),
];
const MISSING = parameter({ name: "missing", kind: "missing", example: "as unknown", default: "refuse", required: false });
const RADIUS = parameter({ name: "radius", kind: "number", example: "1", default: 1, low: 1e-6, high: 1e6 });

export const DECLARED: Questions = {
  questions: [
    { kind: "shares", summary: "shares of values", parameters: VALUES, strategies: ["histogram"], mechanisms: ["hadamard"] },
    {
      kind: "queries",
      summary: "mean answers",
      parameters: [parameter({ name: "workload", kind: "workload", example: "prefix:1024" })],
      strategies: ["direct", "haar"],
      mechanisms: ["codebook"],
    },
    {
      kind: "vector",
      summary: "the mean of vectors",
      parameters: [parameter({ name: "dimension", kind: "integer", example: "20", low: 1, high: 2 ** 20 }), RADIUS],
      strategies: ["direct"],
      mechanisms: ["codebook"],
    },
    {
      kind: "number",
      summary: "one number of each person",
      parameters: [
        parameter({ name: "low", kind: "number", example: "0", low: -1e100, high: 1e100 }),
        parameter({ name: "high", kind: "number", example: "600", low: -1e100, high: 1e100 }),
        parameter({ name: "unit", kind: "text", example: "minutes", default: "", required: false }),
        parameter({ name: "wants", kind: "choice", example: "mean", default: "mean", required: false, choices: ["mean", "distribution"] }),
        parameter({ name: "points", kind: "integer", example: "33", required: false, low: 2, high: 65_536 }),
        MISSING,
      ],
      strategies: ["minimax"],
      mechanisms: ["rounded_channel"],
    },
    {
      kind: "records",
      summary: "tables of a form",
      parameters: [parameter({ name: "attributes", kind: "fields", example: "country=DE,FR minutes=number:0..600" })],
      strategies: ["tables"],
      mechanisms: ["tables"],
    },
    {
      kind: "words",
      summary: "the most common words",
      parameters: [
        parameter({ name: "longest", kind: "integer", example: "16", default: 16, required: false, low: 1, high: 64 }),
        parameter({ name: "alphabet", kind: "alphabet", example: "latin", default: "unicode", required: false, choices: ["unicode", "latin", "bytes"] }),
        parameter({ name: "below", kind: "integer", example: "1000000", required: false, low: 2, high: 2 ** 64 }),
      ],
      strategies: ["prefixes"],
      mechanisms: ["hashed_prefixes"],
    },
    {
      kind: "panel",
      summary: "questions that depend on earlier answers",
      parameters: [...VALUES, parameter({ name: "rounds", kind: "integer", example: "20", low: 1, high: 65_536 }), RADIUS],
      strategies: [],
      mechanisms: [],
    },
  ],
  calendar: [
    parameter({ name: "every", kind: "text", example: "week" }),
    parameter({ name: "starts", kind: "text", example: "2027-01-04" }),
    parameter({ name: "periods", kind: "integer", example: "52", required: false, low: 2, high: 3660 }),
    parameter({ name: "renews", kind: "text", example: "quarter", required: false }),
    parameter({ name: "grace", kind: "integer", example: "7", required: false, low: 0, high: 366 }),
  ],
  defaults: { people: 100_000, max_report_bytes: 64, max_counters: 2 ** 22, level: 0.95 },
};
