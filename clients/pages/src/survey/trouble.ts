/** Whatever stops the page, in words for a person: what is the matter, what it means for their answer, what to do. */
import {
  BudgetError,
  ClockError,
  LedgerError,
  MechanismError,
  MismatchError,
  ServiceError,
  SignatureError,
  SurveyError,
  TransparencyError,
  ValueOutsideDomainError,
  WorkloadError,
} from "../../../js/src/core/errors.js";
import { ALLOWANCE } from "../../../js/src/device/ledger.js";
import { plain } from "./fields/values.js";

/** What is said in place of the survey, or beside it. */
export interface Trouble {
  readonly title: string;
  readonly text: string;
  /** The title of the survey that it is about; empty where that is not known, or does not matter. */
  readonly about: string;
  /** The program's own words, for the person who has to repair it. */
  readonly reason: string;
  /** Whether it may be over later, so that trying again makes sense. */
  readonly passing: boolean;
  /** Signed heads of a collector's log that contradict each other, for the person to show to others. */
  readonly evidence?: readonly string[];
}

const NOTHING_SENT = "Nothing was drawn and nothing was sent.";

/** What a survey asks for, as far as a refusal has to tell it. */
export interface Asking {
  readonly title: string;
  readonly epsilon: number;
  readonly delta?: number;
}

/** What an error means; one that nobody foresaw included. `survey` is the one at hand, if it could be had. */
export function troubleOf(error: unknown, survey?: Asking): Trouble {
  const reason = error instanceof Error ? error.message : "";
  const said: Said = (title, text, passing = false, about = "") => ({ title, text, about, reason, passing });
  if (error instanceof ServiceError) return ofService(error, said);
  if (error instanceof SignatureError) {
    return /cannot check/.test(reason)
      ? said("This browser cannot check who asks", `It lacks Ed25519; a current browser has it. ${NOTHING_SENT}`)
      : said(
          "This survey is not what its owner signed",
          `Somebody has altered it, or its key is not the one this browser knows. ${NOTHING_SENT} ` +
            "Tell the person who gave you the address.",
        );
  }
  if (error instanceof TransparencyError) return ofLog(error, said);
  if (error instanceof LedgerError) return ofStorage(reason, said);
  if (error instanceof ClockError) {
    return said(
      "This device’s clock is wrong",
      "It is more than a day off the collector’s, so this page cannot tell whose turn it is. Set date, time and time " +
        `zone, then reload. ${NOTHING_SENT}`,
    );
  }
  if (error instanceof BudgetError) return ofBudget(survey, said);
  if (error instanceof MismatchError) {
    return said(
      "This does not go together",
      "Your answer was drawn for another address or another question. Nothing new was sent.",
    );
  }
  if (error instanceof ValueOutsideDomainError) return said("That is not one of the possible answers", NOTHING_SENT);
  if (error instanceof SurveyError && /X25519/.test(reason)) {
    return said(
      "This browser cannot answer through a relay",
      `This survey’s reports go through a relay, and it lacks X25519 to seal them; a current browser has it. ${NOTHING_SENT}`,
    );
  }
  if (error instanceof MechanismError || error instanceof WorkloadError || error instanceof SurveyError) {
    return said(
      "This page cannot answer this survey",
      `It is built in a way that a browser does not answer, or that this version does not know. ${NOTHING_SENT}`,
    );
  }
  return said(
    "Something unforeseen went wrong",
    "Reloading the page may help. If your answer was drawn already, it stands and is not drawn again.",
  );
}

type Said = (title: string, text: string, passing?: boolean, about?: string) => Trouble;

/** Where the collector's list of surveys does not show that everybody is asked the same. */
function ofLog({ conflict, evidence }: TransparencyError, said: Said): Trouble {
  if (!conflict) {
    return said(
      "This survey is not in the list that everybody can see",
      "A collector lists all its surveys, so that nobody is asked in secret what others are not asked. This one does not " +
        `show that this survey, as you see it, is in its list. ${NOTHING_SENT} Tell the person who gave you the address.`,
    );
  }
  const trouble = said(
    "This collector has shown you two lists of its surveys",
    "What it lists now does not go on from what it showed this browser before: it may ask some people what it hides " +
      `from others, or it has lost its records. ${NOTHING_SENT} Tell the person who gave you the address, and show them the evidence.`,
  );
  return { ...trouble, evidence };
}

