/** HTTP requests to a collector: one host, bounded responses, no redirects, no cookies, every failure a `ServiceError`. */
import { concat } from "./bytes.js";
import { ServiceError } from "./errors.js";
import { oneLine } from "./text.js";

/** Code of a response that is not a collector's: a captive portal, an endless body, a redirect. */
export const BAD_ANSWER = "bad_answer";

/** Code of a request that exceeded its deadline. */
export const TOO_SLOW = "too_slow";

/** Default limit on the size of a response. */
const LONGEST_ANSWER = 2 ** 16;
/** Milliseconds after which a request is aborted in any case. */
const LONGEST = 120_000;

/** How requests are made. */
export interface HttpOptions {
  /** Allow plain http to other hosts, where anybody on the way could replace the key. */
  readonly insecure?: boolean;
  /** Seconds without progress after which a request is aborted. */
  readonly timeout?: number;
}

/** What a request sends. */
interface Sent extends RequestInit {
  readonly headers?: Record<string, string>;
}

/** The canonical form of a collector's address. */
export function collectorUrl(url: unknown, insecure = false): string {
  const bad = (why: string) => new ServiceError(`the collector's address must ${why}`, "bad_address");
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

/** A connection to a collector. */
export class Http {
  readonly url: string;
  readonly #timeout: number;
  readonly #ends: number;

  /** All requests together end when `performance.now()` is `ends`. */
  constructor(url: string, options: HttpOptions = {}, ends = Infinity) {
    this.url = collectorUrl(url, options.insecure);
    this.#timeout = 1000 * (options.timeout ?? 10);
    this.#ends = ends;
  }

  /** The JSON under a path. */
  async get(path: string, most: number): Promise<unknown> {
    return parsed(await this.#request(path, {}, most));
  }

  /** The bytes under a path. */
  getBytes(path: string, most: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.#request(path, {}, most);
  }

  /** Send a body; returns the response's JSON. */
  async post(path: string, body: Uint8Array<ArrayBuffer>, contentType: string): Promise<unknown> {
    const sent = { method: "POST", body, headers: { "Content-Type": contentType } };
    return parsed(await this.#request(path, sent, LONGEST_ANSWER));
  }

  async #request(path: string, { headers, ...sent }: Sent, most: number): Promise<Uint8Array<ArrayBuffer>> {
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
        ...sent,
        // A connection of its own for each request, so that none links two reports; browsers decide for themselves.
        headers: { ...headers, Connection: "close" },
        redirect: "manual",
        credentials: "omit",
        cache: "no-store",
        referrerPolicy: "no-referrer",
        signal: controller.signal,
      });
      const body = await read(response, most, progress);
      if (!response.ok) throw refusal(response, body);
      return body;
    } catch (error) {
      controller.abort(); // an aborted response must not keep a connection
      if (error instanceof ServiceError) throw error;
      throw new ServiceError(
        `the collector at ${this.url} ${late ? "answers too slowly" : "cannot be reached"}`,
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
      throw new ServiceError(`the collector's answer is longer than ${most} bytes`, BAD_ANSWER, response.status);
    }
    parts.push(chunk.value);
  }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new ServiceError("the collector's answer is not JSON; is this its address?", BAD_ANSWER);
  }
}

/** The error for a response other than 2xx, with the collector's message if there is one. */
function refusal(response: Response, body: Uint8Array): ServiceError {
  const told = response.headers.get("Retry-After") ?? "";
  const seconds = /^[0-9]{1,9}$/.test(told) ? Number(told) : null;
  const status = response.status || 302; // a browser hides which redirect it was, and none is followed
  let answer: any;
  try {
    answer = parsed(body);
  } catch {
    answer = null;
  }
  const { code, message } = answer?.error ?? {};
  return typeof code === "string" && typeof message === "string"
    ? new ServiceError(oneLine(message, 500), oneLine(code, 60), status, seconds)
    : new ServiceError(`the collector answered with status ${status}`, BAD_ANSWER, status, seconds);
}
