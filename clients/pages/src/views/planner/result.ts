/** What a plan says: the answer, the curves with the chosen point, every design, and this plan elsewhere. */
import { type Line, lines, type LinesSpec } from "../../charts/lines.js";
import { endOf } from "../../charts/lines_data.js";
import type { Planned, PlannedCurve, PlannedOption } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { count, figure, percent, setting } from "../../parts/format.js";
import { sentence } from "../../parts/trouble.js";
import { marginWords } from "../../questions/accuracy.js";
import type { Measure } from "../../questions/kinds.js";
import { commandLine, pythonLines } from "./elsewhere.js";
import { errorName, type ErrorName, newSurveyLink, plannedMeasure, type PlanState } from "./state.js";
import { bytesWords, comparisonWords, ERRORS, headline, readable, shortNames, spaced, trackingWords } from "./words.js";

/** Most designs that a chart shows: as many as can be told apart by colour, beside the target and the plan. */
const MOST_LINES = 6;

interface Result {
  /** The answer, which stays in sight while the sliders move. */
  head: HTMLElement;
  host: HTMLElement;
  show(state: PlanState, found: Planned): void;
  /** Marks the plan on the page as outdated, and as being computed anew. */
  stale(old: boolean, working: boolean): void;
  refuse(words: string): void;
}

export function result(mayPublish: boolean): Result {
  const large = el("p", { class: "large figures" });
  const told = el("p", { class: "sentence" });
  const trouble = el("p", { class: "trouble", hidden: true });
  const busy = el("p", { class: "busy quiet", hidden: true }, "Working it out …");
  const head = el("div", { class: "plan-answer card", role: "status" }, large, told, trouble, busy);
  const notes = el("ul", { class: "plan-notes quiet" });
  const reason = el("p", { class: "reason" });
  const tracked = listCard("plan-periods", "In every period");
  const groups = listCard("plan-groups", "Two groups");
  const recall = recallCard();
  const body = el("tbody");
  const column = (name: string): HTMLElement => el("th", { scope: "col" }, name);
  const table = el(
    "table",
    { class: "options figures" },
    el("caption", { class: "visually-hidden" }, "Every design that was compared"),
    el("thead", {}, el("tr", {}, ...["design", "margin (95\u00a0%)", "L2", "report"].map(column))),
    body,
  );
  const compared = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Designs" }, table);
  const curves = {
    people: curve("Error against people", "people"),
    epsilon: curve("Error against epsilon", "epsilon"),
  };
  const command = el("pre", { tabindex: "0", "aria-label": "On the command line" });
  const python = el("pre", { tabindex: "0", "aria-label": "In Python" });
  const make = el("a", { class: "button make", hidden: !mayPublish }, "Make a survey of this");
  const id = el("p", { class: "quiet" });
  const host = el(
    "div",
    { class: "plan-result", hidden: true },
    tracked.host,
    groups.host,
    recall.host,
    el("div", { class: "curves" }, curves.people.host, curves.epsilon.host),
    el(
      "section",
      { class: "card", "aria-labelledby": "plan-why" },
      el("h2", { id: "plan-why" }, "Which design, and why"),
      reason,
      compared,
      notes,
    ),
    el(
      "section",
      { class: "card same", "aria-labelledby": "plan-same" },
      el("h2", { id: "plan-same" }, "This plan elsewhere"),
      command,
      python,
      id,
      make,
    ),
  );

  return {
    head,
    host,
    show(state, found) {
      trouble.hidden = true;
      large.hidden = told.hidden = false;
      const measure = plannedMeasure(state);
      const words = headline(state, measure, found);
      fill(large, words.large);
      fill(told, words.sentence);
      host.hidden = false;
      fill(reason, readable(sentence(spaced(found.reason))));
      tracked.show(trackingWords(measure, found));
      groups.show(comparisonWords(measure, found));
      recall.show(found.recall);
      compared.hidden = found.margin === null;
      fill(body, ...found.options.map((option, at) => row(measure, option, at === 0)));
      fill(notes, ...found.notes.map((note) => el("li", {}, readable(note))));
      notes.hidden = found.notes.length === 0;
      const [people, private_] = [`${count(found.people)} people`, `epsilon ${setting(found.epsilon)}`];
      curves.people.draw(found.curves.people, { x: found.people, label: people }, `At ${private_}.`, state, found);
      curves.epsilon.draw(found.curves.epsilon, { x: found.epsilon, label: private_ }, `With ${people}.`, state, found);
      fill(command, commandLine(state));
      fill(python, pythonLines(state));
      fill(id, found.survey !== null && `The survey's id is ${found.survey.slice(0, 12)} in all of them, as long as it has no title.`);
      id.hidden = found.survey === null;
      make.setAttribute("href", newSurveyLink(state, found));
    },
    stale(old, working) {
      for (const part of [head, host]) part.classList.toggle("stale", old);
      busy.hidden = !working;
    },
    refuse(words) {
      fill(trouble, readable(words));
      trouble.hidden = false;
      large.hidden = told.hidden = true;
    },
  };
}

/** The error that was asked for, as the charts draw it: changes and differences as the margin that goes with them. */
function targetOf(state: PlanState, { margin, tracking, comparison }: Planned): number {
  const target = state.errors[errorName(state)];
  const reached = tracking?.change ?? comparison?.difference;
  return drawnError(errorName(state)) !== errorName(state) && reached !== undefined && margin !== null ? (target * margin) / reached : target;
}

