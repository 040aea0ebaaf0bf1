/** How reports become bytes: fixed width, because a length is an output too; canonical, so that no order can leak. */
import { MechanismError } from "./errors.js";
import { MAX_REPORT_BYTES } from "./limits.js";

/** How many bits an integer takes. */
export const bitLength = (n: bigint): number => (n === 0n ? 0 : n.toString(2).length);

const bytesOf = (bits: number): number => Math.ceil(bits / 8);

/** Width of an integer below `outputs`. */
export const indexWidth = (outputs: bigint): number => bytesOf(bitLength(outputs - 1n));

/** An integer, little-endian, in `width` bytes. */
export function encodeIndex(index: number | bigint, width: number): Uint8Array {
  return Uint8Array.from({ length: width }, (_, i) => Number((BigInt(index) >> BigInt(8 * i)) & 255n));
}

/** Width of the bitmap of any set of values below `domainSize`. */
export const bitmapWidth = (domainSize: number): number => bytesOf(domainSize);

/** A set of values: value v is bit v mod 8 of byte v div 8. */
export function encodeBitmap(members: Iterable<number>, domainSize: number): Uint8Array {
  const payload = new Uint8Array(bitmapWidth(domainSize));
  for (const v of members) payload[Math.floor(v / 8)]! |= 1 << (v % 8);
  return payload;
}

/** Width of a set of `size` values below `domainSize`: as a list where that is shorter, else as a bitmap. */
export function subsetWidth(domainSize: number, size: number): number {
  return Math.min(listWidth(domainSize, size), bitmapWidth(domainSize));
}

const listWidth = (domainSize: number, size: number): number => bytesOf(size * bitLength(BigInt(domainSize - 1)));

/** A set of known size, its members in increasing order. */
export function encodeSubset(sorted: readonly number[], domainSize: number): Uint8Array {
  const width = listWidth(domainSize, sorted.length);
  if (width >= bitmapWidth(domainSize)) return encodeBitmap(sorted, domainSize);
  const payload = new Uint8Array(width);
  const each = bitLength(BigInt(domainSize - 1));
  sorted.forEach((member, i) => {
    for (let bit = 0, rest = member; rest > 0; bit++, rest = Math.floor(rest / 2)) {
      const at = i * each + bit;
      payload[at >> 3]! |= (rest % 2) << (at & 7);
    }
  });
  return payload;
}

/** A report's width, if a survey may ask a device to send as much. */
export function checkReportBytes(name: string, width: number): number {
  if (width > MAX_REPORT_BYTES) {
    throw new MechanismError(`${name} would send ${width} bytes per report; at most ${MAX_REPORT_BYTES} are allowed`);
  }
  return width;
}
