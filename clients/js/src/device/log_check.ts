/**
 * Before a device answers: is the survey in the collector's log, and is it still the log that was shown before?
 *
 * A collector that shows some people another survey than others must leave it out of the log, hide the statement behind
 * its entry, or show two logs. The first is refused here; so is the second where a relay keeps the collector from knowing
 * who asks for the statement; the third by any client that has seen both.
 */
import type { Clock } from "./clock.js";
import type { Collector } from "./collector.js";
import { LedgerError, TransparencyError } from "../core/errors.js";
import { dayOf } from "./ledger.js";
import type { Store } from "./store.js";
import { equalBytes } from "../core/bytes.js";
import type { Asked } from "../surveys/read.js";
import { blockOf, checkLogProof } from "../transparency/evidence.js";
import { readCheckpoint } from "../transparency/tree_head.js";

/** Other tabs with the same store may be remembering as well. */
const ATTEMPTS = 10;

const ASK = "Nothing was answered; ask the collector's operator, by another way";

/** A client that asks the same collector for what is public: through the owner's relay or else this one, if any. */
export type Stranger = (collector: Collector, relay: string) => Collector;

/** What a device knows of the logs of collectors, and checks. */
export class LogCheck {
  constructor(
    readonly store: Store,
    readonly clock: Clock,
    /** Whether collectors need one that have never shown any; one that was seen once is needed from then on. */
    readonly isRequired: boolean,
    readonly stranger: Stranger,
  ) {}

  /**
   * Rejects with `TransparencyError` unless the log allows to answer this survey; remembers its head. The survey must be
   * in the log, and its statement must be what a stranger gets who asks for it by its hash: an entry alone says nothing
   * to others. The key, and not the address, says whose log it is.
   */
  async check(collector: Collector, key: Uint8Array, { id, canonical, relay }: Asked): Promise<void> {
    if (!(await this.#isInLog(collector, key, id))) return;
    const shown = await this.stranger(collector, relay?.url ?? "").statement(id);
    if (shown && equalBytes(shown, canonical)) return;
    const what = shown ? "others get another statement under its id" : "nobody else can fetch its statement";
    throw new TransparencyError(
      `survey ${id.slice(0, 12)} is in the log of the collector at ${collector.url}, and ${what}. ${ASK}`,
    );
  }

  /** Whether the log proves so; false if there is none, and none is needed. */
  async #isInLog(collector: Collector, key: Uint8Array, survey: string): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const note = await this.store.checkpoint(key);
      const remembered = note === null ? null : await readCheckpoint(note, key);
      const proof = await collector.logProof(survey, blockOf(remembered?.size ?? 0));
      if (proof === null) {
        if (note === null && !this.isRequired) return false;
        const why = note === null ? "and this device requires one" : "although it had one before";
        throw new TransparencyError(`the collector at ${collector.url} shows no log of its surveys, ${why}. ${ASK}`);
      }
      const { checkpoint } = proof;
      try {
        await checkLogProof(proof, key, survey, remembered);
      } catch (error) {
        if (!(error instanceof TransparencyError)) throw error;
        const { message, conflict } = error;
        if (!conflict || note === null) throw new TransparencyError(`${message} (${collector.url}). ${ASK}`);
        const day = dayOf(this.clock());
        await this.store.keepConflict({ collector: collector.url, key, remembered: note, found: checkpoint, day });
        throw new TransparencyError(
          `${message}. The collector at ${collector.url} shows this device two lists of surveys, or has lost some of ` +
            `them. Both signed checkpoints are kept as evidence, in ledger().conflicts. ${ASK}`,
          true,
          [note, checkpoint],
        );
      }
      if (await this.store.remember(key, note, checkpoint)) return true;
    }
    throw new LedgerError("other tabs keep changing what this device remembers; nothing was answered, try again");
  }
}
