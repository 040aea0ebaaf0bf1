/** Every strategy for queries that this client answers by. To add one: write its file, add its line. */
import type { Workload } from "../workloads/workload.js";
import { direct } from "./direct.js";
import { factorized } from "./factorized.js";
import { fourier } from "./fourier.js";
import { histogram } from "./histogram.js";
import { optimized } from "./optimized.js";
import type { Strategies } from "./strategy.js";
import { tables } from "./tables.js";
import { haar, hierarchical } from "./trees.js";

export const STRATEGIES: Strategies<Workload, bigint> = new Map(
  Object.entries({ direct, factorized, optimized, hierarchical, haar, fourier, tables, histogram }),
);
