/** Works out the picture of one report, without keeping the page waiting, and lets people try other answers. */
import type { Explanation } from "../../../js/src/explain.js";
import type { Survey } from "../../../js/src/index.js";
import { el, fill, svg } from "../parts/dom.js";
import type { Examples, Kind } from "./kinds/kind.js";
import { kindOf } from "./kinds/registry.js";
import { type Bar, Measured, sentence, summary } from "./shares.js";
import { times } from "./words.js";

/** Milliseconds of work after which the page is let go on, and after which single answers are given up. */
const SLICE = 40;
const MOST = 4000;

/** Bars that are drawn together. */
interface BarGroup extends Pick<Examples, "view" | "about"> {
  readonly bars: readonly Bar[];
}

/** The picture of a report, filled in once it is worked out; `mine` is the person's answer, null where unknown. */
export function likelihood(survey: Survey, found: Explanation, mine: unknown): HTMLElement {
  const host = el("div", { class: "picture" }, el("p", { class: "quiet" }, "Working it out …"));
  const missing = () => fill(host, el("p", { class: "quiet" }, "The picture cannot be worked out. The report stands."));
  new ReportPicture(survey, found, mine).into(host).catch(missing);
  return host;
}

class ReportPicture {
  readonly #measured: Measured;
  readonly #kind: Kind;

  constructor(
    readonly survey: Survey,
    readonly found: Explanation,
    readonly mine: unknown,
  ) {
    this.#measured = new Measured(found);
    this.#kind = kindOf(survey);
  }

  async into(host: HTMLElement): Promise<void> {
    const { survey, found } = this;
    const limit = Math.exp(survey.epsilon);
    const told = summary(found.ratio, survey.epsilon);
    const single = await this.#single();
    const parts = single ?? [{ view: "rows" as const, about: "", bars: found.groups ? this.#groups() : this.#ends() }];
    const isListed = single !== null && this.#kind.size !== null && parts[0]!.view === "rows";
    fill(
      host,
      el("p", {}, told),
      ...parts.flatMap(({ view, about, bars }) => [
        about !== "" && el("p", { class: "about" }, about),
        view === "stripes" ? stripes(bars, limit, told) : rows(bars, limit),
      ]),
      table(parts.flatMap(({ bars }) => bars), single === null && found.groups ? "answers" : "answer"),
      !isListed && this.#another(single === null),
    );
  }

  /** Bars of single answers; null where they are too many, or take too long. */
  async #single(): Promise<BarGroup[] | null> {
    const examples = this.#kind.examples(this.found, this.mine);
    const start = performance.now();
    let slice = start;
    const parts: BarGroup[] = [];
    for (const { view, about, size, own, label, value } of examples) {
      const bars: Bar[] = [];
      for (let i = 0; i < size; i++) {
        const now = performance.now();
        if (now - start > MOST) return null;
        if (now - slice > SLICE) {
          await new Promise((resolve) => setTimeout(resolve));
          slice = performance.now();
        }
        bars.push(this.#bar(label(i), value(i), i === own));
      }
      parts.push({ view, about, bars });
    }
    return parts.length > 0 ? parts : null;
  }

  #bar(label: string, value: unknown, mine: boolean): Bar {
    return this.#measured.bar(label, this.#measured.times(value), mine);
  }

  #groups(): Bar[] {
    return this.#measured.groups(this.mine === null ? null : this.#measured.times(this.mine));
  }

  /** Where answers cannot be counted: those that make it likeliest, the person's own, and the least likely. */
  #ends(): Bar[] {
    return [
      this.#measured.bar("answers that make it likeliest", this.found.ratio),
      ...(this.mine === null ? [] : [this.#bar("yours", this.mine, true)]),
      this.#measured.bar("those that make it least likely", 1),
    ];
  }

  /** A field to try any answer against the report that was drawn; nothing leaves, and nothing is drawn. */
  #another(isOpen: boolean): HTMLElement {
    const field = this.#kind.field("Another answer", "another");
    const told = el("p", { role: "status", class: "tried" });
    const tell = (): void => {
      const value = field.read();
      if (value === null) return fill(told);
      fill(told, sentence(this.#bar("", value, false)));
    };
    const stay = (event: Event) => event.preventDefault();
    const form = el("form", { autocomplete: "off", oninput: tell, onsubmit: stay }, field.element, told);
    return el("details", { class: "another", open: isOpen }, el("summary", {}, "And from another answer?"), form);
  }
}

// The picture of a report: how likely the very same bytes would have been from other answers, against e^epsilon.

/** Room beyond the upper line, as a share of the width. */
const ROOM = 1.06;

const share = (part: number): string => `${(100 * part).toFixed(3)}%`;

/** Bars with a name each, and two lines: the least likely answer, and e^epsilon times that. */
function rows(bars: readonly Bar[], limit: number): HTMLElement {
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
function stripes(bars: readonly Bar[], limit: number, told: string): HTMLElement {
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
function table(bars: readonly Bar[], first: string): HTMLElement {
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
