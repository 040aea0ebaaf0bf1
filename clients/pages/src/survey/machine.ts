/**
 * This browser as a device: one store, one device, and other tabs that share both.
 *
 * The private value passes through `draw` and is kept nowhere: neither here nor in any storage.
 */
import {
  type Answer,
  Device,
  fingerprint,
  IndexedDbStore,
  type Ledger,
  type Panel,
  type Receipt,
  ServiceError,
  type Store,
  type Survey,
} from "../../../js/src/index.js";
import { toHex } from "../../../js/src/bytes.js";
import { ALLOWANCE, checkBudget } from "../../../js/src/ledger.js";
import { noting } from "./noting.js";

/** A survey, checked, and by whom it was signed. */
export interface Found {
  readonly survey: Survey | Panel;
  /** SHA-256 of the key that signed it, in hexadecimal. */
  readonly fingerprint: string;
}

/** Begins the name under which it is kept which report may go out. */
const RELEASED = "sottovoce send ";

/** Everything the page does with one survey. */
export class Machine {
  readonly #device: Device;
  readonly #tabs: BroadcastChannel | null;
  /** Ids of reports that this tab has drawn, in hexadecimal. */
  readonly #drawn = new Set<string>();

  private constructor(
    readonly id: string,
    readonly origin: string,
    readonly store: Store,
  ) {
    this.#device = new Device(
      noting(store, ({ reportId }) => this.#drawn.add(toHex(reportId))),
      { patience: { attempts: 2 } },
    );
    this.#tabs = "BroadcastChannel" in globalThis ? new BroadcastChannel("sottovoce") : null;
  }

  static async open(id: string, origin: string): Promise<Machine> {
    return new Machine(id, origin, await IndexedDbStore.open());
  }

  /** Calls back when another tab has drawn or sent something, or when this one is looked at again. */
  onChange(changed: () => void): void {
    if (this.#tabs) this.#tabs.onmessage = changed;
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && changed());
  }

  /** The survey: signature, id and every field checked; the first key that the collector shows is trusted for good. */
  async look(id = this.id): Promise<Found> {
    const survey = await this.#device.survey(this.origin, id);
    const key = await this.store.pinned(this.origin);
    return { survey, fingerprint: key ? await fingerprint(key) : "" };
  }

  /**
   * Refuses, before anybody is asked, what could not be answered: a closed survey, or one beyond the owner's limits.
   *
   * The device checks both again when it draws.
   */
  async admit(survey: Survey | Panel): Promise<void> {
    if (await this.#isClosed()) throw new ServiceError("the survey takes no more reports", "survey_sealed", 409);
    checkBudget(ALLOWANCE, survey, await this.store.answers());
  }

  async #isClosed(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.origin}/v1/surveys/${this.id}`, { credentials: "omit", cache: "no-store" });
      const { state } = (await answer.json()) as { state?: unknown };
      return answer.ok && state !== "open";
    } catch {
      return false;
    }
  }

  /** The report that stands, with all that belongs to it; null while nothing was drawn. */
  standing(): Promise<Answer | null> {
    return this.store.answer(this.id);
  }

  /** Whether it was drawn here, from this tab's answer, and not in another tab or before a reload. */
  hasDrawn(standing: Answer): boolean {
    return this.#drawn.has(toHex(standing.reportId));
  }

  ledger(): Promise<Ledger> {
    return this.#device.ledger();
  }

  /** Draws the report, once and for all, and records it; nothing is sent. */
  async draw(value: unknown): Promise<Receipt> {
    // A browser that throws the ledger away would answer twice. Whether it keeps it is decided elsewhere, maybe by a
    // question to the person, which nothing here waits for.
    void navigator.storage?.persist?.().catch(() => false);
    const receipt = await this.#device.answer(this.origin, this.id, value, { send: false });
    this.#tell();
    return receipt;
  }

  /** Sends what was drawn, the same bytes as ever. Of this survey only: others wait for their own word. */
  async send(standing: Answer): Promise<Receipt> {
    this.#release(standing);
    // Nothing but what stands is sent: where the record is gone, null is no answer that could be drawn from.
    const receipt = await this.#device.answer(this.origin, this.id, null);
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
      // Then only this tab knows, until it is closed; whoever comes back is asked once more.
    }
  }

  #tell(): void {
    this.#tabs?.postMessage("changed");
  }
}
