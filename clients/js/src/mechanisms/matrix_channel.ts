/**
 * The channel that a matrix states: for every value a column of integers, the chances of every report out of 2^bits.
 *
 * A survey carries the matrix as an attachment; a device checks all of it, exactly, before it draws anything from it.
 */
import { concat, sha256, toHex, viewOf } from "../core/bytes.js";
import { encodeIndex, indexWidth } from "../core/codecs.js";
import { MechanismError } from "../core/errors.js";
import type { Source } from "../randomness/source.js";
import { withinEpsilon } from "../randomness/thresholds.js";
import { checkValue, type FiniteMechanism } from "./base/finite.js";
import { decodeIndex, type Law, probe, type Reported } from "./laws/law.js";
import { ratio } from "./laws/ratios.js";
import { counted } from "./laws/words.js";

/** The limit of a channel as it is unpacked, however small it was packed. */
const MOST_ENTRIES = 2 ** 21;
const HEADER_BYTES = 13;
const MAGIC = 0x4d435653; // "SVCM"

const refused = (why: string) => new MechanismError(`the channel cannot be used: ${why}`);

/** A mechanism from an attachment, and the digest that a survey must name that by. */
interface Channel {
  readonly digest: string;
  readonly mechanism: MatrixChannel;
}

/** The channel of a matrix, of so many values and reports. */
export interface MatrixChannel extends FiniteMechanism {
  readonly values: number;
  readonly reports: number;
  /** The number of the report that is drawn for a value. */
  draw(value: number, source: Source): number;
}

/** Refuses the numbers beside a channel, which are for the collector, unless they are what they should be. */
export type CheckNumbers = (numbers: Float64Array, reports: number, values: number) => void;

/** Weights of all values. */
export const weightsOfValues: CheckNumbers = (numbers, _, values) => {
  if (numbers.length !== values) throw refused("it is not over the survey's values");
  checkWeights(numbers);
};

/** The mechanism of the channel in an attachment, over so many values, or any number of them; all of it is verified. */
export async function readChannel(
  attachment: Uint8Array,
  domainSize: number | null,
  epsilon: number,
  checkNumbers = weightsOfValues,
): Promise<Channel> {
  const view = viewOf(attachment);
  const count = attachment.length < 8 ? 0 : Number(view.getBigUint64(0, true));
  const start = 8 + 8 * count;
  if (!(attachment.length >= start + HEADER_BYTES)) throw refused("it ends too early");
  const [magic, reports, values] = [0, 4, 8].map((at) => view.getUint32(start + at, true)) as [number, number, number];
  const bits = view.getUint8(start + 12);
  if (magic !== MAGIC || values !== (domainSize ?? values) || bits < 1 || bits > 32) throw refused("its header is not one");
  checkNumbers(Float64Array.from({ length: count }, (_, v) => view.getFloat64(8 + 8 * v, true)), reports, values);
  if (reports < 2 || values < 2 || reports * values > MOST_ENTRIES) throw refused("its size is out of range");
  const header = attachment.subarray(start, start + HEADER_BYTES);
  const body = await inflate(attachment.subarray(start + HEADER_BYTES), 8 * reports + 4 * reports * values);
  const content = viewOf(body);
  const entries = decode(content, reports, values);
  checkColumns(entries, values, 2 ** bits);
  checkRows(content, reports, epsilon);
  const digest = await sha256(concat(attachment.subarray(8, start), await sha256(concat(header, body))));
  return { digest: toHex(digest), mechanism: makeChannel(entries, reports, values, 2 ** bits) };
}

/** The channel with these entries, row by row, out of `one`. */
export function makeChannel(entries: Uint32Array, reports: number, values: number, one: number): MatrixChannel {
  const reportBytes = indexWidth(BigInt(reports));
  const draw = (value: number, source: Source) => {
    checkValue(value, values);
    const drawn = source.below(one);
    let [sum, report] = [0, 0];
    // All sums are compared, whatever was drawn: a search that stops early would take a telling time.
    for (let row = 0; row < reports; row++) {
      sum += entries[row * values + value]!;
      report += Number(sum <= drawn);
    }
    return report;
  };
  const randomize = (value: number, source: Source) => encodeIndex(draw(value, source), reportBytes);
  return { name: "matrix_channel", values, reports, reportBytes, draw, randomize };
}

/** The entries, row by row, if they are in canonical form: 0 for the least, 1 for the greatest of a row. */
function decode(view: DataView, reports: number, values: number): Uint32Array {
  const count = reports * values;
  const entries = new Uint32Array(count);
  for (let row = 0; row < reports; row++) {
    const [least, greatest] = [view.getUint32(4 * row, true), view.getUint32(4 * (reports + row), true)];
    let [atLeast, atGreatest] = [false, least === greatest];
    for (let i = row * values; i < (row + 1) * values; i++) {
      let code = 0;
      for (let plane = 3; plane >= 0; plane--) code = code * 256 + view.getUint8(8 * reports + plane * count + i);
      const entry = code === 0 ? least : code === 1 ? greatest : least + code - 1;
      const between = entry > least && entry < greatest;
      if (code === 1 ? greatest <= least : code > 1 && !between) throw refused("its coding is not canonical");
      atLeast ||= code === 0;
      atGreatest ||= code === 1;
      entries[i] = entry;
    }
    if (!atLeast || !atGreatest) throw refused("its coding is not canonical");
  }
  return entries;
}

