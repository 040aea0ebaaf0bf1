/**
 * What travels from devices to the collector: report ids, and reports of one survey in one body.
 *
 * A body is 4 letters, the survey's id, and rows of equal width: 16 bytes of report id, then the report.
 */
import { concat, fromHex } from "../core/bytes.js";
import { ReportError, SurveyError } from "../core/errors.js";

const BATCH_MEDIA_TYPE = "application/vnd.sottovoce.reports";

/** Drawn once by the device and kept with the report: the same report sent twice is counted once. */
export const REPORT_ID_BYTES = 16;

const MAGIC = new TextEncoder().encode("SVR1");

/** A survey's id, if it can be one. */
export function checkSurveyId(id: unknown): string {
  if (typeof id === "string" && /^[0-9a-f]{64}$/.test(id)) return id;
  throw new SurveyError("a survey's id is 64 hexadecimal digits in small letters");
}

/** A request that hands in reports. */
export interface Upload {
  readonly path: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

/** The request that hands in one report: sent as it is, or sealed for a relay. */
export const uploadOf = (surveyId: string, reportId: Uint8Array, report: Uint8Array): Upload => ({
  path: `/v1/surveys/${surveyId}/reports`,
  body: encodeBatch(surveyId, [[reportId, report]]),
  contentType: BATCH_MEDIA_TYPE,
});

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
