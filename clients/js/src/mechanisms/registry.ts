/** Every mechanism that this client runs. To add one: write its file, add its lines here. */
import type { Law, Reported } from "./laws/law.js";
import type { Json } from "../core/json.js";
import type { Terms } from "./base/mechanism.js";
import { binary, binaryLaw } from "./binary.js";
import { codebook, codebookLaw } from "./codebook.js";
import type { FiniteKind, FiniteMechanism } from "./base/finite.js";
import { fourierLaw } from "./fourier.js";
import { hadamard, hadamardLaw } from "./hadamard.js";
import { hadamardBlocks, hadamardBlocksLaw } from "./hadamard_blocks.js";
import { hashedPrefixesLaw } from "./hashed_prefixes.js";
import { haarLaw, hierarchicalLaw } from "./levels.js";
import { matrixChannelLaw } from "./matrix_channel.js";
import { oneOption, oneOptionLaw } from "./one_option.js";
import { projectiveGeometry, projectiveGeometryLaw } from "./projective_geometry.js";
import { randomizedResponse, randomizedResponseLaw } from "./randomized_response.js";
import { roundedChannelLaw } from "./rounded_channel.js";
import { setSelection, setSelectionLaw } from "./set_selection.js";
import type { AskedSets, SetKind, SetMechanism } from "./base/sets.js";
import { findMechanism } from "./base/stated.js";
import { subsetSelection, subsetSelectionLaw } from "./subset_selection.js";
import { tablesLaw } from "./tables.js";
import { unaryLaw, unaryOptimized, unarySymmetric } from "./unary.js";
import type { Ball, VectorKind, VectorMechanism } from "./base/vector.js";
import { wheel, wheelLaw } from "./wheel.js";

/** For a value out of finitely many. */
export const FINITE: ReadonlyMap<string, FiniteKind> = new Map([
  ["randomized_response", randomizedResponse],
  ["hadamard", hadamard],
  ["hadamard_blocks", hadamardBlocks],
  ["projective_geometry", projectiveGeometry],
  ["subset_selection", subsetSelection],
  ["unary_optimized", unaryOptimized],
  ["unary_symmetric", unarySymmetric],
]);

/** For a vector. */
const VECTORS: ReadonlyMap<string, VectorKind> = new Map([
  ["codebook", codebook],
  ["binary", binary],
]);

/** For a set of options. */
const SETS: ReadonlyMap<string, SetKind> = new Map([
  ["set_selection", setSelection],
  ["wheel", wheel],
  ["one_option", oneOption],
]);

/** How likely each mechanism's reports are; only what explains reports loads this. */
export const LAWS: ReadonlyMap<string, (reported: Reported) => Law> = new Map([
  ["randomized_response", randomizedResponseLaw],
  ["hadamard", hadamardLaw],
  ["hadamard_blocks", hadamardBlocksLaw],
  ["projective_geometry", projectiveGeometryLaw],
  ["subset_selection", subsetSelectionLaw],
  ["unary_optimized", unaryLaw],
  ["unary_symmetric", unaryLaw],
  ["codebook", codebookLaw],
  ["binary", binaryLaw],
  ["hierarchical", hierarchicalLaw],
  ["haar", haarLaw],
  ["fourier", fourierLaw],
  ["matrix_channel", matrixChannelLaw],
  ["rounded_channel", roundedChannelLaw],
  ["tables", tablesLaw],
  ["set_selection", setSelectionLaw],
  ["wheel", wheelLaw],
  ["one_option", oneOptionLaw],
  ["hashed_prefixes", hashedPrefixesLaw],
]);

/** The mechanism for `domainSize` values, as a survey states it. */
export function readMechanism(stated: Json | undefined, domainSize: number, epsilon: number): FiniteMechanism {
  const [kind, own] = findMechanism(FINITE, stated);
  return kind.make(domainSize, epsilon, own);
}

/** The mechanism for vectors of a ball, as a survey states it. */
export function readVectorMechanism(stated: Json | undefined, ball: Ball): VectorMechanism {
  const [kind, own] = findMechanism(VECTORS, stated);
  return kind.make(ball, own);
}

/** The mechanism for sets of options, as a survey states it. */
export function readSetMechanism(stated: Json | undefined, asked: AskedSets, terms: Terms): SetMechanism {
  const [kind, own] = findMechanism(SETS, stated);
  return kind.make(asked, terms, own);
}
