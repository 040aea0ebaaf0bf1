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
  throw new SurveyError("this is no JSON, or not in its shortest form: no key twice, numbers such as 1, not 1.0");
}
