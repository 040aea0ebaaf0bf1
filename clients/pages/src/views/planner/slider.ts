/** A slider over round numbers with a field beside it for any other, and what the number means in words below. */
import { el, fill } from "../../parts/dom.js";

interface SliderSpec {
  id: string;
  label: string;
  /** From where to where it slides. */
  ends: [number, number];
  /** What may be typed: as much, or more. */
  allowed: [number, number];
  whole: boolean;
  text: (value: number) => string;
  words: (value: number) => string;
  changed: (value: number) => void;
}

export interface Slider {
  host: HTMLElement;
  /** Where any number can be typed. */
  field: HTMLInputElement;
  set(value: number): void;
  /** From where to where it slides from now on. */
  stretch(ends: [number, number]): void;
  /** Worked out by the planner and shown; not for setting. */
  lock(locked: boolean): void;
}

export function slider(spec: SliderSpec): Slider {
  let all = stops(...spec.ends, spec.whole);
  let shown = NaN;
  const range = el("input", { id: spec.id, type: "range", min: 0, max: all.length - 1, step: 1, oninput: () => slid() });
  const field = el("input", {
    type: "text", inputmode: "decimal", autocomplete: "off", class: "figures", "aria-label": `${spec.label}, as a number`,
    onchange: () => typed(), onkeydown: (event: KeyboardEvent) => nudge(event),
  });
  const badge = el("span", { class: "badge", hidden: true }, "worked out");
  const words = el("p", { class: "quiet words", id: `${spec.id}-words` });
  range.setAttribute("aria-describedby", words.id);
  const host = el("div", { class: "slider" }, el("label", { for: spec.id }, spec.label, " ", badge), field, range, words);

  function slid(): void {
    set(all[Number(range.value)]!);
    spec.changed(shown);
  }

  function typed(): void {
    const found = numberOf(field.value);
    const value = found === null || !spec.whole ? found : Math.round(found);
    const wrong = value === null || value < spec.allowed[0] || value > spec.allowed[1];
    field.setAttribute("aria-invalid", String(wrong));
    if (wrong) return void fill(words, `a number from ${spec.text(spec.allowed[0])} to ${spec.text(spec.allowed[1])}`);
    set(value);
    spec.changed(value);
  }

  /** Up and down in the field go to the next round number, as on the slider. */
  function nudge(event: KeyboardEvent): void {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (step === undefined || field.readOnly) return;
    event.preventDefault();
    const at = Math.min(all.length - 1, Math.max(0, nearest(all, shown) + step));
    set(all[at]!);
    spec.changed(shown);
  }

  function set(value: number): void {
    shown = value;
    range.value = String(nearest(all, value));
    paint();
    range.setAttribute("aria-valuetext", `${spec.text(value)}: ${spec.words(value)}`);
    field.value = spec.text(value);
    field.removeAttribute("aria-invalid");
    fill(words, spec.words(value));
  }

  /** How far along it is, for the part of the track that is filled. */
  function paint(): void {
    range.style.setProperty("--at", `${(100 * Number(range.value)) / Math.max(1, all.length - 1)}%`);
  }

  return {
    host,
    field,
    set,
    stretch(ends) {
      all = stops(...ends, spec.whole);
      range.max = String(all.length - 1);
      if (shown > 0) set(shown);
    },
    lock(locked) {
      range.disabled = locked;
      field.readOnly = locked;
      badge.hidden = !locked;
      host.classList.toggle("locked", locked);
    },
  };
}

// A slider's stops: round numbers, about evenly spread by ratio, so that every key press is a step that one sees.

const MANTISSAS = [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.5, 2.8, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9];

/** Round numbers from `least` to `most`, both among them. */
export function stops(least: number, most: number, whole: boolean): number[] {
  const found = new Set<number>([least, most]);
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); power += 1) {
    for (const mantissa of MANTISSAS) {
      const value = Number((mantissa * 10 ** power).toPrecision(2));
      if (value > least && value < most && (!whole || Number.isInteger(value))) found.add(value);
    }
  }
  return [...found].sort((a, b) => a - b);
}

/** The stop nearest to a value, by ratio. */
export function nearest(all: number[], value: number): number {
  const far = (at: number): number => Math.abs(Math.log(all[at]! / value));
  let best = 0;
  for (let at = 1; at < all.length; at += 1) if (far(at) < far(best)) best = at;
  return best;
}

const UNITS: Record<string, number> = { "": 1, k: 1e3, m: 1e6, b: 1e9 };

/** A number as people write it: 1,000,000 or 1_000_000 or 1e6 or 1M or 1 × 10⁶; null for anything else. */
export function numberOf(text: string): number | null {
  const plain = text.replace(/[\s,_\u202f]/gu, "").replace(/×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)$/u, (_, power: string) => `e${lowered(power)}`);
  const found = /^(\d*\.?\d+(?:e[+-]?\d+)?|\d+\.)([kmb]?)$/iu.exec(plain);
  if (found === null) return null;
  const value = Number(found[1]) * UNITS[found[2]!.toLowerCase()]!;
  return Number.isFinite(value) ? value : null;
}

/** "⁻⁷" as "-7". */
const lowered = (power: string): string =>
  power.replace(/./gu, (sign) => (sign === "⁻" ? "-" : String("⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(sign))));
