/** The code of words from its statement: strict, so that a code is stated in one way only. */
import { fromJson } from "./ranges.js";
import { SurveyError } from "../core/errors.js";
import { checkFields, isObject, type Json, type JsonObject } from "../core/json.js";
import { checkInteger } from "../core/limits.js";
import type { WordCode } from "./word_code.js";
import { ByteCode, IntegerCode } from "./number_codes.js";
import type { LetterCase } from "./spelling.js";
import { LetterCode, UnicodeCode } from "./text_codes.js";

const longestOf = ({ longest }: JsonObject): number => checkInteger("longest", longest, 1, 64);

function caseOf({ case: stated }: JsonObject): LetterCase {
  if (stated !== "lower" && stated !== "keep") throw new SurveyError("case must be lower or keep");
  return stated;
}

function lettersOf({ alphabet }: JsonObject): string {
  if (typeof alphabet !== "string") throw new SurveyError("alphabet must be a text");
  return alphabet;
}

/** The fields of every kind of code, and how it is made from them. */
const CODES = new Map<unknown, readonly [fields: readonly string[], make: (stated: JsonObject) => WordCode]>([
  ["letters", [["alphabet", "longest", "case"], (own) => new LetterCode(lettersOf(own), longestOf(own), caseOf(own))]],
  ["unicode", [["longest", "case"], (own) => new UnicodeCode(longestOf(own), caseOf(own))]],
  ["bytes", [["longest"], (own) => new ByteCode(longestOf(own))]],
  ["integers", [["below"], (own) => new IntegerCode(fromJson(own.below))]],
]);

export function readCode(stated: Json | undefined): WordCode {
  const kind = isObject(stated) && CODES.get(stated.code);
  if (!kind) throw new SurveyError(`a code of words must be one of ${[...CODES.keys()].join(", ")}`);
  const [fields, make] = kind;
  return make(checkFields(stated, "a code of words", "code", ...fields));
}
