/**
 * Seats: what makes a survey one round of a panel, and asks it of a query's answer instead of a person's record.
 *
 * A device evaluates a checked tree and nothing else. Whether a round is refused depends on the query and the domain
 * alone, never on the record: the query is checked when the round is read, before any value is at hand.
 */
import { type Domain, RangeDomain } from "../domain/domain.js";
import { QueryError, SurveyError } from "../core/errors.js";
import type { Part, Record } from "../expressions/part.js";
import { numberOf, positionOf, readQuery } from "../expressions/query.js";
import { checkFields, type Json } from "../core/json.js";
import { checkInteger, MAX_CHOICES } from "../core/limits.js";
import type { AnyQuestion } from "../questions/registry.js";
import { Panel } from "./panel.js";
import { readStatement } from "./statement.js";

/** A survey's place in a panel. */
export interface Seat {
  readonly panel: Panel;
  readonly round: number;
  /** The expression, as a tree. */
  readonly query: Json;
  /** What the survey's question is asked of, from a person's record; throws `ValueOutsideDomainError`. */
  readonly answer: (value: unknown) => unknown;
}

/** What is known of a survey before its seat is read. */
interface Round {
  readonly question: AnyQuestion;
  /** The mechanism's name. */
  readonly mechanism: string;
  readonly epsilon: number;
}

/** The seat in a survey's JSON; refuses a survey that cannot be a round of the panel stated there. */
export async function readSeat(stated: Json, asked: Round): Promise<Seat> {
  const { panel: whole, round, query } = checkFields(stated, "a seat", "panel", "round", "query");
  const panel = new Panel(await readStatement(whole));
  if (asked.epsilon !== panel.epsilon) throw new SurveyError("epsilon must be that of the round's panel");
  const { domain } = panel;
  const evaluate = evaluated(readQuery(query, domain), asked, panel.radius);
  const answer = (value: unknown) => evaluate(domain.split(domain.index(value)));
  return { panel, round: checkInteger("round", round, 1, panel.rounds), query: query!, answer };
}

/** A query's answer as the round's question takes it: clipped to the panel's radius, or into the choices. */
function evaluated(query: Part, { question, mechanism }: Round, radius: number): (record: Record) => unknown {
  if (question.kind === "vector" && question.dimension === 1 && question.radius === radius && mechanism === "binary") {
    return (record) => [Math.min(Math.max(numberOf(query, record), -radius), radius)];
  }
  const size = question.kind === "shares" ? choices(question.domain) : 0;
  if (size === 0) {
    throw new SurveyError(
      "a round must ask for one number within the panel's radius, by binary, " +
        `or for shares of the integers from 0 on, at most ${MAX_CHOICES}`,
    );
  }
  if (query.kind === "real") throw new QueryError("the query gives a real; a choice needs an integer, its number");
  return (record) => positionOf(query, record, size);
}

/** How many choices a domain lists by their numbers from 0 on; 0 if it is another one, or has too many. */
function choices(domain: Domain): number {
  const isListed = domain instanceof RangeDomain && domain.start === 0n && domain.step === 1n;
  return isListed && domain.size <= MAX_CHOICES ? Number(domain.size) : 0;
}
