/** Walks every outcome of a mechanism's draws, with exact probabilities: its whole channel, as fractions. */
import { toHex } from "../src/core/bytes.js";
import type { Mechanism } from "../src/mechanisms/base/mechanism.js";
import { ONE, type Source } from "../src/randomness/source.js";

/** Probabilities of payloads over one common denominator. */
export interface Law {
  readonly chances: ReadonlyMap<string, bigint>;
  readonly denominator: bigint;
}

interface Choice {
  readonly ways: readonly { readonly result: unknown; readonly weight: bigint }[];
  readonly outOf: bigint;
  taken: number;
}

/** The law of a mechanism's payload. `shift` is added to every threshold: what a wrong rounding would do. */
export function lawOf<Input>(mechanism: Mechanism<Input>, input: Input, shift = 0n): Law {
  const path: Choice[] = [];
  let depth = 0;
  const draw = (outOf: bigint, ways: () => Choice["ways"]): unknown => {
    if (depth === path.length) path.push({ ways: ways(), outOf, taken: 0 });
    const choice = path[depth++]!;
    return choice.ways[choice.taken]!.result;
  };
  const source = {
    below: (n: number) =>
      n === 1 ? 0 : draw(BigInt(n), () => Array.from({ length: n }, (_, result) => ({ result, weight: 1n }))),
    bernoulli: (threshold: bigint) =>
      draw(ONE, () => [
        { result: true, weight: threshold + shift },
        { result: false, weight: ONE - threshold - shift },
      ]),
  } as unknown as Source;

  const outcomes: { payload: string; weight: bigint; outOf: bigint }[] = [];
  do {
    depth = 0;
    const payload = toHex(mechanism.randomize(input, source));
    const weight = path.reduce((product, { ways, taken }) => product * ways[taken]!.weight, 1n);
    outcomes.push({ payload, weight, outOf: path.reduce((product, { outOf }) => product * outOf, 1n) });
    while (path.length && path.at(-1)!.taken === path.at(-1)!.ways.length - 1) path.pop();
    if (path.length) path.at(-1)!.taken++;
  } while (path.length);

  const denominator = outcomes[0]!.outOf; // the same for all: what is drawn depends on nothing
  const chances = new Map<string, bigint>();
  for (const { payload, weight, outOf } of outcomes) {
    if (outOf !== denominator) throw new Error("the draws depend on each other or on the value");
    chances.set(payload, (chances.get(payload) ?? 0n) + weight);
  }
  return { chances, denominator };
}
