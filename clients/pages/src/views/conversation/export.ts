/** A whole conversation as JSON, made here in the browser from what the collector has told. */
import type { Picture, RoundStatus, Status } from "../../parts/api_types.js";

/** One round with its answer; null where there is none. */
export interface AnsweredRound {
  info: RoundStatus;
  picture: Picture | null;
}

/** Plain values, in the words of the collector's own answers. */
export function conversationOf(status: Status, rounds: AnsweredRound[]): Record<string, unknown> {
  return {
    survey: status.id,
    title: status.title,
    kind: status.kind,
    epsilon: status.epsilon,
    delta: status.delta,
    rounds: status.rounds,
    minimum_reports: status.minimum_reports,
    asked: rounds.map(({ info, picture }) => ({
      round: info.round,
      id: info.id,
      query: info.query,
      labels: info.labels,
      state: info.state,
      n_reports: picture?.n_reports ?? info.n_reports,
      answer: picture === null ? null : answerOf(picture),
    })),
  };
}

function answerOf({ level, positions, labels, value, raw, low, high }: Picture): Record<string, unknown> {
  return { level, ...(positions === null ? {} : { positions }), labels, value, raw, low, high };
}
