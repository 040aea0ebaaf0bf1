/** Two signed heads of a collector's log that contradict each other: whoever has its key can check both. */
import { el } from "../parts/dom.js";

/** Nothing where there is no evidence. */
export const evidenceView = (notes: readonly string[] = []): HTMLElement | null =>
  notes.length === 0
    ? null
    : el(
        "details",
        { class: "evidence" },
        el("summary", {}, "The evidence: what the collector signed, then and now"),
        ...notes.map((note) => el("pre", { tabindex: 0 }, note)),
      );
