/** Answers by their number, as a survey takes them and as people read them. */
import { type Domain, LabelDomain, ProductDomain, RangeDomain } from "../../../js/src/domain.js";

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

/**
 * A stranger's text with what cannot be seen made visible, so that no label poses as another or turns its line around.
 *
 * The two joiners stay as they are: scripts and emoji need them.
 */
export const plain = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, (sign) =>
    /[\u200c\u200d]/.test(sign) ? sign : `⟨U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
