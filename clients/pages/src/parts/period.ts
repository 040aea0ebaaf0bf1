/** How a period of a tracking survey is called within a sentence. */

/** A period with its article: "the week of 8 March 2027", "March 2027". */
export const named = (label: string): string => (/ (?:of|from) /.test(label) ? `the ${label}` : label);
