/** What the dashboard knows of a kind of survey beyond what the collector declares. To add one: add its entry. */
import { el, svg } from "../parts/dom.js";
import { capital } from "../parts/trouble.js";
import { KIND_NAMES } from "./kind_names.js";

/** What one answer of a question is called, and what it is measured in. */
export interface Measure {
  one: string;
  /** Null for a share, whose margin is told in points, that is, hundredths; empty for a bare number. */
  unit: string | null;
}

type Parameters = Readonly<Record<string, unknown>>;

interface KindFacts {
  /** A small picture of what comes out of it: lines in a box of 44 by 28. */
  picture?: string;
  /** By default each answer, a bare number. */
  measure?: Measure | ((parameters: Parameters) => Measure);
  /** Whether a plan can be made to find answers that nobody listed. */
  isOpen?: boolean;
  /** Whether people fill in private fields, whose shares in the population may be known. */
  isForm?: boolean;
  /** What is said with its shares. */
  note?: string;
}

const ANSWER: Measure = { one: "each answer", unit: "" };
const SHARE: Measure = { one: "each share", unit: null };

const FACTS: Readonly<Record<string, KindFacts>> = {
  shares: { picture: "M5 25V12M13.5 25V4M22 25V9M30.5 25V17M39 25V21", measure: SHARE },
  queries: { picture: "M3 25H9V20H16V12H24V8H32V4H41" },
  number: {
    picture: "M4 20H40M6 15V25M38 15V25M25 4V25M20 4H30",
    measure({ wants, unit }) {
      if (wants === "distribution") return SHARE;
      return wants === "spread" ? ANSWER : { one: "the mean", unit: String(unit ?? "") };
    },
  },
  choices: {
    picture: "M5 5H12V12H5ZM6 8L8 11L13 3M18 9H39M5 18H12V25H5ZM18 22H33",
    measure: SHARE,
    note: "People may tick several options, so shares need not add up to 100\u00a0%.",
  },
  records: { picture: "M5 4H39V25H5ZM5 11H39M5 18H39M17 4V25M28 4V25", measure: SHARE, isForm: true },
  relation: { picture: "M4 3V25H41M8 22L38 6M13 13H14M21 20H22M26 7H27M34 14H35" },
  words: {
    picture: "M4 6H22M4 13H14M4 20H18M4 27H10M28 4H40M28 10H35",
    measure: { one: "the share of one word", unit: null },
    isOpen: true,
  },
  vector: {
    picture: "M5 20H39M12 16V24M32 16V24M22 5V24M18 9L22 5L26 9",
    measure: { one: "each coordinate", unit: "" },
  },
  tracking: { picture: "M4 20L12 12L20 17L28 8L40 5M4 25H40M12 9V15M20 14V20M28 5V11" },
  panel: { picture: "M4 4H26V15H12L7 19V15H4ZM31 10H40V21H37V25L32 21H18V19" },
};

/** The kinds that are known here. */
export const KINDS: readonly string[] = Object.keys(FACTS);

/** What is known of a kind; nothing of another package's. */
export const factsOf = (kind: string): KindFacts => (Object.hasOwn(FACTS, kind) ? FACTS[kind]! : {});

/** What a person calls the kind; a kind of another package has its own name. */
export const kindName = (kind: string): string => (Object.hasOwn(KIND_NAMES, kind) ? KIND_NAMES[kind]! : capital(kind.replaceAll("_", " ")));

/** The kind's small picture; nothing for one that this page does not know. */
export function kindPicture(kind: string): Element {
  const { picture } = factsOf(kind);
  if (picture === undefined) return el("span");
  return svg(
    "svg",
    { viewBox: "0 0 44 28", width: 44, height: 28, class: "kind-picture", "aria-hidden": "true" },
    svg("path", { d: picture }),
  );
}

/** The measure of a question with these parameters. */
export function measureOf(kind: string, parameters: Parameters): Measure {
  const { measure = ANSWER } = factsOf(kind);
  return typeof measure === "function" ? measure(parameters) : measure;
}
