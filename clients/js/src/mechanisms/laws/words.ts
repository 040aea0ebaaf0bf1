/** Numbers as people read them, in English. */

/** An integer with its thousands set apart. */
export const counted = (number: number | bigint): string => number.toLocaleString("en");

/** A number to three digits. */
const rounded = (number: number): string => String(Number(number.toPrecision(3)));

/** How many times likelier, three digits rounded up: what is said about privacy never promises more than holds. */
export function factor(ratio: number): string {
  const step = 10 ** (Math.floor(Math.log10(ratio)) - 2);
  // Rounding on the way here must not carry a number of three digits to the next.
  return counted(Number((Math.ceil(ratio / step - 1e-9) * step).toPrecision(3)));
}

/** Whether a probability, given by its natural logarithm, is so small that its size tells people nothing. */
export const isTiny = (logarithm: number): boolean => logarithm < Math.log(1e-6);

/** Up to so many answers are named one by one. */
const FEW = 5;

/** The names of a few answers, after a colon; nothing where they are many, or none. */
export function naming(members: readonly number[], label: (value: number) => string): string {
  if (members.length === 0 || members.length > FEW) return "";
  const names = members.map((member) => `“${label(member)}”`);
  return `: ${[names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" and ")}`;
}

/** A probability, from its natural logarithm. */
export function probability(logarithm: number): string {
  const found = Math.exp(logarithm);
  if (found >= 0.0001) return rounded(found);
  const power = -logarithm / Math.LN10;
  if (power < 15) return `1 in ${counted(Number((1 / found).toPrecision(3)))}`;
  return `1 in 10^${counted(Math.round(power))}`;
}
