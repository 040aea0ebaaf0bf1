/** Answers by their number, as a survey takes them and as people read them. */
import { type Domain, LabelDomain, ProductDomain, RangeDomain } from "../../../js/src/domain.js";
import { plain } from "../parts/plain.js";

export { plain };

/** The value of that number, in the form that a survey takes. */
export function valueAt(domain: Domain, index: bigint): unknown {
  if (domain instanceof LabelDomain) return domain.names[Number(index)];
  if (domain instanceof RangeDomain) return domain.start + domain.step * index;
  if (domain instanceof ProductDomain) {
    const numbers = domain.split(index);
    return domain.parts.map(([, part], i) => valueAt(part, numbers[i]!));
  }
  return domain.label(index);
}

/** How people read the value of that number. */
export function labelAt(domain: Domain, index: bigint): string {
  if (!(domain instanceof ProductDomain)) return plain(domain.label(index)) || "(empty)";
  const numbers = domain.split(index);
  return domain.parts.map(([name, part], i) => `${named(name)}: ${labelAt(part, numbers[i]!)}`).join(" · ");
}

/** An attribute's name as people write it. */
export const named = (attribute: string): string => attribute.replaceAll("_", " ");
