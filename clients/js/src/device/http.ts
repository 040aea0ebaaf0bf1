/** HTTP requests to a collector or a relay: one host, bounded responses, no redirects, no cookies, every failure a `ServiceError`. */
import { concat } from "../core/bytes.js";
import { ServiceError } from "../core/errors.js";
import { BAD_ANSWER, refusal, type Sent, TOO_SLOW, Transport } from "../core/transport.js";
import { systemSource } from "../randomness/source.js";

/** Milliseconds after which a request is aborted in any case. */
const LONGEST = 120_000;

/** How requests are made. */
export interface HttpOptions {
  /** Allow plain http to other hosts, where anybody on the way could replace the key. */
  readonly insecure?: boolean;
  /** Seconds without progress after which a request is aborted. */
  readonly timeout?: number;
}

/** The canonical form of the address of a collector or a relay. */
export function collectorUrl(url: unknown, insecure = false, name = "collector"): string {
  const bad = (why: string) => new ServiceError(`the ${name}'s address must ${why}`, "bad_address");
  if (typeof url !== "string" || !/^https?:\/\/[!-~]+$/i.test(url) || url.includes("\\") || !URL.canParse(url)) {
    throw bad("look like https://stats.example.org");
  }
  const parsed = new URL(url);
  if (parsed.username || parsed.password || /[?#@]/.test(url)) throw bad("hold no user, no ?query and no #fragment");
  if (parsed.protocol === "http:" && !insecure && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(parsed.hostname)) {
    throw bad("begin with https: on plain http anybody on the way could replace the key; `insecure` allows it");
  }
  return parsed.origin + parsed.pathname.replace(/\/+$/, "");
}

/** A connection to a collector, or to a relay. */
export class Http extends Transport {
  readonly url: string;
  readonly #timeout: number;
  readonly #ends: number;

  /** All requests together end when `performance.now()` is `ends`. */
  constructor(
    url: string,
    options: HttpOptions = {},
    ends = Infinity,
    /** What is at the address, in error messages. */
    readonly name: "collector" | "relay" = "collector",
  ) {
    super();
    this.url = collectorUrl(url, options.insecure, name);
    this.#timeout = 1000 * (options.timeout ?? 10);
    this.#ends = ends;
  }

  protected async request(path: string, sent: Sent | null, most: number): Promise<Uint8Array<ArrayBuffer>> {
    const controller = new AbortController();
    const ends = Math.min(this.#ends, performance.now() + LONGEST);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let late = false;
    const progress = () => {
      clearTimeout(timer);
      const left = ends - performance.now();
      timer = setTimeout(
        () => {
          late = left <= this.#timeout;
          controller.abort();
        },
        Math.min(this.#timeout, left),
      );
    };
    progress();
    try {
      const response = await fetch(this.url + path, {
        ...(sent && { method: "POST", body: sent.body }),
        // A connection of its own for each request, so that none links two reports; browsers decide for themselves.
        headers: { ...(sent && { "Content-Type": sent.contentType }), Connection: "close" },
        redirect: "manual",
        credentials: "omit",
        cache: "no-store",
        referrerPolicy: "no-referrer",
        signal: controller.signal,
      });
      const body = await read(response, most, progress);
      if (response.ok) return body;
      // A browser hides which redirect it was, and none is followed.
      const retryAfter = response.headers.get("Retry-After") ?? "";
      throw refusal(`the ${this.name}`, response.status || 302, retryAfter, body);
    } catch (error) {
      controller.abort(); // an aborted response must not keep a connection
      if (error instanceof ServiceError) throw error;
      throw new ServiceError(
        `the ${this.name} at ${this.url} ${late ? "answers too slowly" : "cannot be reached"}`,
        late ? TOO_SLOW : undefined,
      );
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The body, if it is not too long. */
async function read(response: Response, most: number, progress: () => void): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (;;) {
    progress();
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) return concat(...parts);
    length += chunk.value.length;
    if (length > most) {
      throw new ServiceError(`the answer is longer than ${most} bytes`, BAD_ANSWER, response.status);
    }
    parts.push(chunk.value);
  }
}

// Retries with exponential, randomized delays, never sooner than the collector asked for.

/** How requests are retried within one call; a report that is unsent then waits for `Device.flush`. */
export interface Patience {
  /** Attempts within one call. */
  readonly attempts: number;
  /** After attempt k, counted from 0, it waits a uniform time below `first` * 2^k seconds. */
  readonly first: number;
  /** Largest wait in seconds; if the collector asks for more, the call gives up. */
  readonly longest: number;
}

export const PATIENCE: Patience = { attempts: 4, first: 0.5, longest: 30 };

const PARTS = 2 ** 20;

/** Whether a retry may succeed: no connection, too many requests, or a failure of the collector. */
export const isPassing = (error: ServiceError): boolean =>
  error.code !== TOO_SLOW && ([0, 408, 425, 429].includes(error.status) || error.status >= 500);

/** What the request returns; it is repeated while its failure is passing, and not beyond `ends` of `performance.now()`. */
export async function patiently<Found>(
  patience: Patience,
  ends: number,
  request: () => Promise<Found>,
): Promise<Found> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof ServiceError) || attempt + 1 >= patience.attempts) throw error;
      const told = error.retryAfter ?? 0;
      if (!isPassing(error) || told > patience.longest) throw error;
      // On top of Retry-After, so that devices do not return all at once.
      const own = (Math.min(patience.longest, patience.first * 2 ** attempt) * systemSource.below(PARTS)) / PARTS;
      const wait = 1000 * (told + own);
      if (performance.now() + wait >= ends) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}
