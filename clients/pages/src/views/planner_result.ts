/** What a plan says: the answer, the curves with the chosen point, every mechanism, and the same plan elsewhere. */
import { lines, type Line, type LinesSpec } from "../charts/lines.js";
import { el, fill } from "../parts/dom.js";
import { compact, figure } from "../parts/format.js";
import { sentence } from "../parts/trouble.js";
import { commandLine, newSurveyLink, pythonLines, type PlanState } from "./planner_state.js";
import { bytesWords, headline, oneAnswer, readable, type Curve, type PlanAnswer } from "./planner_words.js";

export interface Result {
  /** The answer, which stays in sight while the sliders move. */
  head: HTMLElement;
  host: HTMLElement;
  show(state: PlanState, found: PlanAnswer): void;
  /** Whether what stands there is not what was asked for last, and whether that is being worked out. */
  stale(old: boolean, working: boolean): void;
  refuse(words: string): void;
}

export function result(mayPublish: boolean): Result {
  const large = el("p", { class: "large figures" });
  const told = el("p", { class: "sentence" });
  const trouble = el("p", { class: "trouble", hidden: true });
  const busy = el("p", { class: "busy quiet", hidden: true }, "Working it out …");
  const head = el("div", { class: "plan-answer card", role: "status" }, large, told, trouble, busy);
  const one = el("p", { class: "one-answer" });
  const notes = el("ul", { class: "plan-notes quiet" });
  const reason = el("p", { class: "reason" });
  const body = el("tbody");
  const column = (name: string): HTMLElement => el("th", { scope: "col" }, name);
  const marginHead = column("");
  const table = el(
    "table",
    { class: "candidates figures" },
    el("caption", { class: "visually-hidden" }, "Every mechanism that was compared"),
    el("thead", {}, el("tr", {}, column("mechanism"), column("error"), marginHead, column("report"))),
    body,
  );
  const curves = {
    users: curve("Error against people", "people"),
    epsilon: curve("Error against epsilon", "epsilon"),
  };
  const command = el("pre", { tabindex: "0", "aria-label": "On the command line" });
  const python = el("pre", { tabindex: "0", "aria-label": "In Python" });
  const make = el("a", { class: "button make", hidden: !mayPublish }, "Make a survey of this");
  const host = el(
    "div",
    { class: "plan-result" },
    one,
    el("div", { class: "curves" }, curves.users.host, curves.epsilon.host),
    el(
      "section",
      { class: "card", "aria-labelledby": "plan-why" },
      el("h2", { id: "plan-why" }, "Which mechanism, and why"),
      reason,
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Mechanisms" }, table),
      notes,
    ),
    el(
      "section",
      { class: "card same", "aria-labelledby": "plan-same" },
      el("h2", { id: "plan-same" }, "The same plan elsewhere"),
      command,
      python,
      make,
    ),
  );

  return {
    head,
    host,
    show(state, found) {
      trouble.hidden = true;
      large.hidden = told.hidden = false;
      const words = headline(state, found);
      fill(large, words.large);
      fill(told, words.sentence);
      fill(one, oneAnswer(state, found));
      one.hidden = one.textContent === "";
      fill(reason, readable(found.reason.startsWith(found.best.name) ? `${found.reason}.` : sentence(found.reason)));
      fill(marginHead, state.kind === "adaptive" ? "expected" : "one answer");
      fill(body, ...found.candidates.map((candidate) => row(candidate, candidate.name === found.best.name)));
      fill(notes, ...found.notes.map((note) => el("li", {}, readable(note))));
      notes.hidden = found.notes.length === 0;
      const [people, private_] = [`${compact(found.users)} people`, `epsilon ${figure(found.epsilon)}`];
      curves.users.draw(found.curves.users, { x: found.users, label: people }, `At ${private_}.`, state, found);
      curves.epsilon.draw(found.curves.epsilon, { x: found.epsilon, label: private_ }, `With ${people}.`, state, found);
      fill(command, commandLine(state));
      fill(python, pythonLines(state));
      make.setAttribute("href", newSurveyLink(state, found.epsilon));
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

function row(candidate: PlanAnswer["candidates"][number], best: boolean): HTMLTableRowElement {
  const verdict = best ? "chosen" : candidate.fits ? null : "its report is too long";
  return el(
    "tr",
    { class: best ? "best" : candidate.fits ? null : "unfit" },
    el("th", { scope: "row" }, candidate.name, verdict && " ", verdict && el("span", { class: "verdict" }, verdict)),
    el("td", {}, candidate.l2 === null ? "" : figure(candidate.l2)),
    el("td", {}, candidate.margin === null ? "" : `± ${figure(candidate.margin)}`),
    el("td", {}, candidate.report_bytes === null ? "" : bytesWords(candidate.report_bytes)),
  );
}

/** One chart, made when there is something to draw. */
function curve(title: string, xLabel: string) {
  const place = el("div");
  const about = el("p", { class: "quiet" });
  let chart: ReturnType<typeof lines> | null = null;
  return {
    host: el("section", { class: "card" }, el("h2", {}, title), about, place),
    draw(told: Curve, mark: { x: number; label: string }, words: string, state: PlanState, found: PlanAnswer) {
      fill(about, words);
      const plan: Line = { name: "this plan", x: [mark.x], y: [found.best.l2], as: "points", size: 10 };
      const target: Line = { name: "your target", y: told.x.map(() => found.target_error) };
      const wished = state.solve === "error" ? [] : [target];
      const series = [...told.series, ...wished, plan];
      const spec: LinesSpec = { name: title, x: told.x, xLabel, yLabel: "error", logX: true, logY: true, series, mark };
      if (chart === null) chart = lines(place, spec);
      else chart.update(spec);
    },
  };
}
