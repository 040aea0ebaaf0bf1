/** The state of a survey as it changes: from the collector's own events, or by asking where there are none. */
import type { RoundStatus, Rounds, Status } from "./api_types.js";
import { ask, Refusal } from "./api.js";

/** Milliseconds between two questions where there are no events. */
export const ASK_EVERY = 3_000;
/** Milliseconds without a word from the collector after which the page asks by itself. */
export const PATIENCE = 5_000;
/** Milliseconds after which events are tried again. */
export const TRY_AGAIN = 30_000;

/** Refusals after which asking again is of no use: signed out, not allowed, no such survey, deleted. */
const FINAL = [401, 403, 404, 410];

/**
 * Calls `onStatus` now and whenever something has changed; with the rounds, of a panel.
 *
 * `onTrouble` hears an error when one begins and null when it is over. After a refusal that cannot pass, such as a
 * deleted survey, nothing more is asked. The function that comes back ends it all.
 */
export function follow(
  surveyId: string,
  onStatus: (status: Status, rounds?: RoundStatus[]) => void,
  onTrouble: (error: Error | null) => void,
): () => void {
  const path = `/v1/surveys/${encodeURIComponent(surveyId)}`;
  let over = false;
  let told = "";
  let troubled = false;
  let source: EventSource | null = null;
  let asking = false;
  let askAgain: ReturnType<typeof setTimeout> | undefined;
  let tryAgain: ReturnType<typeof setTimeout> | undefined;

  function tell(status: Status, rounds?: RoundStatus[]): void {
    if (troubled) onTrouble(null);
    troubled = false;
    const said = JSON.stringify([status, rounds]);
    if (said !== told) onStatus(status, rounds);
    told = said;
  }

  function listen(): void {
    clearTimeout(tryAgain);
    source?.close();
    source = new EventSource(`${path}/events`);
    source.addEventListener("status", (event) => {
      askNoMore();
      const { rounds_info: rounds, ...status } = JSON.parse((event as MessageEvent<string>).data);
      tell(status, rounds);
    });
    // Why a stream ended is best said by the collector's next answer: signed out, deleted, or signed in anew meanwhile.
    source.addEventListener("revoked", () => askInstead(0));
    source.addEventListener("deleted", () => askInstead(0));
    source.onerror = () => {
      if (source?.readyState === EventSource.CLOSED) askInstead(0);
      // The browser tries again, and fails again, every other second: the first failure counts.
      else if (askAgain === undefined && !asking) askIn(PATIENCE);
    };
  }

  function askInstead(delay: number): void {
    source?.close();
    source = null;
    clearTimeout(tryAgain);
    if (!document.hidden) tryAgain = setTimeout(listen, TRY_AGAIN);
    askIn(delay);
  }

  function askIn(delay: number): void {
    clearTimeout(askAgain);
    askAgain = setTimeout(() => void poll(), delay);
  }

  function askNoMore(): void {
    clearTimeout(askAgain);
    askAgain = undefined;
  }

  async function poll(): Promise<void> {
    askAgain = undefined;
    if (asking) return;
    asking = true;
    try {
      const status = await ask<Status>(`${path}/status`);
      const rounds = status.kind !== "panel" ? undefined : (await ask<Rounds>(`${path}/rounds`)).rounds;
      if (over) return;
      tell(status, rounds);
    } catch (error) {
      if (over) return;
      troubled = true;
      onTrouble(error as Error);
      if (error instanceof Refusal && FINAL.includes(error.status)) return stop();
    } finally {
      asking = false;
    }
    if (source?.readyState !== EventSource.OPEN) askIn(ASK_EVERY);
  }

  // A browser has few connections to one collector, for all its pages: one that nobody sees keeps none of them.
  const shownOrHidden = (): void => (document.hidden ? askInstead(ASK_EVERY) : listen());

  function stop(): void {
    over = true;
    askNoMore();
    clearTimeout(tryAgain);
    source?.close();
    document.removeEventListener("visibilitychange", shownOrHidden);
  }

  document.addEventListener("visibilitychange", shownOrHidden);
  if (document.hidden) askInstead(0);
  else listen();
  return stop;
}
