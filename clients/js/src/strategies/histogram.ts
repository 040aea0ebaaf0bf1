/** Histogram: the value itself is randomized, by any mechanism for finitely many values. */
import type { Domain } from "../domain/domain.js";
import { readMechanism } from "../mechanisms/registry.js";
import { type StrategyKind, valuesOf } from "./strategy.js";

export const histogram: StrategyKind<{ readonly domain: Domain }, bigint> = {
  isAttached: false,
  make({ domain }, terms, mechanism) {
    return { mechanism: readMechanism(mechanism, valuesOf(domain, terms), terms.epsilon), input: Number };
  },
};
