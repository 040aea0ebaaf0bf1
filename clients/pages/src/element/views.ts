/** What the element shows, made of the survey page's own parts; `part` names what the page around may style. */
import { Tracking, type Answer, type Ledger } from "../../../js/src/index.js";
import { LabelDomain } from "../../../js/src/domain/domain.js";
import { el, fill } from "../parts/dom.js";
import { counted, named } from "../parts/format.js";
import { requestBytes, TAG_BYTES } from "../survey/bytes_view.js";
import { evidenceView } from "../survey/trouble_view.js";
import { givenGroup, groupField, groupsOf } from "../survey/group_view.js";
import { kindOf } from "../survey/kinds/registry.js";
import { ledgerView } from "../survey/ledger_view.js";
import type { Found } from "../survey/machine.js";
import { meaning, relayed } from "../survey/promise_view.js";
import { elsewise } from "../survey/question_view.js";
import { hostOf, promise, UNUSED } from "../survey/words.js";
import { type MyTurn, cost, renewals } from "../survey/turn_view.js";
import { deadline, turnText, turnTitle } from "../survey/turn_words.js";
import { who } from "../survey/who_view.js";
import type { Setback } from "./setback.js";

/** What is known of the survey when it is shown. */
export interface ShownSurvey {
  readonly found: Found;
  /** The collector's address. */
  readonly url: string;
  readonly ledger: Ledger;
  /** Whose turn it is, for a tracking survey. */
  readonly turn: MyTurn | null;
  /** The language of the survey's own words. */
  readonly lang: string;
  /** Whether everything is fetched through a relay. */
  readonly isHidden: boolean;
  /** The group that the page says; empty where the person says it, or there are none. */
  readonly group: string;
}

const BROUGHT_ALONG =
  "What checks and draws here is a program that the page around it brings along. The page itself could read what you " +
  "type, as with any form; what is promised is about what leaves for the collector.";

/** When the collector saw the address of a person who answers through a relay. */
const [SEEN_FETCHING, NEVER_SEEN] = [
  "The collector has sent you the survey, so it saw your address then, though not your report.",
  "The survey came through the relay too, so the collector has not seen your address.",
];

/** The question; `answer` is called with what the person says. */
export function questionView(shown: ShownSurvey, answer: (value: unknown, group: unknown) => void): HTMLElement {
  const { found, turn } = shown;
  const { survey } = found;
  const period = turn?.receipt.period ?? null;
  const kind = kindOf(survey);
  const field = kind.field("Your answer", "answer");
  const groups = groupsOf(survey);
  const group = groups && groupField(groups, givenGroup(groups, shown.group));
  const problem = el("p", { class: "trouble", part: "problem", role: "alert", hidden: true });
  const submit = (event: Event): void => {
    event.preventDefault();
    const wrong = [field, ...(group ? [group] : [])].find((one) => one.read() === null);
    fill(problem, wrong?.problem() ?? "");
    problem.hidden = wrong === undefined;
    if (wrong) wrong.focus();
    else answer(field.read(), group?.read() ?? undefined);
  };
  group?.element.setAttribute("part", "group");
  field.element.setAttribute("part", "field");
  const made = view(
    shown,
    el("p", { class: "lead" }, period && el("b", {}, `It is your turn, about ${named(period.label)}. `), kind.words.join(" ")),
    period && el("p", { class: "quiet small" }, deadline(period)),
    el(
      "form",
      { part: "form", autocomplete: "off", novalidate: true, onsubmit: submit, oninput: () => (problem.hidden = true) },
      field.element,
      elsewise(survey.domain instanceof LabelDomain ? survey.domain : null, field, kind.unfitting),
      group?.element,
      problem,
      el("p", { class: "promise", part: "promise" }, promiseWords(shown)),
      el("p", { class: "go" }, el("button", { type: "submit", part: "button" }, "Randomize and send")),
    ),
    turn && renewals(turn, false),
    about(shown, false),
  );
  return spoken(made, shown.lang);
}

/** What leaves, and what that promises, before anybody answers. */
function promiseWords({ found: { survey }, url }: ShownSurvey): string {
  const bytes = "mechanism" in survey ? ` of ${counted(survey.mechanism.reportBytes, "byte")}` : "";
  const [first] = promise(survey.epsilon);
  const way = survey.relay ? `${hostOf(survey.relay.url)}, a relay, for ${hostOf(url)}` : hostOf(url);
  return `Your answer stays in this browser. What leaves, once, is a random report${bytes}, to ${way}. ${first}`;
}

