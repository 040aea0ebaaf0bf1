/** What a conversation asks of the collector: a round's statement and estimate, the next question, opening and closing. */
import type { Envelope, Picture, QuestionAnswer, RoundStatus, Rounds } from "../../parts/api_types.js";
import { ask } from "../../parts/api.js";
import type { RoundStatement } from "./reading.js";

/** The statement of a panel, which rounds belong to. */
export interface PanelStatement {
  epsilon: number;
  panel: { domain: Record<string, unknown>; rounds: number; radius: number };
}

/**
 * Whether news was overtaken on its way: it lacks a round that was seen, or has one open that was seen closed.
 *
 * Rounds only come, and only close; the answer to a press of a button may be here before an event sent earlier.
 */
export function overtaken(news: RoundStatus[], known: RoundStatus[]): boolean {
  const states = new Map(news.map((round) => [round.id, round.state]));
  return known.some(({ id, state }) => !states.has(id) || (state !== "open" && states.get(id) === "open"));
}

const at = (id: string): string => `/v1/surveys/${encodeURIComponent(id)}`;

/** What was signed: of the survey, or of one of its rounds. */
export async function statementOf<Statement>(id: string): Promise<Statement> {
  return JSON.parse((await ask<Envelope>(at(id))).statement) as Statement;
}

/** Requests that are under way for pictures; the others wait, so that a long conversation does not ask for all at once. */
const MOST_AT_ONCE = 3;
let underWay = 0;
const waiting: (() => void)[] = [];

async function inTurn<Found>(work: () => Promise<Found>): Promise<Found> {
  if (underWay >= MOST_AT_ONCE) await new Promise<void>((go) => waiting.push(go));
  else underWay += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else underWay -= 1;
  }
}

/** A round's statement, which never changes. */
export const roundStatement = (id: string): Promise<RoundStatement> => inTurn(() => statementOf<RoundStatement>(id));

/** What a round's reports say so far. */
export const pictureOf = (id: string): Promise<Picture> => inTurn(() => ask<Picture>(`${at(id)}/picture?most=1000`));

/** Have the next question checked and written down; opens nothing. */
export const draftQuestion = (id: string, query: string, choices: string[] | null): Promise<QuestionAnswer> =>
  ask<QuestionAnswer>(`${at(id)}/questions`, choices === null ? { query } : { query, choices });

/** Ask it. */
export const openRound = (id: string, { statement, labels }: QuestionAnswer): Promise<unknown> =>
  ask(`${at(id)}/rounds`, { statement, labels });

/** Close a round, for good. */
export const closeRound = (roundId: string): Promise<unknown> => ask(`${at(roundId)}/seal`, undefined, "POST");

/** All rounds so far, first to last. */
export async function roundsOf(id: string): Promise<RoundStatus[]> {
  return (await ask<Rounds>(`${at(id)}/rounds`)).rounds.sort((a, b) => a.round - b.round);
}
