/** Reports of a channel that a matrix states: the matrix is read off the randomizer, draw by draw. */
import { decodeIndex, type Law, type Reported } from "./law.js";
import { probe } from "./probe.js";
import { ratio } from "./ratios.js";
import { counted } from "./words.js";

export function matrixChannel({ mechanism, size, payload }: Reported): Law {
  const one = probe(mechanism, 0).asked[0] as number;
  const drawn = (value: number, draw: number) => Number(decodeIndex(probe(mechanism, value, draw).payload, 2 ** 32));
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

  const chanceOf = (value: number) => below(value, report + 1) - below(value, report);
  const counts = new Map<number, bigint>();
  for (let value = 0; value < size; value++) {
    const chance = chanceOf(value);
    counts.set(chance, (counts.get(chance) ?? 0n) + 1n);
  }
  const groups = Array.from(counts, ([chance, count]) => ({ chance: ratio(chance, one), count }));
  const says = `One number below ${counted(reports)}: ${counted(report)}.`;
  return { chance: (value: number) => ratio(chanceOf(value), one), common: 0, groups, says };
}
