/**
 * This browser as a device: one store, one device, and other tabs that share both.
 *
 * The private value passes through `draw` and is kept nowhere: neither here nor in any storage.
 */
import { fromBase64url, toHex } from "../../../js/src/core/bytes.js";
import { PUBLIC_KEY_BYTES } from "../../../js/src/core/signature.js";
import { ALLOWANCE, checkBudget } from "../../../js/src/device/ledger.js";
import { RelayPolicy } from "../../../js/src/device/relay_policy.js";
import {
  type Answer,
  type Asked,
  Device,
  type DeviceOptions,
  fingerprint,
  IndexedDbStore,
  type Ledger,
  type Period,
  type Receipt,
  ServiceError,
  type Store,
} from "../../../js/src/index.js";

/** A survey, checked, and by whom it was signed. */
export interface Found {
  readonly survey: Asked;
  /** SHA-256 of the key that signed it, in hexadecimal. */
  readonly fingerprint: string;
}

/**
 * What a page that is not the collector's own may say: the key that it trusts, and a relay to fetch everything through;
 * and what the collector's own page says: that there is a log.
 */
export type Trusting = Pick<DeviceOptions, "relay" | "insistOnRelay" | "requireLog"> & { readonly key?: string };

/** Begins the name under which it is kept which report may go out. */
const RELEASED = "sottovoce send ";

/** Everything the page does with one survey. */
export class Machine {
  readonly #device: Device;
  readonly #tabs: BroadcastChannel | null;
  /** Ids of reports that this tab has drawn, in hexadecimal. */
  readonly #drawn = new Set<string>();

  readonly #policy: RelayPolicy;
  /** Ends what listens outside. */
  readonly #closed = new AbortController();

  private constructor(
    readonly id: string,
    readonly origin: string,
    readonly store: Store,
    readonly trusting: Trusting,
  ) {
    this.#device = new Device(
      noting(store, ({ reportId }) => this.#drawn.add(toHex(reportId))),
      { patience: { attempts: 2 }, ...trusting },
    );
    this.#policy = new RelayPolicy(trusting.relay, trusting.insistOnRelay);
    this.#tabs = "BroadcastChannel" in globalThis ? new BroadcastChannel("sottovoce") : null;
  }

  static async open(id: string, origin: string, trusting: Trusting = {}): Promise<Machine> {
    return new Machine(id, origin, await IndexedDbStore.open(), trusting);
  }

  /** Calls nobody back any more. */
  close(): void {
    this.#closed.abort();
    this.#tabs?.close();
  }

