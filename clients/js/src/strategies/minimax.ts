/** Minimax: a number is sent by the channel with the least worst variance of its mean. */
import type { NumberGrid } from "../domain/number.js";
import { MechanismError } from "../core/errors.js";
import { type CheckNumbers } from "../mechanisms/matrix_channel.js";
import { readRounded } from "../mechanisms/rounded_channel.js";
import type { StrategyKind } from "./strategy.js";

/** What every report stands for, which only the collector needs. */
export const estimatesOfReports: CheckNumbers = (numbers, reports) => {
  if (numbers.length !== reports || !numbers.every((number) => Math.abs(number) <= 1e9)) {
    throw new MechanismError("a channel's estimates must be one number of at most 1e9 for every report");
  }
};

export const minimax: StrategyKind<NumberGrid, number> = {
  isAttached: true,
  make: (grid, terms, mechanism, attachment) => readRounded(attachment, grid, terms, mechanism, estimatesOfReports),
};
