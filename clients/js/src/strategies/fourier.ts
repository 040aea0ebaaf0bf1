/** Fourier: one parity of the value's code is randomized, out of those from which the answers follow. */
import { MechanismError } from "../core/errors.js";
import { fourier as parityOf } from "../mechanisms/fourier.js";
import { checkTilt } from "../mechanisms/sampled.js";
import { parametersOf } from "../mechanisms/base/stated.js";
import type { Workload } from "../workloads/workload.js";
import { type StrategyKind, valuesOf } from "./strategy.js";

const same = ({ sizes, order, only }: { [name: string]: unknown }): string => JSON.stringify([sizes, order, only]);

export const fourier: StrategyKind<Workload, bigint> = {
  isAttached: false,
  make({ domain, layout }, terms, mechanism) {
    const own = parametersOf(mechanism, "fourier", ["sizes", "order", "only", "tilt"]);
    if (!layout || same(own) !== same({ ...layout })) {
      throw new MechanismError("the mechanism's coefficients are not this workload's, or it has none");
    }
    const size = valuesOf(domain, terms);
    return { mechanism: parityOf(size, terms.epsilon, layout, checkTilt(own.tilt)), input: Number };
  },
};
