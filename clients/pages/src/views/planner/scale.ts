/** A slider's stops: round numbers, about evenly spread by ratio, so that every key press is a step that one sees. */

const MANTISSAS = [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.5, 2.8, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9];

/** Round numbers from `least` to `most`, both among them. */
export function stops(least: number, most: number, whole: boolean): number[] {
  const found = new Set<number>([least, most]);
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); power += 1) {
    for (const mantissa of MANTISSAS) {
      const value = Number((mantissa * 10 ** power).toPrecision(2));
      if (value > least && value < most && (!whole || Number.isInteger(value))) found.add(value);
    }
  }
  return [...found].sort((a, b) => a - b);
}

/** The stop nearest to a value, by ratio. */
export function nearest(all: number[], value: number): number {
  const far = (at: number): number => Math.abs(Math.log(all[at]! / value));
  let best = 0;
  for (let at = 1; at < all.length; at += 1) if (far(at) < far(best)) best = at;
  return best;
}

const UNITS: Record<string, number> = { "": 1, k: 1e3, m: 1e6, b: 1e9 };

/** A number as people write it: 1,000,000 or 1_000_000 or 1e6 or 1M or 1 × 10⁶; null for anything else. */
export function numberOf(text: string): number | null {
  const plain = text.replace(/[\s,_\u202f]/gu, "").replace(/×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)$/u, (_, power: string) => `e${lowered(power)}`);
  const found = /^(\d*\.?\d+(?:e[+-]?\d+)?|\d+\.)([kmb]?)$/iu.exec(plain);
  if (found === null) return null;
  const value = Number(found[1]) * UNITS[found[2]!.toLowerCase()]!;
  return Number.isFinite(value) ? value : null;
}

/** "⁻⁷" as "-7". */
const lowered = (power: string): string =>
  power.replace(/./gu, (sign) => (sign === "⁻" ? "-" : String("⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(sign))));
