/** Which relays the owner of a device accepts, and whether there must be one; it depends on the survey alone. */
import { MismatchError, ServiceError } from "../core/errors.js";
import { collectorUrl } from "./http.js";
import { checkPlatform } from "../oblivious/hpke.js";
import type { Asked } from "../surveys/read.js";
import { checkRelayUrl } from "../surveys/relay.js";

/** What the owner wants of relays. */
export interface RelayOptions {
  /**
   * A relay to fetch everything through, so that the collector never sees this device's address. Reports go to the relay
   * that a survey states, whichever this is; those of a survey that states none are passed on at once.
   */
  readonly relay?: string;
  /** Refuse surveys that state no relay, and connect to no collector; needs `relay`. */
  readonly insistOnRelay?: boolean;
  /** Addresses of the relays that surveys may state; any unless given, or only `relay` if the owner insists. */
  readonly relays?: readonly string[];
}

export class RelayPolicy {
  readonly #allowed: ReadonlySet<string> | null;

  constructor(relay?: string, readonly insists = false, relays?: readonly string[]) {
    if (insists && relay === undefined) {
      throw new ServiceError(
        "insistOnRelay needs relay, the address of the relay that surveys are fetched through: without one, the " +
          "collector would see this device's address",
        "bad_address",
      );
    }
    // A person who insists trusts the named relay: any collector can state one of its own.
    const named = insists && !relays ? [collectorUrl(relay, true, "relay")] : relays?.map(checkRelayUrl);
    this.#allowed = named ? new Set(named) : null;
  }

  /** Rejects with `MismatchError` unless the owner lets this survey be answered, as far as its relay is concerned. */
  async check({ relay }: Asked, collector: string): Promise<void> {
    const objection = this.objection(relay?.url ?? "", collector);
    if (objection) throw new MismatchError(`${objection}; nothing was answered`);
    if (relay) await checkPlatform();
  }

  /**
   * Why the answer to a survey may not go through the relay that it states, or to the collector if that is empty; empty
   * if it may. Answers that were recorded under other settings are asked about again when they are sent.
   */
  objection(relay: string, collector: string): string {
    if (!relay) return this.insists ? "this survey states no relay, and this device sends through a relay only" : "";
    if (this.#allowed && !this.#allowed.has(relay)) {
      return `this survey states the relay ${relay}, which this device's owner has not allowed (add it to relays to allow it)`;
    }
    if (new URL(relay).origin === new URL(collector).origin) {
      return "the relay that this survey states is at the collector's own address, and so separates nothing";
    }
    return "";
  }
}
