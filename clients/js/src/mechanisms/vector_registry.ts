/** Every mechanism for a vector that this client runs. To add one: write its file, add its line. */
import type { Json } from "../json.js";
import { binary } from "./binary.js";
import { codebook } from "./codebook.js";
import { findMechanism } from "./stated.js";
import type { Ball, VectorKind, VectorMechanism } from "./vector.js";

const MECHANISMS = new Map<string, VectorKind>([
  ["codebook", codebook],
  ["binary", binary],
]);

/** The mechanism for vectors of a ball, as a survey states it. */
export function readVectorMechanism(stated: Json | undefined, ball: Ball): VectorMechanism {
  const [kind, own] = findMechanism(MECHANISMS, stated);
  return kind.make(ball, own);
}
