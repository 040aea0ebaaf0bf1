/** A survey as the form holds it, and as the collector is asked to state it. */
import { MAX_EPSILON, MIN_EPSILON } from "../../../../js/src/core/limits.js";
import { ask, Unreachable } from "../../parts/api.js";
import type { DraftAnswer, ParameterEntry, QuestionEntry } from "../../parts/api_types.js";
import { figure } from "../../parts/format.js";
import { numberFrom, wholeNumber } from "../../questions/answers.js";
import { isPanel, type ParameterKind } from "../../questions/declared.js";
import {
  type Faults,
  fromAddress,
  givenOf,
  nothingTyped,
  readParameters,
  type Typed,
  typedFrom,
  type Value,
} from "../../questions/typed.js";
import { calendarOf } from "./calendar_fields.js";
import { groupsOf } from "./group_fields.js";
import { type Relayed, relayOf } from "./relay_fields.js";

/** Everything that can be typed, as it was typed. */
export interface Filled extends Relayed {
  kind: string;
  typed: Typed;
  title: string;
  epsilon: string;
  /** Empty where the best one is taken. */
  strategy: string;
  mechanism: string;
  /** Empty where the collector's own default is taken. */
  criterion: string;
  people: string;
  delta: string;
  max_report_bytes: string;
  minimum_reports: string;
  /** Not empty where it is asked in every period of a calendar. */
  repeats: string;
  /** Public variables and their values, a line for each; empty for none. */
  groups: string;
}

/** Lines and choices besides the kind and its parameters. */
export type FormLine = Exclude<keyof Filled, "kind" | "typed">;

/** People read the values' names, so the form begins with them. */
export const PREFERRED: ParameterKind = "labels";

const EPSILON_ALLOWED = `Epsilon is a number from ${figure(MIN_EPSILON)} to ${MAX_EPSILON}; 1 is a good beginning.`;

const BLANK_LINES: Record<FormLine, string> = {
  title: "",
  epsilon: "1",
  strategy: "",
  mechanism: "",
  criterion: "",
  people: "",
  delta: "",
  max_report_bytes: "",
  minimum_reports: "",
  repeats: "",
  groups: "",
  relays: "",
  "relay.url": "",
  "relay.least": "",
  "relay.delta": "",
};

const LINES = Object.keys(BLANK_LINES) as FormLine[];

export const blank = (): Filled => ({ kind: "", typed: nothingTyped(), ...BLANK_LINES });

/** What was kept of a form as text; whatever is missing or of another shape is as in a blank one. */
export function filledFrom(text: string | null): Filled {
  const filled = blank();
  try {
    const kept = JSON.parse(text ?? "{}");
    if (typeof kept.kind === "string") filled.kind = kept.kind;
    filled.typed = typedFrom(kept.typed);
    for (const name of LINES) if (typeof kept[name] === "string") filled[name] = kept[name];
    return filled;
  } catch {
    return blank();
  }
}

/** A blank form with what an address says of it, such as the planner's link. */
export function filledFromAddress(query: URLSearchParams, parameters: readonly ParameterEntry[]): Filled {
  const filled = blank();
  filled.kind = query.get("kind") ?? "";
  filled.typed = fromAddress(parameters, query);
  for (const name of LINES) filled[name] = query.get(name) ?? filled[name];
  return filled;
}

/** What `POST /v1/drafts` takes. */
export type SurveyDraft = Record<string, unknown> & { kind: string; epsilon: number; parameters: Record<string, Value> };

/** The draft, or everything that is wrong; what only the collector can know, it says itself. */
export function draftOf(
  filled: Filled,
  question: QuestionEntry,
  calendar: readonly ParameterEntry[],
): { draft: SurveyDraft; minimum: number | null } | { faults: Faults } {
  const faults: Faults = new Map();
  const title = filled.title.trim();
  if (title === "") faults.set("title", "Say what people are asked; they read it before they answer.");
  const parameters = readParameters(givenOf(question.parameters, filled.typed, PREFERRED), filled.typed, faults);
  const epsilon = numberFrom(filled.epsilon) ?? NaN;
  if (!(epsilon >= MIN_EPSILON && epsilon <= MAX_EPSILON)) faults.set("epsilon", EPSILON_ALLOWED);
  const people = whole(filled, "people", faults);
  const design = isPanel(question) ? {} : designOf(filled, faults);
  const repeats = filled.repeats !== "" && !isPanel(question) ? { calendar: calendarOf(calendar, filled.typed, faults) } : {};
  const relay = isPanel(question) ? {} : relayOf(filled, faults);
  const groups = isPanel(question) ? {} : groupsOf(filled, faults);
  const minimum = whole(filled, "minimum_reports", faults);
  return faults.size > 0
    ? { faults }
    : {
        draft: { kind: question.kind, title, epsilon, parameters, ...(people === undefined ? {} : { people }), ...design, ...repeats, ...relay, ...groups },
        minimum: minimum ?? null,
      };
}

/** What is said of the design; what is left empty is not said. */
function designOf(filled: Filled, faults: Faults): Record<string, unknown> {
  const delta = filled.delta.trim() === "" ? undefined : numberFrom(filled.delta);
  if (delta === null) faults.set("delta", "A number such as 0.000001, or nothing for pure privacy.");
  const said = {
    strategy: filled.strategy || undefined,
    mechanism: filled.mechanism || undefined,
    criterion: filled.criterion || undefined,
    delta,
    max_report_bytes: whole(filled, "max_report_bytes", faults),
  };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}

/** A whole number, or undefined where nothing was typed. */
function whole(filled: Filled, name: FormLine, faults: Faults): number | undefined {
  if (filled[name].trim() === "") return undefined;
  const found = wholeNumber(filled[name]);
  if (found === null || found < 1) faults.set(name, "A whole number, 1 or more, or nothing for the collector's own.");
  return found ?? undefined;
}

// Publishing a survey, however often the collector goes away meanwhile: the same survey twice changes nothing.

const TRY_AGAIN = 2_000;

/** Publishes; `onWait` hears when the collector does not answer and is tried again. Refusals are thrown. */
export async function publish(
  { id, statement, attachments }: DraftAnswer,
  minimum: number | null,
  onWait: (error: Error) => void,
): Promise<string> {
  const body = { statement, attachments, ...(minimum === null ? {} : { minimum_reports: minimum }) };
  for (;;) {
    try {
      await ask("/v1/surveys", body);
      return id;
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      onWait(error);
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN));
    }
  }
}
