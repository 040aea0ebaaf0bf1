/** Every mechanism that this client runs. To add one: write its file, add its lines here. */
import type { LawOf } from "./laws/law.js";
import { MechanismError } from "../core/errors.js";
import type { Json } from "../core/json.js";
import { checkInteger, MAX_REPORT_BYTES } from "../core/limits.js";
import type { Terms } from "./base/mechanism.js";
import { binary, binaryLaw } from "./binary.js";
import { codebook, codebookLaw } from "./codebook.js";
import { type BroughtMechanisms, checkValue, type FiniteKind, type FiniteMechanism } from "./base/finite.js";
import { fourierLaw } from "./fourier.js";
import { hadamard, hadamardLaw } from "./hadamard.js";
import { hadamardBlocks, hadamardBlocksLaw } from "./hadamard_blocks.js";
import { hashedPrefixesLaw } from "./hashed_prefixes.js";
import { haarLaw, hierarchicalLaw } from "./levels.js";
import { matrixChannelLaw } from "./matrix_channel.js";
import { oneOption, oneOptionLaw } from "./one_option.js";
import { projectiveGeometry, projectiveGeometryLaw } from "./projective_geometry.js";
import { productsLaw } from "./products.js";
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

/** Names of mechanisms that strategies make themselves, or that only the Python client runs: taken all the same. */
const TAKEN = [
  ...["hierarchical", "haar", "fourier", "matrix_channel", "rounded_channel", "tables", "products"],
  ...["hashed_prefixes", "gaussian", "rejection", "sphere", "auto"],
];

/** How likely each mechanism's reports are; only what explains reports loads this. */
export const LAWS: ReadonlyMap<string, LawOf> = new Map([
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
  ["products", productsLaw],
  ["set_selection", setSelectionLaw],
  ["wheel", wheelLaw],
  ["one_option", oneOptionLaw],
  ["hashed_prefixes", hashedPrefixesLaw],
]);

/** The mechanisms that an application brings, if their names are free and they can be made. */
export function checkBrought(brought: BroughtMechanisms): BroughtMechanisms {
  for (const [name, kind] of Object.entries(brought)) {
    const isTaken = TAKEN.includes(name) || [FINITE, VECTORS, SETS].some((ours) => ours.has(name));
    if (isTaken || !/^[a-z][a-z0-9_]{0,63}$/.test(name) || !Array.isArray(kind?.parameters) || !kind.make) {
      throw new MechanismError(
        `mechanism ${name} cannot be brought: it needs a name that is free, of small letters, digits and _, and ` +
          "parameters and make",
      );
    }
  }
  return brought;
}

/** The mechanism for `domainSize` values, as a survey states it: one of this client's, or one that was brought. */
export function readMechanism(
  stated: Json | undefined,
  domainSize: number,
  epsilon: number,
  brought: BroughtMechanisms = {},
): FiniteMechanism {
  const others = Object.entries(checkBrought(brought)).map(([name, kind]) => [name, guarded(name, kind)] as const);
  const [kind, own] = findMechanism(new Map([...FINITE, ...others]), stated, "bring another by the option mechanisms if you trust it");
  return kind.make(domainSize, epsilon, own);
}

/** A mechanism that was brought, held to what every mechanism owes: values are checked, and payloads have one width. */
const guarded = (name: string, kind: FiniteKind): FiniteKind => ({
  parameters: kind.parameters,
  make(domainSize, epsilon, own) {
    const made = kind.make(domainSize, epsilon, own);
    const { reportBytes } = made;
    if (made.name !== name) throw new MechanismError(`mechanism ${name} calls itself ${made.name}`);
    checkInteger("reportBytes", reportBytes, 1, MAX_REPORT_BYTES);
    return {
      name,
      reportBytes,
      randomize(value, source) {
        const payload = made.randomize(checkValue(value, domainSize), source);
        if (payload instanceof Uint8Array && payload.length === reportBytes) return payload;
        throw new MechanismError(`a report of mechanism ${name} is not ${reportBytes} bytes wide`);
      },
    };
  },
});

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
