/** Works out the picture of one report, without keeping the page waiting, and lets people try other answers. */
import type { Explanation } from "../../../js/src/explain.js";
import type { Survey } from "../../../js/src/index.js";
import { el, fill } from "../parts/dom.js";
import { fieldOf } from "./fields.js";
import { rows, stripes, table } from "./picture.js";
import { type Bar, Measured, sentence, summary, viewFor } from "./shares.js";
import { labelAt, valueAt } from "./values.js";

/** Milliseconds of work after which the page is let go on, and after which single answers are given up. */
const SLICE = 40;
const MOST = 4000;

/** The picture of a report, filled in once it is worked out; `mine` is the person's answer, null where unknown. */
export function likelihood(survey: Survey, found: Explanation, mine: unknown): HTMLElement {
  const host = el("div", { class: "picture" }, el("p", { class: "quiet" }, "Working it out …"));
  const missing = () => fill(host, el("p", { class: "quiet" }, "The picture cannot be worked out. The report stands."));
  new Picture(survey, found, mine).into(host).catch(missing);
  return host;
}

class Picture {
  readonly #measured: Measured;

  constructor(
    readonly survey: Survey,
    readonly found: Explanation,
    readonly mine: unknown,
  ) {
    this.#measured = new Measured(found, survey.domain);
  }

  async into(host: HTMLElement): Promise<void> {
    const { survey, found } = this;
    const limit = Math.exp(survey.epsilon);
    const told = summary(found.ratio, survey.epsilon);
    const hasGroups = found.groups !== undefined;
    let view = viewFor(survey.domain?.size ?? null, hasGroups);
    const single = view === "rows" || view === "stripes" ? await this.#each() : null;
    if (single === null) view = viewFor(null, hasGroups);
    const bars = single ?? (view === "groups" ? this.#measured.groups(this.#own()) : this.#ends());
    fill(
      host,
      el("p", {}, told),
      view === "stripes" ? stripes(bars, limit, told) : rows(bars, limit),
      table(bars, view === "groups" ? "answers" : "answer"),
      view !== "rows" && this.#another(view !== "stripes"),
    );
  }

  #own(): number | null {
    return this.mine === null ? null : this.#measured.times(this.mine);
  }

  /** A bar for every answer; null if that takes too long. */
  async #each(): Promise<Bar[] | null> {
    const domain = this.survey.domain!;
    const own = this.mine === null ? -1n : domain.find(this.mine);
    const bars: Bar[] = [];
    const start = performance.now();
    let slice = start;
    for (let i = 0n; i < domain.size; i++) {
      const now = performance.now();
      if (now - start > MOST) return null;
      if (now - slice > SLICE) {
        await new Promise((resolve) => setTimeout(resolve));
        slice = performance.now();
      }
      bars.push(this.#bar(labelAt(domain, i), valueAt(domain, i), i === own));
    }
    return bars;
  }

  #bar(label: string, value: unknown, mine: boolean): Bar {
    return this.#measured.bar(label, this.#measured.times(value), mine);
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
    const field = fieldOf(this.survey, "Another answer", "another");
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
