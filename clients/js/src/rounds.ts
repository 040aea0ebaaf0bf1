/**
 * Rounds of adaptive surveys: each asks for the mean of a number, or how people spread over a few choices.
 *
 * A device evaluates a checked tree and nothing else. Whether a round is refused depends on the query and the domain
 * alone, never on the record: the query is checked when the round is read, before any value is at hand.
 */
import { ADAPTIVE, type Adaptive, readAdaptive } from "./adaptive.js";
import { fromHex } from "./bytes.js";
import { QueryError, SurveyError } from "./errors.js";
import type { Part } from "./expressions/part.js";
import { numberOf, positionOf, readQuery } from "./expressions/query.js";
import { isObject, type JsonObject } from "./json.js";
import { type Asked, checkFields, type Reader } from "./kind.js";
import { checkEpsilon, checkInteger } from "./limits.js";
import { mechanismName, readMechanism } from "./mechanisms/registry.js";
import { readVectorMechanism } from "./mechanisms/vector_registry.js";
import { keyOf } from "./philox.js";

const MAX_CHOICES = 2 ** 20;

interface Read {
  readonly adaptive: Adaptive;
  readonly query: Part;
  readonly shared: Pick<Asked, "delta" | "domain">;
  /** The numbers of a person's attributes. */
  record(value: unknown): bigint[];
}

/** What both kinds of round share, from the statement; `own` are the fields that only one kind has. */
function readRound(statement: JsonObject, ...own: string[]): Read {
  checkFields(statement, "mechanism", "survey", "round", "query", ...own);
  const survey = statement.survey;
  if (!isObject(survey) || survey.format !== 1 || survey.kind !== ADAPTIVE) {
    throw new SurveyError("the survey of a round must be an adaptive one, of format 1");
  }
  const adaptive = readAdaptive(survey);
  if (checkEpsilon(statement.epsilon) !== adaptive.epsilon) {
    throw new SurveyError("epsilon must be that of the adaptive survey the round belongs to");
  }
  checkInteger("round", statement.round, 1, adaptive.rounds);
  const { domain } = adaptive;
  const query = readQuery(statement.query, domain);
  const record = (value: unknown) => domain.split(domain.index(value));
  return { adaptive, query, record, shared: { delta: 0, domain } };
}

/** "adaptive_question": what is the mean of this number over everybody? Clipped into [-r, r], one bit. */
export const readQuestion: Reader = async (statement, context) => {
  const { adaptive, query, record, shared } = readRound(statement);
  const { radius, epsilon } = adaptive;
  if (mechanismName(statement.mechanism) !== "binary") throw new SurveyError("a question's mechanism must be binary");
  const ball = { dimension: 1, radius, epsilon, delta: 0, key: keyOf(fromHex(context.id)) };
  const mechanism = readVectorMechanism(statement.mechanism, ball);
  const clip = (number: number) => Math.min(Math.max(number, -radius), radius);
  return { ...shared, mechanism, input: (value) => [clip(numberOf(query, record(value)))] };
};

/** "adaptive_choice": how is everybody distributed over the values 0 .. size-1 of an integer query? */
export const readChoice: Reader = async (statement) => {
  const { adaptive, query, record, shared } = readRound(statement, "size");
  const size = checkInteger("size", statement.size, 2, MAX_CHOICES);
  if (query.kind === "real") throw new QueryError("the query gives a real; a choice needs an integer, its number");
  const mechanism = readMechanism(statement.mechanism, BigInt(size), adaptive.epsilon);
  return { ...shared, mechanism, input: (value) => positionOf(query, record(value), size) };
};