/** A card with a few sentences, hidden where there are none. */
function listCard(id: string, title: string): { host: HTMLElement; show(told: string[]): void } {
  const list = el("ul");
  const host = el("section", { class: "card", "aria-labelledby": id, hidden: true }, el("h2", { id }, title), list);
  return {
    host,
    show(told) {
      host.hidden = told.length === 0;
      fill(list, ...told.map((line) => el("li", {}, line)));
    },
  };
}

function row(measure: Measure, { name, margin, l2, report_bytes: bytes, fits, reason }: PlannedOption, best: boolean): HTMLTableRowElement {
  const verdict = best ? "chosen" : readable(reason);
  return el(
    "tr",
    { class: best ? "best" : fits ? null : "unfit" },
    el("th", { scope: "row" }, spaced(name), verdict !== "" && el("span", { class: "verdict" }, verdict)),
    el("td", {}, margin === null ? "" : marginWords(measure, margin)),
    el("td", {}, l2 === null ? "" : figure(l2)),
    el("td", {}, bytes === null ? "" : bytesWords(bytes)),
  );
}

/** Errors that a margin goes with: a change and a difference, of which it is a fixed part, and the share of a word that is found. */
type Derived = "change" | "share" | "difference";
const DERIVED: ReadonlySet<string> = new Set(["change", "share", "difference"]);

/** The error that the charts draw. */
const drawnError = (name: ErrorName): Exclude<ErrorName, Derived> => (DERIVED.has(name) ? "margin" : (name as Exclude<ErrorName, Derived>));

const errorOf = (found: Planned, name: ErrorName): number | null => found[drawnError(name)];

/** In the order in which lines end, the highest first, so that a legend reads as the chart does. */
export function fromTheTop(designs: readonly Line[]): Line[] {
  const end = (line: Line): number => endOf(line) ?? -Infinity;
  return [...designs].sort((a, b) => end(b) - end(a));
}

/** One chart, made when there is something to draw. */
function curve(title: string, xLabel: string) {
  const place = el("div");
  const about = el("p", { class: "quiet" });
  let chart: ReturnType<typeof lines> | null = null;
  return {
    host: el("section", { class: "card" }, el("h2", {}, title), about, place),
    draw(told: PlannedCurve, mark: { x: number; label: string }, words: string, state: PlanState, found: Planned) {
      const error = errorName(state);
      const plan: Line = { name: "this plan", hue: MOST_LINES + 1, x: [mark.x], y: [errorOf(found, error)], as: "points", size: 10 };
      const target: Line = { name: "your target", hue: MOST_LINES, y: told.x.map(() => targetOf(state, found)) };
      const names = shortNames(found.options);
      const all = Object.entries(told.lines).map(([name, y], hue): Line => ({ name: names.get(name) ?? name, y, hue }));
      const designs = fromTheTop(all.slice(0, MOST_LINES));
      fill(about, all.length > MOST_LINES ? `${words} The best ${MOST_LINES} of ${all.length} designs.` : words);
      const series = [...designs, ...(state.solve === "error" || error === "share" ? [] : [target]), plan];
      const spec: LinesSpec = { name: title, x: told.x, xLabel, yLabel: ERRORS[drawnError(error)], logX: true, logY: true, series, mark, direct: true };
      if (chart === null) chart = lines(place, spec);
      else chart.update(spec);
    },
  };
}

// Which words a plan finds: the probability against the share of people who have a word, by its length.

type Recall = NonNullable<Planned["recall"]>;

const NAME = "Which words are found";

/** A card that is hidden where no words are asked for. */
function recallCard(): { host: HTMLElement; show(recall: Recall | null): void } {
  const about = el("p", { class: "quiet" });
  const place = el("div");
  const body = el("tbody");
  const head = el("th", { scope: "col" });
  const table = el(
    "table",
    { class: "options figures" },
    el("caption", { class: "visually-hidden" }, "Shares that are found, by the length of a word"),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "length of a word"), head)),
    body,
  );
  const host = el("section", { class: "card", "aria-labelledby": "plan-recall", hidden: true }, el("h2", { id: "plan-recall" }, NAME), about, place, table);
  let chart: ReturnType<typeof lines> | null = null;
  return {
    host,
    show(recall) {
      host.hidden = recall === null;
      if (recall === null) return;
      fill(about, sentence(recall.statement));
      fill(head, `share that is found ${percent(recall.probability)} of the time`);
      fill(body, ...recall.lengths.map(({ length, share }) => recallRow(lengthWords(length), foundWords(share))));
      const spec = specOf(recall);
      if (chart === null) chart = lines(place, spec);
      else chart.update(spec);
    },
  };
}

const recallRow = (name: string, text: string): HTMLElement => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, text));

/** A share of one stands for a word that is not found at all. */
const foundWords = (share: number): string => (share >= 1 ? "not found" : percent(share));

const lengthWords = (length: number | null): string => (length === null ? "any" : `up to ${length}`);

const inPercent = (share: number): number => Number((100 * share).toPrecision(6));

/** One line for every length, and the share that was asked for or is found. */
export function specOf({ shares, lengths, target, share }: Recall): LinesSpec {
  const series = lengths.map(({ length, probabilities }) => ({ name: length === null ? "a number" : `${lengthWords(length)} long`, y: probabilities }));
  const mark = target ?? share;
  return {
    name: NAME,
    x: shares.map(inPercent),
    xLabel: "per cent of the people who have the word",
    yLabel: "probability that it is found",
    logX: true,
    share: true,
    y: [0, 1],
    series,
    ...(mark < 1 ? { mark: { x: inPercent(mark), label: percent(mark) } } : {}),
  };
}
