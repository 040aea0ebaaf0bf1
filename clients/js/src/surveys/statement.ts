/** What every signed statement is, of a survey or a panel: JSON of one format, known by its SHA-256. */
import { sha256, toHex } from "../core/bytes.js";
import { canonicalBytes, isObject, type Json, type JsonObject } from "../core/json.js";
import { SurveyError } from "../core/errors.js";
import { checkEpsilon } from "../core/limits.js";

const FORMAT = 2;

/** A statement, and what it is known by. */
export interface Statement {
  readonly json: JsonObject;
  /** The canonical JSON (RFC 8785): what is hashed and signed. */
  readonly canonical: Uint8Array;
  readonly digest: Uint8Array;
}

/** The statement in some JSON, if it is of this format; nothing else in it is looked at. */
export async function readStatement(json: Json | undefined): Promise<Statement> {
  if (!isObject(json) || json.format !== FORMAT) {
    throw new SurveyError(`a survey or panel is a JSON object of format ${FORMAT}`);
  }
  const canonical = canonicalBytes(json);
  return { json, canonical, digest: await sha256(canonical) };
}

/** What a survey and a panel have in common. */
export abstract class Stated {
  /** The statement as plain JSON. */
  readonly statement: JsonObject;
  /** The canonical JSON (RFC 8785): what is hashed and signed. */
  readonly canonical: Uint8Array;
  readonly title: string;
  readonly epsilon: number;
  /** SHA-256 of the canonical JSON, in hexadecimal. */
  readonly id: string;

  constructor({ json, canonical, digest }: Statement) {
    this.statement = json;
    this.canonical = canonical;
    this.title = checkTitle(json.title);
    this.epsilon = checkEpsilon(json.epsilon);
    this.id = toHex(digest);
  }
}

function checkTitle(title: Json | undefined): string {
  if (typeof title !== "string" || [...title].length > 200 || !/^(?:[^\p{C}\p{Z}]| )*$/u.test(title)) {
    throw new SurveyError("title must be one line of printable text, at most 200 characters");
  }
  return title;
}
