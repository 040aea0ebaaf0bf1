/** Tracking surveys: one question in every period of a calendar, of everybody once in a window. */
import type { Domain } from "../domain/domain.js";
import type { Mechanism } from "../mechanisms/base/mechanism.js";
import type { Values } from "../questions/question.js";
import type { AnyQuestion } from "../questions/registry.js";
import type { Attachments, Design } from "../strategies/design.js";
import type { Calendar } from "./calendar.js";
import type { Groups } from "./groups.js";
import type { Relay } from "./relay.js";
import { Stated, type Statement } from "./statement.js";
import type { Survey } from "./survey.js";

/** What a tracking survey and each of its periods state. */
interface TrackingTerms {
  readonly delta: number;
  readonly question: AnyQuestion;
  readonly design: Design;
  readonly calendar: Calendar;
  readonly relay: Relay | null;
  readonly groups: Groups | null;
}

/** A tracking survey is never answered itself: a device answers the survey of one period per window. */
export class Tracking extends Stated {
  readonly kind = "tracking";
  readonly seat = null;
  /** Probability that the promise leaves out, per window; 0 but for Gaussian noise. */
  readonly delta: number;
  readonly question: AnyQuestion;
  /** The design of the periods; their mechanisms differ in public randomness only. */
  readonly design: Design;
  readonly calendar: Calendar;
  /** What the reports of every period must go through; null: they are sent directly. */
  readonly relay: Relay | null;
  /** The public groups of every period; null where there are none. */
  readonly groups: Groups | null;

  constructor(
    statement: Statement,
    { delta, question, design, calendar, relay, groups }: TrackingTerms,
    /** What the statement names by its digest. */
    readonly attachments: Attachments,
    /** The survey of a period: what a device answers. It follows from this statement, and nobody is asked for it. */
    readonly period: (number: number) => Promise<Survey>,
  ) {
    super(statement);
    this.delta = delta;
    this.question = question;
    this.design = design;
    this.calendar = calendar;
    this.relay = relay;
    this.groups = groups;
  }

  get mechanism(): Mechanism {
    return this.design.mechanism;
  }

  /** What a person's value can be; null where it is a vector. */
  get domain(): Domain | null {
    return this.question.domain;
  }

  get values(): Values {
    return this.question.values;
  }

  /** In how many periods of a window a device may find its own. */
  get seats(): number {
    return this.calendar.window;
  }
}
