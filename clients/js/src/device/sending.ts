/** Sending a recorded answer: the same bytes, to the key it was drawn for, until they have arrived or are refused. */
import { checkKey } from "./belonging.js";
import type { Collector } from "./collector.js";
import { ServiceError, SignatureError } from "../core/errors.js";
import { padded, recordedKey, sealRequest } from "../oblivious/messages.js";
import { type RelayClient, requestBytes, UNKNOWN_KEY } from "./relay_client.js";
import { isPassing } from "./http.js";
import { type Receipt, receiptOf } from "./receipt.js";
import { systemSource } from "../randomness/source.js";
import { type Answer, SECRET_BYTES, type Store } from "./store.js";
import { BAD_ANSWER } from "../core/transport.js";
import { uploadOf } from "./wire.js";

/** What is known when an answer is sent. */
export interface Sending {
  readonly store: Store;
  /** The key that the owner trusts; null: the one that the survey was answered under. */
  readonly trusted: Uint8Array | null;
  /** By the device's clock. */
  readonly now: number;
  /** Whether this call has verified the key at the collector. */
  readonly isKnown: boolean;
  /** The client of a relay. */
  readonly relay: (url: string) => RelayClient;
  /** Why the owner does not let the answer go where its survey says; empty if they do. */
  readonly objection: (relay: string, collector: string) => string;
}

/** Send an answer unless it was sent: through the relay that its survey states, or directly where that states none. */
export async function send(collector: Collector, kept: Answer, sending: Sending): Promise<Receipt> {
  const { store, now, isKnown } = sending;
  if (kept.state === "sent") return receiptOf(kept);
  const objection = sending.objection(kept.relay, kept.collector);
  if (now >= Date.parse(kept.closes)) {
    // A collector that takes nothing for years, and then everything, would get the reports of all windows at once.
    await store.mark(kept.question, kept.window, "refused");
    return receiptOf({ ...kept, state: "refused" }, "its period has closed; it was not sent, and will not be");
  }
  if (objection) return receiptOf(kept, `${objection}; nothing was sent`); // recorded under other settings
  if (!isKnown) checkKey(kept, sending.trusted ?? kept.key);
  let isFromCollector = isKnown && !kept.relay; // before it has shown its key no refusal is final; nobody has signed a relay's
  try {
    if (kept.relay) await sendThrough(sending.relay(kept.relay), kept, store);
    else {
      if (!isKnown) await collector.checkKey(kept.question, kept.key);
      isFromCollector = true;
      await collector.send(uploadOf(kept.survey, kept.reportId, kept.report));
    }
  } catch (error) {
    if (kept.relay && error instanceof SignatureError) return receiptOf(kept, error.message);
    if (!(error instanceof ServiceError)) throw error;
    const isRefused = isFromCollector && isFinal(error, kept);
    if (isRefused) await store.mark(kept.question, kept.window, "refused");
    return receiptOf(isRefused ? { ...kept, state: "refused" } : kept, error.message);
  }
  await store.mark(kept.question, kept.window, "sent");
  return receiptOf({ ...kept, state: "sent" });
}

/**
 * Leave a sealed report at a relay.
 *
 * It is sealed to what the survey's key has signed: a false relay learns its size and nothing else.
 * The same report is sealed to the same bytes, so that the relay holds it once, however often it is sent.
 */
async function sendThrough(relay: RelayClient, kept: Answer, store: Store): Promise<void> {
  const { path, ...sent } = uploadOf(kept.survey, kept.reportId, kept.report);
  const request = padded(requestBytes(path, sent));
  const secret = await store.secret(systemSource.bytes(SECRET_BYTES));
  for (let isAgain = false; ; isAgain = true) {
    const { configuration } = await relay.keys(kept.key);
    const sealed = await sealRequest(configuration, request, await recordedKey(secret, configuration, request));
    try {
      return await relay.leave(kept.survey, sealed.message);
    } catch (error) {
      // The collector may have changed its keys since the relay fetched them.
      if (isAgain || !(error instanceof ServiceError) || error.code !== UNKNOWN_KEY) throw error;
    }
  }
}

/** Whether the collector will never take the report. It opens a period a little after that has begun. */
function isFinal(error: ServiceError, kept: Answer): boolean {
  if (error.status === 404 && kept.closes) return false;
  return error.status >= 400 && error.status < 500 && !isPassing(error) && error.code !== BAD_ANSWER;
}
