/** Every mechanism for a vector that this client runs. To add one: write its file, add its line. */
import { MechanismError } from "../errors.js";
import type { Json } from "../json.js";
import { binary } from "./binary.js";
import { codebook } from "./codebook.js";
import { mechanismName, mechanismParameters } from "./registry.js";
import type { Ball, VectorKind, VectorMechanism } from "./vector.js";

const MECHANISMS = new Map<string, VectorKind>([
  ["codebook", codebook],
  ["binary", binary],
]);

/** The mechanism of a survey of vectors, as the survey states it. */
export function readVectorMechanism(stated: Json | undefined, ball: Ball): VectorMechanism {
  const kind = MECHANISMS.get(mechanismName(stated));
  if (kind === undefined) {
    throw new MechanismError(
      `for vectors this client runs ${[...MECHANISMS.keys()].join(", ")}; the survey states another mechanism`,
    );
  }
  return kind.make(ball, mechanismParameters(stated, kind.parameters));
}
