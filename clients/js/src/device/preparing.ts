/**
 * Everything that a device decides before it needs the person's value.
 *
 * Whether a survey is answered, waited for or refused depends on the survey, the ledger, the owner's limits and the
 * clocks, so it reveals nothing about the value.
 */
import { addressOf, checkAddress, checkKey, checkQuestion, needsAnotherLook } from "./belonging.js";
import { equalBytes } from "../core/bytes.js";
import { checkClocks, type Clock } from "./clock.js";
import type { Collector, Published } from "./collector.js";
import { ServiceError, SignatureError, SurveyError } from "../core/errors.js";
import { type Allowance, checkBudget, dayOf } from "./ledger.js";
import type { LogCheck } from "./log_check.js";
import { emptyReceipt, type Receipt, receiptOf } from "./receipt.js";
import type { RelayPolicy } from "./relay_policy.js";
import { phase, seatIn, type Turn, Turns } from "./turns.js";
import type { Answer, Joined, Store } from "./store.js";
import type { Period } from "../surveys/calendar.js";
import { Panel } from "../surveys/panel.js";
import type { Survey } from "../surveys/survey.js";
import { Tracking } from "../surveys/tracking.js";
import { oneLine } from "../core/text.js";

/** A survey that may be answered now: verified, open, within the limits, and the device's own turn. */
export interface Ready {
  readonly question: string;
  readonly survey: Survey;
  readonly key: Uint8Array;
  readonly period: Period | null;
  readonly after: Period | null;
}

/** An answer that is recorded already; `isKnown`: its key was just verified at the collector. */
interface Standing {
  readonly kept: Answer;
  readonly isKnown: boolean;
  readonly turn?: Turn;
}

/** Fetches what is asked and applies every check. */
export class Preparation {
  constructor(
    readonly store: Store,
    /** The key that the owner trusts; null: the first one that a collector shows. */
    readonly trusted: Uint8Array | null,
    readonly allowance: Allowance,
    readonly clock: Clock,
    readonly relays: RelayPolicy,
    readonly log: LogCheck,
  ) {}

  /** The survey, verified with the trusted key; the first key seen is pinned if there is none. */
  async fetch(collector: Collector, question: string): Promise<Published> {
    const trusted = this.trusted ?? (await this.store.pinned(collector.url));
    const found = await collector.survey(question, trusted);
    if (trusted === null && !equalBytes(await this.store.pin(collector.url, found.key), found.key)) {
      throw new SignatureError("the collector showed two keys");
    }
    return found;
  }

  /** What may be answered now; or what was answered before; or why nothing is to be done, as a receipt. */
  async toAnswer(collector: Collector, question: string, group?: unknown): Promise<Ready | Standing | Receipt> {
    const mine = await this.#mine(collector, question);
    const kept = mine.at(-1) ?? null;
    if (kept && !needsAnotherLook(kept)) return { kept, isKnown: false };
    const found = await this.#published(collector, question, kept);
    const { survey, key } = found;
    if (survey instanceof Panel) return this.#round(collector, survey, found, kept);
    if (!(survey instanceof Tracking)) {
      if (kept) return { kept, isKnown: true }; // for whatever group: there is one report over all of them
      const member = await memberOf(survey, group);
      await this.#checkLog(collector, found);
      return { question, survey: member, key, period: null, after: null };
    }
    const turn = await this.#turn(collector, survey);
    const standing = mine.find(({ window }) => window === turn.period.window);
    if (standing && turn.state === "answered") return { kept: standing, isKnown: true, turn };
    await this.#checkTurn(collector, found, turn);
    if (turn.state !== "due") return turnReceipt(collector, survey, turn);
    await this.#checkLog(collector, found); // its periods follow from it
    const { period, after } = turn;
    return { question, survey: await memberOf(await survey.period(period.number), group), key, period, after };
  }

  /** The tracking survey to keep, and the device's turn in it. */
  async toJoin(collector: Collector, question: string): Promise<{ joined: Joined; receipt: Receipt }> {
    const mine = await this.#mine(collector, question);
    const found = await this.#published(collector, question, mine.at(-1) ?? null);
    const { survey } = found;
    if (!(survey instanceof Tracking)) {
      throw new SurveyError("only a survey with a calendar can be joined; answer this one with `answer`");
    }
    const turn = await this.#turn(collector, survey);
    await this.#checkTurn(collector, found, turn);
    await this.#checkLog(collector, found);
    const kept = mine.find(({ window }) => window === turn.period.window);
    const { period, after } = turn;
    const receipt = kept ? { ...receiptOf(kept), period, after } : turnReceipt(collector, survey, turn);
    return { joined: joining(collector, found, survey), receipt };
  }

