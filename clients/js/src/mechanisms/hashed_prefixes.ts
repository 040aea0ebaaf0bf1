/** Hashed prefixes: one of several public hashes of a prefix of the value's code, by projective geometry response. */
import { encodeIndex, indexWidth } from "../core/codecs.js";
import { SurveyError, ValueOutsideDomainError } from "../core/errors.js";
import { decodeIndex, type Law, type Reported } from "./laws/law.js";
import { ratio, times } from "./laws/ratios.js";
import { counted } from "./laws/words.js";
import type { Json, JsonObject } from "../core/json.js";
import { checkInteger, MAX_DOMAIN_SIZE } from "../core/limits.js";
import type { Mechanism, Terms } from "./base/mechanism.js";
import { PREFIX_HASHES, words } from "../randomness/philox.js";
import type { FiniteMechanism } from "./base/finite.js";
import { points, projectiveGeometry, projectiveGeometryLaw } from "./projective_geometry.js";

const MAX_ROWS = 4096;

/** A mechanism for codes of `bits` bits: eight to a byte, the first the highest. */
export interface PrefixMechanism extends Mechanism<Uint8Array> {
  readonly bits: number;
  /** The bits of the prefix that each row hashes. */
  readonly rowEnds: readonly number[];
  readonly buckets: number;
  /** The mechanism on buckets. */
  readonly inner: FiniteMechanism;
  /** The bucket of a code's prefix: its hash, a word, times K, over 2^32. */
  bucketOf(code: Uint8Array, row: number): number;
}

export const PREFIX_PARAMETERS = ["ends", "rows", "order", "dimension"];

function integers(name: string, stated: Json | undefined, largest: number): number[] {
  const found = Array.isArray(stated) ? stated.map((one) => checkInteger(`an entry of ${name}`, one, 1, largest)) : [];
  if (found.length === 0) throw new SurveyError(`${name} must be a list of integers, one for every level`);
  return found;
}

/** The mechanism with the levels, rows and space that a survey states. */
export function hashedPrefixes(bits: number, { epsilon, key }: Terms, own: JsonObject): PrefixMechanism {
  const [ends, rows] = [integers("ends", own.ends, bits), integers("rows", own.rows, MAX_ROWS)];
  if (ends.at(-1) !== bits || ends.some((end, i) => i > 0 && end <= ends[i - 1]!)) {
    throw new SurveyError(`ends must increase, and the last must be the ${bits} bits of a whole code`);
  }
  const total = rows.reduce((sum, count) => sum + count);
  if (rows.length !== ends.length || total > MAX_ROWS) {
    throw new SurveyError(`rows must be one number for every level, at most ${MAX_ROWS} together`);
  }
  const order = checkInteger("order", own.order, 2, 2 ** 31 - 1);
  const dimension = checkInteger("dimension", own.dimension, 2, 64);
  const space = points(order, dimension);
  if (space > MAX_DOMAIN_SIZE) throw new SurveyError(`order and dimension must give at most ${MAX_DOMAIN_SIZE} points`);
  const buckets = Number(space);
  const inner = projectiveGeometry.make(buckets, epsilon, { order, dimension });
  const rowEnds = ends.flatMap((end, level) => new Array<number>(rows[level]!).fill(end));
  const reportBytes = indexWidth(BigInt(total) * space);

  function bucketOf(code: Uint8Array, row: number): number {
    // Every word is taken, set or not, so that the work tells nothing.
    const hash = words(key, rowEnds[row]!, 0, row, PREFIX_HASHES).reduce(
      (sum, word, i) => sum ^ (word & -((code[i >> 3]! >> (7 - (i & 7))) & 1)),
      0,
    );
    return Number((BigInt(hash >>> 0) * space) >> 32n);
  }

  return {
    name: "hashed_prefixes",
    reportBytes,
    bits,
    rowEnds,
    buckets,
    inner,
    bucketOf,
    randomize(code, source) {
      const unused = 8 * Math.ceil(bits / 8) - bits;
      if (!(code instanceof Uint8Array) || 8 * code.length !== bits + unused || code.at(-1)! & ((1 << unused) - 1)) {
        throw new ValueOutsideDomainError(`the value is not a code of ${bits} bits`);
      }
      const row = source.below(total);
      const point = decodeIndex(inner.randomize(bucketOf(code, row), source), buckets);
      return encodeIndex(BigInt(row) * space + point, reportBytes);
    },
  };
}

export function hashedPrefixesLaw(reported: Reported): Law {
  const { bits, rowEnds, buckets, inner, bucketOf } = reported.mechanism as PrefixMechanism;
  const index = decodeIndex(reported.payload, BigInt(rowEnds.length) * BigInt(buckets));
  const [row, point] = [Number(index / BigInt(buckets)), index % BigInt(buckets)];
  const law = projectiveGeometryLaw({
    ...reported,
    mechanism: inner,
    size: buckets,
    payload: encodeIndex(point, inner.reportBytes),
  });
  const often = ratio(1, rowEnds.length);
  const end = rowEnds[row]!;
  const about = end === bits ? "whole words" : `the first ${end} of the ${bits} bits that words are written in`;
  return {
    chance: (code: Uint8Array) => times(often, law.chance(bucketOf(code, row))),
    common: law.common,
    // How many words a bucket holds is not known.
    groups: law.groups.map(({ chance }) => ({ chance: times(often, chance), count: null })),
    says:
      `${counted(rowEnds.length)} public rules throw words into ${counted(buckets)} buckets; one was drawn at random, ` +
      `for ${about}. Each bucket holds words beyond number. ${law.says}`,
  };
}