/** The report that stands; `status` is what tells whether it was sent. */
export function receiptView(shown: ShownSurvey | null, kept: Answer, status: HTMLElement, isUnused: boolean): HTMLElement {
  status.setAttribute("part", "status");
  status.querySelector("button")?.setAttribute("part", "button");
  const left = el(
    "div",
    { class: "receipt", part: "receipt" },
    el("p", {}, `A random report of ${counted(kept.report.length - TAG_BYTES, "byte")}, which costs you ε\u00a0=\u00a0${kept.epsilon}.`),
    requestBytes(kept),
  );
  const parts = [
    kept.period !== "" && el("p", { class: "lead" }, `About ${named(kept.period)}.`),
    isUnused && el("p", { class: "unused", part: "problem" }, UNUSED),
    status,
    left,
  ];
  if (shown === null) return el("section", { class: "view", part: "survey" }, title(kept.title), ...parts);
  const { turn } = shown;
  const later = turn?.receipt.after ? el("p", {}, `Your next turn is ${named(turn.receipt.after.label)}.`) : null;
  return spoken(view(shown, ...parts, later, turn && renewals(turn, false), about(shown, true)), shown.lang);
}

/** A tracking survey while it is not this browser's turn. */
export function turnView(shown: ShownSurvey & { readonly turn: MyTurn }): HTMLElement {
  const { survey, receipt } = shown.turn;
  const { state, after } = receipt;
  const period = receipt.period!;
  const isComing = state === "waiting";
  const status = el(
    "section",
    { class: "status waiting", part: "status", "aria-labelledby": "turn" },
    el("h3", { id: "turn", tabindex: -1 }, turnTitle(state, period, survey.calendar.every)),
    el("p", {}, turnText(state, period, survey.calendar), isComing && ` ${deadline(period)}`),
    after && el("p", {}, `${isComing ? "The turn after it" : "Your next turn"} is ${named(after.label)}.`),
  );
  return spoken(view(shown, status, renewals(shown.turn, false), about(shown, !isComing)), shown.lang);
}

/** What stops it: for the person, and folded away for the author of the page. `address` is a page to go to instead. */
export function stoppedView({ trouble, remedy }: Setback, again: (() => void) | null, address: string): HTMLElement {
  return el(
    "section",
    { class: "view stopped", part: "survey trouble" },
    el("h2", { part: "title", tabindex: -1 }, trouble.title),
    trouble.about !== "" && el("p", {}, el("b", {}, trouble.about)),
    el("p", {}, trouble.text),
    evidenceView(trouble.evidence),
    address !== "" && el("p", {}, el("a", { href: address }, "Open the survey’s own page")),
    again && el("p", {}, el("button", { type: "button", part: "button", onclick: again }, "Try now")),
    el("p", { class: "quiet small", part: "remedy" }, "For the author of this page: ", remedy),
  );
}

const view = ({ found }: ShownSurvey, ...parts: Parameters<typeof el>[2][]): HTMLElement =>
  el("section", { class: "view", part: "survey", "aria-labelledby": "title" }, title(found.survey.title), ...parts);

const title = (words: string): HTMLElement =>
  el("h2", { id: "title", part: "title", class: "own", tabindex: -1 }, words || "A survey without a title");

/** Who asks, what it costs, and what the ledger holds; for those who want to know. */
function about({ found, url, ledger, isHidden }: ShownSurvey, isDrawn: boolean): HTMLElement {
  const { survey } = found;
  return el(
    "details",
    { class: "about", part: "about" },
    el("summary", {}, "What it means for you, and who asks"),
    survey instanceof Tracking && cost(survey),
    meaning(survey.epsilon),
    relayed(survey.relay, url, isHidden ? NEVER_SEEN : SEEN_FETCHING),
    ledgerView(ledger, survey.epsilon, isDrawn),
    who(found, url, BROUGHT_ALONG),
  );
}

/** The element's own words are English; the survey's are in the language that the page says. */
function spoken(made: HTMLElement, lang: string): HTMLElement {
  if (lang) for (const own of made.querySelectorAll(".own, .choice span, option, bdi")) own.setAttribute("lang", lang);
  return made;
}
