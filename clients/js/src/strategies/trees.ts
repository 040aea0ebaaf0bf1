/** Hierarchical and haar: nodes of a tree over a line are randomized. They serve intervals, and what is small. */
import { WorkloadError } from "../core/errors.js";
import type { FiniteKind } from "../mechanisms/base/finite.js";
import * as levels from "../mechanisms/levels.js";
import { parametersOf } from "../mechanisms/base/stated.js";
import { MAX_ENTRIES, type Workload } from "../workloads/workload.js";
import { type StrategyKind, valuesOf } from "./strategy.js";

const tree = (name: string, kind: FiniteKind): StrategyKind<Workload, bigint> => ({
  isAttached: false,
  make({ domain, intervals, queries }, terms, mechanism) {
    const own = parametersOf(mechanism, name, kind.parameters);
    const size = valuesOf(domain, terms);
    if (!intervals && (size > 4096 || queries * size > MAX_ENTRIES)) {
      throw new WorkloadError("a tree serves intervals of a line, and other workloads only if they are small");
    }
    return { mechanism: kind.make(size, terms.epsilon, own), input: Number };
  },
});

export const hierarchical = tree("hierarchical", levels.hierarchical);
export const haar = tree("haar", levels.haar);
