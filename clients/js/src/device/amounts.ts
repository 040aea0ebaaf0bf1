/**
 * Sums of epsilons as people write them, without rounding: three times 0.1 is 0.3.
 *
 * A number counts as the shortest decimal that means it, which is how a survey's JSON has it.
 */

const PLACES = 345; // the smallest double has 324 places before its digits, and no double needs more than 17 of those

/** A number at or above 0, in units of 10^-345. */
export function units(amount: number): bigint {
  const [mantissa, exponent] = amount.toExponential().split("e") as [string, string];
  const digits = mantissa.replace(".", "");
  return BigInt(digits) * 10n ** BigInt(PLACES + Number(exponent) - (digits.length - 1));
}

/** The exact sum, in the same units. */
export const total = (amounts: Iterable<number>): bigint => {
  let sum = 0n;
  for (const amount of amounts) sum += units(amount);
  return sum;
};

/** The nearest double. */
export const toNumber = (sum: bigint): number => Number(`${sum}e-${PLACES}`);

/** What a budget still allows after these. */
export function left(budget: number, amounts: Iterable<number>): number {
  const rest = units(budget) - total(amounts);
  return rest > 0n ? toNumber(rest) : 0;
}
