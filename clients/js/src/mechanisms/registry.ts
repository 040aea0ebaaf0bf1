/** Every mechanism for a value out of finitely many that this client runs. To add one: write its file, add its line. */
import { MechanismError, SurveyError } from "../errors.js";
import { isObject, type Json, type JsonObject } from "../json.js";
import type { FiniteKind, FiniteMechanism } from "./finite.js";
import { hadamard } from "./hadamard.js";
import { hadamardBlocks } from "./hadamard_blocks.js";
import { projectiveGeometry } from "./projective_geometry.js";
import { randomizedResponse } from "./randomized_response.js";
import { subsetSelection } from "./subset_selection.js";
import { unaryOptimized, unarySymmetric } from "./unary.js";

const MECHANISMS = new Map<string, FiniteKind>([
  ["randomized_response", randomizedResponse],
  ["hadamard", hadamard],
  ["hadamard_blocks", hadamardBlocks],
  ["projective_geometry", projectiveGeometry],
  ["subset_selection", subsetSelection],
  ["unary_optimized", unaryOptimized],
  ["unary_symmetric", unarySymmetric],
]);

/** The name in a survey's `mechanism` field. */
export function mechanismName(stated: Json | undefined): string {
  if (!isObject(stated) || typeof stated.name !== "string") {
    throw new MechanismError("a mechanism must hold its name and its own parameters");
  }
  return stated.name;
}

/** The own parameters in a survey's `mechanism` field, if they are exactly these. */
export function mechanismParameters(stated: Json | undefined, expected: readonly string[]): JsonObject {
  const name = mechanismName(stated);
  const { name: _, ...own } = stated as JsonObject;
  if (Object.keys(own).sort().join() !== [...expected].sort().join()) {
    throw new SurveyError(
      `mechanism ${name} must be stated with exactly these parameters: ${expected.join(", ") || "none"}`,
    );
  }
  return own;
}

/** The mechanism of a survey of `domainSize` values, as the survey states it. */
export function readMechanism(stated: Json | undefined, domainSize: bigint, epsilon: number): FiniteMechanism {
  const kind = MECHANISMS.get(mechanismName(stated));
  if (kind === undefined) {
    throw new MechanismError(`this client runs no such mechanism for values, but ${[...MECHANISMS.keys()].join(", ")}`);
  }
  return kind.make(Number(domainSize), epsilon, mechanismParameters(stated, kind.parameters));
}
