/** What the page knows of one kind of question: how it is asked, and how answers to it and reports are shown. */
import type { Explanation } from "../../../../js/src/explain.js";
import type { Field } from "../fields/field.js";

/** Answers whose likelihood of the report a picture shows. */
export interface Examples<Value = any> {
  /** Bars with a name each, or thin ones side by side. */
  readonly view: "rows" | "stripes";
  /** What they have in common; empty where nothing needs to be said. */
  readonly about: string;
  readonly size: number;
  /** Which of them is the person's own; -1 where none is, or where it is not known. */
  readonly own: number;
  label(i: number): string;
  value(i: number): Value;
}

export interface Kind<Value = any> {
  /** How many answers there are; null where they cannot be counted. */
  readonly size: bigint | null;
  /** What the person is asked for, and what the collector learns from everybody together. */
  readonly words: readonly [what: string, learns: string];
  /** What somebody may do for whom no answer fits. */
  readonly unfitting: string;
  field(legend: string, id: string): Field<Value>;
  /** A person's own answer as it is shown to them, in one line or several. */
  text(value: Value): string;
  /** How a report came about, where more is to be said than of every report; else empty. */
  drawn(found: Explanation): string;
  /** What a picture of the report shows, one part after the other; none where answers are too many. */
  examples(found: Explanation, mine: Value | null): readonly Examples<Value>[];
}

/** Up to so many answers have a bar with a name each, and up to so many a thin one. */
export const MOST_ROWS = 16;
export const MOST_STRIPES = 1024;

/** How so many answers are drawn; null where they are too many. */
export function viewOf(size: number | bigint): "rows" | "stripes" | null {
  if (size <= MOST_ROWS) return "rows";
  return size <= MOST_STRIPES ? "stripes" : null;
}

/** What is said where somebody is asked for what holds of them. */
export const TRUTH = "Say what is true of you.";
export const NEAREST = "If nothing fits exactly, the nearest answer does.";
