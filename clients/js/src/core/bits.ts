/** Bits of integers, and a choice without a branch. */

/** Whether an integer below 2^64 has an odd number of ones. */
export function odd(code: bigint): boolean {
  let folded = Number(code & 0xffffffffn) ^ Number(code >> 32n);
  for (const shift of [16, 8, 4, 2, 1]) folded ^= folded >>> shift;
  return (folded & 1) === 1;
}

/** Whether two integers have an odd number of ones in common. */
export const oddOverlap = (a: number, b: number): boolean => odd(BigInt(a) & BigInt(b));

/** The lowest one bit of a positive integer. */
export const lowBit = (a: number): number => Number(BigInt(a) & -BigInt(a));

/** `a` with one bit of it flipped. */
export const flip = (a: number, bit: number): number => Number(BigInt(a) ^ BigInt(bit));

/** The first if the condition holds, else the second: both are there, so that no branch tells which was taken. */
export const choose = <T>(condition: boolean, yes: T, no: T): T => [no, yes][Number(condition)]!;
