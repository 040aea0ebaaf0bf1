/** Every strategy that this client answers by: what is randomized for a value, and by which mechanism. */
import { sha256, toHex } from "../bytes.js";
import { MechanismError, SurveyError, WorkloadError } from "../errors.js";
import type { Json, JsonObject } from "../json.js";
import { checkDimension, MAX_DOMAIN_SIZE } from "../limits.js";
import type { Mechanism } from "../mechanism.js";
import type { FiniteKind } from "../mechanisms/finite.js";
import { fourier } from "../mechanisms/fourier.js";
import { haar, hierarchical } from "../mechanisms/levels.js";
import { readChannel } from "../mechanisms/matrix_channel.js";
import { mechanismName, mechanismParameters, readMechanism } from "../mechanisms/registry.js";
import { checkTilt } from "../mechanisms/sampled.js";
import { readVectorMechanism } from "../mechanisms/vector_registry.js";
import type { Key } from "../philox.js";
import { MAX_ENTRIES, type Workload } from "../workloads/workload.js";
import { readCoordinates } from "./coordinates.js";

/** What a survey of queries states. */
export interface QuerySurvey {
  readonly workload: Workload;
  readonly epsilon: number;
  readonly delta: number;
  readonly mechanism: Json | undefined;
  readonly key: Key;
}

/** A mechanism, what it is given for the value of this number, and the digest of the attachment that was read. */
export interface Strategy {
  readonly mechanism: Mechanism;
  readonly input: (value: bigint) => unknown;
  readonly digest?: string;
}

type StrategyReader = (survey: QuerySurvey, attachment: Uint8Array) => Strategy | Promise<Strategy>;

const direct: StrategyReader = ({ workload, mechanism, ...promise }) => {
  const { queries, radius } = workload;
  const ball = { ...promise, dimension: checkDimension(queries), radius };
  const input = (value: bigint) => {
    const column = new Float64Array(queries);
    workload.fill(value, column);
    return column;
  };
  return { mechanism: readVectorMechanism(mechanism, ball), input };
};

const factorized: StrategyReader = async ({ workload, mechanism, ...promise }, attachment) => {
  const { rows, columns, column } = readCoordinates(attachment);
  if (BigInt(columns) !== workload.domain.size) throw new WorkloadError("the coordinates are over other values");
  const ball = { ...promise, dimension: checkDimension(rows), radius: 1 };
  const digest = toHex(await sha256(attachment));
  return { mechanism: readVectorMechanism(mechanism, ball), input: (value) => column(Number(value)), digest };
};

/** The number of values, if the value itself can be randomized, by one of these mechanisms. */
function valuesOf({ workload, mechanism, delta }: QuerySurvey, ...names: string[]): number {
  const { size } = workload.domain;
  if (!names.includes(mechanismName(mechanism)) || delta !== 0 || size > MAX_DOMAIN_SIZE) {
    throw new SurveyError(`this strategy needs ${names.join(" or ")}, delta 0, and at most ${MAX_DOMAIN_SIZE} values`);
  }
  return Number(size);
}

const histogram: StrategyReader = (survey) => {
  const alike = ["randomized_response", "subset_selection", "unary_optimized", "unary_symmetric"];
  const size = valuesOf(survey, ...alike);
  return { mechanism: readMechanism(survey.mechanism, BigInt(size), survey.epsilon), input: Number };
};

const optimized: StrategyReader = async (survey, attachment) => {
  const size = valuesOf(survey, "matrix_channel");
  mechanismParameters(survey.mechanism, []);
  return { ...(await readChannel(attachment, size, survey.epsilon)), input: Number };
};

/** Trees serve intervals of a line, and any workload that is small. */
const tree =
  (name: string, kind: FiniteKind): StrategyReader =>
  (survey) => {
    const size = valuesOf(survey, name);
    const { intervals, queries } = survey.workload;
    if (!intervals && (size > 4096 || queries * size > MAX_ENTRIES)) {
      throw new WorkloadError("a tree serves intervals of a line, and other workloads only if they are small");
    }
    const own = mechanismParameters(survey.mechanism, kind.parameters);
    return { mechanism: kind.make(size, survey.epsilon, own), input: Number };
  };

const parities: StrategyReader = (survey) => {
  const size = valuesOf(survey, "fourier");
  const own: JsonObject = mechanismParameters(survey.mechanism, ["sizes", "order", "only", "tilt"]);
  const { layout } = survey.workload;
  const same = ({ sizes, order, only }: { [name: string]: unknown }) => JSON.stringify([sizes, order, only]);
  if (!layout || same(own) !== same({ ...layout })) {
    throw new MechanismError("the mechanism's coefficients are not this workload's, or it has none");
  }
  return { mechanism: fourier(size, survey.epsilon, layout, checkTilt(own.tilt)), input: Number };
};

/** By name in a survey's JSON; the direct one is that of a survey that states none. */
export const STRATEGIES: ReadonlyMap<string, StrategyReader> = new Map([
  ["direct", direct],
  ["factorized", factorized],
  ["optimized", optimized],
  ["hierarchical", tree("hierarchical", hierarchical)],
  ["haar", tree("haar", haar)],
  ["fourier", parities],
  ["histogram", histogram],
]);

/** Strategies with an attachment, which the survey names by its digest. */
export const ATTACHED: readonly string[] = ["factorized", "optimized"];
