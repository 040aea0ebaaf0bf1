/** Reports that are sets of values, one bit for each value. */
import { equalBytes } from "../../core/bytes.js";
import { encodeBitmap } from "../../core/codecs.js";
import { impossible } from "./law.js";

export const bit = (payload: Uint8Array, at: number): number => (payload[at >> 3]! >> (at & 7)) & 1;

/** The values of a bitmap, in increasing order. */
export function bitmapMembers(payload: Uint8Array, size: number): number[] {
  const members: number[] = [];
  for (let v = 0; v < size; v++) if (bit(payload, v)) members.push(v);
  return equalBytes(encodeBitmap(members, size), payload) ? members : impossible();
}
