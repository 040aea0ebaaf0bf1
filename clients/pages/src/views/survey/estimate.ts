/** The estimate: a chart for each panel, and the switches that say how to look at it. */
import type { Picture } from "../../parts/api_types.js";
import { bars } from "../../charts/bars.js";
import { heatmap } from "../../charts/heatmap.js";
import { lines } from "../../charts/lines.js";
import { ranges } from "../../charts/ranges.js";
import type { Chart } from "../../charts/stage.js";
import { captioned, captionOf, fileName, saveSvg } from "../../charts/svg_export.js";
import { el, fill } from "../../parts/dom.js";
import { count, counted } from "../../parts/format.js";
import { drawn, panelsOf, titleOf, type Choice, type DrawnChart, type PicturePanel } from "./picture.js";
import { figuresView } from "./figures.js";
import { AT_ONCE, chooserOf } from "./chooser.js";
import { switchOf } from "../shared/switch.js";
import { factsOf } from "../../questions/kinds.js";
import { listWords } from "./words_told.js";

interface ShownPanel {
  note: HTMLElement;
  chart: Chart<never>;
  section: HTMLElement;
}

export interface EstimateView {
  element: HTMLElement;
  choice: Choice;
  update(picture: Picture): void;
}

/** `onLevel` is called when another level is wanted: the intervals have to be asked for again. */
export function estimateView(onLevel: () => void): EstimateView {
  const choice: Choice = { order: "value", show: "projected", level: 0.95 };
  let picture: Picture | null = null;
  let shape = "";
  let most = AT_ONCE;
  let charts: ShownPanel[] = [];

  const order = switchOf("Order", { value: "By size", domain: "As listed" }, choice.order, (order) => {
    choice.order = order;
    draw();
  });
  const show = switchOf("Estimate", { projected: "Projected", raw: "Raw", both: "Both" }, choice.show, (show) => {
    choice.show = show;
    draw();
  });
  const level = switchOf("Intervals", { "0.9": "90 %", "0.95": "95 %", "0.99": "99 %" }, "0.95", (level) => {
    choice.level = Number(level);
    onLevel();
  });
  const chooser = chooserOf(() => draw());
  const figures = figuresView();
  const said = el("p", { class: "quiet estimate-said" }, "Reading the estimate…");
  const panels = el("div", { class: "panels" });
  const rest = el("button", { type: "button", class: "plain", hidden: true, onclick: () => showMore() });
  const switches = el("div", { class: "switches" }, order, show, level);
  const head = el("div", { class: "estimate-head" }, el("h2", { id: "estimate" }, "Estimate"), switches);
  const element = el("section", { class: "card estimate", "aria-labelledby": "estimate" }, head, said, figures.element, chooser.element, panels, rest);

  function update(next: Picture): void {
    picture = next;
    draw();
  }

  function showMore(): void {
    most += AT_ONCE;
    draw();
    charts.at(-1)?.section.scrollIntoView({ block: "nearest" });
  }

  function draw(): void {
    if (picture === null) return;
    const all = panelsOf(picture);
    const found = chooser.shown(all, most);
    const next = JSON.stringify(found.map((panel) => shapeOf(panel)));
    if (next === shape) charts.forEach(({ chart }, at) => chart.update(drawn(picture as Picture, found[at] as PicturePanel, choice).spec as never));
    else rebuild(found, picture);
    shape = next;
    charts.forEach(({ note }, at) => fill(note, noteOf(found[at] as PicturePanel)));
    order.hidden = !found.some(({ view }) => view === "bars");
    const left = chooser.left(all, most);
    rest.hidden = left === 0;
    if (left > 0) fill(rest, `Show ${count(Math.min(left, AT_ONCE))} more of ${counted(left, "picture")}`);
    show.hidden = found.length === 0;
    figures.update(picture);
    fill(said, summary(picture));
  }

  function rebuild(found: PicturePanel[], now: Picture): void {
    for (const { chart } of charts) chart.destroy();
    const made = found.map((panel) => section(panel, now));
    fill(panels, ...made.map(({ section }) => section));
    // A chart measures the place it is given, which must be on the page by then.
    charts = made.map(({ section, host, note, panel }) => ({ section, note, chart: chartOf(host, drawn(now, panel, choice)) }));
  }

  function section(panel: PicturePanel, { title }: Picture): { section: HTMLElement; host: HTMLElement; note: HTMLElement; panel: PicturePanel } {
    const [host, note] = [el("div"), el("p", { class: "quiet panel-note" })];
    const save = el("button", { type: "button", class: "plain small", "aria-label": `Save as SVG: ${panel.title}`, onclick: () => saved() }, "SVG");
    const name = panel.view === "words" && !panel.certain ? "panel doubtful" : "panel";
    const made = el("section", { class: name }, el("div", { class: "panel-head" }, el("h3", {}, titleOf(panel)), save), note, host);
    const saved = (): void => {
      const shown = charts.find(({ section }) => section === made);
      if (!shown || picture === null) return;
      const heading = [title, titleOf(panel)].filter((part) => part !== "").join(" · ");
      const caption = captionOf(picture.n_reports, picture, picture.level);
      saveSvg(captioned(shown.chart.toSvg(), heading, caption), fileName([title || "survey", panel.title], "svg"));
    };
    return { section: made, host, note, panel };
  }

  return { element, choice, update };
}

/** What two pictures have in common that one chart can show one after the other: of words there may be more and more. */
const shapeOf = (panel: PicturePanel): unknown[] =>
  panel.view === "words" ? [panel.view, panel.title] : [panel.view, panel.title, panel.start, panel.stop];

const noteOf = (panel: PicturePanel): string => (panel.view === "words" ? panel.note : "");

function chartOf(host: HTMLElement, told: DrawnChart): Chart<never> {
  switch (told.chart) {
    case "bars":
      return bars(host, told.spec);
    case "lines":
      return lines(host, told.spec);
    case "heatmap":
      return heatmap(host, told.spec);
    case "ranges":
      return ranges(host, told.spec);
  }
}

function summary({ kind, answers, positions, labels, certain, n_reports: reports }: Picture): string {
  if (certain !== null) return `From ${counted(reports, "report")}. ${listWords(certain)}`;
  const { note } = factsOf(kind);
  const from = `From ${counted(reports, "report")}.${note === undefined ? "" : ` ${note}`}`;
  if (positions === null) return from;
  const which = positions.at(-1) === positions.length - 1 ? "first" : "largest";
  return `${from} The ${count(labels.length)} ${which} of ${count(answers)} answers are drawn; the exports hold all.`;
}
