/** Publishing a survey, however often the collector goes away meanwhile: the same survey twice changes nothing. */
import type { DraftAnswer } from "../../parts/api_types.js";
import { ask, Unreachable } from "../../parts/api.js";

const TRY_AGAIN = 2_000;

/** Publishes; `onWait` hears when the collector does not answer and is tried again. Refusals are thrown. */
export async function publish(
  { id, statement, attachments }: DraftAnswer,
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