  /** Calls back when another tab has drawn or sent something, or when this one is looked at again. */
  onChange(changed: () => void): void {
    if (this.#tabs) this.#tabs.onmessage = changed;
    const look = () => document.visibilityState === "visible" && changed();
    document.addEventListener("visibilitychange", look, { signal: this.#closed.signal });
  }

  /** The survey: signature, id and every field checked; the first key that the collector shows is trusted for good. */
  async look(id = this.id): Promise<Found> {
    const survey = await this.#device.survey(this.origin, id);
    const { key: given } = this.trusting;
    const key = given ? fromBase64url(given, PUBLIC_KEY_BYTES) : await this.store.pinned(this.origin);
    return { survey, fingerprint: key ? await fingerprint(key) : "" };
  }

  /**
   * Refuses, before anybody is asked, what could not be answered: a closed survey, one beyond the owner's limits, or one
   * whose relay this browser cannot use.
   *
   * The device checks both again when it draws.
   */
  async admit(survey: Asked): Promise<void> {
    if (await this.#isClosed()) throw new ServiceError("the survey takes no more reports", "survey_sealed", 409);
    await this.#policy.check(survey, this.origin);
    checkBudget(ALLOWANCE, survey, await this.store.answers());
  }

  async #isClosed(): Promise<boolean> {
    // Who fetches through a relay asks the collector nothing; the device looks before it draws.
    if (this.trusting.relay) return false;
    try {
      // Which page this is in is nobody's business at the collector, whatever that page's own policy says.
      const unseen = { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" } as const;
      const answer = await fetch(`${this.origin}/v1/surveys/${this.id}`, unseen);
      const { state } = (await answer.json()) as { state?: unknown };
      return answer.ok && state !== "open";
    } catch {
      return false;
    }
  }

  /**
   * Takes part in a tracking survey: this browser's turn, and whether that is now. Refuses what could not be answered,
   * as `admit` does, and a clock that is wrong.
   */
  async turn(): Promise<Receipt> {
    const receipt = await this.#device.join(this.origin, this.id);
    this.#period = receipt.period!;
    return receipt;
  }

  /** This browser's turn; null while that is not known. */
  #period: Period | null = null;

  /**
   * The report that stands, with all that belongs to it; null while nothing was drawn. Of a survey that renews that of
   * this browser's turn, or of the last one that was answered while the turn is not known.
   */
  async standing(): Promise<Answer | null> {
    if (this.#period !== null) return this.store.answer(this.id, this.#period.window);
    return (await this.store.answers()).filter(({ question }) => question === this.id).at(-1) ?? null;
  }

  refusesRenewals(): Promise<boolean> {
    return this.store.refusesRenewals(this.id);
  }

  /** Whether this browser answers in one window only. */
  async refuseRenewals(refuses: boolean): Promise<void> {
    await (refuses ? this.#device.refuseRenewals(this.id) : this.#device.allowRenewals(this.id));
    this.#tell();
  }

  /** Whether it was drawn here, from this tab's answer, and not in another tab or before a reload. */
  hasDrawn(standing: Answer): boolean {
    return this.#drawn.has(toHex(standing.reportId));
  }

  ledger(): Promise<Ledger> {
    return this.#device.ledger();
  }

  /**
   * Draws the report, once and for all, and records it; nothing is sent. Null, and nothing is drawn, where the turn has
   * passed and another one has come: the answer was not about that.
   */
  async draw(value: unknown, group?: unknown): Promise<Receipt | null> {
    // A browser that throws the ledger away would answer twice. Whether it keeps it is decided elsewhere, maybe by a
    // question to the person, which nothing here waits for.
    void navigator.storage?.persist?.().catch(() => false);
    try {
      const given = onlyIn(this.#period?.number ?? null, value);
      const receipt = await this.#device.answer(this.origin, this.id, given, { send: false, group });
      this.#tell();
      return receipt;
    } catch (error) {
      if (error instanceof OtherTurn) return null;
      throw error;
    }
  }

  /** Sends what was drawn, the same bytes as ever, for this survey only: others wait for their own word. */
  async send(standing: Answer): Promise<Receipt> {
    this.#release(standing);
    // Nothing but what stands is sent: where the record is gone, null is not an answer that could be drawn from.
    // In a tracking survey another turn may be due by now: what stands is named by its window.
    const again = standing.closes ? await this.#device.resend(this.id, standing.window) : null;
    const receipt = again ?? (await this.#device.answer(this.origin, this.id, null));
    this.#tell();
    return receipt;
  }

  /** Whether the person has said "send it" to this very report, in any tab, before or after a reload. */
  isReleased(standing: Answer): boolean {
    try {
      return localStorage.getItem(RELEASED + this.id) === toHex(standing.reportId);
    } catch {
      return this.#released;
    }
  }

  #released = false;

  #release(standing: Answer): void {
    this.#released = true;
    try {
      localStorage.setItem(RELEASED + this.id, toHex(standing.reportId));
    } catch {
      // Then only this tab knows, until it is closed; a person who comes back is asked once more.
    }
  }

  #tell(): void {
    if (!this.#closed.signal.aborted) this.#tabs?.postMessage("changed");
  }
}

// A store that tells what was drawn through it: another tab may draw first, and then this one's answer is not used.

/** The store, with `note` called with every answer that is drawn here, before it is known whether it will stand. */
const noting = (store: Store, note: (drawn: Answer) => void): Store => ({
  pinned: (collector) => store.pinned(collector),
  pin: (collector, key) => store.pin(collector, key),
  checkpoint: (key) => store.checkpoint(key),
  remember: (key, before, after) => store.remember(key, before, after),
  keepConflict: (conflict) => store.keepConflict(conflict),
  conflicts: () => store.conflicts(),
  secret: (fresh) => store.secret(fresh),
  seat: (question) => store.seat(question),
  join: (joined) => store.join(joined),
  joined: () => store.joined(),
  leave: (question) => store.leave(question),
  takePart: (question, moment) => store.takePart(question, moment),
  since: (question) => store.since(question),
  refusesRenewals: (question) => store.refusesRenewals(question),
  refuseRenewals: (question, refuses) => store.refuseRenewals(question, refuses),
  answer: (question, window) => store.answer(question, window),
  answers: () => store.answers(),
  record: (question, window, draw) =>
    store.record(question, window, (answers) => {
      const drawn = draw(answers);
      note(drawn);
      return drawn;
    }),
  mark: (question, window, state) => store.mark(question, window, state),
  move: (question, collector) => store.move(question, collector),
});

// A person's answer is about the period that the page has asked about, and about no other.

/** Another turn has come since the page has asked. */
export class OtherTurn extends Error {}

/** What a device is given for a person's answer: the value in the period of that number, and none in any other. */
export function onlyIn(number: number | null, value: unknown): (period: Period | null) => unknown {
  return (period) => {
    if (number !== null && period?.number !== number) throw new OtherTurn();
    return value;
  };
}

/** Tries again later and later: at first after some seconds, in the end every two minutes. */
const FIRST = 4000;
const LONGEST = 120_000;

export class Retry {
  #wait = FIRST;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempt: (() => void) | null = null;

  /** Run this after the next wait, or when told; whatever was due before is not. */
  later(attempt: () => void): void {
    clearTimeout(this.#timer);
    this.#attempt = attempt;
    this.#timer = setTimeout(() => this.now(), this.#wait);
    this.#wait = Math.min(LONGEST, this.#wait * 1.6);
  }

  /** Run what is due at once, if anything is. */
  now(): void {
    clearTimeout(this.#timer);
    const attempt = this.#attempt;
    this.#attempt = null;
    attempt?.();
  }

  /** Nothing is due any more, and the next wait is a short one again. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#attempt = null;
    this.#wait = FIRST;
  }
}
