/** A tracking survey: its curve as periods close, the one that is filling, and what changed between them. */
import { CurveChart } from "../../charts/curve.js";
import { captioned, captionOf, fileName, saveFile, savePng, saveSvg } from "../../charts/svg_export.js";
import { ask, Refusal, Unreachable } from "../../parts/api.js";
import type { CurveBody, PeriodList, PeriodStatus, Status } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { count, counted, percent } from "../../parts/format.js";
import { follow } from "../../parts/live.js";
import { guaranteesCard } from "../../parts/promise.js";
import { Refetch } from "../../parts/refetch.js";
import type { ViewContext } from "../../parts/session.js";
import { capital, sentence, troublePlace } from "../../parts/trouble.js";
import { embedView } from "../shared/embed.js";
import { endView } from "../shared/end.js";
import { peopleLink } from "../shared/exports.js";
import { headView } from "../shared/head.js";
import { looksSwitch, looksWords, type Looks } from "../shared/looks.js";
import { switchOf } from "../shared/switch.js";
import { answersOf } from "./answers.js";
import { differenceView } from "./difference.js";
import { groupCurves } from "./group_curves.js";
import { csvOf, expected, specOf } from "./reading.js";
import { standing, trendWords } from "./words.js";

/** Milliseconds after a boundary at which the collector is asked again: it needs a moment to open and to close. */
const AFTER = 2_000;
const LONGEST_TIMER = 2 ** 31 - 1;

interface TrackedAnswers {
  list: PeriodList;
  /** The curve of each chosen answer; empty as long as no period has enough reports. */
  bodies: CurveBody[];
}

