/** The client of a relay: fetches the collector's keys, leaves sealed reports there, and sends sealed requests through it. */
import type { MessageReceipt } from "../core/api_types.js";
import { ServiceError } from "../core/errors.js";
import { BAD_ANSWER, refusal, type Sent, Transport } from "../core/transport.js";
import { decodeResponse, encodeRequest } from "../oblivious/binary_http.js";
import { KEY_BYTES } from "../oblivious/hpke.js";
import { openResponse, padded, REQUEST_MEDIA_TYPE, sealRequest } from "../oblivious/messages.js";
import { readSignedKeys, type VerifiedKeys } from "../oblivious/signed_keys.js";
import { systemSource } from "../randomness/source.js";
import { Http, type HttpOptions, type Patience, patiently } from "./http.js";

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
    const answer = (await this.#try(() =>
      this.#http.post(path, message, REQUEST_MEDIA_TYPE),
    )) as Partial<MessageReceipt> | null;
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

// Requests to a collector through a relay: the relay sees who asks, the collector what is asked.

/** What a response may be longer than its body: its header, and padding to a multiple of the largest size. */
const AROUND = 2 ** 17;

/** Bytes of the request that a device would have sent directly. */
export const requestBytes = (path: string, sent: Sent | null): Uint8Array =>
  encodeRequest({
    method: sent ? "POST" : "GET",
    scheme: "https",
    authority: "",
    path,
    headers: sent ? [["content-type", sent.contentType]] : [],
    body: sent?.body ?? new Uint8Array(0),
  });

/** A collector behind a relay. */
export class RelayedTransport extends Transport {
  #keys: Promise<VerifiedKeys> | null = null;
  override signer: Uint8Array | null = null;

  constructor(
    readonly url: string,
    readonly relay: RelayClient,
    /** Fetches and verifies the key to encrypt to. */
    readonly keys: () => Promise<VerifiedKeys>,
  ) {
    super();
  }

  protected async request(path: string, sent: Sent | null, most: number): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return await this.#once(path, sent, most);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== UNKNOWN_KEY) throw error;
      this.#keys = null; // the collector has changed its keys meanwhile
      return this.#once(path, sent, most);
    }
  }

  async #once(path: string, sent: Sent | null, most: number): Promise<Uint8Array<ArrayBuffer>> {
    const { configuration, signer } = await (this.#keys ??= this.keys());
    this.signer = signer;
    const request = padded(requestBytes(path, sent));
    const sealed = await sealRequest(configuration, request, systemSource.bytes(KEY_BYTES));
    const answer = await this.relay.pass(sealed.message, most + AROUND);
    const { status, headers, body } = await openResponse(sealed.context, answer)
      .then(decodeResponse)
      .catch(() => {
        throw new ServiceError("the relay's answer is not the collector's to this request", BAD_ANSWER);
      });
    if (body.length > most) throw new ServiceError(`the answer is longer than ${most} bytes`, BAD_ANSWER, status);
    if (status < 300) return body;
    throw refusal("the collector", status, headers.find(([name]) => name === "retry-after")?.[1] ?? "", body);
  }
}
