/** A design: the strategy by which a question is asked, with its mechanism, from a survey's JSON. */
import { SurveyError } from "../core/errors.js";
import { isObject, type Json, type JsonObject } from "../core/json.js";
import type { BroughtMechanisms } from "../mechanisms/base/finite.js";
import type { Terms } from "../mechanisms/base/mechanism.js";
import type { Strategies, Strategy } from "./strategy.js";

/** What a survey's JSON names by its digest, by that digest. */
export type Attachments = Readonly<Record<string, Uint8Array>>;

/** How a question is asked. `Value` is what the question reads of a person's value. */
export interface Design<Value = any> extends Strategy<Value> {
  /** The mechanism's name and own parameters, as the survey states them. */
  readonly parameters: JsonObject;
}

/** What a design is made for: the queries, and the strategies that may ask them. */
interface Served<Asked, Value> {
  readonly workload: Asked;
  readonly strategies: Strategies<Asked, Value>;
}

/** The design in a survey's JSON; refuses a strategy that does not serve the question, and any other field. */
export async function readDesign<Asked, Value>(
  stated: Json | undefined,
  { workload, strategies }: Served<Asked, Value>,
  terms: Terms,
  attachments: Attachments,
  brought: BroughtMechanisms,
): Promise<Design<Value>> {
  const { strategy, mechanism, digest, ...more } = isObject(stated) ? stated : ({} as JsonObject);
  const kind = strategies.get(strategy as string);
  const isAttached = typeof digest === "string";
  if (!kind || Object.keys(more).length > 0 || isAttached !== kind.isAttached) {
    const known = [...strategies.keys()].join(", ");
    throw new SurveyError(`a design must hold a strategy, here ${known}, a mechanism, and a digest if it is attached`);
  }
  const attachment = isAttached ? attachments[digest] : new Uint8Array();
  if (!(attachment instanceof Uint8Array)) throw new SurveyError("the survey needs an attachment that is not here");
  const found = await kind.make(workload, terms, mechanism, attachment, brought);
  if (found.digest !== digest) {
    throw new SurveyError("the attachment is not the one that the survey names: fetch it again");
  }
  return { ...found, parameters: mechanism as JsonObject };
}
