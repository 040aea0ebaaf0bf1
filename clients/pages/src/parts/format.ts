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
  const rounded = Number(value.toPrecision(3));
  if (rounded === 0 || (Math.abs(rounded) >= 1e-6 && Math.abs(rounded) < 1e7)) return String(rounded).replace("-", "−");
  const [digits = "", power = ""] = rounded.toExponential().split("e");
  return `${digits.replace("-", "−")} × 10${raised(power)}`;
}

/** What somebody sets, or has to set, as the command prints it: six significant digits, for three would be another setting. */
export const setting = (value: number): string => {
  const rounded = Number(value.toPrecision(6));
  return rounded >= 1e-4 && rounded < 1e6 ? String(rounded) : figure(value);
};

/** 0.000001 as 10⁻⁶: for what is always small, where nobody counts zeros. */
export function power(value: number): string {
  const [digits = "", exponent = ""] = Number(value.toPrecision(3)).toExponential().split("e");
  return `${digits === "1" ? "" : `${digits} × `}10${raised(exponent)}`;
}

/** The figures of a power: "-7" as "⁻⁷". */
const raised = (power: string): string =>
  power.replace("+", "").replace(/[-\d]/g, (sign) => (sign === "-" ? "⁻" : ("⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)] as string)));

/** 0.1234 as 12.3 %, which no line breaks apart. */
export const percent = (share: number): string => `${figure(share * 100)}\u00a0%`;

/** "1 report", "2 reports". */
export const counted = (n: number, thing: string, things = `${thing}s`): string => `${count(n)} ${n === 1 ? thing : things}`;

// Text of strangers, for people to read.

/**
 * A stranger's text with what cannot be seen made visible, so that no label poses as another or turns its line around.
 *
 * The two joiners stay as they are: scripts and emoji need them.
 */
export const plain = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, (sign) =>
    /[\u200c\u200d]/.test(sign) ? sign : `⟨U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );

// How a period of a tracking survey is called within a sentence.

/** A period with its article: "the week of 8 March 2027", "March 2027". */
export const named = (label: string): string => (/ (?:of|from) /.test(label) ? `the ${label}` : label);
