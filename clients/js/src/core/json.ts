/**
 * Strict JSON: every text, number and object spelled the one way that ECMAScript writes it; only blanks are free.
 *
 * `JSON.parse` keeps the last of two equal keys and rounds numbers in silence, and two readers would then see two
 * surveys. Written back, either shows.
 */
import { SurveyError } from "./errors.js";

export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [key: string]: Json;
}

const TEXT_OR_BLANKS = /("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\n\r]+/g;

/** Whether it is an object of JSON: neither null nor a list. */
export function isObject(found: unknown): found is JsonObject {
  return typeof found === "object" && found !== null && !Array.isArray(found);
}

/** The object, if its fields are exactly these; `what` names it in the error. */
export function checkFields(found: Json | undefined, what: string, ...fields: string[]): JsonObject {
  const expected = fields.sort().join(", ");
  if (!isObject(found) || Object.keys(found).sort().join(", ") !== expected) {
    throw new SurveyError(`${what} must hold exactly these fields: ${expected}`);
  }
  return found;
}

/** The value behind a text, or behind its UTF-8 bytes. */
export function parseJson(text: string | Uint8Array): Json {
  try {
    const decoded =
      typeof text === "string" ? text : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text);
    const found = JSON.parse(decoded) as Json;
    if (JSON.stringify(found) === decoded.replace(TEXT_OR_BLANKS, "$1")) return found;
  } catch {
    // Neither the platform's words nor its error go any further: they may quote the text.
  }
  throw new SurveyError("this is not JSON, or not in its shortest form: no key twice, numbers such as 1, not 1.0");
}

// The one way to write JSON (RFC 8785): keys sorted by UTF-16 code units, no spaces, shortest numbers, UTF-8.

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

/** Canonical JSON as UTF-8: what is hashed and signed. */
export const canonicalBytes = (value: Json): Uint8Array<ArrayBuffer> => new TextEncoder().encode(canonicalText(value));
