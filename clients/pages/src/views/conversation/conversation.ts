/** A panel as a conversation: type a question, see its round fill, read the answer, ask the next. */
import { saveFile } from "../../charts/svg_export.js";
import type { Picture, QuestionAnswer, RoundStatus, Status } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { follow } from "../../parts/live.js";
import type { ViewContext } from "../../parts/session.js";
import { inWords } from "../../parts/trouble.js";
import { endView } from "../shared/end.js";
import { composer, type Composer } from "./composer.js";
import { head, summary } from "./head.js";
import { answerLine } from "./picture.js";
import type { Reading } from "./reading.js";
import { roundView, type RoundView, type Surroundings } from "./round.js";
import { closeRound, openRound, overtaken, type PanelStatement, pictureOf, roundsOf, statementOf } from "./rounds.js";

/** Shows the conversation of the survey that `status` is of. */
export async function showConversation(page: HTMLElement, context: ViewContext, status: Status): Promise<void> {
  const mayAsk = context.session.scopes.some((scope) => scope === "ask" || scope === "admin");
  const top = head(status, () => void save());
  const trouble = el("p", { class: "trouble", role: "status", hidden: true });
  const list = el("ol", { class: "rounds", "aria-label": "Rounds" });
  const foot = el("div", { class: "next" });
  const said = el("p", { class: "visually-hidden", "aria-live": "polite" });
  const end = endView(context.session, status);
  const root = el("div", { class: "talk" }, top.host, trouble, list, foot, end.element, said);
  fill(page, root);

  const views: RoundView[] = [];
  const answers = new Map<string, { reading: Reading; picture: Picture }>();
  let rounds: RoundStatus[] = [];
  let writing: Composer | null = null;

  const survey = await statementOf<PanelStatement>(status.id);
  const stop = follow(status.id, heard, (error) => tell(error));

  function tell(error: Error | null): void {
    trouble.hidden = error === null;
    fill(trouble, error === null ? null : inWords(error));
  }

  function heard(now: Status, found: RoundStatus[] = []): void {
    if (!root.isConnected) return stop();
    status = now;
    end.update(now);
    if (overtaken(found, rounds)) found = rounds;
    draw(found);
  }

  function draw(found: RoundStatus[]): void {
    rounds = [...found].sort((a, b) => a.round - b.round);
    top.update(status, rounds);
    for (const [i, info] of rounds.entries()) {
      const view = views[i];
      if (view === undefined) {
        views[i] = roundView(info, around());
        list.append(views[i]!.element);
      } else if (changed(view.info, info) || info.state === "open") view.update(info, around());
    }
    drawFoot();
  }

  function around(): Surroundings {
    const over = rounds.filter((round) => round.state !== "open" && round.waiting === 0);
    const expected = over.length === 0 ? null : over.reduce((sum, round) => sum + round.n_reports, 0) / over.length;
    return { minimum: status.minimum_reports, expected, mayAsk, more: rounds.length < survey.panel.rounds, close, answered, say };
  }

  /** Below the rounds: where to ask the next, or what all have told. */
  function drawFoot(): void {
    const open = rounds.find((round) => round.state === "open");
    const told = (words: string): void => fill(foot, el("p", { class: "card quiet" }, words));
    if (status.state !== "open") return told("This survey is closed: no more rounds can be asked.");
    if (rounds.length >= survey.panel.rounds) return open === undefined ? drawSummary() : fill(foot);
    if (!mayAsk) return told("Your token reads only. Asking takes one of the scope ask.");
    if (writing === null) {
      writing = composer(status.id, survey, askNext);
      fill(foot, writing.host);
    }
    const short = open !== undefined && open.n_reports < status.minimum_reports;
    writing.update({ next: rounds.length + 1, rounds: survey.panel.rounds, open: open?.round ?? null, short });
  }

  function drawSummary(): void {
    const lines = rounds.map((info) => {
      const known = answers.get(info.id);
      if (known === undefined) return { info, answer: "none", interval: "" };
      return { info, ...answerLine(known.reading, known.picture, info.labels) };
    });
    for (const view of views) view.reveal();
    fill(foot, summary(lines, () => void save()));
  }

  function answered(info: RoundStatus, reading: Reading, picture: Picture): void {
    const first = !answers.has(info.id);
    answers.set(info.id, { reading, picture });
    const { answer, interval } = answerLine(reading, picture, info.labels);
    if (first && info.round === rounds.length) say(`Round ${info.round} is answered: ${answer}, ${interval}.`);
    if (rounds.length >= survey.panel.rounds) drawFoot();
  }

  function say(words: string): void {
    fill(said, words);
  }

  async function close(round: RoundStatus): Promise<void> {
    try {
      await closeRound(round.id);
      draw(await roundsOf(status.id));
      tell(null);
      writing?.focus();
    } catch (error) {
      tell(error as Error);
    }
  }

  async function askNext(draft: QuestionAnswer): Promise<void> {
    const open = rounds.find((round) => round.state === "open");
    if (open !== undefined) await closeRound(open.id);
    await openRound(status.id, draft);
    draw(await roundsOf(status.id));
    say(`Round ${draft.round} is open.`);
    show(views.at(-1)?.element);
  }

  /** Where it goes on, for the eye and for the keyboard. */
  function show(element: HTMLElement | undefined): void {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
  }

  async function save(): Promise<void> {
    const told: AnsweredRound[] = [];
    for (const info of rounds) {
      const known = answers.get(info.id)?.picture ?? (await pictureOf(info.id).catch(() => null));
      told.push({ info, picture: known });
    }
    const text = `${JSON.stringify(conversationOf(status, told), null, 2)}\n`;
    saveFile(new Blob([text], { type: "application/json" }), `conversation-${status.id.slice(0, 12)}.json`);
  }
}

/** Whether anything of a round is different. */
const changed = (a: RoundStatus, b: RoundStatus): boolean =>
  a.state !== b.state || a.n_reports !== b.n_reports || a.waiting !== b.waiting;

// A whole conversation as JSON, made here in the browser from what the collector has told.

/** One round with its answer; null where there is none. */
interface AnsweredRound {
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
