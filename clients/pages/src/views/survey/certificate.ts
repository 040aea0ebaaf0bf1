/** What holds of the estimate that is shown, each thing in a sentence; and what malicious devices could do to it. */
import type { EstimateBody, InfluenceBody, Picture } from "../../parts/api_types.js";
import { ask, Refusal } from "../../parts/api.js";
import { el, fill } from "../../parts/dom.js";
import { count, counted, percent } from "../../parts/format.js";
import { likelier, promised } from "../../parts/promise.js";
import { inWords, sentence } from "../../parts/trouble.js";
import { upward } from "./picture.js";

const SHARES = [0.001, 0.01, 0.05, 0.1];

interface CertificateView {
  element: HTMLElement;
  update(picture: Picture): void;
}

export function certificateView(id: string): CertificateView {
  const facts = el("dl", { class: "certified" });
  const share = el("select", { id: "hostile" }, ...SHARES.map((part) => el("option", { value: part, selected: part === 0.01 }, percent(part))));
  const told = el("p", { role: "status", class: "influence" });
  const look = el("button", { type: "button", class: "plain small", onclick: () => void hostile() }, "Work it out");
  const element = el(
    "section",
    { class: "card certificate", "aria-labelledby": "certificate", hidden: true },
    el("h2", { id: "certificate" }, "Certificate"),
    facts,
    el("h3", {}, "Malicious devices"),
    el("div", { class: "hostile" }, el("label", { for: "hostile" }, "If this share of the reports lies:"), share, look),
    told,
  );

  async function hostile(): Promise<void> {
    look.disabled = true;
    try {
      const { influence } = await ask<EstimateBody>(`/v1/surveys/${id}/estimate?hostile=${share.value}&page_size=1`);
      if (influence !== null) fill(told, inSentences(influence));
    } catch (error) {
      fill(told, error instanceof Refusal ? sentence(error.message) : inWords(error));
    } finally {
      look.disabled = false;
    }
  }

  return {
    element,
    update(picture) {
      const lines = statements(picture).map(([name, value, words]) =>
        el("div", {}, el("dt", {}, name), el("dd", {}, el("strong", { class: "figures" }, value), el("span", {}, words))),
      );
      fill(facts, ...lines);
      element.hidden = false;
    },
  };
}

/** Name, figure and sentence of everything that holds. */
export function statements(picture: Picture): [string, string, string][] {
  const { bound, raw_bound: raw, projection, projection_gap: gap, n_reports: reports, minimum_reports: minimum, level } = picture;
  const error = bound.l2 === null ? "no bound is known" : `at most ${upward(bound.l2)}`;
  const before = raw.l2 === null ? "" : ` For the raw answers it is at most ${upward(raw.l2)}.`;
  const exact = gap <= 0 ? "exact" : `within ${upward(Math.sqrt(gap))}`;
  return [
    [
      "Privacy",
      promised(picture),
      `${likelier(picture)} This holds for every person whose device runs this code, whatever the collector does with the reports.`,
    ],
    ["Expected L2 error", error, `For every distribution of the people. ${sentence(bound.statement)}${before}`],
    ["Projection", exact, `Raw answers are replaced by the nearest possible ones, on the ${projection}: for shares, negative ones are removed and the total is made 100 %.${gap <= 0 ? "" : " What is shown is at most that far, in L2, from the nearest."}`],
    ["Intervals", percent(level), `Each holds the truth with at least this probability, for any number of reports. By ${picture.method}. They are around the raw answers; projecting does not narrow them.`],
    ["Reports", count(reports), `Nothing is shown before there are ${count(minimum)}.`],
  ];
}

function inSentences({ hostile, n_reports: reports, largest, projected_l2: together, exact }: InfluenceBody): string {
  const most = exact ? "at most" : "certainly no more than";
  return `If ${count(hostile)} of ${counted(reports, "report")} lie, they can move any one raw answer by ${most} ${upward(largest)}, and all projected answers together by no more than ${upward(together)} in L2.`;
}
