/**
 * What is wrong with a typed value, for the person who typed it; empty when nothing is.
 *
 * None repeats what was typed: it is an answer, or was meant as one.
 */
import type { RangeDomain, TextDomain } from "../../../../js/src/domain/domain.js";
import { count } from "../../parts/format.js";

/** What is wrong with a text that must be a whole number of a range; empty if nothing is. */
export function wholeFault(text: string, domain: RangeDomain): string {
  const [low, high] = ends(domain);
  const span = `from ${low} to ${high}`;
  if (text.trim() === "") return `nothing is written there yet; a whole number ${span} is due.`;
  if (!/^[+\-−]?\d+$/.test(text.trim())) return `that is not a whole number; write one in digits only, ${span}.`;
  // More digits than a number of any survey has.
  const found = wholeNumber(text) ?? (/[-−]/.test(text) ? low - 1n : high + 1n);
  if (found < low) return `that is too small; answers go ${span}.`;
  if (found > high) return `that is too large; answers go ${span}.`;
  return domain.find(found) < 0n ? `that lies between two answers; they go ${span}${inSteps(domain)}.` : "";
}

/** The least and the greatest number of a range. */
export const ends = ({ start, last, step }: RangeDomain): [low: bigint, high: bigint] =>
  step > 0n ? [start, last] : [last, start];

/** How far its numbers are apart, where that needs to be said. */
export const inSteps = ({ step }: RangeDomain): string =>
  step === 1n || step === -1n ? "" : `, in steps of ${step < 0n ? -step : step}`;

/** What is wrong with a text that must hold `many` numbers; empty if nothing is. */
export function numbersFault(text: string, many: number): string {
  if (numbersIn(text, many) !== null) return "";
  const parts = text.split(/[\s,;]+/).filter(Boolean);
  const due = many === 1 ? "one number is" : `${count(many)} numbers are`;
  if (parts.length === 0) return `nothing is written there yet; ${due} due.`;
  const bad = parts.findIndex((part) => numbersIn(part, 1) === null);
  const which = many === 1 && parts.length === 1 ? "that" : `number ${count(bad + 1)}`;
  if (bad >= 0) return `${which} cannot be read as a number; write it like 3, −0.5 or 2e−3.`;
  return `${count(parts.length)} ${parts.length === 1 ? "is" : "are"} written there; ${due} due.`;
}

/** What is wrong with a text of some characters; empty if nothing is. */
export function textFault(text: string, domain: TextDomain): string {
  const signs = [...text];
  if (signs.length === 0) return "nothing is written there yet; if it is the empty text, say so below.";
  if (signs.some((sign) => !domain.letters.includes(sign))) return "a character of it is not among those listed.";
  return signs.length > domain.maxLength ? `that is too long; ${count(domain.maxLength)} characters are the most.` : "";
}

// What people type, as numbers.

/** A whole number as people write it: spaces around, a sign or a true minus; null for anything else. */
export function wholeNumber(text: string): bigint | null {
  const plain = text.trim().replace("−", "-");
  return /^[+-]?\d{1,20}$/.test(plain) ? BigInt(plain.replace("+", "")) : null;
}

/** So many numbers, with spaces, commas or semicolons between them; null for anything else. */
export function numbersIn(text: string, many: number): number[] | null {
  const parts = text.replaceAll("−", "-").split(/[\s,;]+/).filter(Boolean);
  const numbers = parts.map((part) => (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(part) ? Number(part) : NaN));
  return parts.length === many && numbers.every(Number.isFinite) ? numbers : null;
}
