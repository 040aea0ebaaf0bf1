/** Unpacks a zlib stream (RFC 1950), strictly: exactly so many bytes out of exactly these, and nothing after it. */
import { concat } from "../core/bytes.js";
import { MechanismError } from "../core/errors.js";

/** The bytes behind a stream, or behind its beginning; undefined unless it ends well after at most `most` bytes. */
async function unpack(packed: Uint8Array, most: number): Promise<Uint8Array | undefined> {
  const reader = new Blob([packed as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream("deflate"))
    .getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      parts.push(step.value);
      length += step.value.length;
      if (length > most) {
        await reader.cancel();
        return undefined;
      }
    }
  } catch {
    return undefined;
  }
  return concat(...parts);
}

/** The `size` bytes behind a zlib stream; anything else rejects with `MechanismError`. */
export async function inflate(packed: Uint8Array, size: number): Promise<Uint8Array> {
  const found = await unpack(packed, size);
  // Not every platform refuses bytes after the end. If there are any, the stream still ends well without the last one.
  if (found?.length !== size || (await unpack(packed.subarray(0, -1), size))) {
    throw new MechanismError("the attachment is damaged");
  }
  return found;
}
