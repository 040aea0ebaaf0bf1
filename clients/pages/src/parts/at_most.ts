/** Figures that are promised as "at most": rounded up, because what is said never promises more than holds. */
import { count, figure } from "./format.js";

/** A number rounded up to three digits. */
export function atMost(value: number): number {
  if (!Number.isFinite(value) || value <= 0) return value;
  const step = 10 ** (Math.floor(Math.log10(value)) - 2);
  return Number((Math.ceil(value / step - 1e-9) * step).toPrecision(3));
}

/** A number rounded down to three digits: for what is said to be at least that. */
export function atLeast(value: number): number {
  if (!Number.isFinite(value) || value <= 0) return value;
  const step = 10 ** (Math.floor(Math.log10(value)) - 2);
  return Number((Math.floor(value / step + 1e-9) * step).toPrecision(3));
}

/** "2.72", "1,100": how many times likelier, rounded up. */
export function times(ratio: number): string {
  const most = atMost(ratio);
  return most >= 1000 && most < 1e7 ? count(most) : figure(most);
}

/** What somebody who takes two answers for equally likely can believe of one of them afterwards, at most. */
export function surestOf(epsilon: number): string {
  const share = 1 / (1 + Math.exp(-epsilon));
  const digits = share > 0.999 ? 3 : share > 0.99 ? 2 : 1;
  const up = Math.ceil(share * 100 * 10 ** digits - 1e-9) / 10 ** digits;
  return up >= 100 ? "more than 99.999 %" : `${up} %`;
}
