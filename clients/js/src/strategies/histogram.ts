/** Histogram: the value itself is randomized, by any mechanism for finitely many values. */
import type { Domain } from "../domain/domain.js";
import { readMechanism } from "../mechanisms/registry.js";
import { type StrategyKind, valuesOf } from "./strategy.js";

export const histogram: StrategyKind<{ readonly domain: Domain }, bigint> = {
  isAttached: false,
  make({ domain }, terms, stated, _attachment, brought) {
    return { mechanism: readMechanism(stated, valuesOf(domain, terms), terms.epsilon, brought), input: Number };
  },
};
