/** Works out the picture of one report, without keeping the page waiting, and lets people try other answers. */
import type { Explanation } from "../../../js/src/explain.js";
import type { Survey } from "../../../js/src/index.js";
import { el, fill } from "../parts/dom.js";
import type { Examples, Kind } from "./kinds/kind.js";
import { kindOf } from "./kinds/registry.js";
import { rows, stripes, table } from "./picture.js";
import { type Bar, Measured, sentence, summary } from "./shares.js";

/** Milliseconds of work after which the page is let go on, and after which single answers are given up. */
const SLICE = 40;
const MOST = 4000;

/** Bars that are drawn together. */
interface BarGroup extends Pick<Examples, "view" | "about"> {
  readonly bars: readonly Bar[];
}

/** The picture of a report, filled in once it is worked out; `mine` is the person's answer, null where unknown. */
export function likelihood(survey: Survey, payload: Uint8Array, found: Explanation, mine: unknown): HTMLElement {
  const host = el("div", { class: "picture" }, el("p", { class: "quiet" }, "Working it out …"));
  const missing = () => fill(host, el("p", { class: "quiet" }, "The picture cannot be worked out. The report stands."));
  new ReportPicture(survey, payload, found, mine).into(host).catch(missing);
  return host;
}

class ReportPicture {
  readonly #measured: Measured;
  readonly #kind: Kind;

  constructor(
    readonly survey: Survey,
    readonly payload: Uint8Array,
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
    const examples = this.#kind.examples(this.payload, this.found, this.mine);
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
