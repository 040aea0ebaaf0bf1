/** A survey: the frozen statement of one collection, from which a device derives everything. */
import { concat } from "../core/bytes.js";
import { SurveyError } from "../core/errors.js";
import type { Domain } from "../domain/domain.js";
import type { Mechanism } from "../mechanisms/base/mechanism.js";
import type { Values } from "../questions/question.js";
import type { AnyQuestion } from "../questions/registry.js";
import { type Source, systemSource } from "../randomness/source.js";
import type { Design } from "../strategies/design.js";
import type { Period } from "./calendar.js";
import type { PublicGroup, Groups } from "./groups.js";
import type { Relay } from "./relay.js";
import type { Seat } from "./seat.js";
import { Stated, type Statement } from "./statement.js";

const TAG_BYTES = 4;

/** The public groups of a survey, and which of them it is the survey of; null: of all. */
export interface Crowd {
  readonly groups: Groups;
  readonly group: PublicGroup | null;
  readonly inGroup: (number: number) => Promise<Survey>;
}

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
    /** Its public groups; null where there are none. */
    readonly crowd: Crowd | null = null,
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

  /** Whether people answer this survey itself; of one with groups they answer the survey of their group. */
  get takesReports(): boolean {
    return !this.crowd || this.crowd.group !== null;
  }

  /** The survey that the people of one group answer; its id follows from this statement. */
  async inGroup(name: unknown): Promise<Survey> {
    if (this.takesReports) throw new SurveyError("this survey has no groups: leave the group out");
    const { groups, inGroup } = this.crowd!;
    return inGroup(groups.find(name).number);
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
    if (!this.takesReports) throw new SurveyError("this survey has groups: randomize for one of them, inGroup(...)");
    return concat(this.tag, this.mechanism.randomize(this.input(value), source));
  }
}
