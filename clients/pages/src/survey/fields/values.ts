/** Answers by their number, as a survey takes them and as people read them. */
import { type Domain, LabelDomain, ProductDomain, RangeDomain } from "../../../../js/src/domain/domain.js";
import { plain } from "../../parts/format.js";

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

const ELSE = [
  /^(?:any|some)(?:thing|body|one|where)? ?(?:else|other)\b/i,
  /^(?:others?|none|neither|nothing|no answer|unknown|n\/?a)\b/i,
  /^(?:prefer|(?:i(?:['’]d| would) )?rather) not\b/i,
  /^(?:i )?(?:do not|don['’]t) know\b/i,
];

/** The label that stands for everything that is not listed, if the survey has one. */
export function elseLabel(names: readonly (string | number)[]): string | null {
  const found = names.find((name) => typeof name === "string" && ELSE.some((pattern) => pattern.test(name.trim())));
  return found === undefined ? null : String(found);
}
