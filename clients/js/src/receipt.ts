/** The result of answering a survey, for the application. */
import type { Answer } from "./store.js";
import { oneLine } from "./text.js";

/** Contains nothing that depends on the person's value, so an application may log it. */
export interface Receipt {
  readonly survey: string;
  readonly collector: string;
  /** "waiting": this device's round is not open yet, and nothing was drawn; try again later. */
  readonly state: "waiting" | Answer["state"];
  readonly title: string;
  /** Charged for this answer, once; 0 while waiting. */
  readonly epsilon: number;
  readonly delta: number;
  /** Why it was not sent. */
  readonly problem: string;
  /** Whether this call drew the recorded report; false if an earlier call or another tab did. */
  readonly drawn: boolean;
}

type Told = Pick<Answer, "question" | "collector" | "title" | "epsilon" | "delta"> & Pick<Receipt, "state">;

/** The receipt of a recorded answer. */
export function receiptOf(kept: Told, problem = ""): Receipt {
  const { question: survey, collector, state, title, epsilon, delta } = kept;
  return { survey, collector, state, title: oneLine(title), epsilon, delta, problem, drawn: false };
}

/** While this device's round of a panel is not open. */
export function waiting(question: string, collector: string): Receipt {
  return receiptOf({ question, collector, state: "waiting", title: "", epsilon: 0, delta: 0 });
}