export function showTracking(page: HTMLElement, { session }: ViewContext, first: Status): void {
  const { id, title } = first;
  const look: Look = { level: 0.95, smooth: false, looks: "open" };
  const { place, tell: say } = troublePlace();
  const kept = el("p", { class: "quiet", hidden: true }, "The answers below are the last ones received.");
  const head = headView();
  const promise = el("p", { class: "promise" });
  const stands = el("ul", { class: "stands" });
  const answers = answersOf(() => told.wanted());
  const host = el("div");
  const waiting = el("p", { class: "quiet", role: "status" });
  const assumption = el("p", { class: "assumption", hidden: true });
  const trend = el("div");
  const difference = differenceView(id, () => draw());
  const groups = first.groups ? groupCurves(first, first.groups, look) : null;
  const periods = periodsView();
  const end = endView(session, first);
  const people = peopleLink(id);
  const embed = embedView(id);
  const levels = switchOf("Sure to", { "0.9": "90\u00a0%", "0.95": "95\u00a0%", "0.99": "99\u00a0%" }, "0.95", (level) => {
    look.level = Number(level);
    told.wanted();
  });
  const looks = looksSwitch((wanted) => {
    look.looks = wanted;
    told.wanted();
  });
  const held = el("p", { class: "quiet estimate-said looks", hidden: true });
  const smoothing = switchOf("Smoothing", { off: "Off", on: "On" }, "off", (name) => {
    look.smooth = name === "on";
    told.wanted();
  });
  const save = (name: string, act: () => void): HTMLElement => el("button", { type: "button", class: "plain small", "aria-label": `Save as ${name}`, onclick: act }, name);
  const files = el("div", { class: "files" }, save("SVG", () => saveSvg(picture(), named("svg"))), save("PNG", () => void savePng(picture(), named("png")).catch(say)), save("CSV", () => saveFile(new Blob([csvOf(now?.bodies ?? [])], { type: "text/csv" }), named("csv"))));
  const switches = el("div", { class: "switches" }, smoothing, looks, levels);
  const curve = el(
    "section",
    { class: "card estimate", "aria-labelledby": "curve" },
    el("div", { class: "estimate-head" }, el("h2", { id: "curve" }, "Curve"), switches),
    waiting,
    held,
    answers.element,
    host,
    assumption,
    files,
  );
  const trends = el("section", { class: "card", "aria-labelledby": "trend", hidden: true }, el("h2", { id: "trend" }, "Trend"), trend);
  const side = el("aside", { class: "survey-side", "aria-label": "About this survey" }, people, embed, periods.element, end.element);
  const root = el("div", { class: "survey" }, el("div", { class: "survey-main" }, curve, groups?.element ?? "", guaranteesCard(first.central), difference.element, trends), side);
  fill(page, place, kept, head.element, promise, stands, root);

  let chart: CurveChart | null = null;
  let now: TrackedAnswers | null = null;
  let status = first;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let unfollow = (): void => undefined;

  const told = new Refetch<TrackedAnswers>(
    fetched,
    (found) => {
      now = found;
      tell(null);
      show(found);
    },
    (error) => tell(error),
  );

  async function fetched(): Promise<TrackedAnswers> {
    const list = await periodsOf(id);
    if (fullest(list) < Math.max(1, status.minimum_reports)) return { list, bodies: [] };
    try {
      const chosen = answers.chosen();
      if (chosen.length > 0) return { list, bodies: await Promise.all(chosen.map((answer) => curveOf(id, answer, look))) };
      const one = await curveOf(id, null, look);
      answers.offer(one.answers);
      const others = answers.chosen().filter((answer) => answer !== one.answer);
      return { list, bodies: [one, ...(await Promise.all(others.map((answer) => curveOf(id, answer, look))))] };
    } catch (error) {
      if (error instanceof Refusal && error.status === 409) return { list, bodies: [] };
      throw error;
    }
  }

  /** The last picture stays when the collector is unavailable. */
  function tell(error: unknown): void {
    kept.hidden = !(error instanceof Unreachable);
    say(error);
  }

  function show({ list, bodies }: TrackedAnswers): void {
    if (!root.isConnected) return stop();
    fill(promise, sentence(`Everybody is promised ${list.promise}`));
    fill(stands, ...standing(list, status.state !== "open").map((line) => el("li", {}, line)));
    const known = new Set(bodies[0]?.points.flatMap(({ period, state, value }) => (value === null || state === "open" ? [] : [period])));
    difference.update(list.periods.filter(({ number }) => known.has(number)), bodies.map(({ answer }) => answer), look.level);
    const lines = bodies.flatMap((body) => (body.trend === null ? [] : [el("p", {}, trendWords(body.trend, body.share))]));
    fill(trend, ...lines);
    trends.hidden = lines.length === 0;
    periods.update(list);
    groups?.update(list.periods, bodies[0]?.answers ?? [], status);
    draw();
    wake(list);
  }

  function draw(): void {
    if (now === null) return;
    const { list, bodies } = now;
    const enough = bodies.length > 0;
    host.hidden = files.hidden = switches.hidden = !enough;
    waiting.hidden = enough;
    fill(waiting, enough ? "" : tooFew(list, status));
    const smooth = bodies.find((body) => body.smooth !== null)?.smooth ?? null;
    const words = looksWords(bodies[0]?.always ?? null, look.looks, look.level);
    looks.hidden = held.hidden = words === null || !enough;
    fill(held, el("strong", {}, "Open period. "), words ?? "");
    assumption.hidden = !look.smooth || !enough;
    fill(assumption, el("strong", {}, "Smoothing. "), smooth === null ? "Too few periods are closed for a smoothed curve." : sentence(smooth.assumption));
    if (!enough) return;
    const spec = specOf(list.periods, bodies, difference.compared());
    if (chart !== null && chart.name !== spec.name) {
      // What it is called is said to those who hear it, and names the answers.
      chart.destroy();
      chart = null;
    }
    if (chart === null) chart = new CurveChart(host, spec);
    else chart.update(spec);
  }

  /** The next time at which a period opens or closes, something changes without any report. */
  function wake({ now: moment, next, periods: begun }: PeriodList): void {
    clearTimeout(timer);
    const ahead = [next?.starts, ...begun.flatMap(({ ends, closes, state }) => (state === "open" ? [ends, closes] : []))];
    const waits = ahead.flatMap((at) => (at === undefined || at <= moment ? [] : [Date.parse(at) - Date.parse(moment)]));
    if (waits.length > 0) timer = setTimeout(() => told.wanted(), Math.min(LONGEST_TIMER, Math.min(...waits) + AFTER));
  }

  function picture(): string {
    const line = `${captionOf(status.n_reports, status, look.level)}; shaded: all closed periods at once, ${percent(look.level)}`;
    return captioned(chart?.toSvg() ?? "", title || "Tracking survey", line);
  }

  const named = (ending: "svg" | "png" | "csv"): string => fileName([title || "survey", "curve"], ending);

  function heard(found: Status): void {
    if (!root.isConnected) return stop();
    status = found;
    head.update(found);
    end.update(found);
    people.hidden = embed.hidden = found.state !== "open";
    told.wanted();
  }

  function troubled(error: Error | null): void {
    if (!root.isConnected) return stop();
    tell(error);
    if (error instanceof Refusal && [404, 410].includes(error.status)) root.inert = true;
    if (error === null) told.wanted();
  }

  function stop(): void {
    clearTimeout(timer);
    told.stop();
    groups?.stop();
    unfollow();
  }

  heard(first);
  if (root.isConnected) unfollow = follow(id, heard, troubled);
}

