/** What groups, their differences and weighted answers come to, in words. */
import { even } from "../../charts/words.js";
import type { ByGroupBody, ComparisonBody, Picture, WeightedBody } from "../../parts/api_types.js";
import { count, counted, figure, percent } from "../../parts/format.js";
import { capital } from "../../parts/trouble.js";
import type { Looks } from "../shared/looks.js";

type MaybeNumber = number | null | undefined;

/** What answers are measured in. */
export interface AnswerUnit {
  share: boolean;
  unit: string;
}

const largestOf = (values: readonly MaybeNumber[]): number => Math.max(0, ...values.map((value) => (Number.isFinite(value ?? NaN) ? Math.abs(value as number) : 0)));

/** How answers are written, all with as many decimals as the largest of them needs. */
export function writer({ share, unit }: AnswerUnit, values: readonly MaybeNumber[]): (value: MaybeNumber) => string {
  const largest = largestOf(values);
  return (value) => (value === null || value === undefined ? "unknown" : `${even(value, largest, share)}${unit === "" ? "" : `\u00a0${unit}`}`);
}

/** How differences are written: with their sign; what they are in is said once, by `unitOf`. */
export function signed({ share }: AnswerUnit, values: readonly MaybeNumber[]): (value: MaybeNumber) => string {
  const scale = share ? 100 : 1;
  const largest = scale * largestOf(values);
  return (value) => (value === null || value === undefined ? "unknown" : `${value > 0 ? "+" : ""}${even(scale * value, largest, false)}`);
}

/** What a difference is in: " in points" for shares, " in minutes". */
export const unitOf = ({ share, unit }: AnswerUnit): string => (share ? " in points" : unit === "" ? "" : ` in ${unit}`);

/** "p = 0.0054", "p < 0.0001". */
export function pWords(p: MaybeNumber): string {
  if (p === null || p === undefined) return "unknown";
  return p < 0.0001 ? "p < 0.0001" : `p = ${Number(p.toPrecision(2))}`;
}

/** Whether anything differs at all, by the test of all answers together. */
export function jointWords({ joint, names, differences }: ComparisonBody): string {
  const { statistic, degrees, p_value: p } = joint;
  const how = statistic === null ? "" : `chi-squared ${figure(statistic)}, ${counted(degrees, "degree")} of freedom, `;
  const what = differences.length === 1 ? "Whether it differs" : `Whether any of ${count(differences.length)} answers differs`;
  return `${what} between ${names[0]} and ${names[1]}: ${how}${pWords(p)}.`;
}

/** The answers whose differences are called real at 5 %, all of them with that probability of any error. */
export function verdict({ differences }: ComparisonBody): string {
  const real = differences.filter(({ adjusted_p_value: p }) => p !== null && p <= 0.05).map(({ label }) => label);
  const rest = real.length > 6 ? [`${count(real.length - 5)} more`] : [];
  const named = [...real.slice(0, rest.length > 0 ? 5 : 6), ...rest].join(", ");
  return real.length === 0 ? "No answer differs significantly (adjusted p-values, at 5\u00a0%)." : `Different at 5\u00a0%, adjusted for the number of answers: ${named}.`;
}

/** Which test it is, for somebody who watches; null where no more reports come. */
export function watchedWords(always: boolean, looks: Looks, isOpen: boolean): string | null {
  if (always) return "Watched: the survey is open and this page is looked at again and again, so intervals and p-values are those that hold at every look together. Stop whenever you like.";
  if (!isOpen || looks === "open") return null;
  return "Of one look: whoever looks again and stops when it is significant is wrong more often than 5\u00a0% of the time. While the survey is open, choose “Every look” above.";
}

/** Which groups have too few reports to be shown; their numbers are not told. */
export function tooFewWords({ groups }: ByGroupBody): string | null {
  const small = groups.filter(({ n_reports: n }) => n === null).map(({ label }) => label);
  return small.length === 0 ? null : `Too few reports yet: ${small.join(", ")}.`;
}

/** What weights cost: how many reports without weights would tell as much. */
export function effectiveWords({ n_reports: reports, effective_reports: effective, groups }: WeightedBody): string {
  const isPublic = groups.every(({ n_reports: n }) => n !== null);
  const by = isPublic ? counted(groups.length, "group") : counted(groups.length, "known share");
  return `${counted(reports, "report")} weighed by ${by}, worth ${count(Math.round(effective))} without weights (${percent(effective / reports)}).`;
}

/** Means and other figures of numbers, which are no bars: weighted, and as they were answered. */
export function figuresBeside({ figures, labels }: Picture, { answers }: WeightedBody): string[] {
  return answers.flatMap(({ label, value, low, high }) => {
    const given = labels.includes(label) ? undefined : figures.find(({ name }) => name === label);
    if (given === undefined) return [];
    const write = writer({ share: false, unit: given.unit }, [given.value, value, low, high]);
    return [`${capital(label)}: ${write(value)} (${write(low)} to ${write(high)}); as answered ${write(given.value)}`];
  });
}
