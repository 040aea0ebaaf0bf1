/** Numbers as people read them, in English. */

/** An integer with its thousands set apart. */
export const counted = (number: number | bigint): string => number.toLocaleString("en");

/** A number to three digits. */
export const rounded = (number: number): string => String(Number(number.toPrecision(3)));

/** A probability, from its natural logarithm. */
export function probability(logarithm: number): string {
  const found = Math.exp(logarithm);
  if (found >= 0.0001) return rounded(found);
  const power = -logarithm / Math.LN10;
  if (power < 15) return `1 in ${counted(Number((1 / found).toPrecision(3)))}`;
  return `1 in 10^${counted(Math.round(power))}`;
}
