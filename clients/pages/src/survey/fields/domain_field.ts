/** Where a person says which value of a domain is true of them. */
import { type Domain, LabelDomain, ProductDomain, RangeDomain, type TextDomain } from "../../../../js/src/domain/domain.js";
import { el } from "../../parts/dom.js";
import { choices } from "./choices.js";
import { ends, inSteps, textFault, wholeFault, wholeNumber } from "./faults.js";
import { type Field, mapped, orMissing, together, typedField } from "./field.js";
import { named, plain } from "./values.js";

/** Up to so many whole numbers are listed rather than typed. */
const FEW_NUMBERS = 11n;

export function domainField(domain: Domain, legend: string, id: string): Field {
  if (domain instanceof ProductDomain) {
    return together(domain.parts.map(([name, part], i) => domainField(part, named(name), `${id}-${i}`)), null, "record");
  }
  if (domain instanceof LabelDomain) {
    const names = domain.names.map((name) => plain(String(name)));
    const listed = choices(names, legend, id);
    const given = orMissing(mapped(listed, (i): unknown => domain.names[i]), domain.missing, plain(String(domain.missing)));
    return { ...given, set: (name) => listed.set?.(Number(domain.find(name))) };
  }
  if (domain instanceof RangeDomain && domain.size <= FEW_NUMBERS) {
    const names = Array.from({ length: Number(domain.size) }, (_, i) => domain.label(i));
    return wholeOrMissing(mapped(choices(names, legend, id), (i) => domain.start + domain.step * BigInt(i)), domain);
  }
  return domain instanceof RangeDomain ? rangeField(domain, legend, id) : textField(domain as TextDomain, legend, id);
}

/** A whole number, or none where the survey says what that counts as. */
export const wholeOrMissing = (field: Field<bigint>, { missing }: RangeDomain): Field<bigint> =>
  orMissing(field, missing, String(missing));

/** A whole number, typed. */
export function rangeField(domain: RangeDomain, label: string, id: string): Field<bigint> {
  const [low, high] = ends(domain);
  const field = typedField({
    label,
    id,
    hint: `A whole number from ${low} to ${high}${inSteps(domain)}.`,
    given: { inputmode: low >= 0n ? "numeric" : "text", class: "number" },
    parse: wholeNumber,
    fault: (text) => wholeFault(text, domain),
  });
  return wholeOrMissing(field, domain);
}

/** A short text. The empty one may be an answer too, but an untouched field is none. */
export function textField(domain: TextDomain, label: string, id: string): Field<string> {
  const hint = `At most ${domain.maxLength} characters, out of: ${plain(domain.alphabet)}`;
  const given = { autocapitalize: "none", autocorrect: "off" };
  const inner = typedField({ label, id, hint, given, parse: (text) => text, fault: (text) => textFault(text, domain) });
  const empty = el("input", { type: "checkbox", autocomplete: "off" });
  const read = () => (empty.checked ? "" : inner.read());
  return {
    element: el("div", { class: "field" }, inner.element, el("label", { class: "empty" }, empty, "It is the empty text")),
    read,
    problem: () => (read() === null ? inner.problem() : ""),
    focus: () => inner.focus(),
  };
}
