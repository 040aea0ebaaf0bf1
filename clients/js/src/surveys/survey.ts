/** A survey: the frozen statement of one collection, from which a device derives everything. */
import { concat } from "../bytes.js";
import type { Domain } from "../domain.js";
import { SurveyError } from "../errors.js";
import { checkFields, parseJson } from "../json.js";
import { checkDelta, checkEpsilon, MAX_SURVEY_BYTES } from "../limits.js";
import type { Mechanism } from "../mechanism.js";
import { keyOf } from "../philox.js";
import type { Question, Values } from "../questions/question.js";
import { type AnyQuestion, readQuestion } from "../questions/registry.js";
import { type Source, systemSource } from "../source.js";
import { type Attachments, type Design, readDesign } from "../strategies/design.js";
import { Panel } from "./panel.js";
import { readSeat, type Seat } from "./seat.js";
import { readStatement, Stated, type Statement } from "./statement.js";

const TAG_BYTES = 4;

/** A survey that a device can answer: a question, the design by which it is asked, and epsilon. */
export class Survey extends Stated {
  /** The first bytes of the id; they stand before every report. */
  readonly tag: Uint8Array;

  constructor(
    statement: Statement,
    /** Probability that the promise leaves out; 0 but for Gaussian noise. */
    readonly delta: number,
    readonly question: AnyQuestion,
    readonly design: Design,
    /** Which round of which panel it is; null for a survey of its own. */
    readonly seat: Seat | null,
  ) {
    super(statement);
    this.tag = statement.digest.slice(0, TAG_BYTES);
  }

  get kind(): string {
    return this.question.kind;
  }

  get mechanism(): Mechanism {
    return this.design.mechanism;
  }

  /** What a person's value can be: for a round the panel's records; null where it is a vector. */
  get domain(): Domain | null {
    return this.seat ? this.seat.panel.domain : this.question.domain;
  }

  /** The same, as far as vectors have it too. */
  get values(): Values {
    return this.domain ?? this.question.values;
  }

  /** What the mechanism is given for a person's value; throws `ValueOutsideDomainError` without naming it. */
  input(value: unknown): unknown {
    return this.design.input(this.question.read(this.seat ? this.seat.answer(value) : value));
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

/**
 * The survey or panel behind its JSON; every field is checked, unknown ones are refused.
 *
 * Keys may stand in any order; numbers only in their shortest form, as every published survey has them.
 * `attachments` holds what the JSON names by its digest, if anything.
 */
export async function readSurvey(text: string | Uint8Array, attachments: Attachments = {}): Promise<Survey | Panel> {
  if (text.length > MAX_SURVEY_BYTES) throw new SurveyError(`a survey must have at most ${MAX_SURVEY_BYTES} bytes`);
  const statement = await readStatement(parseJson(text));
  const { json, digest } = statement;
  if ("panel" in json) return new Panel(statement);
  const own = "seat" in json ? ["question", "design", "seat"] : ["question", "design"];
  checkFields(json, "a survey", "format", "title", "epsilon", "delta", ...own);
  const terms = { epsilon: checkEpsilon(json.epsilon), delta: checkDelta(json.delta), key: keyOf(digest) };
  const question = readQuestion(json.question);
  const design = await readDesign(json.design, question as Question, terms, attachments);
  const round = { question, mechanism: design.mechanism.name, epsilon: terms.epsilon };
  const seat = "seat" in json ? await readSeat(json.seat!, round) : null;
  return new Survey(statement, terms.delta, question, design, seat);
}
