/** Which words a plan finds: the probability against the share of people who have a word, by its length. */
import { lines, type LinesSpec } from "../../charts/lines.js";
import type { Planned } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { percent } from "../../parts/format.js";
import { sentence } from "../../parts/trouble.js";

type Recall = NonNullable<Planned["recall"]>;

const NAME = "Which words are found";

/** A card that is hidden where no words are asked for. */
export function recallCard(): { host: HTMLElement; show(recall: Recall | null): void } {
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
      fill(body, ...recall.lengths.map(({ length, share }) => row(lengthWords(length), foundWords(share))));
      const spec = specOf(recall);
      if (chart === null) chart = lines(place, spec);
      else chart.update(spec);
    },
  };
}

const row = (name: string, text: string): HTMLElement => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, text));

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
