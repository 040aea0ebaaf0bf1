/** A survey: the frozen statement of one collection, from which a device derives everything. */
import { canonicalBytes } from "./canonical.js";
import { concat, sha256, toHex } from "./bytes.js";
import type { Domain } from "./domain.js";
import { SurveyError } from "./errors.js";
import { isObject, type JsonObject, parseJson } from "./json.js";
import { type Asked, type Attachments, checkTitle } from "./kind.js";
import { ADAPTIVE, readAdaptive } from "./adaptive.js";
import { READERS } from "./kinds.js";
import { checkEpsilon, MAX_SURVEY_BYTES } from "./limits.js";
import type { Mechanism } from "./mechanism.js";
import { type Source, systemSource } from "./source.js";

const FORMAT = 1;
const TAG_BYTES = 4;

/** Who a survey is: what every kind has. */
class Stated {
  readonly kind: string;
  readonly title: string;
  readonly epsilon: number;
  /** SHA-256 of the canonical JSON, in hexadecimal. */
  readonly id: string;

  constructor(
    /** The survey as plain JSON. */
    readonly statement: JsonObject,
    /** The canonical JSON (RFC 8785): what is hashed and signed. */
    readonly canonical: Uint8Array,
    digest: Uint8Array,
  ) {
    this.kind = statement.kind as string;
    this.title = checkTitle(statement.title);
    this.epsilon = checkEpsilon(statement.epsilon);
    this.id = toHex(digest);
  }
}

/** A survey that a device can answer. */
export class Survey extends Stated {
  /** Probability that the promise leaves out; 0 but for Gaussian noise. */
  readonly delta: number;
  /** What a person's value can be; null where it is a vector. */
  readonly domain: Domain | null;
  readonly mechanism: Mechanism;
  /** The first bytes of the id; they stand before every report. */
  readonly tag: Uint8Array;
  /** What the mechanism is given for a person's value; throws `ValueOutsideDomainError` without naming it. */
  readonly input: (value: unknown) => unknown;

  constructor(statement: JsonObject, canonical: Uint8Array, digest: Uint8Array, asked: Asked) {
    super(statement, canonical, digest);
    this.delta = asked.delta;
    this.domain = asked.domain;
    this.mechanism = asked.mechanism;
    this.tag = digest.slice(0, TAG_BYTES);
    this.input = asked.input;
  }

  /** What may be given as a value. */
  get allowed(): string {
    return this.domain?.allowed ?? `vectors of ${this.statement.dimension} numbers`;
  }

  /** Whether the survey can be answered with this value, by the same work for every one: no error is made. */
  has(value: unknown): boolean {
    if (this.domain) return this.domain.find(value) >= 0n;
    const vector = ArrayBuffer.isView(value) ? Array.from(value as Float64Array) : value;
    const { dimension } = this.statement;
    return Array.isArray(vector) && vector.length === dimension && vector.every((entry) => typeof entry === "number");
  }

  /**
   * One device's report: the tag, then the mechanism's payload.
   *
   * Every call draws again and spends epsilon again: a device calls this once and keeps the bytes, as `Device` does.
   */
  randomize(value: unknown, source: Source = systemSource): Uint8Array<ArrayBuffer> {
    return concat(this.tag, this.mechanism.randomize(this.input(value), source));
  }
}

/** A survey of many rounds. It is never answered itself: a device draws its round once, and answers that. */
export class AdaptiveSurvey extends Stated {
  constructor(
    statement: JsonObject,
    canonical: Uint8Array,
    digest: Uint8Array,
    readonly domain: Domain,
    readonly rounds: number,
    readonly radius: number,
  ) {
    super(statement, canonical, digest);
  }
}

/**
 * The survey behind its JSON; every field is checked, unknown ones are refused.
 *
 * Keys may stand in any order; numbers only in their shortest form, as every published survey has them.
 * `attachments` holds what the JSON names by its digest, if anything.
 */
export async function readSurvey(
  text: string | Uint8Array,
  attachments: Attachments = {},
): Promise<Survey | AdaptiveSurvey> {
  if (text.length > MAX_SURVEY_BYTES) throw new SurveyError(`a survey must have at most ${MAX_SURVEY_BYTES} bytes`);
  const statement = parseJson(text);
  if (!isObject(statement) || statement.format !== FORMAT) {
    throw new SurveyError(`a survey is a JSON object of format ${FORMAT}`);
  }
  const canonical = canonicalBytes(statement);
  const digest = await sha256(canonical);
  if (statement.kind === ADAPTIVE) {
    const { domain, rounds, radius } = readAdaptive(statement);
    return new AdaptiveSurvey(statement, canonical, digest, domain, rounds, radius);
  }
  const read = typeof statement.kind === "string" ? READERS.get(statement.kind) : undefined;
  if (read === undefined) {
    throw new SurveyError(`a survey's kind must be ${[...READERS.keys()].join(", ")} or ${ADAPTIVE}`);
  }
  return new Survey(statement, canonical, digest, await read(statement, { id: toHex(digest), attachments }));
}
