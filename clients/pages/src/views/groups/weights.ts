/** The switch for weights: answers of a population whose shares are known, beside those that were given. */
import { clusters } from "../../charts/clusters.js";
import { captionOf } from "../../charts/svg_export.js";
import type { Picture, Status, WeightedBody } from "../../parts/api_types.js";
import { ask } from "../../parts/api.js";
import { el, fill } from "../../parts/dom.js";
import { count, counted, figure, percent, plain } from "../../parts/format.js";
import { inWords, sentence } from "../../parts/trouble.js";
import { Refetch } from "../../parts/refetch.js";
import { factsOf } from "../../questions/kinds.js";
import { switchOf } from "../shared/switch.js";
import { chartCard } from "./chart_card.js";
import { beside } from "./pictures.js";
import { type Population, readPopulation, totalOf, type TypedShares, typedPopulation } from "./population.js";
import { type AnswerUnit, effectiveWords, figuresBeside } from "./words.js";

/** Most words that are weighed. */
const WORDS = 20;

export interface WeightsView {
  element: HTMLElement;
  /** New answers, and what they are measured in: weighted ones are asked for again. */
  update(picture: Picture, measured: AnswerUnit): void;
  stop(): void;
}

export function weightsView({ id, kind, title }: Status, variables: Record<string, string[]>): WeightsView {
  const typed: TypedShares = Object.fromEntries(Object.entries(variables).map(([name, values]) => [name, Object.fromEntries(values.map((value) => [value, ""]))]));
  /** Shares of variables that are no public groups, such as private fields of a form: from a file only. */
  let others: Population = {};
  let population: Population | null = null;
  let picture: Picture | null = null;
  let measured: AnswerUnit = { share: true, unit: "" };

  const chart = chartCard(title, clusters);
  const trouble = el("div", { role: "alert" });
  const told = el("div", { role: "status" });
  const shares = el("div", { class: "shares" });
  const file = el("input", { type: "file", id: "population-file", accept: ".csv,text/csv", onchange: () => void upload() });
  const pasted = el("textarea", { id: "population-text", rows: 4, spellcheck: "false", placeholder: "variable,value,share\nage,18-39,0.4\nage,40+,0.6", oninput: () => take(pasted.value) });
  const form = el(
    "form",
    { class: "weights-form", hidden: true, novalidate: true, onsubmit: (event: Event) => weigh(event) },
    el("p", { class: "quiet" }, "The share of every value in the population, from a census or from your own accounts.", factsOf(kind).isForm ? " Private fields of the form are weighed too: name them in a file." : ""),
    shares,
    el(
      "details",
      { open: Object.keys(variables).length === 0 },
      el("summary", {}, "From a file"),
      el("label", { for: file.id }, "A CSV file with the columns variable, value and share (0 to 1)"),
      file,
      el("label", { for: pasted.id }, "or its text"),
      pasted,
    ),
    trouble,
    el("button", { type: "submit" }, "Weigh"),
  );
  const turn = switchOf("Weights", { off: "Off", on: "On" }, "off", (value) => {
    form.hidden = result.hidden = value === "off";
  });
  const result = el("div", { class: "weighted", hidden: true }, told, chart.host);
  const element = el("section", { class: "card weights", "aria-labelledby": "weights" }, el("div", { class: "panel-head" }, el("h2", { id: "weights" }, "A known population"), el("div", { class: "switches" }, turn, chart.save)), form, result);
  const asked = new Refetch<WeightedBody | null>(
    async () => (population === null || picture === null ? null : ask<WeightedBody>(`/v1/surveys/${id}/weighted`, { population, level: picture.level, ...namedAnswers(picture) })),
    (found) => {
      if (found === null || picture === null) return;
      fill(trouble);
      show(found, picture);
    },
    (error) => say(inWords(error)),
  );

  function say(what: string): void {
    fill(trouble, el("p", { class: "trouble" }, what));
  }

  function drawShares(): void {
    fill(shares, ...Object.entries(typed).map(([name, values]) => sharesOf(name, values)));
  }

  /** What a file says goes into the fields; what there is no field for is kept beside them. */
  function take(text: string): void {
    fill(trouble);
    if (text.trim() === "") return;
    const read = readPopulation(text);
    if ("wrong" in read) return say(read.wrong);
    others = {};
    for (const [name, values] of Object.entries(read.found)) {
      const own = typed[name];
      const known = own !== undefined && Object.keys(values).every((value) => value in own);
      if (!known) others[name] = values;
      else for (const value of Object.keys(own)) own[value] = value in values ? figureOf(100 * (values[value] as number)) : "";
    }
    drawShares();
    const rest = Object.keys(others);
    if (rest.length > 0) fill(told, el("p", { class: "quiet" }, `From the file, too: ${rest.map(plain).join(", ")}.`));
  }

  async function upload(): Promise<void> {
    const text = (await file.files?.[0]?.text()) ?? "";
    pasted.value = text;
    take(text);
  }

  function weigh(event: Event): void {
    event.preventDefault();
    const read = typedPopulation(typed);
    if ("wrong" in read && Object.keys(others).length === 0) return say(read.wrong);
    fill(trouble);
    population = { ...others, ...("found" in read ? read.found : {}) };
    asked.wanted();
  }

  function show(found: WeightedBody, now: Picture): void {
    const caption = `${captionOf(found.n_reports, now, found.level)} · worth ${count(Math.round(found.effective_reports))} without weights`;
    fill(
      told,
      el("p", {}, el("strong", {}, effectiveWords(found))),
      el("ul", { class: "notes" }, ...[...found.notes, "intervals of weighted answers are those of one look"].map((note) => el("li", {}, sentence(plain(note))))),
      weighedTable(found),
      el("ul", { class: "notes" }, ...figuresBeside(now, found).map((line) => el("li", { class: "figures" }, plain(line)))),
    );
    const spec = beside(now, found, measured);
    if (spec.labels.length > 0) chart.draw(spec, caption);
    else chart.clear();
  }

  drawShares();
  return {
    element,
    update(next, next_measured) {
      [picture, measured] = [next, next_measured];
      if (population !== null && !form.hidden) asked.wanted();
    },
    stop: () => asked.stop(),
  };
}

