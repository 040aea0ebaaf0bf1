/** Sets: a person's set of options is randomized as one value. */
import { SurveyError } from "../core/errors.js";
import { readSetMechanism } from "../mechanisms/registry.js";
import type { AskedSets, Row } from "../mechanisms/base/sets.js";
import type { StrategyKind } from "./strategy.js";

export const sets: StrategyKind<AskedSets, Row> = {
  isAttached: false,
  make(asked, terms, mechanism) {
    if (terms.delta !== 0) throw new SurveyError("this strategy needs delta 0");
    return { mechanism: readSetMechanism(mechanism, asked, terms), input: (row) => row };
  },
};
