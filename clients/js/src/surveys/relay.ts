/** The relay that a survey wants its reports to go through, and what it promises to hold back. */
import { SurveyError } from "../core/errors.js";
import { checkFields, type Json } from "../core/json.js";
import { checkInteger, checkNumber, MAX_DELTA } from "../core/limits.js";

/**
 * Reports go to this relay, which never forwards fewer than `least` of this survey at once.
 *
 * The central guarantee is that of `least` honest answers, at `delta`. It holds while the relay and the collector do
 * not share what they see; the ledger goes on charging the local epsilon, which holds in any case.
 */
export interface Relay {
  readonly url: string;
  /** The smallest batch. */
  readonly least: number;
  /** The delta of the central guarantee. */
  readonly delta: number;
}

const LEAST_BATCH = 2;
const MAX_PEOPLE = 10 ** 10;
const MAX_URL = 200;
const URL_FORM =
  /^(https?):\/\/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::([1-9][0-9]{0,4}))?(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** The relay in a survey's JSON; null where there is none. */
export function readRelay(stated: Json | undefined): Relay | null {
  if (stated === undefined) return null;
  const { url, least, delta } = checkFields(stated, "a survey's relay", "url", "least", "delta");
  return {
    url: checkRelayUrl(url),
    least: checkInteger("least", least, LEAST_BATCH, MAX_PEOPLE),
    // Without delta a shuffler adds nothing: with a small chance nobody's report hides this person's.
    delta: checkNumber("the relay's delta", delta, Number.MIN_VALUE, MAX_DELTA),
  };
}

/** A relay's address in its one spelling. */
export function checkRelayUrl(url: unknown): string {
  const [, scheme, host, port] = (typeof url === "string" && url.length <= MAX_URL && URL_FORM.exec(url)) || [];
  const isSecure = scheme === "https" || LOOPBACK.test(host ?? "");
  if (!host || !isSecure || Number(port ?? 1) > 65_535 || port === (scheme === "https" ? "443" : "80")) {
    throw new SurveyError(
      "a relay's address must look like https://relay.example.org: https (plain http only on this machine), in small " +
        `letters, without a user, a ?query, a #fragment or a / at its end, and at most ${MAX_URL} characters`,
    );
  }
  return url as string;
}
