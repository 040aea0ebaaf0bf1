/** What every kind of survey tells: its fields are checked by its own reader, and `survey.ts` does the rest. */
import { SurveyError } from "./errors.js";
import type { Domain } from "./domain.js";
import type { Json, JsonObject } from "./json.js";
import type { Mechanism } from "./mechanism.js";

/** What a survey's JSON names by its digest, by that digest. */
export type Attachments = Readonly<Record<string, Uint8Array>>;

/** What a reader may need besides the statement: the id public randomness comes from, and what is attached. */
export interface Context {
  readonly id: string;
  readonly attachments: Attachments;
}

/** What is asked of a person, and how the answer is randomized. */
export interface Asked {
  readonly mechanism: Mechanism;
  /** Probability that the promise leaves out; 0 but for Gaussian noise. */
  readonly delta: number;
  /** What a person's value can be; null where it is a vector. */
  readonly domain: Domain | null;
  /** What the mechanism is given, from a person's value; throws `ValueOutsideDomainError` without naming it. */
  input(value: unknown): unknown;
}

/** Reads the statement of one kind: refuses what is not exactly its fields, in their ranges. */
export type Reader<Found = Asked> = (statement: JsonObject, context: Context) => Promise<Found>;

const COMMON = ["format", "kind", "title", "epsilon"];

/** Refuse a statement that has other fields than the common ones and these. */
export function checkFields(statement: JsonObject, ...own: string[]): void {
  const expected = [...COMMON, ...own].sort().join(", ");
  if (Object.keys(statement).sort().join(", ") !== expected) {
    throw new SurveyError(`a survey of this kind must hold exactly these fields: ${expected}`);
  }
}

/** A title as it stands in a survey. */
export function checkTitle(title: Json | undefined): string {
  if (typeof title !== "string" || [...title].length > 200 || !/^(?:[^\p{C}\p{Z}]| )*$/u.test(title)) {
    throw new SurveyError("title must be one line of printable text, at most 200 characters");
  }
  return title;
}
