/**
 * How a typed word is spelt before it is counted: one form for all that look alike, the same in every language.
 *
 * Every step is on code points, so that none depends on a locale, a dictionary or the letters around a letter.
 */

/** What becomes of capital letters. */
export type LetterCase = "lower" | "keep";

/** White space, listed since languages differ in what they trim. */
const SPACES = /[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+/gu;

/** Control characters, lone surrogates, and marks that steer the direction of writing or have no width. */
const REFUSED = /[\0-\x1f\x7f-\x9f\p{Surrogate}\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** The text in NFC, in small letters if so stated, its white space trimmed and joined. */
function normalised(text: string, letters: LetterCase): string {
  const composed = text.normalize("NFC");
  // Letter by letter: of a whole word, engines would look at a sigma's neighbours.
  const small = letters === "lower" ? Array.from(composed, (letter) => letter.toLowerCase()).join("") : composed;
  return small.replace(SPACES, " ").normalize("NFC").replace(/^ | $/g, "");
}

/** The canonical spelling of a text; null for anything that is not a word. */
export function spelt(text: string, letters: LetterCase): string | null {
  const found = normalised(text, letters);
  return found === "" || REFUSED.test(found) ? null : found;
}

/** Why a text has no spelling, as the end of a sentence. */
export const whyNoWord = (text: string): string =>
  normalised(text, "keep") === ""
    ? "it is empty"
    : "it contains a control character, half a character, or a mark that steers the direction of writing";
