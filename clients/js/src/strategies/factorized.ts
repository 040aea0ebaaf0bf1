/** Factorized: a vector of fewer or better coordinates is randomized, from which the answers follow. */
import { sha256, toHex } from "../core/bytes.js";
import { WorkloadError } from "../core/errors.js";
import { checkDimension } from "../core/limits.js";
import { readVectorMechanism } from "../mechanisms/registry.js";
import type { Workload } from "../workloads/workload.js";
import { readCoordinates } from "./coordinates.js";
import type { StrategyKind } from "./strategy.js";

export const factorized: StrategyKind<Workload, bigint> = {
  isAttached: true,
  async make({ domain }, terms, mechanism, attachment) {
    const { rows, columns, column } = readCoordinates(attachment);
    if (BigInt(columns) !== domain.size) throw new WorkloadError("the coordinates are over other values");
    const ball = { ...terms, dimension: checkDimension(rows), radius: 1 };
    const digest = toHex(await sha256(attachment));
    return { mechanism: readVectorMechanism(mechanism, ball), input: (value) => column(Number(value)), digest };
  },
};
