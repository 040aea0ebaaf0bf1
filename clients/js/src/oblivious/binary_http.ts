/** Binary HTTP (RFC 9292), known length: a request as bytes, and the response behind bytes. */
import { concat, viewOf } from "../core/bytes.js";

interface BinaryRequest {
  readonly method: string;
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

interface BinaryResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array<ArrayBuffer>;
}

const REQUEST = 0;
const RESPONSE = 1;

/** A number in the fewest of 1, 2 or 4 bytes; the first two bits say which (RFC 9000, Sec. 16). */
function encodeNumber(number: number): Uint8Array {
  if (number < 2 ** 6) return Uint8Array.of(number);
  const bytes = new Uint8Array(number < 2 ** 14 ? 2 : 4);
  if (bytes.length === 2) viewOf(bytes).setUint16(0, number + 2 ** 14);
  else viewOf(bytes).setUint32(0, number + 2 ** 31);
  return bytes;
}

const sized = (bytes: Uint8Array): Uint8Array => concat(encodeNumber(bytes.length), bytes);

const text = (found: string): Uint8Array => sized(new TextEncoder().encode(found));

/** A request without padding and without trailers, each part in the one form that it has. */
export function encodeRequest({ method, scheme, authority, path, headers, body }: BinaryRequest): Uint8Array<ArrayBuffer> {
  const control = [method, scheme, authority, path].map(text);
  const fields = concat(...headers.flat().map(text));
  return concat(encodeNumber(REQUEST), ...control, sized(fields), sized(body), sized(new Uint8Array(0)));
}

/** The response; throws `RangeError` where the bytes are none. What is missing at the end is empty, as the RFC allows. */
export function decodeResponse(bytes: Uint8Array): BinaryResponse {
  const reader = new FrameReader(bytes);
  if (reader.number() !== RESPONSE) throw new RangeError("no response of known length");
  let status = reader.number();
  while (status >= 100 && status < 200) {
    reader.sized(); // an informational response has header fields alone
    status = reader.number();
  }
  if (status < 200 || status > 599) throw new RangeError("no final status");
  const fields = new FrameReader(reader.isAtEnd ? new Uint8Array(0) : reader.sized());
  const headers: [string, string][] = [];
  while (!fields.isAtEnd) headers.push([fields.text(), fields.text()]);
  const body = reader.isAtEnd ? new Uint8Array(0) : reader.sized();
  if (!reader.isAtEnd) reader.sized();
  if (reader.rest().some((byte) => byte !== 0)) throw new RangeError("padding that is not zero");
  return { status, headers, body };
}

/** Reads from the front. */
class FrameReader {
  #at = 0;

  constructor(readonly bytes: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.#at === this.bytes.length;
  }

  number(): number {
    const first = this.#take(1)[0]!;
    const more = this.#take((1 << (first >> 6)) - 1);
    const found = more.reduce((high, low) => 256 * high + low, first & 63);
    if (!Number.isSafeInteger(found)) throw new RangeError("a number too large");
    return found;
  }

  sized(): Uint8Array<ArrayBuffer> {
    return this.#take(this.number());
  }

  text(): string {
    return Array.from(this.sized(), (byte) => String.fromCharCode(byte)).join(""); // fields are bytes, not UTF-8
  }

  rest(): Uint8Array {
    return this.#take(this.bytes.length - this.#at);
  }

  #take(length: number): Uint8Array<ArrayBuffer> {
    const end = this.#at + length;
    if (end > this.bytes.length) throw new RangeError("it ends too early");
    const found = this.bytes.slice(this.#at, end);
    this.#at = end;
    return found;
  }
}
