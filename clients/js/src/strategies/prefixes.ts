/** Prefixes: levels of prefixes of words, each hashed by public rows; a device answers in one row. */
import { SurveyError } from "../core/errors.js";
import { hashedPrefixes, PREFIX_PARAMETERS } from "../mechanisms/hashed_prefixes.js";
import { parametersOf } from "../mechanisms/base/stated.js";
import type { WordCode } from "../domain/word_code.js";
import type { StrategyKind } from "./strategy.js";

/** Most bits from one level to the next: a search for words tries all ways to go on. */
const MAX_STEP = 22;

export const prefixes: StrategyKind<WordCode, Uint8Array> = {
  isAttached: false,
  make({ bits, unitBits }, terms, stated) {
    if (terms.delta !== 0) throw new SurveyError("this strategy needs delta 0");
    const mechanism = hashedPrefixes(bits, terms, parametersOf(stated, "hashed_prefixes", PREFIX_PARAMETERS));
    if (mechanism.rowEnds.some((end) => end % unitBits > 0)) {
      throw new SurveyError("every level must end with a whole unit of the words' code");
    }
    if (mechanism.rowEnds.some((end, row) => end - (mechanism.rowEnds[row - 1] ?? 0) > MAX_STEP)) {
      throw new SurveyError(`a level must have at most ${MAX_STEP} bits more than the one before it`);
    }
    return { mechanism, input: (code) => code };
  },
};
