/** The estimate: a chart for each panel, and the switches that say how to look at it. */
import { bars } from "../../charts/bars.js";
import { heatmap } from "../../charts/heatmap.js";
import { lines } from "../../charts/lines.js";
import { ranges } from "../../charts/ranges.js";
import type { Chart } from "../../charts/stage.js";
import { captioned, captionOf, fileName, saveSvg } from "../../charts/svg_export.js";
import type { Picture } from "../../parts/api_types.js";
import { el, fill, svg } from "../../parts/dom.js";
import { count, counted, figure, percent } from "../../parts/format.js";
import { capital } from "../../parts/trouble.js";
import { factsOf } from "../../questions/kinds.js";
import { switchOf } from "../shared/switch.js";
import { looksSwitch, looksWords } from "../shared/looks.js";
import { type Choice, drawn, type DrawnChart, panelsOf, type PicturePanel, titleOf } from "./picture.js";
import { listWords } from "./words_told.js";

interface ShownPanel {
  note: HTMLElement;
  chart: Chart<never>;
  section: HTMLElement;
}

interface EstimateView {
  element: HTMLElement;
  choice: Choice;
  update(picture: Picture): void;
}

/** `onIntervals` is called when other intervals are wanted: they have to be asked for. */
export function estimateView(onIntervals: () => void): EstimateView {
  const choice: Choice = { order: "value", show: "projected", level: 0.95, looks: "open" };
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
    onIntervals();
  });
  const looks = looksSwitch((looks) => {
    choice.looks = looks;
    onIntervals();
  });
  const chooser = chooserOf(() => draw());
  const figures = figuresView();
  const said = el("p", { class: "quiet estimate-said" }, "Reading the estimate…");
  const panels = el("div", { class: "panels" });
  const rest = el("button", { type: "button", class: "plain", hidden: true, onclick: () => showMore() });
  const held = el("p", { class: "quiet estimate-said looks", hidden: true });
  const switches = el("div", { class: "switches" }, order, show, looks, level);
  const head = el("div", { class: "estimate-head" }, el("h2", { id: "estimate" }, "Estimate"), switches);
  const element = el("section", { class: "card estimate", "aria-labelledby": "estimate" }, head, said, held, figures.element, chooser.element, panels, rest);

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
    const words = looksWords(picture.always, choice.looks, picture.level);
    looks.hidden = held.hidden = words === null;
    fill(held, words ?? "");
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
      const caption = captionOf(picture.n_reports, picture, picture.level, picture.always);
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

// Which of many pictures is looked at: the first few, or one by its name.

/** Up to so many pictures stand below each other. */
const AT_ONCE = 6;

interface Chooser {
  element: HTMLElement;
  /** The pictures to draw out of these; at most so many where none is chosen. */
  shown(panels: PicturePanel[], most: number): PicturePanel[];
  /** How many are left to be shown by a button. */
  left(panels: PicturePanel[], most: number): number;
}

/** `onChoose` is called when another one is chosen. */
function chooserOf(onChoose: () => void): Chooser {
  const select = el("select", { id: "choose-picture", onchange: onChoose });
  const element = el("p", { class: "choose-picture", hidden: true }, el("label", { for: select.id }, "Picture"), select);
  let names = "";

  function offer(panels: PicturePanel[]): void {
    const titles = panels.map(titleOf);
    element.hidden = panels.length <= AT_ONCE;
    if (titles.join("\n") === names) return;
    names = titles.join("\n");
    const first = el("option", { value: "" }, "one after the other");
    fill(select, first, ...titles.map((title, at) => el("option", { value: at }, title)));
  }

  return {
    element,
    shown(panels, most) {
      offer(panels);
      return select.value === "" ? panels.slice(0, most) : panels.slice(Number(select.value), Number(select.value) + 1);
    },
    left: (panels, most) => (select.value === "" ? Math.max(0, panels.length - most) : 0),
  };
}

// Figures of a number, such as its mean: each in large letters, with its interval on the scale it can lie on.

type Figure = Picture["figures"][number];

/** A place on a scale as a share of its length, however far outside it lies. */
export function placeOf(value: number, { least, most }: Pick<Figure, "least" | "most">): number {
  return Math.min(Math.max((value - least) / (most - least), 0), 1);
}

/** A number to as many digits as its interval tells, and two more at least. */
export function written(value: number, { low, high }: Pick<Figure, "low" | "high">): string {
  const width = high - low;
  if (!(width > 0) || !Number.isFinite(width)) return figure(value);
  const decimals = Math.min(Math.max(1 - Math.floor(Math.log10(width)), 0), 12);
  return value.toFixed(decimals).replace("-", "−");
}

/** Shows what a picture says of a number; hidden where that is nothing. */
function figuresView(): { element: HTMLElement; update(picture: Picture): void } {
  const element = el("dl", { class: "figures-list", hidden: true });
  return {
    element,
    update({ figures, level }) {
      element.hidden = figures.length === 0;
      fill(element, ...figures.map((one) => row(one, level)));
    },
  };
}

function row(one: Figure, level: number): HTMLElement {
  const unit = one.unit === "" ? "" : `\u00a0${one.unit}`;
  const between = `${percent(level)} interval: ${written(one.low, one)} to ${written(one.high, one)}${unit}`;
  return el(
    "div",
    {},
    el("dt", {}, capital(one.name)),
    el("dd", {}, el("strong", { class: "figures" }, `${written(one.value, one)}${unit}`), el("span", { class: "quiet" }, between)),
    scale(one),
  );
}

/** From the least to the most that it can be: the interval as a band, the value as a mark on it. */
function scale(one: Figure): HTMLElement {
  const at = (value: number): string => `${(100 * placeOf(value, one)).toFixed(2)}%`;
  const wide = `${(100 * (placeOf(one.high, one) - placeOf(one.low, one))).toFixed(2)}%`;
  return el(
    "dd",
    { class: "scale", "aria-hidden": "true" },
    svg(
      "svg",
      { height: 18 },
      svg("line", { class: "line", x1: 0, x2: "100%", y1: 9, y2: 9 }),
      svg("rect", { class: "band", x: at(one.low), width: wide, y: 3, height: 12, rx: 3 }),
      svg("line", { class: "mark", x1: at(one.value), x2: at(one.value), y1: 0, y2: 18 }),
    ),
    el("p", { class: "ends quiet" }, el("span", {}, figure(one.least)), el("span", {}, figure(one.most))),
  );
}
