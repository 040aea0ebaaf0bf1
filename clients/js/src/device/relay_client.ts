/** The client of a relay: fetches the collector's keys, leaves sealed reports there, and sends sealed requests through it. */
import { ServiceError } from "../core/errors.js";
import { Http, type HttpOptions } from "./http.js";
import { type Patience, patiently } from "./patience.js";
import { BAD_ANSWER } from "../core/transport.js";
import { REQUEST_MEDIA_TYPE } from "../oblivious/messages.js";
import { readSignedKeys, type VerifiedKeys } from "../oblivious/signed_keys.js";

/** Code of a refusal: the message is sealed to a key that the collector no longer has, or not yet. */
export const UNKNOWN_KEY = "unknown_key";

export class RelayClient {
  readonly #http: Http;

  /** Nothing is waited for once `performance.now()` is `ends`. */
  constructor(
    url: string,
    options: HttpOptions,
    readonly patience: Patience,
    readonly ends: number,
  ) {
    this.#http = new Http(url, options, ends, "relay");
  }

  /** Its address in canonical form. */
  get url(): string {
    return this.#http.url;
  }

  /** The collector's newest key, if the trusted key signed it; without one, by whichever key is shown. */
  async keys(trusted: Uint8Array | null): Promise<VerifiedKeys> {
    return readSignedKeys(await this.#try(() => this.#http.get("/v1/keys")), trusted);
  }

  /** Leave a sealed report; on return it is durable at the relay, which forwards it later, with many others. */
  async leave(surveyId: string, message: Uint8Array<ArrayBuffer>): Promise<void> {
    const path = `/v1/boxes/${surveyId}`;
    const answer: any = await this.#try(() => this.#http.post(path, message, REQUEST_MEDIA_TYPE));
    if (answer?.accepted !== 1) {
      throw new ServiceError("the relay does not say that it has the report", BAD_ANSWER);
    }
  }

  /** Send a sealed request through it; returns the sealed response. It is tried once. */
  pass(message: Uint8Array<ArrayBuffer>, most: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.#http.postBytes("/v1/requests", message, REQUEST_MEDIA_TYPE, most);
  }

  #try<Found>(request: () => Promise<Found>): Promise<Found> {
    return patiently(this.patience, this.ends, request);
  }
}
