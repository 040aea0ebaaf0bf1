/**
 * Seats: what makes a survey one round of a panel, and asks it of a query's answer instead of a person's record.
 *
 * A device evaluates a checked tree and nothing else. Whether a round is refused depends on the query and the domain
 * alone, never on the record: the query is checked when the round is read, before any value is at hand.
 */
import { SurveyError } from "../core/errors.js";
import { readQuery } from "../expressions/query.js";
import { checkFields, type Json } from "../core/json.js";
import { checkInteger, MAX_CHOICES } from "../core/limits.js";
import type { Question } from "../questions/question.js";
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
  readonly question: Question;
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
  const { question, mechanism } = asked;
  const evaluate = question.ofQuery?.(readQuery(query, domain), { radius: panel.radius, mechanism });
  if (!evaluate) {
    throw new SurveyError(
      "a round must ask for one number within the panel's radius, by binary, " +
        `or for shares of the integers from 0 on, at most ${MAX_CHOICES}`,
    );
  }
  const answer = (value: unknown) => evaluate(domain.split(domain.index(value)));
  return { panel, round: checkInteger("round", round, 1, panel.rounds), query: query!, answer };
}
