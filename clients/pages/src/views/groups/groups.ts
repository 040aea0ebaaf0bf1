/** The public groups of a survey: side by side in one picture, the difference of two of them, and a known population. */
import { clusters } from "../../charts/clusters.js";
import { captionOf } from "../../charts/svg_export.js";
import type { ByGroupBody, ComparisonBody, Picture, Status } from "../../parts/api_types.js";
import { ask } from "../../parts/api.js";
import { el, fill } from "../../parts/dom.js";
import { count, counted, plain } from "../../parts/format.js";
import { inWords } from "../../parts/trouble.js";
import { Refetch } from "../../parts/refetch.js";
import type { Precision } from "../shared/exports.js";
import { chartCard } from "./chart_card.js";
import { comparedView } from "./compared.js";
import { drawnGroups, MOST, sideBySide } from "./pictures.js";
import { weightsView } from "./weights.js";
import { tooFewWords } from "./words.js";

interface GroupsView {
  element: HTMLElement;
  /** A new estimate of everybody: the groups' are asked for too. */
  update(picture: Picture, status: Status): void;
  stop(): void;
}

interface FoundGroups {
  by: ByGroupBody;
  /** Null where no two groups can be compared. */
  compared: ComparisonBody | null;
  query: string;
  /** Why the two could not be compared, though they should be. */
  trouble: unknown;
}

export function groupsView(first: Status, variables: Record<string, string[]>, choice: Precision): GroupsView {
  const { id, title } = first;
  const names = Object.keys(variables);
  let status = first;
  let picture: Picture | null = null;

  const chart = chartCard(title, clusters);
  const which = el("select", { id: "group-variable", onchange: () => asked.wanted() }, ...names.map((name) => el("option", { value: name }, plain(name))));
  const said = el("p", { class: "quiet estimate-said" }, "Reading the groups…");
  const few = el("p", { class: "few", hidden: true });
  const side = el(
    "section",
    { class: "card groups", "aria-labelledby": "groups" },
    el("div", { class: "panel-head" }, el("h2", { id: "groups" }, "Groups side by side"), chart.save),
    el("p", { class: "choose-picture", hidden: names.length < 2 }, el("label", { for: which.id }, "By"), which),
    said,
    few,
    chart.host,
  );
  const compared = comparedView(first, () => asked.wanted());
  const weights = weightsView(first, variables);
  const element = el("div", { class: "groups-cards" }, side, compared.element, weights.element);

  const asked = new Refetch<FoundGroups>(fetch, show, (error) => fill(said, inWords(error)));

  async function fetch(): Promise<FoundGroups> {
    const sure = `level=${choice.level}&always=${choice.looks}`;
    const by = await ask<ByGroupBody>(`/v1/surveys/${id}/by?${new URLSearchParams({ variable: which.value })}&${sure}`);
    compared.offer(by);
    const wanted = compared.wanted();
    const query = `${wanted}&${sure}`;
    try {
      return { by, query, compared: wanted === null ? null : await ask(`/v1/surveys/${id}/comparison?${query}`), trouble: null };
    } catch (trouble) {
      return { by, query, compared: null, trouble };
    }
  }

  function show({ by, compared: found, query, trouble }: FoundGroups): void {
    const drawn = drawnGroups(by);
    const reports = drawn.reduce((sum, { n_reports: n }) => sum + (n ?? 0), 0);
    const sure = `level=${choice.level}&always=${choice.looks}`;
    fill(said, saidOf(by));
    const small = tooFewWords(by);
    few.hidden = small === null;
    fill(few, small === null ? "" : plain(small));
    if (drawn.length > 0) chart.draw(sideBySide(by, variables[by.by] ?? []), captionOf(reports, status, by.level, by.always ? "population" : null), `/v1/surveys/${id}/by.csv?${new URLSearchParams({ variable: by.by })}&${sure}`);
    else chart.clear();
    if (trouble === null) compared.show(found, query, by, status, choice.looks);
    else compared.refuse(trouble);
    if (picture !== null) weights.update(picture, by);
  }

  return {
    element,
    update(next, now) {
      [picture, status] = [next, now];
      asked.wanted();
    },
    stop() {
      asked.stop();
      weights.stop();
    },
  };
}

/** How many reports each group has, and what is left out. */
function saidOf(by: ByGroupBody): string {
  const drawn = drawnGroups(by);
  const each = drawn.map(({ label, n_reports: n }) => `${plain(label)}: ${counted(n ?? 0, "report")}`).join("; ");
  const known = by.groups.filter(({ n_reports: n }) => n !== null).length;
  const more = known > MOST ? ` The first ${MOST} of ${count(known)} groups are drawn; the CSV holds all.` : "";
  const answers = drawn[0]?.answers.length ?? 0;
  const rest = answers > 0 && answers < by.n_answers ? ` The first ${count(answers)} of ${count(by.n_answers)} answers are drawn; the CSV holds all.` : "";
  return each === "" ? "No group has enough reports yet." : `${each}. Each is estimated from its own reports.${more}${rest}`;
}
