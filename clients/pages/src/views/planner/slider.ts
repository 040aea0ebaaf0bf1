/** A slider over round numbers with a field beside it for any other, and what the number means in words below. */
import { el, fill } from "../../parts/dom.js";
import { nearest, numberOf, stops } from "./scale.js";

export interface SliderSpec {
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
