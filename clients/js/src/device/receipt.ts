/** The result of answering a survey, for the application. */
import type { Answer } from "./store.js";
import type { Period } from "../surveys/calendar.js";
import { oneLine } from "../core/text.js";

/** Contains nothing that depends on the person's value, so an application may log it. */
export interface Receipt {
  readonly survey: string;
  readonly collector: string;
  /** The relay that the report goes through; empty if it goes to the collector directly, or there is none. */
  readonly relay: string;
  /**
   * "waiting": this device's round or period has not begun; try again later. "due": its period can be answered now.
   * "missed": its period is closed, and stays empty. "declined": its owner refuses renewals. In all of them nothing
   * was drawn. "sent": it is durable at the collector, or at the relay, which forwards it later.
   */
  readonly state: "waiting" | "due" | "missed" | "declined" | Answer["state"];
  readonly title: string;
  /** Charged for this answer, once; 0 where there is none. */
  readonly epsilon: number;
  readonly delta: number;
  /** Why it was not sent. */
  readonly problem: string;
  /** Whether this call drew the recorded report; false if an earlier call or another tab did. */
  readonly drawn: boolean;
  /** This device's period of a tracking survey; null for every other. */
  readonly period: Period | null;
  /** Its period in the next window, if the survey renews. */
  readonly after: Period | null;
}

type RecordedAnswer = Pick<Answer, "question" | "collector" | "relay" | "title" | "epsilon" | "delta"> & Pick<Receipt, "state">;

/** The receipt of a recorded answer. */
export function receiptOf(kept: RecordedAnswer, problem = ""): Receipt {
  const { question: survey, collector, relay, state, title, epsilon, delta } = kept;
  const told = { survey, collector, relay, state, title: oneLine(title), epsilon, delta };
  return { ...told, problem, drawn: false, period: null, after: null };
}

/** Where nothing was drawn: by itself, while this device's round of a panel is not open. */
export const emptyReceipt = (question: string, collector: string, more: Partial<Receipt> = {}): Receipt => ({
  ...receiptOf({ question, collector, relay: "", state: "waiting", title: "", epsilon: 0, delta: 0 }),
  ...more,
});
