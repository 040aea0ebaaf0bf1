/**
 * A person's device: answers a survey once, within its owner's budget, and records that before it sends.
 *
 * Nothing depends on the private value until the report is drawn, so whether, when and to whom a device sends reveals
 * nothing.
 */
import { equalBytes, fromBase64url } from "./bytes.js";
import { Collector, type Published } from "./collector.js";
import {
  LedgerError,
  MismatchError,
  ServiceError,
  SignatureError,
  SottovoceError,
  SurveyError,
  ValueOutsideDomainError,
} from "./errors.js";
import { BAD_ANSWER, type HttpOptions } from "./http.js";
import { ALLOWANCE, type Allowance, checkAllowance, checkBudget, Ledger } from "./ledger.js";
import { isPassing, PATIENCE, type Patience } from "./patience.js";
import { type Receipt, receiptOf, waiting } from "./receipt.js";
import { checkPublicKey, PUBLIC_KEY_BYTES } from "./signature.js";
import { systemSource } from "./source.js";
import type { Answer, Store } from "./store.js";
import { drawSeat, Panel } from "./surveys/panel.js";
import type { Survey } from "./surveys/survey.js";
import { checkSurveyId, REPORT_ID_BYTES } from "./wire.js";

/** Options of a device. */
export interface DeviceOptions extends Partial<Allowance>, HttpOptions {
  /**
   * The collectors' public key, 32 bytes or base64url, shipped with the application. Without one, the first key that a
   * collector sends is trusted and pinned; a man in the middle could replace it that one time.
   */
  readonly key?: Uint8Array | string;
  /** How requests are retried within one call. */
  readonly patience?: Partial<Patience>;
  /** Seconds that one call may take, with all attempts and waits. */
  readonly seconds?: number;
}

/** How one survey is answered. */
export interface AnswerOptions {
  /**
   * A value of the domain, the same for everybody, that replaces any value outside the domain. Without it such a value
   * is refused, and a device that sends nothing reveals that.
   */
  readonly otherwise?: unknown;
  /** If false, only draw and record; `flush` sends it later. */
  readonly send?: boolean;
}

/** One person's device. Calls may overlap, and tabs may share its store. */
export class Device {
  readonly #store: Store;
  readonly #key: Uint8Array | null;
  readonly #allowance: Allowance;
  readonly #http: HttpOptions;
  readonly #patience: Patience;
  readonly #milliseconds: number;

  /** Default limits on epsilon and delta: 2 and 1e-6 per survey, 8 and 1e-5 in all, for at most 1000 answers. */
  constructor(store: Store, options: DeviceOptions = {}) {
    const { key, patience, seconds = 300, insecure = false, timeout = 10, ...allowance } = options;
    this.#store = store;
    this.#key = key === undefined ? null : publicKey(key);
    this.#allowance = checkAllowance({ ...ALLOWANCE, ...allowance });
    this.#http = { insecure, timeout };
    this.#patience = { ...PATIENCE, ...patience };
    this.#milliseconds = 1000 * seconds;
  }

