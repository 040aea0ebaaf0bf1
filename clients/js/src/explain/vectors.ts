/** Reports on vectors: the codebook and binary response. Vectors cannot be counted; extremes are the mechanism's. */
import { ONE } from "../source.js";
import { favouring } from "../thresholds.js";
import { decodeIndex, type Law, type Reported, twoChances } from "./law.js";
import { shares } from "./positions.js";
import { probe, thresholdFor } from "./probe.js";
import { ratio, times } from "./ratios.js";
import { counted } from "./words.js";

export function codebook({ mechanism, own, epsilon, payload }: Reported): Law {
  const { size, candidates, marked, rotations } = own as Record<Parameter, number>;
  const outputs = 2n * BigInt(rotations) * BigInt(size);
  const index = decodeIndex(payload, outputs);
  const rotation = Number(index / BigInt(2 * size));
  const block = Math.floor(Number(index % BigInt(2 * size)) / candidates);

  /** Whether the candidate is one of those marked for a vector: they are drawn by rank, the lowest index first. */
  function favours(vector: unknown): boolean {
    const drawn = (rank: number) => probe(mechanism, vector, rotation, block, true, rank).payload;
    const ofRank = (rank: number) => decodeIndex(drawn(rank), outputs);
    let [low, high] = [0, marked - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ofRank(middle) < index) low = middle + 1;
      else high = middle;
    }
    return ofRank(low) === index;
  }

  const threshold = favouring(BigInt(marked), BigInt(candidates - marked), epsilon);
  const drawn = ratio(1, (BigInt(rotations) * BigInt(2 * size)) / BigInt(candidates)); // a rotation and a block of it
  const [more, less] = shares(threshold, marked, candidates - marked);
  const says = `One of ${counted(outputs)} public directions: number ${counted(index)}.`;
  return twoChances(favours, times(drawn, more), times(drawn, less), null, says);
}

type Parameter = "size" | "candidates" | "marked" | "rotations";

export function binary({ mechanism, payload }: Reported): Law {
  const isOne = decodeIndex(payload, 2) === 1n;
  const chance = (number: unknown) => {
    const threshold = thresholdFor(mechanism, number);
    return ratio(isOne ? threshold : ONE - threshold, ONE);
  };
  // The nearest numbers of the interval to these are its ends.
  const ends = [[Number.MAX_VALUE], [-Number.MAX_VALUE]];
  const groups = ends.map((end) => ({ chance: chance(end), count: null }));
  return { chance, common: 0, groups, says: `One bit: ${Number(isOne)}.` };
}
