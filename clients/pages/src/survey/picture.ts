/** The picture of a report: how likely the very same bytes would have been from other answers, against e^epsilon. */
import { el, svg } from "../parts/dom.js";
import type { Bar } from "./shares.js";
import { times } from "./words.js";

/** Room beyond the upper line, as a share of the width. */
const ROOM = 1.06;

const share = (part: number): string => `${(100 * part).toFixed(3)}%`;

/** Bars with a name each, and two lines: the least likely answer, and e^epsilon times that. */
export function rows(bars: readonly Bar[], limit: number): HTMLElement {
  const at = (value: number) => share(value / (limit * ROOM));
  const lines = () => [1, limit].map((x) => svg("line", { class: "bound", x1: at(x), x2: at(x), y1: 0, y2: "100%" }));
  const row = ({ label, times: height, mine }: Bar): HTMLElement =>
    el(
      "li",
      { class: mine ? "mine" : "" },
      el("span", { class: "label" }, el("bdi", {}, label), mine && el("b", { class: "flag" }, "your answer")),
      track(svg("rect", { y: "50%", width: at(height), height: 22, rx: 3 }), ...lines()),
      el("span", { class: "figures times" }, `${times(height)}×`),
    );
  const axis = el(
    "div",
    { class: "axis", "aria-hidden": "true" },
    el("span"),
    track(
      svg("text", { x: at(1), y: "75%", "text-anchor": limit < 1.6 ? "end" : "middle" }, "least"),
      svg("text", { x: at(limit), y: "75%", "text-anchor": limit < 1.25 ? "start" : "middle" }, `${times(limit)}×`),
    ),
    el("span"),
  );
  return el("div", { class: "rows" }, axis, el("ul", {}, ...bars.map(row)));
}

const track = (...parts: SVGElement[]): HTMLElement =>
  el("span", { class: "track" }, svg("svg", { "aria-hidden": "true" }, ...parts));

/** Thin bars side by side in the domain's order. */
export function stripes(bars: readonly Bar[], limit: number, told: string): HTMLElement {
  const height = 180;
  const top = (value: number) => height * (1 - value / (limit * ROOM));
  const width = 1 / bars.length;
  const gap = bars.length <= 120 ? 0.15 : 0;
  const picture = svg(
    "svg",
    { class: "stripes", height, role: "img", "aria-label": told },
    ...runs(bars, gap === 0).map(({ first, length, bar }) =>
      svg("rect", {
        class: bar.mine ? "mine" : null,
        x: share((first + gap / 2) * width),
        width: share((length - gap) * width),
        y: top(bar.times),
        height: height - top(bar.times),
      }),
    ),
    ...[1, limit].map((y) => svg("line", { class: "bound", x1: 0, x2: "100%", y1: top(y), y2: top(y) })),
  );
  const mine = bars.findIndex((bar) => bar.mine);
  const marker =
    mine >= 0 &&
    svg("svg", { class: "marker", height: 14, "aria-hidden": "true" }, marked((mine + 0.5) * width));
  return el(
    "div",
    { class: "stripe-box" },
    el("p", { class: "small quiet" }, `Lines: the least it can be, and ${times(limit)} times that, the promise.`),
    picture,
    marker,
    el("p", { class: "ends small quiet" }, el("span", {}, bars[0]!.label), el("span", {}, bars.at(-1)!.label)),
    mine >= 0 && el("p", { class: "small mine-name" }, "▲ your answer: ", bars[mine]!.label),
  );
}

/** Bars that are too thin to be told apart go together where they are equally high. The own one comes last, on top. */
export function runs(bars: readonly Bar[], isTogether: boolean): { first: number; length: number; bar: Bar }[] {
  const found: { first: number; length: number; bar: Bar }[] = [];
  for (const [i, bar] of bars.entries()) {
    const last = found.at(-1);
    if (isTogether && last && !bar.mine && !last.bar.mine && last.bar.times === bar.times) last.length += 1;
    else found.push({ first: i, length: 1, bar });
  }
  return found.sort((a, b) => Number(a.bar.mine) - Number(b.bar.mine));
}

const marked = (x: number): SVGElement =>
  svg("svg", { x: share(x), overflow: "visible" }, svg("path", { class: "mine", d: "M-6 13 L0 2 L6 13 Z" }));

/** The figures behind the picture. */
export function table(bars: readonly Bar[], first: string): HTMLElement {
  const hasProbabilities = bars.every((bar) => bar.probability !== "");
  const names = [first, "times the least", ...(hasProbabilities ? ["probability"] : [])];
  const heads = names.map((name) => el("th", { scope: "col" }, name));
  return el(
    "details",
    {},
    el("summary", {}, "The figures"),
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "The figures" },
      el(
        "table",
        { class: "figures" },
        el("thead", {}, el("tr", {}, ...heads)),
        el(
          "tbody",
          {},
          ...bars.map((bar) =>
            el(
              "tr",
              { class: bar.mine ? "mine" : null },
              el("th", { scope: "row" }, el("bdi", {}, bar.label), bar.mine && " (your answer)"),
              el("td", {}, times(bar.times)),
              hasProbabilities && el("td", {}, bar.probability),
            ),
          ),
        ),
      ),
    ),
  );
}
