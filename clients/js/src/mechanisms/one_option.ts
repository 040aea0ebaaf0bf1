/** One option: it is drawn in public, and randomized response says whether the person's set holds it. */
import { encodeIndex, indexWidth } from "../core/codecs.js";
import { decodeIndex, type Law, type Reported, shares, twoChances } from "./laws/law.js";
import { ratio, times } from "./laws/ratios.js";
import { counted } from "./laws/words.js";
import { favouring } from "../randomness/thresholds.js";
import { checkRow, type Row, type SetKind, type SetMechanism } from "./base/sets.js";

interface Answering extends SetMechanism {
  readonly threshold: bigint;
}

export const oneOption: SetKind = {
  parameters: [],
  make(asked, { epsilon }): Answering {
    const options = Number(asked.options.size);
    const threshold = favouring(1n, 1n, epsilon);
    const reportBytes = indexWidth(2n * asked.options.size);
    return {
      name: "one_option",
      reportBytes,
      asked,
      threshold,
      randomize(given, source) {
        const row = checkRow(given, asked);
        const option = source.below(options);
        const isTrue = source.bernoulli(threshold);
        // All members are compared, also after one that is the option: timing must not tell where it stands.
        const holds = row.reduce((found, member) => found + Number(member === option), 0) > 0;
        return encodeIndex(2 * option + Number(holds === isTrue), reportBytes);
      },
    };
  },
};

export function oneOptionLaw({ mechanism, payload }: Reported): Law {
  const { asked, threshold } = mechanism as Answering;
  const index = Number(decodeIndex(payload, 2n * asked.options.size));
  const [option, isYes] = [index >> 1, index % 2 === 1];
  const often = ratio(1n, asked.options.size);
  const [more, less] = shares(threshold, 1, 1).map((share) => times(often, share));
  const says =
    `One of the ${counted(asked.options.size)} options, drawn at random: “${asked.options.label(option)}”. The report ` +
    `says “${isYes ? "yes" : "no"}” to it, which may be false.`;
  return twoChances((row: Row) => row.includes(option) === isYes, more!, less!, null, says);
}