  /** All answers, and the budget that is left. */
  async ledger(): Promise<Ledger> {
    return new Ledger(await this.#store.answers(), this.#allowance);
  }

  /** Fetch and verify a survey as `answer` does; nothing is drawn. */
  async survey(url: string, id: string): Promise<Survey | Panel> {
    return (await this.#fetch(this.#collector(url), checkSurveyId(id))).survey;
  }

  /**
   * Answer a survey, once. Called again, it sends the same bytes until they have arrived, and then nothing.
   *
   * The first value stands: a second report because the value has changed would reveal that it has. For a panel
   * the device draws its round the first time, and answers that round once it is open.
   *
   * Rejects with `SignatureError`, `SurveyError` or `MismatchError` if the survey is not the collector's, cannot be
   * answered, was given to another address or key, or another question is asked in the same round; with `BudgetError` if it asks for more than the owner
   * allows; with `ValueOutsideDomainError`; with `LedgerError` if the store cannot be used; with `ServiceError` if the
   * survey cannot be had. Whatever it is, nothing was sent that is not in the ledger. Once the answer is drawn, a
   * collector that cannot be reached is no error: the receipt says that it is "unsent", and why.
   */
  async answer(url: string, id: string, value: unknown, options: AnswerOptions = {}): Promise<Receipt> {
    const question = checkSurveyId(id);
    const collector = this.#collector(url);
    const reportId = systemSource.bytes(REPORT_ID_BYTES);
    let kept = await this.#store.answer(question);
    checkAddress(kept, collector);
    const look = kept === null || needsAnotherLook(kept);
    if (look) {
      const asked = await this.#asked(collector, question, kept);
      if (asked !== null) kept = await this.#record(collector, question, asked, value, options, reportId);
    }
    if (kept === null) return waiting(question, collector.url);
    const receipt = options.send === false ? receiptOf(kept) : await this.#send(collector, kept, look);
    return { ...receipt, drawn: equalBytes(kept.reportId, reportId) };
  }

  /** The report that stands for a survey, to show it: the very bytes that were or will be sent. Null: none is drawn. */
  async report(url: string, id: string): Promise<Uint8Array | null> {
    const kept = await this.#store.answer(checkSurveyId(id));
    checkAddress(kept, this.#collector(url));
    return kept && kept.report.slice();
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
        receipts[place] = await this.#send(this.#collector(kept.collector), kept);
      } catch (error) {
        if (!(error instanceof SottovoceError) || error instanceof LedgerError) throw error;
        receipts[place] = receiptOf(kept, error.message);
      }
    }
    return receipts;
  }

  /**
   * Send an unsent answer to another address from now on, because its collector has moved there.
   *
   * This never happens automatically: anybody can republish a survey at an address of their own. The survey must be
   * there, signed with the same key; nothing is sent before `flush` or `answer`.
   */
  async move(id: string, url: string): Promise<Receipt> {
    const question = checkSurveyId(id);
    const collector = this.#collector(url);
    const kept = await this.#store.answer(question);
    if (kept?.state !== "unsent") throw new MismatchError("there is no unsent answer to this survey");
    checkKey(kept, (await this.#fetch(collector, question)).key);
    await this.#store.move(question, collector.url);
    return receiptOf((await this.#store.answer(question)) ?? kept);
  }

  #collector(url: string): Collector {
    return new Collector(url, this.#http, this.#patience, performance.now() + this.#milliseconds);
  }

  /** The survey, verified with the trusted key; the first key seen is pinned if there is none. */
  async #fetch(collector: Collector, question: string): Promise<Published> {
    const trusted = this.#key ?? (await this.#store.pinned(collector.url));
    const found = await collector.survey(question, trusted);
    if (trusted === null && !equalBytes(await this.#store.pin(collector.url, found.key), found.key)) {
      throw new SignatureError("the collector showed two keys");
    }
    return found;
  }

  /** The survey to answer; for a panel this device's round, or null while that is not open. */
  async #asked(collector: Collector, question: string, kept: Answer | null): Promise<Published | null> {
    const found = await this.#fetch(collector, question);
    if (kept === null) await this.#allow(found);
    else checkKey(kept, found.key);
    const { survey } = found;
    if (!(survey instanceof Panel)) {
      if (survey.seat) throw new SurveyError("this is one round of a panel: answer the panel");
      return found;
    }
    const seat = await this.#store.seat(question, () => drawSeat(survey.rounds, systemSource));
    const asked = await collector.round(survey, seat, found.key);
    if (asked !== null && kept === null) await this.#allow(asked);
    return asked;
  }

  /** Refuse a survey that is sealed or exceeds the owner's limits. */
  async #allow({ survey, state }: Published): Promise<void> {
    if (state !== "open") {
      throw new ServiceError("the survey takes no more reports", "survey_sealed", 409);
    }
    checkBudget(this.#allowance, survey, await this.#store.answers());
  }

  /** The recorded answer, drawn now if there is none. */
  async #record(
    collector: Collector,
    question: string,
    asked: Published,
    value: unknown,
    options: AnswerOptions,
    reportId: Uint8Array,
  ): Promise<Answer> {
    const survey = asked.survey as Survey;
    const standing = await this.#store.answer(question);
    const chosen = standing === null ? choose(survey, value, options) : value;
    const kept = await this.#store.record(question, (answers) => {
      checkBudget(this.#allowance, survey, answers);
      const report = survey.randomize(chosen);
      return {
        question,
        survey: survey.id,
        collector: collector.url,
        key: asked.key,
        title: titleOf(survey),
        epsilon: survey.epsilon,
        delta: survey.delta,
        day: today(),
        reportId,
        report,
        state: "unsent",
      };
    });
    if (kept.survey !== survey.id) {
      throw new MismatchError("this device has answered another question in this round");
    }
    checkAddress(kept, collector);
    checkKey(kept, asked.key);
    return kept;
  }

  /** Send a recorded answer to its key; `isKnown`: this call has verified the key there. */
  async #send(collector: Collector, kept: Answer, isKnown = false): Promise<Receipt> {
    if (kept.state === "sent") return receiptOf(kept);
    try {
      if (!isKnown) {
        checkKey(kept, this.#key ?? kept.key);
        await collector.checkKey(kept.question, kept.key);
        isKnown = true; // before that no refusal is final
      }
      await collector.send(kept.survey, kept.reportId, kept.report);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const isFinal =
        isKnown && error.status >= 400 && error.status < 500 && !isPassing(error) && error.code !== BAD_ANSWER;
      if (isFinal) await this.#store.mark(kept.question, "refused");
      return receiptOf(isFinal ? { ...kept, state: "refused" } : kept, error.message);
    }
    await this.#store.mark(kept.question, "sent");
    return receiptOf({ ...kept, state: "sent" });
  }
}

/** An answer is for one address: anybody can republish a survey at an address of their own. */
function checkAddress(kept: Answer | null, collector: Collector): void {
  if (kept !== null && kept.collector !== collector.url) {
    throw new MismatchError(
      `this device has given its answer to ${kept.collector}; if that one has moved here, say so: move`,
    );
  }
}

/** An answer is for one key: another key is another collector, whatever its address. */
function checkKey(kept: Answer, key: Uint8Array): void {
  if (!equalBytes(kept.key, key)) throw new MismatchError("this device has given its answer to another key");
}

/** Whether the question must be fetched again before sending: for an unsent answer to a round. */
const needsAnotherLook = (kept: Answer): boolean => kept.survey !== kept.question && kept.state !== "sent";

/** The value or its replacement; the public replacement is checked first, whatever the value is. */
function choose({ values }: Survey, value: unknown, options: AnswerOptions): unknown {
  if ("otherwise" in options) {
    if (values.has(options.otherwise)) return [options.otherwise, value][Number(values.has(value))];
    throw new ValueOutsideDomainError(`\`otherwise\` is not in the domain; allowed: ${values.allowed}`);
  }
  if (values.has(value)) return value;
  throw new ValueOutsideDomainError(
    `the value is not in the domain; allowed: ${values.allowed}. Silence is an answer too: give \`otherwise\`, a value ` +
      "for all others",
  );
}

const titleOf = ({ title, seat }: Survey): string =>
  seat ? `${title || seat.panel.title || "(no title)"}, round ${seat.round}` : title;

/** The day in UTC; empty if the clock is out of range. */
const today = (): string => /^\d{4}-\d\d-\d\d/.exec(new Date().toJSON())?.[0] ?? "";

const publicKey = (key: Uint8Array | string): Uint8Array =>
  checkPublicKey(typeof key === "string" ? fromBase64url(key, PUBLIC_KEY_BYTES) : key.slice());
