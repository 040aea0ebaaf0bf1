/** Publishing a survey, however often the collector goes away meanwhile: the same survey twice changes nothing. */
import { ask, Unreachable } from "../../parts/api.js";

/** A survey as the collector stated it. */
export interface Stated {
  id: string;
  statement: string;
  attachments: Record<string, string>;
  /** Null for a panel, whose rounds have designs of their own. */
  strategy: string | null;
  mechanism: string | null;
  report_bytes: number | null;
  users: number | null;
  margin: number | null;
  l2: number | null;
  explanation: string;
  notes: string[];
}

const TRY_AGAIN = 2_000;

/** Publishes; `onWait` hears when the collector does not answer and is tried again. Refusals are thrown. */
export async function publish(
  { id, statement, attachments }: Stated,
  minimum: number | null,
  onWait: (error: Error) => void,
): Promise<string> {
  const body = { statement, attachments, ...(minimum === null ? {} : { minimum_reports: minimum }) };
  for (;;) {
    try {
      await ask("/v1/surveys", body);
      return id;
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      onWait(error);
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN));
    }
  }
}
