/** When a device tries again: later and later, not all devices at once, and never sooner than it was told. */
import { ServiceError } from "./errors.js";
import { TOO_SLOW } from "./http.js";
import { systemSource } from "./source.js";

/** How often and how long a device tries within one call; what is still unsent then stays for `Device.flush`. */
export interface Patience {
  /** Attempts within one call. */
  readonly attempts: number;
  /** After attempt k, counted from 0, it waits a uniform time below `first` * 2^k seconds. */
  readonly first: number;
  /** At most so many seconds; told by the collector to wait longer, it gives up for this call. */
  readonly longest: number;
}

export const PATIENCE: Patience = { attempts: 4, first: 0.5, longest: 30 };

const PARTS = 2 ** 20;

/** Whether the same request may succeed later: no connection, too many at once, or the collector's own trouble. */
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
      // On top of what the collector says, so that devices told the same do not come back at once.
      const own = (Math.min(patience.longest, patience.first * 2 ** attempt) * systemSource.below(PARTS)) / PARTS;
      const wait = 1000 * (told + own);
      if (performance.now() + wait >= ends) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}
