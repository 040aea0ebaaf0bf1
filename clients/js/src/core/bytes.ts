/** Bytes as text and back, in one spelling each, and their SHA-256. */
import { SignatureError } from "./errors.js";

/** Lower-case hexadecimal. */
export const toHex = (bytes: Uint8Array): string => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

/** The bytes behind lower-case hexadecimal. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) throw new RangeError("this is not lower-case hexadecimal");
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** Base64url without padding (RFC 4648, section 5). */
export function toBase64url(bytes: Uint8Array): string {
  const text = btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(""));
  return text.replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
}

/**
 * The bytes behind base64url, of any length unless one is given; strict, so that every byte string has one spelling.
 * Padding may stand or not.
 */
export function fromBase64url(text: string, length?: number): Uint8Array<ArrayBuffer> {
  const bare = text.replace(/=+$/, "");
  let bytes: Uint8Array<ArrayBuffer> | null = null;
  try {
    bytes = Uint8Array.from(atob(bare.replace(/-/g, "+").replace(/_/g, "/")), (sign) => sign.charCodeAt(0));
  } catch {
    // No base64 at all: refused below.
  }
  const padded = bare.padEnd(4 * Math.ceil(bare.length / 4), "=");
  if (!bytes || bytes.length !== (length ?? bytes.length) || toBase64url(bytes) !== bare || ![bare, padded].includes(text)) {
    throw new SignatureError(`${length ?? "some"} bytes in base64url are expected, in their one spelling`);
  }
  return bytes;
}

/** One byte string after the other. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Whether two byte strings are the same; for public ones. */
export const equalBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

/** SHA-256, by the platform. */
export async function sha256(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
}

/** The numbers in some bytes. */
export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
