/** A survey: the frozen statement of one collection, from which a device derives everything. */
import { concat } from "../core/bytes.js";
import type { Domain } from "../domain/domain.js";
import type { Mechanism } from "../mechanisms/base/mechanism.js";
import type { Values } from "../questions/question.js";
import type { AnyQuestion } from "../questions/registry.js";
import { type Source, systemSource } from "../randomness/source.js";
import type { Design } from "../strategies/design.js";
import type { Period } from "./calendar.js";
import type { Relay } from "./relay.js";
import type { Seat } from "./seat.js";
import { Stated, type Statement } from "./statement.js";

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
    /** Which period of a tracking survey it is; null for a survey of its own. */
    readonly period: Period | null,
    /** Whether the tracking survey that it belongs to asks again in later windows. */
    readonly renews: boolean,
    /** What its reports must go through; null: they are sent directly. */
    readonly relay: Relay | null,
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

  /** What a value can be, also where it is a vector. */
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
