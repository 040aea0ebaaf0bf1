/** Values by their number, as a survey takes them. */
import { type Domain, LabelDomain, ProductDomain, RangeDomain } from "../src/domain/domain.js";

/** The value of that number. */
export function valueAt(domain: Domain, number: bigint | number): unknown {
  const index = BigInt(number);
  if (domain instanceof LabelDomain) return domain.names[Number(index)];
  if (domain instanceof RangeDomain) return domain.start + domain.step * index;
  if (!(domain instanceof ProductDomain)) return domain.label(index);
  const numbers = domain.split(index);
  return domain.parts.map(([, part], i) => valueAt(part, numbers[i]!));
}
