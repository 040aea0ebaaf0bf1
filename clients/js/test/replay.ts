/** What the vector tests share besides their tapes: draws that use a tape up, and floats as C prints them. */
import assert from "node:assert/strict";
import type { Source } from "../src/randomness/source.js";
import { Tape } from "./vectors.js";

/** What `draw` returns with the bytes of a tape as its randomness; all of them must be used up. */
export function replay<T>(tape: string, draw: (source: Source) => T): T {
  const read = new Tape(tape);
  const drawn = draw(read.source);
  assert.equal(read.left, 0, "the tape is not used up");
  return drawn;
}

/** A double written as in C99, exactly. */
export function fromHexFloat(text: string): number {
  const found = /^(-?)0x([01])\.([0-9a-f]+)p([+-]\d+)$/.exec(text);
  assert.ok(found, text);
  const mantissa = parseInt(found[2]! + found[3]!, 16) * 16 ** -found[3]!.length;
  const exponent = Number(found[4]);
  // In two steps: 2 ** -1074 times a large mantissa would lose bits in one.
  const size = mantissa * 2 ** Math.trunc(exponent / 2) * 2 ** (exponent - Math.trunc(exponent / 2));
  return found[1] ? -size : size;
}
