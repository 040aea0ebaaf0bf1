/** Epsilon: a number, a slider, and what it means to a person. */
import { ALLOWANCE } from "../../../../js/src/device/ledger.js";
import { surestOf, times } from "../../parts/promise.js";
import { el, fill } from "../../parts/dom.js";

/** Where the slider begins and ends; the number beside it may go beyond. */
const SOFTEST = 0.1;
const LOUDEST = 10;
const STEPS = 200;
/** Above this, devices refuse unless their owner allows more. */
const CAP = ALLOWANCE.cap;

/** The slider's place for an epsilon, and the other way round: equal steps are equal factors. */
export const placeOf = (epsilon: number): number =>
  Math.round((STEPS * Math.log(Math.min(Math.max(epsilon, SOFTEST), LOUDEST) / SOFTEST)) / Math.log(LOUDEST / SOFTEST));
export const epsilonAt = (place: number): number =>
  Number((SOFTEST * (LOUDEST / SOFTEST) ** (place / STEPS)).toPrecision(2));

/** What an epsilon means, in two sentences; nothing for anything that is not an epsilon. */
export function meaning(epsilon: number): { sentence: string; warning: string } | null {
  if (!(epsilon > 0) || !Number.isFinite(epsilon)) return null;
  const sure = surestOf(epsilon).replace(" %", "\u00a0%");
  return {
    sentence:
      `Whatever somebody sends, it is at most ${times(Math.exp(epsilon))} times as likely with one true answer as with another. ` +
      `A guess between two answers that was right half of the time is right ${sure.startsWith("more") ? "" : "at most "}` +
      `${sure} of the time once the report is known.`,
    warning:
      epsilon > CAP
        ? `The survey’s own page will refuse an epsilon above ${CAP}, and so will devices unless their owner allows more.`
        : "",
  };
}

/** The field's controls; `text` is what was typed, `onChange` hears of every change. */
export function epsilonControls(
  text: string,
  onChange: (text: string) => void,
): { number: HTMLInputElement; rest: HTMLElement } {
  const said = el("p", { class: "epsilon-words", "aria-live": "polite" });
  const number = el("input", {
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    value: text,
    class: "figures",
    oninput: () => typed(),
  });
  const slider = el("input", {
    type: "range",
    min: 0,
    max: STEPS,
    step: 1,
    "aria-label": "Epsilon, by slider",
    oninput: () => slid(),
  });

  function show(): void {
    const told = meaning(Number(number.value.replace(",", ".")));
    slider.setAttribute("aria-valuetext", number.value);
    fill(said, told?.sentence, told !== null && told.warning !== "" && el("strong", {}, ` ${told.warning}`));
  }
  function typed(): void {
    // Only here: a slider that is set while it is slid would be held fast by the rounding.
    slider.value = String(placeOf(Number(number.value.replace(",", ".")) || SOFTEST));
    show();
    onChange(number.value);
  }
  function slid(): void {
    number.value = String(epsilonAt(Number(slider.value)));
    show();
    onChange(number.value);
  }

  slider.value = String(placeOf(Number(text) || SOFTEST));
  show();
  const ends = el(
    "div",
    { class: "epsilon-ends quiet", "aria-hidden": "true" },
    el("span", {}, "softer, needs more people"),
    el("span", {}, "louder, needs fewer"),
  );
  return { number, rest: el("div", { class: "epsilon-rest" }, slider, ends, said) };
}
