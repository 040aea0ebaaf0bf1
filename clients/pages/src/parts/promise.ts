/** What a survey promises each person, in the words that all pages, captions and files share. */
import type { CentralGuarantee } from "./api_types.js";
import { el } from "./dom.js";
import { count, figure, power, setting } from "./format.js";

export interface Promised {
  readonly epsilon: number;
  /** What the promise leaves out: 0 for all mechanisms but Gaussian noise. */
  readonly delta: number;
}

/** "ε = 1", and delta wherever there is one: without it the promise would say more than holds. */
export const promised = ({ epsilon, delta }: Promised): string =>
  `ε = ${setting(epsilon)}${delta === 0 ? "" : `, δ = ${power(atMost(delta))}`}`;

/** The promise in a sentence: of every report, or where there is a delta of every set of them. */
export function likelier({ epsilon, delta }: Promised): string {
  const factor = times(Math.exp(epsilon));
  if (delta === 0) return `No report is more than ${factor} times likelier from one answer than from any other.`;
  return `For every set of reports, its probability with one answer is at most ${factor} times that with any other, plus ${power(atMost(delta))}.`;
}

// Figures that are promised as "at most": rounded up, because what is said never promises more than holds.

/** A number rounded up to three digits. */
export function atMost(value: number): number {
  if (!Number.isFinite(value) || value <= 0) return value;
  const step = 10 ** (Math.floor(Math.log10(value)) - 2);
  return Number((Math.ceil(value / step - 1e-9) * step).toPrecision(3));
}

/** A number rounded down to three digits: for what is said to be at least that. */
function atLeast(value: number): number {
  if (!Number.isFinite(value) || value <= 0) return value;
  const step = 10 ** (Math.floor(Math.log10(value)) - 2);
  return Number((Math.floor(value / step + 1e-9) * step).toPrecision(3));
}

/** "2.72", "1,100": how many times likelier, rounded up. */
export function times(ratio: number): string {
  const most = atMost(ratio);
  return most >= 1000 && most < 1e7 ? count(most) : figure(most);
}

/** What somebody who takes two answers for equally likely can believe of one of them afterwards, at most. */
export function surestOf(epsilon: number): string {
  const share = 1 / (1 + Math.exp(-epsilon));
  const digits = share > 0.999 ? 3 : share > 0.99 ? 2 : 1;
  const up = Math.ceil(share * 100 * 10 ** digits - 1e-9) / 10 ** digits;
  return up >= 100 ? "more than 99.999 %" : `${up} %`;
}

// Both guarantees of a survey whose reports go through a relay, each with what it rests on.

/** "ε = 4 on the device, ε = 0.0851, δ = 10⁻⁶ in a batch"; without a relay what holds of one report. */
export const promisedBoth = (survey: Promised & { readonly central?: CentralGuarantee | null }): string =>
  survey.central ? `${promised(survey)} on the device; ${inBatch(survey.central)} in a batch` : promised(survey);

/** The central guarantee in figures, rounded up. */
const inBatch = ({ epsilon, delta }: CentralGuarantee): string => promised({ epsilon: atMost(epsilon), delta });

/** Whose guarantee, its figures, and what it rests on; the local one first, which needs nothing of anybody. */
export function guaranteeLines(central: CentralGuarantee): [string, string, string][] {
  const { local_epsilon: local, least, lower, assumption, relay } = central;
  const gap = lower > 0 ? ` Nothing below ε\u00a0=\u00a0${figure(atLeast(lower))} could be proved of it.` : "";
  return [
    ["One report, on the device", promised({ epsilon: local, delta: 0 }), "It holds whatever relay and collector do, together or alone. Devices charge this epsilon."],
    [`A batch of ${count(least)} or more${relay ? `, through ${new URL(relay).host}` : ""}`, inBatch(central), `${assumption}${gap}`],
  ];
}

/** Both, side by side. */
export const guaranteesList = (central: CentralGuarantee): HTMLElement =>
  el(
    "dl",
    { class: "certified guarantees" },
    ...guaranteeLines(central).map(([name, figures, words]) =>
      el("div", {}, el("dt", {}, name), el("dd", {}, el("strong", { class: "figures" }, figures), el("span", {}, words))),
    ),
  );

/** A card of both; null where reports are sent directly. */
export const guaranteesCard = (central: CentralGuarantee | null | undefined): HTMLElement | null | undefined =>
  central &&
  el(
    "section",
    { class: "card", "aria-labelledby": "guarantees" },
    el("h2", { id: "guarantees" }, "Two guarantees"),
    guaranteesList(central),
  );
