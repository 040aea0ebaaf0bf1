/** Counts of many surveys, asked a few at a time: first those in sight, then the others, then again those in sight. */
import type { Status } from "../../parts/api_types.js";
import { ask, Refusal } from "../../parts/api.js";

/** How many questions are under way at once; a browser has about six connections to the collector. */
export const FEW = 3;
/** Milliseconds after which a count in sight is asked for again. */
export const AGAIN = 3_000;

export interface Counting {
  /** Which surveys there are, in the order in which they are asked. */
  ids: () => readonly string[];
  inSight: (id: string) => boolean;
  onCount: (status: Status) => void;
  /** An error when one begins, null when it is over. */
  onTrouble: (error: Error | null) => void;
}

/** Which to ask next, or null when all are fresh. */
export function nextOf(
  ids: readonly string[],
  inSight: (id: string) => boolean,
  asked: ReadonlyMap<string, number>,
  now: number,
): string | null {
  const seen = ids.filter(inSight);
  const due = seen.filter((id) => (asked.get(id) ?? -Infinity) + AGAIN <= now);
  const byAge = (a: string, b: string): number => (asked.get(a) ?? -Infinity) - (asked.get(b) ?? -Infinity);
  return due.find((id) => !asked.has(id)) ?? ids.find((id) => !asked.has(id)) ?? due.sort(byAge)[0] ?? null;
}

/** Begins; the function that comes back ends it. */
export function count({ ids, inSight, onCount, onTrouble }: Counting): () => void {
  const asked = new Map<string, number>();
  let over = false;
  let troubled = false;

  async function work(): Promise<void> {
    while (!over) {
      const id = nextOf(ids(), inSight, asked, Date.now());
      if (id === null || document.hidden) {
        await pause(AGAIN / 4);
        continue;
      }
      asked.set(id, Date.now());
      try {
        const status = await ask<Status>(`/v1/surveys/${id}/status`);
        if (troubled) onTrouble(null);
        troubled = false;
        onCount(status);
      } catch (error) {
        const refused = error instanceof Refusal ? error.status : 0;
        if (refused === 401 || refused === 403) over = true;
        // One that was deleted meanwhile leaves with the next list.
        if (refused === 404 || refused === 410) continue;
        asked.delete(id);
        troubled = true;
        onTrouble(error as Error);
        await pause(AGAIN);
      }
    }
  }

  for (let worker = 0; worker < FEW; worker++) void work();
  return () => void (over = true);
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
