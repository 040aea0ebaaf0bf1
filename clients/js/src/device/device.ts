/**
 * A person's device: answers a survey once, within its owner's budget, and records that before it sends.
 *
 * Nothing depends on the private value until the report is drawn, so whether, when and to whom a device sends reveals
 * nothing.
 */
import { checkAddress, checkKey, checkQuestion } from "./belonging.js";
import { equalBytes, fromBase64url } from "../core/bytes.js";
import type { Clock } from "./clock.js";
import { Collector } from "./collector.js";
import { BudgetError, LedgerError, MismatchError, ServiceError, SottovoceError, ValueOutsideDomainError } from "../core/errors.js";
import { collectorUrl, Http, type HttpOptions, PATIENCE, type Patience } from "./http.js";
import { ALLOWANCE, type Allowance, checkAllowance, checkBudget, dayOf, Ledger } from "./ledger.js";
import { LogCheck, type Stranger } from "./log_check.js";
import { RelayClient, RelayedTransport } from "./relay_client.js";
import type { BroughtMechanisms } from "../mechanisms/base/finite.js";
import { checkBrought } from "../mechanisms/registry.js";
import { joining, Preparation, type Ready } from "./preparing.js";
import { emptyReceipt, type Receipt, receiptOf } from "./receipt.js";
import { type RelayOptions, RelayPolicy } from "./relay_policy.js";
import { send } from "./sending.js";
import { checkPublicKey, PUBLIC_KEY_BYTES } from "../core/signature.js";
import { systemSource } from "../randomness/source.js";
import { type Answer, damaged, type Joined, type Store } from "./store.js";
import type { Period } from "../surveys/calendar.js";
import { type Asked, readSurvey } from "../surveys/read.js";
import { type Survey } from "../surveys/survey.js";
import { Tracking } from "../surveys/tracking.js";
import { oneLine } from "../core/text.js";
import { phase, Turns } from "./turns.js";
import { checkSurveyId, REPORT_ID_BYTES } from "./wire.js";

/** Options of a device. */
export interface DeviceOptions extends Partial<Allowance>, HttpOptions, RelayOptions {
  /**
   * The collectors' public key, 32 bytes or base64url, shipped with the application. Without one, the first key that a
   * collector sends is trusted and pinned; a man in the middle could replace it that one time.
   */
  readonly key?: Uint8Array | string;
  /** How requests are retried within one call. */
  readonly patience?: Partial<Patience>;
  /** Seconds that one call may take, with all attempts and waits. */
  readonly seconds?: number;
  /** Answer no collector without a log of its surveys; one that has shown a log needs it from then on in any case. */
  readonly requireLog?: boolean;
  /**
   * Mechanisms of other packages that this device may run, by the names that surveys give them. Nothing else says what
   * such a mechanism reveals: bring those only that you trust.
   */
  readonly mechanisms?: BroughtMechanisms;
  /** The device's clock, in milliseconds since 1970; the platform's unless given. */
  readonly clock?: Clock;
}

/** How one survey is answered. */
export interface AnswerOptions {
  /**
   * A value of the domain, the same for everybody, that replaces any value outside the domain. Without it such a value
   * is refused, and a device that sends nothing reveals that.
   */
  readonly otherwise?: unknown;
  /**
   * The group that the report is sent for, in the open, if the survey states groups: a value such as "B", or values such
   * as {arm: "B"}. The first one stands, as the first value does.
   */
  readonly group?: unknown;
  /** If false, only draw and record; `flush` sends it later. */
  readonly send?: boolean;
}

/** A period of a survey that was joined, which this device can answer now and has not. */
export interface Due {
  readonly survey: Tracking;
  readonly collector: string;
  readonly period: Period;
}

/** One person's device. Calls may overlap, and tabs may share its store. */
export class Device {
  readonly #store: Store;
  readonly #key: Uint8Array | null;
  readonly #allowance: Allowance;
  readonly #clock: Clock;
  readonly #mechanisms: BroughtMechanisms;
  readonly #preparation: Preparation;
  readonly #http: HttpOptions;
  /** What everything is fetched through. */
  readonly #relay: string | null;
  readonly #relays: RelayPolicy;
  readonly #patience: Patience;
  readonly #milliseconds: number;

