/** The service's JSON that devices use, from its OpenAPI document: run `npm run types` in clients/pages to write this file again. */

/** Accepted reports are durable; refused ones are listed. */
export interface Acknowledgement {
  accepted: number;
  refused: RefusedReport[];
}

/** A proof that one list begins with the other, by RFC 9162. */
export interface ConsistencyProof {
  /** a number of entries */
  old: number;
  /** a number of entries */
  new: number;
  proof: string[];
}

/** A survey as it was signed: `id` is the SHA-256 of `statement`, `signature` is over it. */
export interface Envelope {
  id: string;
  statement: string;
  signature: string;
  key: string;
  attachments: string[];
  state: "open" | "sealed";
}

/** The body of every error response. */
export interface ErrorBody {
  error: ErrorDetail;
}

/** A code for programs, a message for people, and the field at fault where there is one. */
export interface ErrorDetail {
  code: string;
  message: string;
  field?: string | null;
}

/** The Ed25519 key that signs every survey here; devices pin it. */
export interface KeyAnswer {
  key: string;
  fingerprint: string;
}

/** A part of the log. */
export interface LogEntries {
  /** a position in the log, from 0 */
  start: number;
  /** number of entries of the log */
  size: number;
  entries: LogEntry[];
}

/** An event of a survey. */
export interface LogEntry {
  /** kind of event */
  event: "published";
  /** the survey's id: the SHA-256 of its canonical JSON */
  survey: string;
}

/** A proof that a survey is in the log, and that the log continues what was seen of it. */
export interface LogProof {
  /** the signed note of the log's head */
  checkpoint: string;
  /** position of the survey in the log, from 0 */
  position: number;
  /** proof that the survey is at that position */
  inclusion: string[];
  /** position at which the block begins */
  start: number;
  /** roots of the full subtrees before the block */
  before: string[];
  /** hashes of the block's leaves, as far as there are any */
  block: string[];
  /** the proof from the block's end to the head */
  consistency: string[];
}

/** The message is durable here. */
export interface MessageReceipt {
  accepted: number;
}

/** One report: its id in hexadecimal and its bytes in base64url. */
export interface OneReport {
  id: string;
  report: string;
}

/** Why one report of a body was refused; nothing of the report is quoted. */
export interface RefusedReport {
  position: number;
  code: string;
  message: string;
}

/** No report of a body was accepted; without a list where the body was refused as a whole. */
export interface RefusedUpload {
  error: ErrorDetail;
  accepted?: number;
  refused?: RefusedReport[];
}

/** Several reports. */
export interface ReportsBody {
  reports: OneReport[];
}

/** Key configurations as they are published, in base64url. */
export interface SignedKeys {
  configurations: string;
  signature: string;
  key: string;
}

/** One survey in the list. */
export interface SurveyEntry {
  id: string;
  title: string;
  kind: string;
  epsilon: number;
  /** 0 where the promise is pure epsilon-LDP */
  delta: number;
  state: "deleted" | "open" | "sealed";
}

/** Surveys that are open or sealed, oldest first: up to a thousand on a page. */
export interface Surveys {
  surveys: SurveyEntry[];
  page: number;
  pages: number;
}

/** The collector's time. */
export interface TimeAnswer {
  /** in UTC, as 2027-01-04T00:00:00Z */
  now: string;
}