/** The most reports of any period. */
const fullest = ({ periods }: PeriodList): number => periods.reduce((most, { n_reports: reports }) => Math.max(most, reports), 0);

/** Why there is no curve yet. */
function tooFew(list: PeriodList, { minimum_reports: minimum, state }: Status): string {
  if (list.periods.length === 0) return state === "open" ? "No period has begun yet. The curve appears here by itself." : "No period was asked.";
  return `No period has ${counted(Math.max(1, minimum), "report")} yet, without which none is shown; the fullest has ${count(fullest(list))}.`;
}

// What the collector tells of a tracking survey, page by page where there are many periods.

/** Every period that has begun, and how the survey stands. */
async function periodsOf(id: string): Promise<PeriodList> {
  const first = await ask<PeriodList>(`/v1/surveys/${id}/periods`);
  const found = new Map(first.periods.map((period): [number, PeriodStatus] => [period.number, period]));
  let last = first;
  for (let page = 2; page <= last.pages; page += 1) {
    last = await ask<PeriodList>(`/v1/surveys/${id}/periods?page=${page}`);
    for (const period of last.periods) found.set(period.number, period);
  }
  return { ...last, periods: [...found.values()] };
}

/** How a curve is looked at. */
interface Look {
  level: number;
  smooth: boolean;
  looks: Looks;
}

/** The curve of one answer; of the first where none is named. */
const curveOf = (id: string, answer: string | null, { level, smooth, looks }: Look): Promise<CurveBody> =>
  ask(`/v1/surveys/${id}/curve?${new URLSearchParams({ ...(answer === null ? {} : { answer }), level: String(level), smooth: String(smooth), always: String(looks === "open") })}`);

// The periods one by one, the latest first: how full each is, and the way to its own estimate.

const LISTED = 26;

function periodsView(): { element: HTMLElement; update(list: PeriodList): void } {
  const list = el("ol", { class: "period-list", reversed: true });
  const more = el("button", { type: "button", class: "plain small", hidden: true, onclick: () => showMore() });
  const element = el("section", { class: "card periods", "aria-labelledby": "periods", hidden: true }, el("h2", { id: "periods" }, "Periods"), list, more);
  let told: PeriodList | null = null;
  let shown = LISTED;

  function showMore(): void {
    shown += LISTED;
    draw();
  }

  function draw(): void {
    const all = [...(told?.periods ?? [])].reverse();
    const likely = expected(all);
    element.hidden = all.length === 0;
    const lines = all.slice(0, shown).map(({ id, label, state, n_reports: reports }) => {
      const open = state === "open";
      const filled = open && likely !== null ? `${count(reports)} of about ${count(likely)} reports` : counted(reports, "report");
      const bar = open && likely !== null && likely > 0 && el("progress", { max: likely, value: Math.min(reports, likely), "aria-label": filled });
      return el("li", {}, el("a", { href: `/survey/${id}` }, capital(label)), el("span", { class: "quiet figures" }, `${filled}${open ? ", open" : ""}`), bar);
    });
    fill(list, ...lines);
    const left = all.length - shown;
    more.hidden = left <= 0;
    fill(more, `Show ${count(Math.min(left, LISTED))} more`);
  }

  return {
    element,
    update(now) {
      told = now;
      draw();
    },
  };
}
