/** Numbers as people read them; the same everywhere on the pages. */

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** 1234567 as 1,234,567. */
export const count = (n: number): string => whole.format(n);

/** 1234567 as 1.2M. */
export const compact = (n: number): string => short.format(n);

/** Three significant digits, without the zeros that say nothing. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "unknown";
  if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e7)) return value.toExponential(2);
  return String(Number(value.toPrecision(3))).replace("-", "−");
}

/** 0.1234 as 12.3 %, which no line breaks apart. */
export const percent = (share: number): string => `${figure(share * 100)}\u00a0%`;

/** "1 report", "2 reports". */
export const counted = (n: number, thing: string): string => `${count(n)} ${thing}${n === 1 ? "" : "s"}`;