/** A form without public groups: its private fields can be weighed, and nothing else is asked for. */
export function formWeights(first: Status): { element: HTMLElement; update(picture: Picture): void; stop(): void } {
  const weights = weightsView(first, {});
  const element = el("div", { class: "groups-cards" }, weights.element);
  return { element, update: (picture) => weights.update(picture, { share: true, unit: "" }), stop: weights.stop };
}

/** Words have to be named: those that are certain. Of other questions all answers are weighed. */
const namedAnswers = ({ certain, labels }: Picture): { answers?: string[] } =>
  certain === null ? {} : { answers: labels.filter((_, at) => certain[at]).slice(0, WORDS) };

/** Fields for the values of one variable, and what they add up to. */
function sharesOf(name: string, values: Record<string, string>): HTMLElement {
  const total = el("p", { class: "quiet total figures", "aria-live": "polite" });
  const add = (): void => {
    const sum = totalOf(values);
    fill(total, sum === null ? "A share is a number of per cent." : `Together ${figure(sum)}\u00a0%${Math.abs(sum - 100) > 0.5 && sum > 0 ? "; it must be 100\u00a0%" : ""}.`);
  };
  const fields = Object.keys(values).map((value) =>
    el(
      "label",
      {},
      el("span", { dir: "auto" }, plain(value)),
      el("input", {
        type: "text",
        inputmode: "decimal",
        autocomplete: "off",
        class: "figures",
        value: values[value],
        "aria-label": `${name} ${value}, in per cent`,
        oninput: (event: Event) => {
          values[value] = (event.target as HTMLInputElement).value;
          add();
        },
      }),
      "%",
    ),
  );
  add();
  return el("fieldset", {}, el("legend", {}, plain(name)), el("div", { class: "share-fields" }, ...fields), total);
}

const figureOf = (value: number): string => String(Number(value.toPrecision(10)));

/** How much each group counts. */
function weighedTable({ groups }: WeightedBody): HTMLElement {
  const column = (text: string): HTMLElement => el("th", { scope: "col" }, text);
  const name = (values: Record<string, string>): string => plain(Object.entries(values).map(([variable, value]) => `${variable} ${value}`).join(", "));
  return el(
    "details",
    { class: "chart-table" },
    el("summary", {}, `Weights of ${counted(groups.length, "group")}`),
    el(
      "div",
      { class: "chart-table-window", tabindex: "0", role: "region", "aria-label": "Weights" },
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, ...["group", "share of the population", "reports", "each counts"].map(column))),
        el(
          "tbody",
          {},
          ...groups.map(({ group, weight, share, n_reports: n, factor }) => el("tr", {}, el("th", { scope: "row" }, name(group)), el("td", {}, percent(weight)), el("td", {}, n === null ? percent(share) : count(n)), el("td", {}, `${figure(factor)} times`))),
        ),
      ),
    ),
  );
}
