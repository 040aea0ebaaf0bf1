/** The ledger as a bar and a sentence: what was spent before, what this survey takes, what is left. */
import type { Ledger } from "../../../js/src/index.js";
import { ALLOWANCE } from "../../../js/src/device/ledger.js";
import { el, svg } from "../parts/dom.js";
import { figure } from "../parts/format.js";
import { evidenceView } from "./trouble_view.js";
import { ledgerAfter, ledgerBefore, limits } from "./words.js";

/** `cost` is this survey's epsilon; `isDrawn` whether the ledger holds it already. */
export function ledgerView(ledger: Ledger, cost: number, isDrawn: boolean): HTMLElement {
  const before = isDrawn ? Math.max(0, ledger.spent - cost) : ledger.spent;
  const share = (amount: number) => `${Math.min(100, (100 * amount) / ledger.budget).toFixed(2)}%`;
  return el(
    "div",
    { class: "ledger" },
    svg(
      "svg",
      { class: "budget", height: 12, "aria-hidden": "true" },
      svg("rect", { class: "rest", width: "100%", height: 12, rx: 6 }),
      svg("rect", { class: "both", width: share(before + cost), height: 12, rx: 6 }),
      svg("rect", { class: "spent", width: share(before), height: 12, rx: 6 }),
    ),
    el("p", {}, isDrawn ? ledgerAfter(ledger) : ledgerBefore(ledger, cost)),
    !isDrawn && el("p", { class: "quiet small" }, limits(ALLOWANCE.cap, ledger.budget)),
    ledger.entries.length > 0 && entries(ledger),
    ...ledger.conflicts.flatMap(({ collector, day, remembered, found }) => [
      el("p", {}, `${collector} showed this browser two lists of its surveys${day && ` on ${day}`}.`),
      evidenceView([remembered, found]),
    ]),
  );
}

function entries(ledger: Ledger): HTMLElement {
  const line = ({ day, title, epsilon, state }: Ledger["entries"][number]) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, title),
      el("td", {}, day),
      el("td", {}, figure(epsilon)),
      el("td", {}, STATES[state]),
    );
  const heads = ["survey", "day", "cost", "state"].map((name) => el("th", { scope: "col" }, name));
  return el(
    "details",
    {},
    el("summary", {}, "What this browser has answered here"),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Answers so far" },
      el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...ledger.entries.map(line)))),
  );
}

const STATES = { sent: "sent", unsent: "not sent", refused: "refused" } as const;
