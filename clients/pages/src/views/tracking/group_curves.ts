/** The public groups of a tracking survey: a curve for each of them in one picture, and the difference of two. */
import { CurveChart, type CurveSpec } from "../../charts/curve.js";
import { captionOf, fileName, saveFile } from "../../charts/svg_export.js";
import { ask, Refusal } from "../../parts/api.js";
import type { CurveBody, CurveComparisonBody, PeriodStatus, Status } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { plain } from "../../parts/format.js";
import { inWords, sentence } from "../../parts/trouble.js";
import { Refetch } from "../../parts/refetch.js";
import { chartCard } from "../groups/chart_card.js";
import { differenceTable } from "../groups/difference_table.js";
import type { Looks } from "../shared/looks.js";
import { differenceSpec, groupsSpec, linesOf, verdictOver, watchedPeriods } from "./group_reading.js";
import { csvOf } from "./reading.js";

/** Most curves of one picture: as many as can be told apart. */
const MOST = 8;

interface GroupCurves {
  element: HTMLElement;
  /** New periods, or other answers to choose from: the curves are asked for. */
  update(periods: readonly PeriodStatus[], answers: readonly string[], status: Status): void;
  stop(): void;
}

export function groupCurves(first: Status, variables: Record<string, string[]>, look: { level: number; looks: Looks }): GroupCurves {
  const { id, title } = first;
  const names = Object.keys(variables);
  const variable = el("select", { id: "curves-by", onchange: () => offer() }, ...names.map((name) => el("option", { value: name }, plain(name))));
  const answer = el("select", { id: "curves-answer", onchange: () => asked.wanted() });
  const chosen = el("select", { id: "first-group", onchange: () => asked.wanted() });
  const other = el("select", { id: "second-group", onchange: () => asked.wanted() });
  const said = el("p", { class: "quiet", role: "status" });
  const watched = el("p", { class: "notice", hidden: true });
  const verdict = el("p", {}, "");
  const table = differenceTable();
  const curveChart = (host: HTMLElement, spec: CurveSpec): CurveChart => new CurveChart(host, spec);
  const curves = chartCard(title, curveChart);
  const apart = chartCard(title, curveChart);
  curves.save.prepend(el("button", { type: "button", class: "plain small", onclick: () => saveNumbers() }, "CSV"));
  const element = el(
    "div",
    { class: "groups-cards" },
    el(
      "section",
      { class: "card", "aria-labelledby": "group-curves" },
      el("div", { class: "panel-head" }, el("h2", { id: "group-curves" }, "A curve for every group"), curves.save),
      el("div", { class: "compared" }, el("label", { for: answer.id }, "Answer"), answer, el("label", { for: variable.id, hidden: names.length < 2 }, "by"), variable),
      said,
      curves.host,
    ),
    el(
      "section",
      { class: "card group-difference", "aria-labelledby": "group-difference" },
      el("div", { class: "panel-head" }, el("h2", { id: "group-difference" }, "Difference of two groups"), apart.save),
      el("div", { class: "compared" }, el("label", { for: chosen.id }, "First"), chosen, el("label", { for: other.id }, "less"), other),
      watched,
      verdict,
      apart.host,
      table.element,
    ),
  );
  variable.hidden = names.length < 2;
  let periods: readonly PeriodStatus[] = [];
  let status = first;
  let shown: CurveBody | null = null;

  const asked = new Refetch<CurveBody>(
    fetched,
    (body) => show(body),
    (error) => {
      fill(said, inWords(error));
      curves.clear();
      apart.clear();
    },
  );

  /** The curves, also where the two groups cannot be compared: they may have no period together, or no test is known. */
  async function fetched(): Promise<CurveBody> {
    const by = variable.value;
    const pair = { first: `${by}=${chosen.value}`, second: `${by}=${other.value}` };
    const query = { answer: answer.value, level: String(look.level), always: String(look.looks === "open"), by };
    const asking = (given: Record<string, string>): Promise<CurveBody> => ask(`/v1/surveys/${id}/curve?${new URLSearchParams(given)}`);
    try {
      if (chosen.value !== other.value) return await asking({ ...query, ...pair });
    } catch (error) {
      if (!(error instanceof Refusal) || error.status >= 500) throw error;
    }
    return { ...(await asking(query)), comparison: null };
  }

  /** The groups of the chosen variable. */
  function offer(): void {
    const values = variables[variable.value] ?? [];
    [chosen, other].forEach((select, at) => fill(select, ...values.map((value, place) => el("option", { value, selected: place === at }, plain(value)))));
    asked.wanted();
  }

  function saveNumbers(): void {
    if (shown !== null) saveFile(new Blob([csvOf(linesOf(shown), "group")], { type: "text/csv" }), fileName([title || "survey", shown.answer, "by group"], "csv"));
  }

  function show(body: CurveBody): void {
    shown = body;
    const groups = (body.groups ?? []).slice(0, MOST);
    const more = (body.groups ?? []).length - groups.length;
    fill(said, `Each is estimated from its own reports; a period in which a group has too few is a gap.${more > 0 ? ` The first ${MOST} groups are drawn.` : ""}`);
    const caption = `${captionOf(status.n_reports, status, look.level)}; by ${plain(body.answer)}`;
    curves.draw(groupsSpec(periods, { ...body, groups }), caption);
    showDifference(body.comparison ?? null, caption);
  }

  function showDifference(found: CurveComparisonBody | null, caption: string): void {
    const words = found === null ? null : watchedPeriods(found.always, look.looks, status.state === "open");
    watched.hidden = words === null;
    fill(watched, words ?? "");
    if (found === null) {
      apart.clear();
      table.element.hidden = true;
      return fill(verdict, chosen.value === other.value ? "Choose two different groups." : "Nothing is compared: no period has enough reports of both groups yet, or no test of this answer is known.");
    }
    fill(verdict, el("strong", {}, verdictOver(found)), ` ${sentence(found.condition)}`);
    apart.draw(differenceSpec(periods, found), caption);
    table.show("period", found.names, found.points.filter(({ value }) => value !== null), found.level, found);
  }

  return {
    element,
    update(now, answers, current) {
      [periods, status] = [now, current];
      const before = answers.includes(answer.value) ? answer.value : answers[0];
      fill(answer, ...answers.map((name) => el("option", { value: name, selected: name === before }, plain(name))));
      element.hidden = answers.length === 0;
      if (answers.length === 0) return;
      if (chosen.value === "") offer();
      else asked.wanted();
    },
    stop: () => asked.stop(),
  };
}
