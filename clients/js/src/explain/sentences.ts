/** How likely answers make a report, in sentences: by probabilities where people can read them, else by their ratio. */
import { counted, factor, isTiny, probability } from "./words.js";

/** Answers that give a report one probability; null where they cannot be counted. */
interface Likely {
  readonly logarithm: number;
  readonly count: bigint | null;
}

/** Of all answers together, the most likely first; `ratio` is of the first to the last. */
export function likelihoods(groups: readonly Likely[], ratio: number): string {
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

/** Of the person's own answer; `least` is the logarithm of the least likelihood, and `ratio` of the greatest to it. */
export function ofOne(logarithm: number, least: number, ratio: number): string {
  if (!isTiny(least)) return `From your answer its probability was ${probability(logarithm)}.`;
  const times = Math.min(Math.exp(logarithm - least), ratio);
  // Logarithms of some thousands have lost the last digits.
  if (times <= 1 + 1e-9) return "From your answer it was as unlikely as from any.";
  return `From your answer it was ${factor(times)} times as likely as from the one that makes it least likely.`;
}
