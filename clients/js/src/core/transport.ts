/** How a device reaches a collector: requests to one address, each failure a `ServiceError`. */
import type { ErrorBody, ErrorDetail } from "./api_types.js";
import { ServiceError } from "./errors.js";
import { oneLine } from "./text.js";

/** Code of a response that is not a collector's: a captive portal, an endless body, a redirect. */
export const BAD_ANSWER = "bad_answer";

/** Code of a request that exceeded its deadline. */
export const TOO_SLOW = "too_slow";

/** Default limit on the size of a response. */
const LONGEST_ANSWER = 2 ** 16;

/** What a request sends; a GET unless there is a body. */
export interface Sent {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

/** Requests to one address: directly, or through a relay. */
export abstract class Transport {
  /** The collector's address in canonical form. */
  abstract readonly url: string;

  /** The key that has vouched for the connection so far: what comes through it must be signed with the same one. */
  readonly signer: Uint8Array | null = null;

  /** The body of a response of status 2xx, at most so many bytes. */
  protected abstract request(path: string, sent: Sent | null, most: number): Promise<Uint8Array<ArrayBuffer>>;

  /** The JSON under a path. */
  async get(path: string, most = LONGEST_ANSWER): Promise<unknown> {
    return parsed(await this.request(path, null, most));
  }

  /** The bytes under a path. */
  getBytes(path: string, most: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.request(path, null, most);
  }

  /** Send a body; returns the response's JSON. */
  async post(path: string, body: Uint8Array<ArrayBuffer>, contentType: string): Promise<unknown> {
    return parsed(await this.postBytes(path, body, contentType, LONGEST_ANSWER));
  }

  /** Send a body; returns the response's. */
  postBytes(
    path: string,
    body: Uint8Array<ArrayBuffer>,
    contentType: string,
    most: number,
  ): Promise<Uint8Array<ArrayBuffer>> {
    return this.request(path, { body, contentType }, most);
  }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new ServiceError("the answer is not JSON; is this the right address?", BAD_ANSWER);
  }
}

/** The error for a response other than 2xx, with the message in it if there is one; `who` answered. */
export function refusal(who: string, status: number, retryAfter: string, body: Uint8Array): ServiceError {
  const seconds = /^[0-9]{1,9}$/.test(retryAfter) ? Number(retryAfter) : null;
  let answer: Partial<ErrorBody> | null;
  try {
    answer = parsed(body) as typeof answer;
  } catch {
    answer = null;
  }
  const { code, message }: Partial<ErrorDetail> = answer?.error ?? {};
  return typeof code === "string" && typeof message === "string"
    ? new ServiceError(oneLine(message, 500), oneLine(code, 60), status, seconds)
    : new ServiceError(`${who} answered with status ${status}`, BAD_ANSWER, status, seconds);
}
