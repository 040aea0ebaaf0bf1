/** The four kinds of survey in words, each with a small picture of what comes out of it. */
import { el, svg } from "../../parts/dom.js";

export type Kind = "distribution" | "queries" | "mean" | "adaptive";

interface Told {
  /** What comes out. */
  name: string;
  /** When to choose it. */
  about: string;
  /** Lines in a box of 44 by 28. */
  picture: string;
}

export const KINDS: Record<Kind, Told> = {
  distribution: {
    name: "Shares",
    about: "How many people hold each answer: a favourite, a setting, a country.",
    picture: "M5 25V12M13.5 25V4M22 25V9M30.5 25V17M39 25V21",
  },
  queries: {
    name: "Queries",
    about: "Many sums at once: cumulative shares, every range, cross tables.",
    picture: "M3 25H9V20H16V12H24V8H32V4H41",
  },
  mean: {
    name: "Averages",
    about: "The mean of numbers that every device holds, up to thousands of them.",
    picture: "M5 20H39M12 16V24M32 16V24M22 5V24M18 9L22 5L26 9",
  },
  adaptive: {
    name: "Conversation",
    about: "One question after another, each chosen after the answers before it.",
    picture: "M4 4H26V15H12L7 19V15H4ZM31 10H40V21H37V25L32 21H18V19",
  },
};

const isKnown = (kind: string): kind is Kind => Object.hasOwn(KINDS, kind);

/** The kind's name; the word itself for one that this page does not know. */
export const kindName = (kind: string): string => (isKnown(kind) ? KINDS[kind].name : kind);

/** The kind's small picture. */
export function kindPicture(kind: string): Element {
  if (!isKnown(kind)) return el("span");
  const { picture } = KINDS[kind];
  return svg(
    "svg",
    { viewBox: "0 0 44 28", width: 44, height: 28, class: "kind-picture", "aria-hidden": "true" },
    svg("path", { d: picture }),
  );
}
