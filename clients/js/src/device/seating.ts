/**
 * Which round of a panel, or which period of a window, a device answers: the same draw for both.
 *
 * It follows from a secret that a device draws once and keeps, so that a store restored from an old backup finds the
 * same seat again. It does not depend on any value.
 */
import { concat, fromHex, viewOf } from "../core/bytes.js";
import { systemSource } from "../randomness/source.js";
import { SECRET_BYTES, type Store } from "./store.js";

const CONTEXT = new TextEncoder().encode("sottovoce seat\0");

/** A seat from 1 to `seats`, uniform: blocks of HMAC-SHA256 until one is below the largest multiple of `seats`. */
export async function deriveSeat(secret: Uint8Array, id: string, window: bigint, seats: bigint): Promise<bigint> {
  const { subtle } = globalThis.crypto;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await subtle.importKey("raw", secret as Uint8Array<ArrayBuffer>, algorithm, false, ["sign"]);
  const accepted = 2n ** 64n - (2n ** 64n % seats);
  const place = new Uint8Array(12);
  viewOf(place).setBigUint64(0, window);
  for (let i = 0; ; i++) {
    viewOf(place).setUint32(8, i);
    const block = new Uint8Array(await subtle.sign("HMAC", key, concat(CONTEXT, fromHex(id), place)));
    const drawn = viewOf(block).getBigUint64(0);
    if (drawn < accepted) return 1n + (drawn % seats);
  }
}

/** This device's seat in a window; one that an older version has drawn stays. */
export async function seatIn(store: Store, id: string, window: number, seats: number): Promise<number> {
  const drawn = window === 1 ? await store.seat(id) : null;
  if (drawn !== null) return drawn;
  const secret = await store.secret(systemSource.bytes(SECRET_BYTES));
  return Number(await deriveSeat(secret, id, BigInt(window), BigInt(seats)));
}