/** Beyond what any one survey may take; or beyond what is left for all of them. */
function ofBudget(survey: Asking | undefined, said: Said): Trouble {
  const about = plain(survey?.title ?? "");
  const { epsilon = 0, delta = 0 } = survey ?? {};
  const { cap, budget, deltaCap, maxAnswers } = ALLOWANCE;
  if (epsilon > cap || delta > deltaCap) {
    const [name, asked, most] = epsilon > cap ? ["epsilon", epsilon, cap] : ["delta", delta, deltaCap];
    return said(
      "This survey asks for more than this page gives",
      `It asks for ${name} ${asked}; this page answers up to ${most} for one survey. An app of your own, or ` +
        `“sottovoce answer --cap”, can allow more if you want that. ${NOTHING_SENT}`,
      false,
      about,
    );
  }
  return said(
    "This survey asks for more than your ledger allows",
    `All surveys of this site together may take an epsilon of ${budget} from you, in at most ${maxAnswers} answers. With ` +
      `this one it would be more, so this page stops here. ${NOTHING_SENT}`,
    false,
    about,
  );
}

function ofService(error: ServiceError, said: Said): Trouble {
  const { status, code } = error;
  if (status === 410) return said("This survey has been deleted", `It is gone, with all its reports. ${NOTHING_SENT}`);
  if (status === 404) return said("This survey does not exist here", `Check the address. ${NOTHING_SENT}`);
  if (code === "survey_sealed") return said("This survey is closed", `It takes no more answers. ${NOTHING_SENT}`);
  if (status === 0) {
    const why = "You may be offline, or the service is down for a moment.";
    return said("The survey cannot be reached", `${why} This page goes on trying.`, true);
  }
  if (status >= 500 || status === 429) return said("The service is busy", "This page goes on trying.", true);
  return said("The service refused", "What it said stands below.");
}

function ofStorage(reason: string, said: Said): Trouble {
  if (/full/.test(reason)) {
    const what = "Without room for the ledger nothing can be answered. Free some space, then reload.";
    return said("This browser’s storage is full", `${what} ${NOTHING_SENT}`);
  }
  if (/cleared|changed/.test(reason)) {
    const what = "What was recorded here is gone. Reload the page to begin anew.";
    return said("This site’s data was cleared meanwhile", what);
  }
  return said(
    "This browser does not let the page keep a ledger",
    "The ledger is what keeps you from being asked twice, so nothing is answered without it. Private windows and " +
      `strict settings can block it: allow this site to store data, then reload. ${NOTHING_SENT}`,
  );
}

/** Where the platform itself is lacking; null where it will do. */
export function platformTrouble(given: { isSecureContext: boolean; crypto?: { subtle?: unknown } }): Trouble | null {
  if (given.crypto?.subtle) return null;
  const insecure = !given.isSecureContext;
  return {
    title: insecure ? "This address is not safe to answer from" : "This browser is too old for this page",
    text: insecure
      ? "The page came over plain http, where anybody on the way can change it, and browsers then offer no " +
        `cryptography. Ask for an address that begins with https. ${NOTHING_SENT}`
      : `It has no WebCrypto, without which nothing can be checked or drawn. ${NOTHING_SENT}`,
    about: "",
    reason: "",
    passing: false,
  };
}

/** Where the address names no survey. */
export const NO_SURVEY: Trouble = {
  title: "This is not a survey’s address",
  text: "The part after /s/ must be the 64 letters and digits of a survey’s id.",
  about: "",
  reason: "",
  passing: false,
};

/** A path's survey id, null if it is none. */
export const surveyIn = (path: string): string | null => /^\/s\/([0-9a-f]{64})\/?$/.exec(path)?.[1] ?? null;
