/** Retries with exponential, randomized delays, never sooner than the collector asked for. */
import { ServiceError } from "../core/errors.js";
import { TOO_SLOW } from "../core/transport.js";
import { systemSource } from "../randomness/source.js";

/** How requests are retried within one call; a report that is unsent then waits for `Device.flush`. */
export interface Patience {
  /** Attempts within one call. */
  readonly attempts: number;
  /** After attempt k, counted from 0, it waits a uniform time below `first` * 2^k seconds. */
  readonly first: number;
  /** Largest wait in seconds; if the collector asks for more, the call gives up. */
  readonly longest: number;
}

export const PATIENCE: Patience = { attempts: 4, first: 0.5, longest: 30 };

const PARTS = 2 ** 20;

/** Whether a retry may succeed: no connection, too many requests, or a failure of the collector. */
export const isPassing = (error: ServiceError): boolean =>
  error.code !== TOO_SLOW && ([0, 408, 425, 429].includes(error.status) || error.status >= 500);

/** What the request returns; it is repeated while its failure is passing, and not beyond `ends` of `performance.now()`. */
export async function patiently<Found>(
  patience: Patience,
  ends: number,
  request: () => Promise<Found>,
): Promise<Found> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof ServiceError) || attempt + 1 >= patience.attempts) throw error;
      const told = error.retryAfter ?? 0;
      if (!isPassing(error) || told > patience.longest) throw error;
      // On top of Retry-After, so that devices do not return all at once.
      const own = (Math.min(patience.longest, patience.first * 2 ** attempt) * systemSource.below(PARTS)) / PARTS;
      const wait = 1000 * (told + own);
      if (performance.now() + wait >= ends) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}
