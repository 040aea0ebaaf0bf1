/** Both guarantees of a survey whose reports go through a relay, each with what it rests on. */
import type { CentralGuarantee } from "./api_types.js";
import { atLeast, atMost } from "./at_most.js";
import { el } from "./dom.js";
import { count, figure } from "./format.js";
import { promised, type Promised } from "./promise.js";

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
