/** Hadamard Response in blocks: less error at a larger epsilon, where a whole Hadamard matrix says too little. */
import { encodeIndex, indexWidth } from "../core/codecs.js";
import { SurveyError } from "../core/errors.js";
import { decodeIndex, type Law, numbered, type Reported, shares, thresholdFor, twoChances } from "./laws/law.js";
import { positives, signSum } from "./laws/parities.js";
import { checkInteger } from "../core/limits.js";
import { favouring } from "../randomness/thresholds.js";
import { choose, flip, lowBit, oddOverlap } from "../core/bits.js";
import { checkValue, type FiniteKind } from "./base/finite.js";

export const hadamardBlocks: FiniteKind = {
  parameters: ["blocks"],
  make(domainSize, epsilon, own) {
    const blocks = checkInteger("blocks", own.blocks, 1, domainSize);
    if (blocks !== lowBit(blocks)) throw new SurveyError("blocks must be a power of two");
    const size = 2 ** BigInt(Math.ceil(domainSize / blocks)).toString(2).length;
    const outputs = blocks * size;
    const elsewhere = outputs - size;
    const threshold = favouring(BigInt(size / 2), BigInt(outputs - size / 2), epsilon);
    const reportBytes = indexWidth(BigInt(outputs));

    /** All three places are found, whichever is sent. */
    function position(value: number, inside: boolean, favoured: number, rest: number): number {
      const block = Math.floor(value / (size - 1));
      const row = (value % (size - 1)) + 1;
      const low = lowBit(row);
      const agreeing = block * size + choose(oddOverlap(row, favoured), flip(favoured, low), favoured);
      const other = Math.floor(rest / size);
      const outside = (other + Number(other >= block)) * size + (rest % size);
      // The other half of the own block: spread the rank around row's lowest bit, then make the parity odd.
      const rank = Math.max(rest - elsewhere, 0);
      const spread = (rank % low) + (rank - (rank % low)) * 2;
      const opposed = block * size + choose(oddOverlap(row, spread), spread, flip(spread, low));
      return choose(inside, agreeing, choose(rest < elsewhere, outside, opposed));
    }

    return {
      name: "hadamard_blocks",
      reportBytes,
      randomize(value, source) {
        checkValue(value, domainSize);
        // One draw for each outcome, all always made: time must not tell which one was used.
        const inside = source.bernoulli(threshold);
        const favoured = source.below(size);
        const rest = source.below(outputs - size / 2);
        return encodeIndex(position(value, inside, favoured, rest), reportBytes);
      },
    };
  },
};

export function hadamardBlocksLaw({ mechanism, own, size, payload }: Reported): Law {
  const blocks = own.blocks as number;
  const columns = 2 ** Math.ceil(size / blocks).toString(2).length;
  const outputs = blocks * columns;
  const index = Number(decodeIndex(payload, outputs));
  const [block, position] = [Math.floor(index / columns), index % columns];
  const [more, less] = shares(thresholdFor(mechanism, 0), columns / 2, outputs - columns / 2);
  const first = block * (columns - 1);
  const favours = (value: number) =>
    Math.floor(value / (columns - 1)) === block && !oddOverlap(value - first + 1, position);
  const rows = BigInt(Math.min(Math.max(size - first, 0), columns - 1)) + 1n;
  const favoured = positives(rows, signSum(rows, BigInt(position))) - 1n;
  return twoChances(favours, more, less, [favoured, BigInt(size)], numbered(outputs, index));
}
