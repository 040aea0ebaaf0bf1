/**
 * What a report says: how likely the same bytes would be from every answer, at the thresholds really used.
 *
 * For pages that show a person what leaves the machine. Everything is computed here, from the survey and the report.
 */
import { equalBytes } from "./core/bytes.js";
import { MechanismError, MismatchError } from "./core/errors.js";
import { impossible, type LawOf } from "./mechanisms/laws/law.js";
import { isLess, logOf, numberOf, over } from "./mechanisms/laws/ratios.js";
import { counted, factor, isTiny, probability } from "./mechanisms/laws/words.js";
import { LAWS } from "./mechanisms/registry.js";
import type { Survey } from "./surveys/survey.js";
import { type Ratio, withinEpsilon } from "./randomness/thresholds.js";

export { decodeIndex, type Law, type LawOf, type Reported, twoChances } from "./mechanisms/laws/law.js";
export { thresholdFor } from "./mechanisms/laws/law.js";
export { ratio } from "./mechanisms/laws/ratios.js";
export { ONE } from "./randomness/source.js";
export type { Ratio } from "./randomness/thresholds.js";

/** How likely the reports are of mechanisms of other packages, by their names. */
export type BroughtLaws = Readonly<Record<string, LawOf>>;

/** What a report says about the answer behind it. */
export interface Explanation {
  /** The probability of these very bytes, had this been the answer; 0 where a double cannot hold it. */
  likelihood(value: unknown): number;
  /** Its natural logarithm, which a double can always hold. */
  logLikelihood(value: unknown): number;
  /**
   * The greatest and the least likelihood over all values that the mechanism can be given. In a survey of choices
   * these are the choices; where it is given vectors, all vectors.
   */
  readonly highest: number;
  readonly lowest: number;
  /** The natural logarithm of the least one. */
  readonly logLowest: number;
  /** How many times more likely the one is than the other; never more than e^epsilon. */
  readonly ratio: number;
  readonly epsilon: number;
  /** What the report is, and what can be concluded from it, in plain English: one sentence each. */
  readonly words: readonly string[];
  /** How many answers give it each probability, the most likely first; not for vectors, which cannot be counted. */
  readonly groups?: readonly { readonly probability: number; readonly count: bigint }[];
  /** Where it is about some fields of a record only: their places. */
  readonly fields?: readonly number[];
}

/**
 * What `report`, drawn for `survey`, says. With a `value`, the words tell how likely it is from that one, too. `laws` are
 * those of mechanisms that the application brought.
 *
 * Throws `MismatchError` if the report is another survey's, `ReportError` if it is none, and
 * `ValueOutsideDomainError`, which never names the value.
 */
export function explain(survey: Survey, report: Uint8Array, value?: unknown, laws: BroughtLaws = {}): Explanation {
  const { mechanism, design, epsilon } = survey;
  // For a round, what its mechanism is given counts: the choices, not the records.
  const { domain } = survey.question;
  if (report.length !== survey.tag.length + mechanism.reportBytes) impossible();
  if (!equalBytes(report.subarray(0, survey.tag.length), survey.tag)) {
    throw new MismatchError("the report is another survey's");
  }
  const lawOf = LAWS.get(mechanism.name) ?? (Object.hasOwn(laws, mechanism.name) ? laws[mechanism.name] : undefined);
  if (lawOf === undefined) throw new MechanismError(`reports of ${mechanism.name} cannot be explained`);
  const law = lawOf({
    mechanism,
    own: design.parameters,
    epsilon,
    size: Number(domain?.size ?? 0),
    payload: report.subarray(survey.tag.length),
    label: (index) => domain!.label(index),
  });
  const logarithm = (chance: Ratio) => logOf(chance) + law.common;
  const logLikelihood = (given: unknown) => logarithm(law.chance(survey.input(given)));
  const groups = [...law.groups].sort((a, b) => (isLess(a.chance, b.chance) ? 1 : -1));
  const [highest, lowest] = [groups[0]!.chance, groups.at(-1)!.chance];
  const ratio = within(over(highest, lowest), epsilon);
  const least = logarithm(lowest);
  const probabilityOf = (chance: Ratio) =>
    law.common === 0 ? numberOf(chance) : Math.exp(logarithm(chance));
  return {
    likelihood: (given) => probabilityOf(law.chance(survey.input(given))),
    logLikelihood,
    highest: probabilityOf(highest),
    lowest: probabilityOf(lowest),
    logLowest: least,
    ratio,
    epsilon,
    words: [
      law.says,
      likelihoods(groups.map(({ chance, count }) => ({ logarithm: logarithm(chance), count })), ratio),
      ...(value === undefined ? [] : [ofOne(logLikelihood(value), least, ratio)]),
      `Seeing it shifts the odds between any two answers by a factor of at most ${factor(ratio)}.`,
    ],
    ...(groups.some(({ count }) => count === null)
      ? {}
      : { groups: groups.map(({ chance, count }) => ({ probability: probabilityOf(chance), count: count! })) }),
    ...(law.fields && { fields: law.fields }),
  };
}

/** The ratio as a double. Where it is within e^epsilon, decided exactly, rounding must not carry it beyond. */
function within(ratio: Ratio, epsilon: number): number {
  const found = numberOf(ratio);
  return withinEpsilon(ratio, epsilon) ? Math.min(found, Math.exp(epsilon)) : found;
}

/** Answers that give a report one probability; null where they cannot be counted. */
interface Likely {
  readonly logarithm: number;
  readonly count: bigint | null;
}

/** All answers together, the most likely first; `ratio` is that of the first to the last. */
function likelihoods(groups: readonly Likely[], ratio: number): string {
  const [first, last] = [groups[0]!, groups.at(-1)!];
  const [most, least] = [probability(first.logarithm), probability(last.logarithm)];
  const isReadable = !isTiny(last.logarithm);
  if (groups.length === 1) {
    const how = isReadable ? `sends it with the same probability, ${most}` : "makes it equally likely";
    return `Every answer ${how}: it says nothing.`;
  }
  // Two probabilities that read the same would hide that they differ.
  const areTold = isReadable && most !== least;
  if (first.count === null || last.count === null || groups.length > 2) {
    return areTold
      ? `Depending on the answer it is sent with a probability from ${least} to ${most}.`
      : `No answer makes it more than ${factor(ratio)} times as likely as another does.`;
  }
  const [favoured, all] = [counted(first.count), counted(first.count + last.count)];
  if (areTold) {
    const others = last.count === 1n ? "the other" : "the others";
    return `${favoured} of ${all} answers would send it with probability ${most}, ${others} with probability ${least}.`;
  }
  const others = last.count === 1n ? "the other" : `the other ${counted(last.count)}`;
  return `It is ${factor(ratio)} times as likely from ${favoured} of the ${all} answers as from ${others}.`;
}

/** The person's own answer; `least` is the logarithm of the least likelihood, and `ratio` of the greatest to it. */
function ofOne(logarithm: number, least: number, ratio: number): string {
  if (!isTiny(least)) return `From your answer its probability was ${probability(logarithm)}.`;
  const times = Math.min(Math.exp(logarithm - least), ratio);
  // Logarithms of some thousands have lost the last digits.
  if (times <= 1 + 1e-9) return "From your answer it was as unlikely as from any.";
  return `From your answer it was ${factor(times)} times as likely as from the one that makes it least likely.`;
}
