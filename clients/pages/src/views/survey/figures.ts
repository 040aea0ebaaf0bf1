/** Figures of a number, such as its mean: each in large letters, with its interval on the scale it can lie on. */
import type { Picture } from "../../parts/api_types.js";
import { el, fill, svg } from "../../parts/dom.js";
import { figure, percent } from "../../parts/format.js";
import { capital } from "../../parts/trouble.js";

export type Figure = Picture["figures"][number];

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
export function figuresView(): { element: HTMLElement; update(picture: Picture): void } {
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
