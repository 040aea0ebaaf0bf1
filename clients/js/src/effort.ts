/**
 * How much a device does for one survey: what it reads, unpacks, computes and sends.
 *
 * All of it is decided from what the collector sent, before the private value is looked at: a refusal tells nothing of it.
 */
import { BudgetError } from "./errors.js";
import { announcedEntries } from "./mechanisms/matrix_channel.js";
import type { AdaptiveSurvey, Survey } from "./survey.js";

/** Most of everything, for one survey. */
export interface Effort {
  /** Of the survey's own JSON. */
  readonly statementBytes: number;
  /** Of each attachment as it is sent. */
  readonly attachmentBytes: number;
  /** Of a channel matrix as it is unpacked. */
  readonly attachmentEntries: number;
  readonly reportBytes: number;
  /** Of the vectors that are answered; a codebook rotates them in up to twice as many. */
  readonly dimension: number;
}

/** About a second. */
export const EFFORT: Effort = {
  statementBytes: 2 ** 21,
  attachmentBytes: 2 ** 24,
  attachmentEntries: 2 ** 21,
  reportBytes: 2 ** 16,
  dimension: 2 ** 18,
};

/** Throw `BudgetError` unless so much of one thing is within the effort. */
export function checkEffort(effort: Effort, name: keyof Effort, found: number): void {
  if (found > effort[name]) {
    throw new BudgetError(`the survey asks for ${name} ${found}; this device goes to ${effort[name]}`);
  }
}

/** The same of an attachment that was fetched, before it is unpacked. */
export const checkAttachment = (effort: Effort, attachment: Uint8Array): void =>
  checkEffort(effort, "attachmentEntries", announcedEntries(attachment));

/** The same of a survey that was read, before anything is drawn. An adaptive one has no report: its rounds do. */
export function checkWork(effort: Effort, survey: Survey | AdaptiveSurvey): void {
  if (!("mechanism" in survey)) return;
  checkEffort(effort, "reportBytes", survey.mechanism.reportBytes);
  const { dimension, mechanism } = survey.statement as { dimension?: number; mechanism: { size?: number } };
  checkEffort(effort, "dimension", Math.max(dimension ?? 0, (mechanism.size ?? 0) / 2));
}
