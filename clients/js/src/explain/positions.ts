/** Reports that are one number: Hadamard responses, randomized response and projective geometry response. */
import { ONE } from "../source.js";
import { fieldOfOrder } from "../mechanisms/finite_field.js";
import { oddOverlap } from "../mechanisms/finite.js";
import { projectiveSpace } from "../mechanisms/projective_geometry.js";
import type { Ratio } from "../thresholds.js";
import { decodeIndex, type Law, type Reported, twoChances } from "./law.js";
import { thresholdFor } from "./probe.js";
import { ratio } from "./ratios.js";
import { positives, signSum } from "./walsh.js";
import { counted } from "./words.js";

/** The chances of one of `inside` outputs that are favoured together, and of one of `outside` others. */
export const shares = (threshold: bigint, inside: number, outside: number): [more: Ratio, less: Ratio] => [
  ratio(threshold, ONE * BigInt(inside)),
  ratio(ONE - threshold, ONE * BigInt(outside)),
];

const numbered = (outputs: number, index: number) => `One number below ${counted(outputs)}: ${counted(index)}.`;

export function hadamard({ mechanism, size, payload }: Reported): Law {
  const outputs = 2 ** size.toString(2).length;
  const position = decodeIndex(payload, outputs);
  const [more, less] = shares(thresholdFor(mechanism, 0), outputs / 2, outputs / 2);
  const favours = (value: number) => !oddOverlap(value + 1, Number(position));
  // Values are rows 1, 2, ..: row 0 agrees with every position, and is nobody's.
  const favoured = positives(BigInt(size) + 1n, signSum(BigInt(size) + 1n, position)) - 1n;
  return twoChances(favours, more, less, [favoured, BigInt(size)], numbered(outputs, Number(position)));
}

export function hadamardBlocks({ mechanism, own, size, payload }: Reported): Law {
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

export function randomizedResponse({ mechanism, size, payload, label }: Reported): Law {
  const reported = Number(decodeIndex(payload, size));
  const [more, less] = shares(thresholdFor(mechanism, 0), 1, size - 1);
  const says = `One answer, which may be yours or any other: “${label(reported)}”.`;
  return twoChances((value: number) => value === reported, more, less, [1n, BigInt(size)], says);
}

export function projectiveGeometry({ mechanism, own, size, payload }: Reported): Law {
  const [q, t] = [own.order as number, own.dimension as number];
  const field = fieldOfOrder(q)!;
  const { counts, vector } = projectiveSpace(q, t);
  const [all, orthogonal] = [counts[t]!, counts[t - 1]!];
  const index = Number(decodeIndex(payload, all));
  const point = vector(index, t);
  const [more, less] = shares(thresholdFor(mechanism, 0), orthogonal, all - orthogonal);
  const minus = (left: number, a: number, b: number) => field.subtract(left, field.multiply(a, b));
  const favours = (value: number) => vector(value, t).reduce((left, a, i) => minus(left, a, point[i]!), 0) === 0;

  /** Of the first `number` ways to fill the places with elements, how many make the sum of products `left`. */
  function solutions(left: number, places: readonly number[], number: number): bigint {
    if (places.length === 0) return left === 0 && number > 0 ? 1n : 0n;
    const [place, ...rest] = places as [number, ...number[]];
    const each = q ** rest.length;
    const whole = Math.floor(number / each); // so many values of this place come with all ways to fill the rest
    let found: bigint;
    if (rest.some((entry) => entry !== 0)) found = BigInt(whole) * BigInt(each / q);
    else if (place === 0) found = left === 0 ? BigInt(whole) * BigInt(each) : 0n;
    else found = field.multiply(left, field.inverse(place)) < whole ? BigInt(each) : 0n;
    return whole === q ? found : found + solutions(minus(left, whole, place), rest, number % each);
  }

  // Values come by how many places follow their leading 1, then by those places as one number.
  let favoured = 0n;
  for (let free = 0; free < t && counts[free]! < size; free++) {
    const tail = point.slice(t - free);
    const leading = field.subtract(0, point[t - 1 - free]!);
    favoured += solutions(leading, tail, Math.min(size, counts[free + 1]!) - counts[free]!);
  }
  const says = `One of ${counted(all)} points of a finite geometry: number ${counted(index)}.`;
  return twoChances(favours, more, less, [favoured, BigInt(size)], says);
}