function checkColumns(entries: Uint32Array, values: number, one: number): void {
  const sums = new Float64Array(values); // at most 2^24 entries below 2^32: exact
  for (let i = 0; i < entries.length; i++) {
    // A report that is impossible for some value tells that it is not that value.
    if (entries[i]! < 1 || entries[i]! >= one) throw refused("an entry is 0, or a whole column");
    sums[i % values]! += entries[i]!;
  }
  if (sums.some((sum) => sum !== one)) throw refused("a column does not add up");
}

/** The largest ratio of two entries of one row must be within e^epsilon, decided exactly. */
function checkRows(view: DataView, reports: number, epsilon: number): void {
  let [quotient, n, d] = [0, 1n, 1n];
  for (let row = 0; row < reports; row++) {
    const [least, greatest] = [view.getUint32(4 * row, true), view.getUint32(4 * (reports + row), true)];
    // Correctly rounded quotients keep the order up to ties, and those are settled with integers.
    if (greatest / least < quotient) continue;
    if (greatest / least > quotient || BigInt(greatest) * d > n * BigInt(least)) {
      [quotient, n, d] = [greatest / least, BigInt(greatest), BigInt(least)];
    }
  }
  if (!withinEpsilon({ n, d }, epsilon)) throw refused("some report tells more than epsilon allows");
}

/** What is read off a randomizer, draw by draw. */
interface ReadOff {
  readonly says: string;
  /** How many draws out of `one` give the report. */
  readonly chanceOf: (value: number) => number;
}

/** `sent` is the payload for a value, where the draw of the matrix, out of `one`, comes out like this. */
export function readOff(one: number, sent: (value: number, draw: number) => Uint8Array, payload: Uint8Array): ReadOff {
  const drawn = (value: number, draw: number) => Number(decodeIndex(sent(value, draw), 2 ** 32));
  const reports = drawn(0, one - 1) + 1; // every report is possible, and the last draw gives the last
  const report = Number(decodeIndex(payload, reports));

  /** How many draws give a report below this one: reports rise with the draw. */
  function below(value: number, bound: number): number {
    let [low, high] = [0, one];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (drawn(value, middle) < bound) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    says: `One number below ${counted(reports)}: ${counted(report)}.`,
    chanceOf: (value) => below(value, report + 1) - below(value, report),
  };
}

/** The matrix is read off the randomizer. */
export function matrixChannelLaw({ mechanism, size, payload }: Reported): Law {
  const one = probe(mechanism, 0).asked[0] as number;
  const sent = (value: number, draw: number) => probe(mechanism, value, draw).payload;
  const { says, chanceOf } = readOff(one, sent, payload);
  const counts = new Map<number, bigint>();
  for (let value = 0; value < size; value++) {
    const chance = chanceOf(value);
    counts.set(chance, (counts.get(chance) ?? 0n) + 1n);
  }
  const groups = Array.from(counts, ([chance, count]) => ({ chance: ratio(chance, one), count }));
  return { chance: (value: number) => ratio(chanceOf(value), one), common: 0, groups, says };
}

// Unpacks a zlib stream (RFC 1950), strictly: exactly so many bytes out of exactly these, and nothing after it.

/** The bytes behind a stream, or behind its beginning; undefined unless it ends well after at most `most` bytes. */
async function unpack(packed: Uint8Array, most: number): Promise<Uint8Array | undefined> {
  const reader = new Blob([packed as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream("deflate"))
    .getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      parts.push(step.value);
      length += step.value.length;
      if (length > most) {
        await reader.cancel();
        return undefined;
      }
    }
  } catch {
    return undefined;
  }
  return concat(...parts);
}

/** The `size` bytes behind a zlib stream; anything else rejects with `MechanismError`. */
export async function inflate(packed: Uint8Array, size: number): Promise<Uint8Array> {
  const found = await unpack(packed, size);
  // Not every platform refuses bytes after the end. If there are any, the stream still ends well without the last one.
  if (found?.length !== size || (await unpack(packed.subarray(0, -1), size))) {
    throw new MechanismError("the attachment is damaged");
  }
  return found;
}

// Weights of values, which attachments hold for the collector; a device only checks that they are some.

/** How far rounding may carry a sum or a length of 1. */
export const SLACK = 1e-6;

/** Refuse weights that are negative, not finite or do not sum to one. */
export function checkWeights(weights: Float64Array): void {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (!weights.every((weight) => weight >= 0) || !(Math.abs(sum - 1) <= SLACK)) {
    throw new MechanismError("the attachment's weights must be numbers from 0 on that sum to one");
  }
}
