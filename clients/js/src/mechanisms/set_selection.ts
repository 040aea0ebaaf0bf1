/** Set selection: a random subset of the options, more often than not with some of the person's own among them. */
import { checkReportBytes, encodeSubset, subsetWidth } from "../core/codecs.js";
import { MechanismError } from "../core/errors.js";
import { type Law, type Reported, twoChances } from "./laws/law.js";
import { isLess } from "./laws/ratios.js";
import { counted, naming } from "./laws/words.js";
import { checkInteger } from "../core/limits.js";
import { ONE } from "../randomness/source.js";
import { exactly, floorOf, type Ratio } from "../randomness/thresholds.js";
import { choose } from "../core/bits.js";
import { checkRow, increasing, type Row, type SetKind, type SetMechanism } from "./base/sets.js";
import { logChoose, subsetMembers } from "./subset_selection.js";

const LARGEST_SET = 2 ** 8;

interface Selecting extends SetMechanism {
  /** Relative probabilities of a subset by its first common member, and last of one that misses the set. */
  readonly levels: readonly Ratio[];
}

export const setSelection: SetKind = {
  parameters: ["subset_size"],
  make(asked, { epsilon }, own): Selecting {
    const options = Number(asked.options.size);
    const { most } = asked;
    const size = checkInteger("subset_size", own.subset_size, 1, options);
    if (most > LARGEST_SET) throw new MechanismError(`set_selection takes sets of at most ${LARGEST_SET} options`);
    const numbers = options + most;
    const reportBytes = checkReportBytes("set_selection", subsetWidth(numbers, size));
    const thresholds = thresholdsOf(BigInt(options), most, BigInt(size), epsilon);
    const levels = levelsOf(BigInt(numbers), BigInt(size), thresholds);
    return {
      name: "set_selection",
      reportBytes,
      asked,
      levels,
      randomize(given, source) {
        const row = checkRow(given, asked);
        const members: number[] = [];
        thresholds.forEach((threshold, place) => {
          const first = source.bernoulli(threshold);
          const later = source.below(numbers - place) < size - members.length;
          if (choose(members.length > 0, later, first)) members.push(row[place]!);
        });
        // The rest are the first of so many others in random order (Fisher and Yates): all are drawn.
        const places = new Map<number, number>();
        const others = Array.from({ length: size }, (_, place) => {
          const drawn = place + source.below(options - place);
          const other = places.get(drawn) ?? drawn;
          places.set(drawn, places.get(place) ?? place);
          return other;
        });
        const among = (other: number) => row.reduce((sum, member) => sum + Number(sum >= member), other);
        const chosen = others.slice(0, size - members.length).map(among);
        return encodeSubset([...members, ...chosen].sort(increasing), numbers);
      },
    };
  },
};

/** For each member that it belongs to the subset, if none before it does: rounded down. */
function thresholdsOf(options: bigint, most: number, size: bigint, epsilon: number): bigint[] {
  const found: bigint[] = [];
  let missed = { n: 1n, d: 1n };
  for (let numbers = options + 1n; numbers <= options + BigInt(most); numbers++) {
    const { n, d } = (missed = { n: missed.n * (numbers - size), d: missed.d * numbers });
    const chance = (e: Ratio) => ({ n: size * e.n * d, d: numbers * (e.n * (d - n) + e.d * n) });
    found.push(floorOf(chance, exactly(epsilon)));
  }
  return found.reverse();
}

function levelsOf(numbers: bigint, size: bigint, thresholds: readonly bigint[]): Ratio[] {
  let [n, d] = [1n, 1n];
  const found = thresholds.map((threshold, place) => {
    const left = numbers - BigInt(place);
    const level = { n: n * threshold * left, d: d * ONE * size };
    [n, d] = [n * (ONE - threshold) * left, d * ONE * (left - size)];
    return level;
  });
  return [...found, { n, d }];
}

export function setSelectionLaw({ mechanism, own, payload }: Reported): Law {
  const { asked, levels } = mechanism as Selecting;
  const options = Number(asked.options.size);
  const [numbers, size] = [options + asked.most, own.subset_size as number];
  const found = subsetMembers(payload, numbers, size);
  const members = new Set(found);
  const highest = levels.reduce((a, b) => (isLess(a, b) ? b : a));
  const named = found.filter((member) => member < options);
  const says =
    named.length === 0
      ? `None of the ${counted(options)} options, which may be said whatever is ticked.`
      : `${counted(named.length)} of the ${counted(options)} options; some may be yours, or none` +
        `${naming(named, (option) => asked.options.label(option))}.`;
  // Those that meet the set differ by their first common member, in the sixtieth bit or so.
  const meets = (row: Row) => row.some((member) => members.has(member));
  return twoChances(meets, highest, levels.at(-1)!, null, says, -logChoose(numbers, size));
}
