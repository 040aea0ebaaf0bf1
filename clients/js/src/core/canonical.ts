/** The one way to write JSON (RFC 8785): keys sorted by UTF-16 code units, no spaces, shortest numbers, UTF-8. */
import { SurveyError } from "./errors.js";
import type { Json } from "./json.js";

const MOST_DEPTH = 500;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether a text is valid Unicode: none of its surrogates stands alone. */
export const isText = (text: string): boolean => !LONE_SURROGATE.test(text);

/** The canonical text of a value; ECMAScript's own numbers and strings are RFC 8785's. */
export function canonicalText(value: Json, depth = 0): string {
  if (depth > MOST_DEPTH) throw new SurveyError("this JSON is nested too deeply");
  const inner = (part: Json): string => canonicalText(part, depth + 1);
  if (Array.isArray(value)) return `[${value.map(inner).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const pairs = Object.keys(value)
      .sort() // by code units, as RFC 8785 has it
      .map((key) => `${inner(key)}:${inner(value[key]!)}`);
    return `{${pairs.join(",")}}`;
  }
  if (typeof value === "string" && !isText(value)) {
    throw new SurveyError("a text is not valid Unicode");
  }
  if (typeof value === "number" && !Number.isFinite(value)) throw new SurveyError("a number must be finite");
  return JSON.stringify(value);
}

/** The same as UTF-8: what is hashed and signed. */
export const canonicalBytes = (value: Json): Uint8Array<ArrayBuffer> => new TextEncoder().encode(canonicalText(value));
