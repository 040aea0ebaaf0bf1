/**
 * The types of `sottovoce/element`: the custom element `<sottovoce-survey>`, its attributes as properties, and its events.
 *
 * What runs is made of the survey page's own parts in `clients/pages/src/element`; it defines the element when it is
 * imported. No event, property or message ever holds the person's answer.
 */

/**
 * "loading": the survey is being fetched and checked. "asking": the question is shown. "waiting": it is not this browser's
 * turn in a tracking survey. "sending": a report is drawn and not sent yet. "answered": it has arrived. "refused": somebody
 * decided against it. "stopped": something is wrong.
 */
export type SurveyElementState = "loading" | "asking" | "waiting" | "sending" | "answered" | "refused" | "stopped";

/** The survey was fetched and checked, and is shown. */
export interface SurveyReady {
  /** Its id. */
  readonly survey: string;
  readonly title: string;
  readonly epsilon: number;
  readonly state: SurveyElementState;
}

/** A report has arrived at the collector, or at the survey's relay. */
export interface SurveyAnswered {
  readonly survey: string;
  /** Charged to this browser's ledger. */
  readonly epsilon: number;
  /** How many bytes the report took with all that identifies it; the same for every answer. */
  readonly bytes: number;
}

/** Why it does not go on. */
export interface SurveyStopped {
  /** As the attribute says, if it could not be found. */
  readonly survey: string;
  /** One word: what a program can tell apart. */
  readonly code: string;
  /** What the author of the page can do about it. */
  readonly message: string;
}

/** By name; all bubble, and leave the shadow trees they start in. */
export interface SurveyElementEvents {
  "sottovoce-ready": CustomEvent<SurveyReady>;
  "sottovoce-answered": CustomEvent<SurveyAnswered>;
  /** The survey is closed, asks for too much, is not what its owner signed, or not in the collector's log; or the collector did not take the report. */
  "sottovoce-refused": CustomEvent<SurveyStopped>;
  /** The collector cannot be reached, does not know this page, has no such survey, and whatever else went wrong. */
  "sottovoce-error": CustomEvent<SurveyStopped>;
}

/** `<sottovoce-survey>`. Its properties are its attributes, but for `state`. */
export interface SottovoceSurveyElement extends HTMLElement {
  /** The collector's address. */
  collector: string;
  /** The survey's id, or its title. */
  survey: string;
  /** The group that reports are sent for, in the open, of a survey with groups; without it the person says it. */
  group: string;
  /** The collector's public key in base64url; without it the first one that this origin sees is trusted for good. */
  key: string;
  /** A relay to fetch everything through: then no connection goes to the collector, and the survey must state that relay. */
  relay: string;
  readonly state: SurveyElementState;
}

declare global {
  interface HTMLElementTagNameMap {
    "sottovoce-survey": SottovoceSurveyElement;
  }
  interface HTMLElementEventMap extends SurveyElementEvents {}
}
