/** Every mechanism for a value out of finitely many that this client runs. To add one: write its file, add its line. */
import type { Json } from "../json.js";
import type { FiniteKind, FiniteMechanism } from "./finite.js";
import { hadamard } from "./hadamard.js";
import { hadamardBlocks } from "./hadamard_blocks.js";
import { projectiveGeometry } from "./projective_geometry.js";
import { randomizedResponse } from "./randomized_response.js";
import { findMechanism } from "./stated.js";
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

/** The mechanism for `domainSize` values, as a survey states it. */
export function readMechanism(stated: Json | undefined, domainSize: number, epsilon: number): FiniteMechanism {
  const [kind, own] = findMechanism(MECHANISMS, stated);
  return kind.make(domainSize, epsilon, own);
}