  /**
   * Default limits on epsilon and delta: 2 and 1e-6 per survey and window, 8 and 1e-5 in all, for at most 1000 answers.
   * Within any 91 days epsilon is limited to `windowBudget`, by default as much as in all.
   */
  constructor(store: Store, options: DeviceOptions = {}) {
    const { key, patience, seconds = 300, insecure = false, timeout = 10, clock = Date.now, ...others } = options;
    const { relay, insistOnRelay, relays, requireLog = false, mechanisms = {}, ...allowance } = others;
    const { budget = ALLOWANCE.budget } = allowance;
    this.#store = store;
    this.#key = key === undefined ? null : publicKey(key);
    this.#allowance = checkAllowance({ ...ALLOWANCE, windowBudget: budget, ...allowance });
    this.#clock = clock;
    this.#mechanisms = checkBrought({ ...mechanisms });
    this.#http = { insecure, timeout };
    this.#relay = relay === undefined ? null : collectorUrl(relay, insecure, "relay");
    this.#relays = new RelayPolicy(relay, insistOnRelay, relays);
    const stranger: Stranger = (to, through) => (through && !this.#relay ? this.#behind(through, to.url, to.ends) : to);
    const log = new LogCheck(store, clock, requireLog, stranger);
    this.#preparation = new Preparation(store, this.#key, this.#allowance, clock, this.#relays, log);
    this.#patience = { ...PATIENCE, ...patience };
    this.#milliseconds = 1000 * seconds;
  }

  /** All answers, the budget that is left, and evidence against collectors that showed two logs. */
  async ledger(): Promise<Ledger> {
    const [answers, conflicts] = [await this.#store.answers(), await this.#store.conflicts()];
    return new Ledger(answers, this.#allowance, dayOf(this.#clock()), conflicts);
  }

  /** Fetch and verify a survey as `answer` does; nothing is drawn. */
  async survey(url: string, id: string): Promise<Asked> {
    return (await this.#preparation.fetch(this.#collector(url), checkSurveyId(id))).survey;
  }

  /**
   * Answer a survey, once. Called again, it sends the same bytes until they have arrived, and then nothing.
   *
   * The first value stands: a second report because the value has changed would reveal that it has. For a panel
   * the device finds its round the first time, and answers that round once it is open. Of a tracking survey it answers
   * its own period, in that period alone: before it the receipt says "waiting", after it "missed". One that renews is
   * answered once in every window, and charged each time.
   *
   * `value` may be a function. It is called with the period, or null if the survey has none, when the value is needed:
   * after every check, and only if a report is to be drawn. If it rejects, nothing was drawn.
   *
   * Rejects with `SignatureError`, `SurveyError` or `MismatchError` if the survey is not the collector's, cannot be
   * answered, was given to another address or key, or another question is asked in the same round; with
   * `TransparencyError` if the collector's log lacks the survey or contradicts what was seen of it; with `BudgetError` if
   * it asks for more than the owner allows; with `ClockError` if a tracking survey is answered while this device's clock
   * is more than a day off the collector's; with `ValueOutsideDomainError`; with `LedgerError` if the store cannot be
   * used; with `ServiceError` if the survey cannot be had. Whatever it is, nothing was sent that is not in the ledger.
   * Once the answer is drawn, a collector that cannot be reached is not an error: the receipt says that it is "unsent", and
   * why.
   */
  async answer(url: string, id: string, value: unknown, options: AnswerOptions = {}): Promise<Receipt> {
    const question = checkSurveyId(id);
    const collector = this.#collector(url);
    const found = await this.#preparation.toAnswer(collector, question, options.group);
    if ("drawn" in found) return found;
    if ("kept" in found) {
      const receipt = await this.#send(collector, found.kept, found.isKnown, options);
      return found.turn ? { ...receipt, period: found.turn.period, after: found.turn.after } : receipt;
    }
    const { period, after } = found;
    checkOtherwise(found.survey, options);
    const given = typeof value === "function" ? await value(period) : value;
    // A person may take a while: the time that is left is counted anew, and the period may have closed.
    const patient = this.#collector(url);
    const state = period ? phase(period, this.#clock()) : "due";
    if (state !== "due") {
      return emptyReceipt(question, collector.url, { state, title: oneLine(found.survey.title), period, after });
    }
    const reportId = systemSource.bytes(REPORT_ID_BYTES);
    const kept = await this.#record(patient, found, given, options, reportId);
    const receipt = await this.#send(patient, kept, true, options);
    return { ...receipt, drawn: equalBytes(kept.reportId, reportId), period, after };
  }

  /**
   * Take part in a tracking survey: verify and keep it, so that `due` lists its periods when they have come.
   *
   * Nothing is drawn. The receipt says "waiting" with the device's period, or "due" if that can be answered now.
   * Rejects as `answer` does.
   */
  async join(url: string, id: string): Promise<Receipt> {
    const { joined, receipt } = await this.#preparation.toJoin(this.#collector(url), checkSurveyId(id));
    await this.#store.join(joined);
    return receipt;
  }

  /** Forget a survey that was joined: `due` lists it no more. What was answered stays in the ledger. */
  leave(id: string): Promise<void> {
    return this.#store.leave(checkSurveyId(id));
  }

  /** Periods of surveys that were joined which can be answered now, by this device's clock; needs no connection. */
  async due(): Promise<Due[]> {
    const found: Due[] = [];
    for (const joined of await this.#store.joined()) {
      const survey = await readJoined(joined, this.#mechanisms);
      // A store of an earlier version does not say when it joined: then it joins now, until a collector's clock agrees.
      const now = this.#clock();
      const periods = await (await Turns.of(this.#store, survey, (await this.#store.since(survey.id)) ?? now)).due(now);
      found.push(...periods.map((period) => ({ survey, collector: joined.collector, period })));
    }
    return found;
  }

  /**
   * Answer every period that is due; `ask` gives the person's value for one, and is called as a function `value` of
   * `answer` is. What it throws is handed on, unless it is an error of this package: like a collector that cannot be
   * reached, that becomes the receipt's problem, and the period stays due.
   */
  async answerDue(ask: (due: Due) => unknown, options: AnswerOptions = {}): Promise<Receipt[]> {
    const receipts: Receipt[] = [];
    const failed = new Set<string>();
    for (const due of await this.due()) {
      const { survey, collector, period } = due;
      if (failed.has(survey.id)) continue; // it would be asked for the same period again
      try {
        const value = (own: Period) => ask({ ...due, period: own });
        receipts.push(await this.answer(collector, survey.id, value, options));
      } catch (error) {
        if (!(error instanceof SottovoceError) || error instanceof LedgerError) throw error;
        failed.add(survey.id);
        const told = { state: "due", title: oneLine(survey.title), problem: error.message, period } as const;
        receipts.push(emptyReceipt(survey.id, collector, told));
      }
    }
    return receipts;
  }

  /** Answer this survey in one window at most; in all others the receipt says "declined". */
  refuseRenewals(id: string): Promise<void> {
    return this.#store.refuseRenewals(checkSurveyId(id), true);
  }

  /** Answer this survey in every window, as devices do by default. */
  allowRenewals(id: string): Promise<void> {
    return this.#store.refuseRenewals(checkSurveyId(id), false);
  }

  /**
   * The report that stands for a survey, to show it: the very bytes that were or will be sent. Null: none is drawn.
   * Of a survey that renews it is that of the latest window.
   */
  async report(url: string, id: string): Promise<Uint8Array | null> {
    const question = checkSurveyId(id);
    const kept = (await this.#store.answers()).filter((answer) => answer.question === question).at(-1);
    checkAddress(kept?.collector, this.#collector(url).url);
    return kept?.report.slice() ?? null;
  }

  /**
   * Send all unsent reports, with the same bytes, in random order.
   *
   * A report that cannot be sent stays unsent, and its receipt says why. Receipts come in the ledger's order.
   */
  async flush(): Promise<Receipt[]> {
    const unsent = (await this.#store.answers()).filter(({ state }) => state === "unsent");
    const receipts: Receipt[] = [];
    const places = unsent.map((_, place) => [systemSource.below(2 ** 52), place] as const);
    for (const [, place] of places.sort(([a], [b]) => a - b)) {
      const kept = unsent[place]!;
      try {
        receipts[place] = await this.#send(this.#collector(kept.collector), kept, false);
      } catch (error) {
        if (!(error instanceof SottovoceError) || error instanceof LedgerError) throw error;
        receipts[place] = receiptOf(kept, error.message);
      }
    }
    return receipts;
  }

  /**
   * Send what stands for a survey in a window, with the same bytes; nothing is drawn. Null: nothing stands.
   *
   * `answer` may find that the turn of another window has come, and draw for that.
   */
  async resend(id: string, window: number): Promise<Receipt | null> {
    const kept = await this.#store.answer(checkSurveyId(id), window);
    return kept && this.#send(this.#collector(kept.collector), kept, false);
  }

  /**
   * Send unsent answers, and those of later windows, to another address, because the collector has moved there.
   *
   * This never happens automatically: anybody can republish a survey at an address of their own. The survey must be
   * there, signed with the same key; nothing is sent before `flush` or `answer`.
   */
  async move(id: string, url: string): Promise<Receipt> {
    const question = checkSurveyId(id);
    const collector = this.#collector(url);
    const isOf = (kept: Answer | Joined) => kept.question === question;
    const joined = (await this.#store.joined()).filter(isOf);
    const mine = (await this.#store.answers()).filter((kept) => isOf(kept) && (kept.state === "unsent" || kept.renews));
    if (mine.length + joined.length === 0) throw new MismatchError("there is no unsent answer to this survey");
    const found = await this.#preparation.fetch(collector, question);
    for (const kept of [...mine, ...joined]) checkKey(kept, found.key);
    if (found.survey instanceof Tracking) await this.#store.join(joining(collector, found, found.survey));
    await this.#store.move(question, collector.url);
    const unsent = (await this.#store.answers()).find((kept) => isOf(kept) && kept.state === "unsent");
    return unsent ? receiptOf(unsent) : emptyReceipt(question, collector.url, { title: oneLine(found.survey.title) });
  }

  #collector(url: string): Collector {
    const ends = performance.now() + this.#milliseconds;
    const http = new Http(url, this.#http, ends);
    if (this.#relay === null) return new Collector(http, this.#patience, ends, this.#mechanisms);
    if (new URL(this.#relay).origin === new URL(http.url).origin) {
      throw new ServiceError("the relay to fetch through is at the collector's own address: name another", "bad_address");
    }
    return this.#behind(this.#relay, http.url, ends);
  }

  /** The collector at an address, through a relay. */
  #behind(through: string, url: string, ends: number): Collector {
    const relay = this.#relayAt(through, ends);
    const keys = async () => relay.keys(this.#key ?? (await this.#store.pinned(url)));
    return new Collector(new RelayedTransport(url, relay, keys), this.#patience, ends, this.#mechanisms);
  }

  #relayAt(url: string, ends = performance.now() + this.#milliseconds): RelayClient {
    return new RelayClient(url, this.#http, this.#patience, ends);
  }

  /** The recorded answer, drawn now if there is none. */
  async #record(
    collector: Collector,
    { question, survey, key, period }: Ready,
    value: unknown,
    options: AnswerOptions,
    reportId: Uint8Array,
  ): Promise<Answer> {
    const window = period?.window ?? 1;
    const day = dayOf(this.#clock());
    const standing = await this.#store.answer(question, window);
    const chosen = standing === null ? choose(survey, value, options) : value;
    // Read only now: the owner may have refused while the person was asked for the value.
    const refusesRenewals = survey.renews && (await this.#store.refusesRenewals(question));
    const kept = await this.#store.record(question, window, (answers) => {
      checkBudget(this.#allowance, survey, answers, day);
      if (refusesRenewals && answers.some((answer) => answer.question === question)) {
        throw new BudgetError("this device's owner refuses renewals, and another window was answered");
      }
      const report = survey.randomize(chosen);
      return {
        question,
        window,
        survey: survey.id,
        collector: collector.url,
        relay: survey.relay?.url ?? "",
        key,
        title: titleOf(survey),
        epsilon: survey.epsilon,
        delta: survey.delta,
        day,
        reportId,
        report,
        state: "unsent",
        renews: survey.renews,
        period: period?.label ?? "",
        closes: period ? new Date(period.closes).toISOString() : "",
      };
    });
    if (!survey.crowd) checkQuestion(kept, survey.id); // another group may have been answered for just now: that stands
    checkAddress(kept.collector, collector.url);
    checkKey(kept, key);
    return kept;
  }

  /** Send a recorded answer, or with `send: false` only tell of it; `isKnown`: its key was just verified there. */
  async #send(collector: Collector, kept: Answer, isKnown: boolean, options: AnswerOptions = {}): Promise<Receipt> {
    if (options.send === false) return receiptOf(kept);
    return send(collector, kept, {
      store: this.#store,
      trusted: this.#key,
      now: this.#clock(),
      isKnown,
      relay: (url) => this.#relayAt(url),
      objection: (relay, collector) => this.#relays.objection(relay, collector),
    });
  }
}

/** The tracking survey that was joined. */
async function readJoined({ question, statement, attachments }: Joined, brought: BroughtMechanisms): Promise<Tracking> {
  const found = await readSurvey(statement, attachments, brought);
  if (found instanceof Tracking && found.id === question) return found;
  throw damaged("a survey is not the one that was joined");
}

/** Throws unless the public replacement is in the domain: before anybody is asked, whatever the value is. */
function checkOtherwise({ values }: Survey, options: AnswerOptions): void {
  if (!("otherwise" in options) || values.has(options.otherwise)) return;
  throw new ValueOutsideDomainError(`\`otherwise\` is not in the domain; allowed: ${values.allowed}`);
}

/** The value or its replacement, which was checked before. */
function choose({ values }: Survey, value: unknown, options: AnswerOptions): unknown {
  if ("otherwise" in options) return [options.otherwise, value][Number(values.has(value))];
  if (values.has(value)) return value;
  throw new ValueOutsideDomainError(
    `the value is not in the domain; allowed: ${values.allowed}. Silence is an answer too: give \`otherwise\`, a value ` +
      "for all others",
  );
}

function titleOf({ title, seat, crowd }: Survey): string {
  if (crowd?.group) return `${title || "(no title)"}, ${crowd.group.label}`;
  return seat ? `${title || seat.panel.title || "(no title)"}, round ${seat.round}` : title;
}

const publicKey = (key: Uint8Array | string): Uint8Array =>
  checkPublicKey(typeof key === "string" ? fromBase64url(key, PUBLIC_KEY_BYTES) : key.slice());
