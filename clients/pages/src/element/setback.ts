/** What stops the element: a code for programs, words for the person, and a remedy for the author of the page. */
import {
  BudgetError,
  ClockError,
  LedgerError,
  MismatchError,
  ServiceError,
  SignatureError,
  SottovoceError,
  SurveyError,
  TransparencyError,
} from "../../../js/src/core/errors.js";
import { ALLOWANCE } from "../../../js/src/device/ledger.js";
import { type Asking, type Trouble, troubleOf } from "../survey/trouble.js";

export interface Setback {
  readonly code: string;
  /** Whether somebody decided against it, the device or the collector; else something is wrong or missing. */
  readonly isRefusal: boolean;
  /** What the person reads. */
  readonly trouble: Trouble;
  /** What the author of the page reads, on it and on the console. */
  readonly remedy: string;
}

/** Thrown where the element knows by itself what is wrong. */
export class Stopped extends Error {
  constructor(readonly setback: Setback) {
    super(setback.remedy);
  }
}

/** Where the error came up. */
export interface Place {
  /** The collector's address. */
  readonly url: string;
  /** As the attribute says. */
  readonly name: string;
  readonly survey?: Asking | undefined;
}

const MISPLACED = "This question cannot be shown here";
const TELL_OWNER = "The author of this page has to repair it. Nothing was drawn and nothing was sent.";

/** A mistake in the page, which nobody who reads it can mend. */
export const mistake = (code: string, remedy: string): Stopped =>
  new Stopped({ code, isRefusal: false, remedy, trouble: { title: MISPLACED, text: TELL_OWNER, about: "", reason: "", passing: false } });

/** What an error means. */
export function setbackOf(error: unknown, place: Place): Setback {
  if (error instanceof Stopped) return error.setback;
  const trouble = troubleOf(error, place.survey);
  const [code, isRefusal, remedy] = judged(error, place);
  return { code, isRefusal, trouble, remedy };
}

type Judged = readonly [code: string, isRefusal: boolean, remedy: string];

function judged(error: unknown, place: Place): Judged {
  const said = error instanceof SottovoceError ? error.message : "";
  if (error instanceof ServiceError) return ofService(error, place);
  if (error instanceof BudgetError) return ofBudget(said, place);
  if (error instanceof SignatureError) {
    const why = `${said}. The key attribute must be the collector's present key, which \`sottovoce survey embed\` prints`;
    return ["not_as_signed", true, `${why}; without that attribute, this origin trusts the first key it saw for good.`];
  }
  if (error instanceof TransparencyError) {
    const words = `${said}. \`sottovoce log check\` shows what the collector lists; nothing in this page needs repair.`;
    if (error.conflict) return ["two_logs", true, words];
    return ["not_in_log", true, words];
  }
  if (error instanceof LedgerError) {
    return ["no_storage", false, `${said}. A ledger needs IndexedDB: not in a sandboxed frame, nor where storage is blocked.`];
  }
  if (error instanceof ClockError) return ["clock", false, `${said}. The person's own clock is wrong; the page is right.`];
  if (error instanceof MismatchError) {
    return ["mismatch", true, `${said}. \`sottovoce survey embed\` prints what the element must say.`];
  }
  if (error instanceof SurveyError) {
    return ["unsupported", false, `${said}. Browsers do not answer this survey: choose another mechanism for it.`];
  }
  return ["unforeseen", false, "Something unforeseen went wrong; reloading may help."];
}

function ofService({ code, status, message }: ServiceError, { url, name }: Place): Judged {
  if (code === "bad_answer") {
    return ["not_a_collector", false, `The server at ${url} is not a Sottovoce collector (${message}): check the collector attribute.`];
  }
  if (status === 410) return ["survey_deleted", true, "The survey was deleted, with all its reports: take the element away."];
  if (code === "survey_sealed") {
    return ["survey_sealed", true, "The survey was sealed, for ever: publish another, and put its id in the survey attribute."];
  }
  if (status === 404) {
    const how = "`sottovoce survey list` lists all, and `sottovoce survey embed` prints the element for one";
    return ["unknown_survey", false, `The collector ${url} has no survey ${JSON.stringify(name)}; ${how}.`];
  }
  if (code === "bad_address") return ["bad_address", false, `${message}.`];
  if (status === 0) return ["unreachable", false, `${message}. Check the collector attribute, and that the collector runs.`];
  if (status >= 500 || status === 429) return ["busy", false, `The collector ${url} is busy: ${message}. It is tried again.`];
  return ["refused_by_collector", true, `The collector ${url} says: ${message}`];
}

function ofBudget(said: string, { survey }: Place): Judged {
  if (survey && survey.epsilon > ALLOWANCE.cap) {
    const most = `browsers give one survey at most ${ALLOWANCE.cap}`;
    return ["above_cap", true, `The survey asks for epsilon ${survey.epsilon}, and ${most}: publish it with a smaller epsilon.`];
  }
  return ["budget_spent", true, `${said}. This browser keeps one budget for all surveys of this page's origin; nothing needs repair.`];
}
