/** What an answer belongs to: one address, one key, one question. */
import { equalBytes } from "../core/bytes.js";
import { MismatchError } from "../core/errors.js";
import type { Answer, Joined } from "./store.js";

/** An answer is for one address: anybody can republish a survey at an address of their own. */
export function checkAddress(settled: string | undefined, url: string): void {
  if (settled !== undefined && settled !== url) {
    throw new MismatchError(
      `this device has given its answer to ${settled}; if that one has moved here, say so: move`,
    );
  }
}

/** An answer is for one key: another key is another collector, whatever its address. */
export function checkKey(kept: Answer | Joined, key: Uint8Array): void {
  if (!equalBytes(kept.key, key)) throw new MismatchError("this device has given its answer to another key");
}

/** In one round there is one question. */
export function checkQuestion(kept: Answer, survey: string): void {
  if (kept.survey !== survey) throw new MismatchError("this device has answered another question in this round");
}

/** Where answers to a question go, if that is settled: a survey that renews goes where it was moved to last. */
export function addressOf(answers: readonly Answer[], joined: Joined | undefined): string | undefined {
  const kept = answers.at(-1);
  return kept && !kept.renews ? kept.collector : (joined ?? kept)?.collector;
}

/** Whether the question must be fetched again before sending: for a survey that renews, and for an unsent round. */
export const needsAnotherLook = (kept: Answer): boolean =>
  kept.renews || (kept.survey !== kept.question && kept.state !== "sent");
