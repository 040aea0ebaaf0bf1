/** How the answer to a round's query is to be read: as a share of people, as a mean, or as a choice among several. */
import { figure, percent } from "../../parts/format.js";

/** A query as it travels: constants, or an array of an operation's name and its arguments. */
export type QueryTree = number | string | boolean | QueryTree[];

/** What of a round's statement matters here: shares of choices, or the mean of a number. */
export interface RoundStatement {
  question: { kind: string; domain?: unknown };
  seat: { query: QueryTree; panel: { panel: { radius: number } } };
}

/** How to read the numbers that an estimate gives. */
export interface Reading {
  as: "share" | "mean" | "choice";
  /** Between what the answer lies, as it is shown. */
  from: number;
  to: number;
  /** The shown number of an estimated one. */
  shown: (estimated: number) => number;
  /** In words. */
  text: (shown: number) => string;
}

const TRUTHS = new Set(["<", "<=", ">", ">=", "==", "!=", "and", "or", "not", "in", "bit"]);

/** A number as it stands. */
const same = (value: number): number => value;

/** Whether a query gives true or false for everybody. */
export function isTruth(tree: QueryTree): boolean {
  if (typeof tree === "boolean") return true;
  if (!Array.isArray(tree)) return false;
  return TRUTHS.has(String(tree[0])) || (tree[0] === "if" && isTruth(tree[2]!) && isTruth(tree[3]!));
}

/** Whether a round asks for shares of choices, not for the mean of a number. */
export const asksChoice = ({ question }: RoundStatement): boolean => "domain" in question;

/**
 * How to read a round's answer.
 *
 * A condition's mean is a share. So is, up to scale, the mean of `1 if condition else -1`, which asks the same with half
 * the error; both are shown as the share of people who satisfy the condition.
 */
export function readingOf(round: RoundStatement): Reading {
  if (asksChoice(round)) return { as: "choice", from: 0, to: 1, shown: same, text: percent };
  const share = { as: "share", from: 0, to: 1, text: percent } as const;
  const tree = round.seat.query;
  if (isTruth(tree)) return { ...share, shown: same };
  if (Array.isArray(tree) && tree[0] === "if") {
    const [yes, no] = [tree[2], tree[3]];
    if (typeof yes === "number" && typeof no === "number" && yes !== no) {
      return { ...share, shown: (value) => (value - no) / (yes - no) };
    }
  }
  const { radius } = round.seat.panel.panel;
  return { as: "mean", from: -radius, to: radius, shown: same, text: figure };
}

/** An answer and its interval as they are shown; low and high change places where the reading turns them. */
export interface ShownAnswer {
  value: number;
  low: number | null;
  high: number | null;
}

/** One estimated answer as it is shown. */
export function shownAnswer(reading: Reading, value: number, low: number | null, high: number | null): ShownAnswer {
  const ends = [low, high].map((end) => (end === null ? null : reading.shown(end)));
  const [a, b] = [ends[0] ?? null, ends[1] ?? null];
  const turned = a !== null && b !== null && a > b;
  return { value: reading.shown(value), low: turned ? b : a, high: turned ? a : b };
}

/** The condition asked as the whole radius or its negative, which halves the error; null where it is not a condition. */
export function asWholeRadius(text: string, tree: QueryTree, radius: number): string | null {
  if (!isTruth(tree)) return null;
  return `${radius} if ${Array.isArray(tree) && tree[0] === "if" ? `(${text})` : text} else -${radius}`;
}
