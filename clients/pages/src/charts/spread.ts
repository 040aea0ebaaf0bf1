/** Places of labels in a column: as near to what they name as they can be without touching. */

/** The places, in the given order: at least so far apart, and within the ends if there is room for all. */
export function spread(places: readonly number[], apart: number, low: number, high: number): number[] {
  const order = places.map((_, at) => at).sort((a, b) => (places[a] as number) - (places[b] as number));
  const found = [...places];
  let least = low;
  for (const at of order) {
    found[at] = Math.max(found[at] as number, least);
    least = (found[at] as number) + apart;
  }
  // What was pushed over the end is pushed back, and pushes what stands before it.
  let most = high;
  for (const at of order.reverse()) {
    found[at] = Math.min(found[at] as number, most);
    most = (found[at] as number) - apart;
  }
  return found;
}
