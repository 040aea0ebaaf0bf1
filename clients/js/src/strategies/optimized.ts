/** Optimized: the value itself is randomized, by a channel that was computed for these queries. */
import type { NumberGrid } from "../domain/number.js";
import { readChannel } from "../mechanisms/matrix_channel.js";
import { readRounded } from "../mechanisms/rounded_channel.js";
import { parametersOf } from "../mechanisms/base/stated.js";
import type { Workload } from "../workloads/workload.js";
import { type StrategyKind, valuesOf } from "./strategy.js";

export const optimized: StrategyKind<Workload, bigint> = {
  isAttached: true,
  async make({ domain }, terms, mechanism, attachment) {
    parametersOf(mechanism, "matrix_channel", []);
    return { ...(await readChannel(attachment, valuesOf(domain, terms), terms.epsilon)), input: Number };
  },
};

/** A channel over the grid of a number, to which the number is rounded at random. */
export const optimizedNumber: StrategyKind<NumberGrid, number> = {
  isAttached: true,
  make: (grid, terms, mechanism, attachment) => readRounded(attachment, grid, terms, mechanism),
};
