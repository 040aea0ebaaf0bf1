/**
 * What travels from devices to the collector: report ids, and reports of one survey in one body.
 *
 * A body is 4 letters, the survey's id, and rows of equal width: 16 bytes of report id, then the report.
 */
import { concat, fromHex } from "./bytes.js";
import { ReportError, SurveyError } from "./errors.js";

export const BATCH_MEDIA_TYPE = "application/vnd.sottovoce.reports";

/** Drawn once by the device and kept with the report: the same report sent twice is counted once. */
export const REPORT_ID_BYTES = 16;

const MAGIC = new TextEncoder().encode("SVR1");

/** A survey's id, if it can be one. */
export function checkSurveyId(id: unknown): string {
  if (typeof id === "string" && /^[0-9a-f]{64}$/.test(id)) return id;
  throw new SurveyError("a survey's id is 64 hexadecimal digits in small letters");
}

/** A body of (report id, report) pairs, all of this survey. */
export function encodeBatch(
  surveyId: string,
  reports: readonly (readonly [id: Uint8Array, report: Uint8Array])[],
): Uint8Array<ArrayBuffer> {
  const rows = reports.map(([id, report]) => concat(id, report));
  if (rows.length === 0 || rows.some((row) => row.length !== rows[0]!.length)) {
    throw new ReportError("a batch must hold reports, all of one width");
  }
  return concat(MAGIC, fromHex(checkSurveyId(surveyId)), ...rows);
}
