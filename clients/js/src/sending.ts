/** Sending a recorded answer: the same bytes, to the key it was drawn for, until they have arrived or are refused. */
import { checkKey } from "./belonging.js";
import type { Collector } from "./collector.js";
import { ServiceError } from "./errors.js";
import { BAD_ANSWER } from "./http.js";
import { isPassing } from "./patience.js";
import { type Receipt, receiptOf } from "./receipt.js";
import type { Answer, Store } from "./store.js";

/** What is known when an answer is sent. */
export interface Sending {
  readonly store: Store;
  /** The key that the owner trusts; null: the one that the survey was answered under. */
  readonly trusted: Uint8Array | null;
  /** By the device's clock. */
  readonly now: number;
  /** Whether this call has verified the key at the collector. */
  readonly isKnown: boolean;
}

/** Send an answer unless it was sent. */
export async function send(collector: Collector, kept: Answer, { store, trusted, now, isKnown }: Sending): Promise<Receipt> {
  if (kept.state === "sent") return receiptOf(kept);
  let isVerified = isKnown;
  try {
    if (!isVerified) {
      checkKey(kept, trusted ?? kept.key);
      await collector.checkKey(kept.question, kept.key);
      isVerified = true; // before that no refusal is final
    }
    await collector.send(kept.survey, kept.reportId, kept.report);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const isRefused = isVerified && isFinal(error, kept, now);
    if (isRefused) await store.mark(kept.question, kept.window, "refused");
    return receiptOf(isRefused ? { ...kept, state: "refused" } : kept, error.message);
  }
  await store.mark(kept.question, kept.window, "sent");
  return receiptOf({ ...kept, state: "sent" });
}

/** Whether the collector will never take the report. It opens a period a little after that has begun. */
function isFinal(error: ServiceError, kept: Answer, now: number): boolean {
  if (error.status === 404 && now < Date.parse(kept.closes)) return false;
  return error.status >= 400 && error.status < 500 && !isPassing(error) && error.code !== BAD_ANSWER;
}
