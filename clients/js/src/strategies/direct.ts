/** Direct: the answers to all queries are randomized, as one vector. */
import { checkDimension } from "../core/limits.js";
import { readVectorMechanism } from "../mechanisms/registry.js";
import type { Linear } from "../workloads/workload.js";
import type { StrategyKind } from "./strategy.js";

export const direct: StrategyKind<Linear<any>, any> = {
  isAttached: false,
  make({ queries, radius, fill }, terms, mechanism) {
    const ball = { ...terms, dimension: checkDimension(queries), radius };
    const input = (value: unknown) => {
      const column = new Float64Array(queries);
      fill(value, column);
      return column;
    };
    return { mechanism: readVectorMechanism(mechanism, ball), input };
  },
};
