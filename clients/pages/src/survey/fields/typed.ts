/** What people type, as numbers. */

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