  /** Recorded answers to a question in all its windows, if they may go to this address. */
  async #mine(collector: Collector, question: string): Promise<readonly Answer[]> {
    const mine = (await this.store.answers()).filter((answer) => answer.question === question);
    const joined = (await this.store.joined()).find((survey) => survey.question === question);
    checkAddress(addressOf(mine, joined), collector.url);
    return mine;
  }

  async #published(collector: Collector, question: string, kept: Answer | null): Promise<Published> {
    const found = await this.fetch(collector, question);
    if (kept) checkKey(kept, found.key);
    const { survey } = found;
    if (survey instanceof Tracking) return found;
    if (!(survey instanceof Panel) && survey.seat) {
      throw new SurveyError("this is one round of a panel: answer the panel");
    }
    if (!(survey instanceof Panel) && survey.period) {
      throw new SurveyError("this is one period of a tracking survey: answer that survey");
    }
    if (!(survey instanceof Panel) && survey.crowd?.group) {
      throw new SurveyError("this is one group of a survey: answer that survey, and say the group");
    }
    if (!kept) await this.#allow(collector, found);
    return found;
  }

  /**
   * This device's round of a panel, once it is open; an unsent answer is sent while its question still stands.
   *
   * Devices of all seats make the same requests, whichever round is open: what one asks for tells nobody its seat, and a
   * question cannot be aimed at those who will answer it. Only a report is a sign of the seat.
   */
  async #round(
    collector: Collector,
    panel: Panel,
    found: Published,
    kept: Answer | null,
  ): Promise<Ready | Standing | Receipt> {
    const seat = await seatIn(this.store, panel.id, 1, panel.rounds);
    const latest = await collector.latestRound(panel, found.key);
    if (kept) {
      if (latest?.number === seat) checkQuestion(kept, latest.survey.id);
      return { kept, isKnown: true };
    }
    if (!latest) return emptyReceipt(panel.id, collector.url);
    const { survey, key, number } = latest;
    await this.#checkLog(collector, latest); // a round states its panel
    if (number < seat) return emptyReceipt(panel.id, collector.url);
    if (number > seat) throw sealed();
    await this.#allow(collector, latest);
    return { question: panel.id, survey, key, period: null, after: null };
  }

  /** Refuse a survey that is sealed, whose relay the owner does not accept, or which exceeds the owner's limits on that day. */
  async #allow(collector: Collector, { survey, state }: Published, day = dayOf(this.clock())): Promise<void> {
    if (state !== "open") throw sealed();
    await this.relays.check(survey, collector.url);
    checkBudget(this.allowance, survey, await this.store.answers(), day);
  }

  /** Refuse what the log does not allow to answer; no relay is asked that the owner does not allow. */
  async #checkLog(collector: Collector, { survey, key }: Published): Promise<void> {
    await this.relays.check(survey, collector.url);
    await this.log.check(collector, key, survey);
  }

  /**
   * The device's turn by its own clock; a period is answered only while it is open by the collector's too.
   *
   * The first time is when the device joined: both clocks agree on it.
   */
  async #turn(collector: Collector, tracking: Tracking): Promise<Turn> {
    const theirs = await collector.time();
    const own = this.clock(); // after the answer has come: a slow one makes no clock wrong
    checkClocks(own, theirs);
    const since = await this.store.takePart(tracking.id, own);
    const turn = await (await Turns.of(this.store, tracking, since)).at(own);
    return turn.state === "due" ? { ...turn, state: phase(turn.period, theirs) } : turn;
  }

  /** Refuse what could not be answered in the device's turn: what it would have spent by then counts. */
  async #checkTurn(collector: Collector, found: Published, { state, period }: Turn): Promise<void> {
    const [today, then] = [dayOf(this.clock()), dayOf(period.start)];
    if (state === "waiting" || state === "due") await this.#allow(collector, found, today > then ? today : then);
  }
}

/** What the person answers: the survey itself, or that of their group. */
const memberOf = async (survey: Survey, group: unknown): Promise<Survey> =>
  survey.takesReports && group === undefined ? survey : survey.inGroup(group);

const sealed = () => new ServiceError("the survey takes no more reports", "survey_sealed", 409);

/** A survey as a store keeps it. */
export const joining = (collector: Collector, { key }: Published, tracking: Tracking): Joined => ({
  question: tracking.id,
  collector: collector.url,
  key,
  statement: tracking.canonical,
  attachments: tracking.attachments,
});

/** The receipt of a turn without an answer. */
function turnReceipt(collector: Collector, { id, title }: Tracking, { state, period, after }: Turn): Receipt {
  const told = state === "answered" ? {} : { state };
  return emptyReceipt(id, collector.url, { ...told, title: oneLine(title), period, after });
}
