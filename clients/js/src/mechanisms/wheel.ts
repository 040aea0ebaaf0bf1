/** The wheel: a public seed throws options into bins, and one bin is reported; those of own options are favoured. */
import { encodeIndex, indexWidth } from "../core/codecs.js";
import { MechanismError } from "../core/errors.js";
import { decodeIndex, type Law, type Reported } from "./laws/law.js";
import { ratio } from "./laws/ratios.js";
import { counted, naming } from "./laws/words.js";
import { checkInteger } from "../core/limits.js";
import { philox, WHEEL_BINS } from "../randomness/philox.js";
import { ONE } from "../randomness/source.js";
import { favouring } from "../randomness/thresholds.js";
import { choose } from "../core/bits.js";
import { checkRow, increasing, type Row, type SetKind, type SetMechanism } from "./base/sets.js";

interface Thrown extends SetMechanism {
  readonly threshold: bigint;
  binOf(option: number, seed: number): number;
  /** The bins that hold an option of the set, in increasing order; dummies take none. */
  taken(row: Row, seed: number): number[];
}

export const wheel: SetKind = {
  parameters: ["bins", "seeds"],
  make(asked, { epsilon, key }, own): Thrown {
    const { most, options } = asked;
    const bins = checkInteger("bins", own.bins, most + 1, 2 ** 20);
    const seeds = checkInteger("seeds", own.seeds, 1, 2 ** 32);
    const threshold = favouring(BigInt(most), BigInt(bins - most), epsilon);
    if (threshold * BigInt(bins) <= ONE * BigInt(most)) throw new MechanismError("epsilon is too small for so many bins");
    const reportBytes = indexWidth(BigInt(seeds) * BigInt(bins));
    const binOf = (option: number, seed: number) =>
      Math.floor((philox(key, [option >>> 2, 0, seed, WHEEL_BINS])[option & 3]! * bins) / 2 ** 32);
    const taken = (row: Row, seed: number) => {
      const all = row.map((member) => [member, binOf(member, seed)] as const);
      return [...new Set(all.filter(([member]) => member < options.size).map(([, bin]) => bin))].sort(increasing);
    };
    return {
      name: "wheel",
      reportBytes,
      asked,
      threshold,
      binOf,
      taken,
      randomize(given, source) {
        const row = checkRow(given, asked);
        const seed = source.below(seeds);
        const inside = source.bernoulli(threshold);
        const place = source.below(most);
        // A place among the other bins, for every number of bins that a set can take: one of them is used.
        const ranks = Array.from({ length: most + 1 }, (_, count) => source.below(bins - count));
        const own = taken(row, seed);
        const other = own.reduce((sum, bin) => sum + Number(sum >= bin), ranks[own.length]!);
        return encodeIndex(seed * bins + choose(inside, own[place] ?? other, other), reportBytes);
      },
    };
  },
};

export function wheelLaw({ mechanism, own, payload }: Reported): Law {
  const { asked, threshold, binOf, taken } = mechanism as Thrown;
  const { bins, seeds } = own as { bins: number; seeds: number };
  const index = Number(decodeIndex(payload, BigInt(seeds) * BigInt(bins)));
  const [seed, bin] = [Math.floor(index / bins), index % bins];
  const all = ONE * BigInt(asked.most) * BigInt(seeds);
  const ownBin = ratio(threshold, all);
  /** The other bins share what so many own ones leave. */
  const otherBin = (count: number) => ratio(ONE * BigInt(asked.most) - threshold * BigInt(count), all * BigInt(bins - count));
  const options = Number(asked.options.size);
  const inBin = options > 4096 ? [] : Array.from({ length: options }, (_, i) => i).filter((i) => binOf(i, seed) === bin);
  const says =
    `One of ${counted(bins)} bins into which options were thrown at random, in public. It may hold one of yours, or none` +
    `${naming(inBin, (option) => asked.options.label(option))}.`;
  return {
    chance(row: Row) {
      const bins = taken(row, seed);
      return bins.includes(bin) ? ownBin : otherBin(bins.length);
    },
    common: 0,
    groups: [ownBin, otherBin(asked.most)].map((chance) => ({ chance, count: null })),
    says,
  };
}
