/** Queries: what are the mean answers to a set of linear queries, fixed beforehand? */
import { checkFields, type JsonObject } from "../core/json.js";
import { STRATEGIES } from "../strategies/registry.js";
import { readWorkload } from "../workloads/read.js";
import type { Workload } from "../workloads/workload.js";
import { OverDomain, type Question } from "./question.js";

export class Queries extends OverDomain implements Question<Workload, bigint> {
  readonly kind = "queries";
  readonly strategies = STRATEGIES;
  readonly workload: Workload;

  constructor(stated: JsonObject) {
    const workload = readWorkload(checkFields(stated, "queries", "kind", "workload").workload);
    super(workload.domain);
    this.workload = workload;
  }
}
