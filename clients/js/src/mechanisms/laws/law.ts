/** What a report says: how likely it is for every input, and for how many of them. */
import { equalBytes } from "../../core/bytes.js";
import { encodeBitmap } from "../../core/codecs.js";
import { ReportError } from "../../core/errors.js";
import type { JsonObject } from "../../core/json.js";
import { ONE, type Source } from "../../randomness/source.js";
import type { Ratio } from "../../randomness/thresholds.js";
import type { Mechanism } from "../base/mechanism.js";
import { ratio } from "./ratios.js";
import { counted } from "./words.js";

/** Inputs that give a report one chance. */
interface Group {
  readonly chance: Ratio;
  /** How many inputs these are; null where inputs cannot be counted. */
  readonly count: bigint | null;
}

/** The likelihood of one report. Chances times e^common are probabilities. */
export interface Law {
  chance(input: any): Ratio;
  /** The logarithm of what is common to all inputs; below 0 where probabilities may be too small for a double. */
  readonly common: number;
  /** Between them every chance that an input can give; those of vectors only the highest and the lowest. */
  readonly groups: readonly Group[];
  /** What the report is, in plain words. */
  readonly says: string;
  /** The places of the fields of a record that the report is about; it says nothing about others. */
  readonly fields?: readonly number[];
}

/** What a law is made from. */
export interface Reported {
  readonly mechanism: Mechanism;
  /** The mechanism's own parameters, as the survey states them: checked when the survey was read. */
  readonly own: JsonObject;
  readonly epsilon: number;
  /** How many inputs there are; 0 where inputs are vectors. */
  readonly size: number;
  readonly payload: Uint8Array;
  /** How people read the value of this number. */
  readonly label: (value: number) => string;
}

/** The law of a mechanism: what each of its reports says. */
export type LawOf = (reported: Reported) => Law;

/** Where every input gives one of two chances: those that the report favours, and the others. */
export function twoChances(
  favours: (input: any) => boolean,
  more: Ratio,
  less: Ratio,
  counts: readonly [favoured: bigint, all: bigint] | null,
  says: string,
  common = 0,
): Law {
  const [favoured, others] = counts ? [counts[0], counts[1] - counts[0]] : [null, null];
  const groups = [
    { chance: more, count: favoured },
    { chance: less, count: others },
  ].filter(({ count }) => count !== 0n);
  return { chance: (input) => (favours(input) ? more : less), common, groups, says };
}

/** Refuse bytes that no device could have sent. */
export function impossible(): never {
  throw new ReportError("these bytes are no report: no device that follows the survey sends them");
}

/** A little-endian integer below `outputs`. */
export function decodeIndex(payload: Uint8Array, outputs: number | bigint): bigint {
  const index = payload.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
  return index < BigInt(outputs) ? index : impossible();
}

/** The chances of one of `inside` outputs that are favoured together, and of one of `outside` others. */
export const shares = (threshold: bigint, inside: number, outside: number): [more: Ratio, less: Ratio] => [
  ratio(threshold, ONE * BigInt(inside)),
  ratio(ONE - threshold, ONE * BigInt(outside)),
];

/** What a report is that is one of so many numbers. */
export const numbered = (outputs: number, index: number): string =>
  `One number below ${counted(outputs)}: ${counted(index)}.`;

// Reports that are sets of values, one bit for each value.

export const bit = (payload: Uint8Array, at: number): number => (payload[at >> 3]! >> (at & 7)) & 1;

/** The values of a bitmap, in increasing order. */
export function bitmapMembers(payload: Uint8Array, size: number): number[] {
  const members: number[] = [];
  for (let v = 0; v < size; v++) if (bit(payload, v)) members.push(v);
  return equalBytes(encodeBitmap(members, size), payload) ? members : impossible();
}

// Asks the very randomizer that draws reports, with a source whose draws are given and which notes what was
// asked: so likelihoods stand at the thresholds that are really used.

/** What a randomizer returns where its draws come out like this, one after the other, and what it asked for. */
interface Probed {
  readonly payload: Uint8Array;
  /** For every draw the number of outcomes, or as a bigint the threshold of a private bit. */
  readonly asked: readonly (number | bigint)[];
}

/** Run a randomizer with these outcomes; draws beyond them give 0 and false. */
export function probe<Input>(mechanism: Mechanism<Input>, input: Input, ...outcomes: (number | boolean)[]): Probed {
  const asked: (number | bigint)[] = [];
  const next = (bound: number | bigint) => outcomes[asked.push(bound) - 1];
  const source = { below: (n: number) => next(n) ?? 0, bernoulli: (threshold: bigint) => next(threshold) ?? false };
  return { payload: mechanism.randomize(input, source as unknown as Source), asked };
}

/** The threshold of the first private bit that is decided for this input, out of 2^64. */
export function thresholdFor<Input>(mechanism: Mechanism<Input>, input: Input): bigint {
  return probe(mechanism, input).asked.find((bound) => typeof bound === "bigint")!;
}
