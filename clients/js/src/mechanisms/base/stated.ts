/** A mechanism as a survey states it: its name, and exactly its own parameters. */
import { MechanismError, SurveyError } from "../../core/errors.js";
import { isObject, type Json, type JsonObject } from "../../core/json.js";

/** What is known of a mechanism before it is made. */
interface MechanismKind {
  /** Names of its own parameters. */
  readonly parameters: readonly string[];
}

/** Which of these mechanisms is stated, and its own parameters. */
export function findMechanism<Found extends MechanismKind>(
  kinds: ReadonlyMap<unknown, Found>,
  stated: Json | undefined,
  advice = "this client runs no other",
): readonly [Found, JsonObject] {
  const { name, ...own } = isObject(stated) ? stated : ({} as JsonObject);
  const kind = kinds.get(name);
  if (!kind) throw new MechanismError(`mechanism must be one of ${[...kinds.keys()].join(", ")}: ${advice}`);
  if (Object.keys(own).sort().join() !== [...kind.parameters].sort().join()) {
    throw new SurveyError(
      `mechanism ${name} must be stated with exactly these parameters: ${kind.parameters.join(", ") || "none"}`,
    );
  }
  return [kind, own];
}

/** The own parameters of the one mechanism that can be stated. */
export const parametersOf = (stated: Json | undefined, name: string, parameters: readonly string[]): JsonObject =>
  findMechanism(new Map([[name, { parameters }]]), stated)[1];
