/** Query sets that the planner offers: a family and its sizes, written as the command line takes them. */

export interface Part {
  name: string;
  /** A text is for attributes; a number is bounded. */
  bounds: [number, number] | null;
  first: string;
}

export interface Family {
  label: string;
  parts: Part[];
}

export const FAMILIES: Record<string, Family> = {
  prefix: { label: "Prefixes: up to each value", parts: [{ name: "Values", bounds: [2, 1_048_576], first: "1024" }] },
  identity: { label: "Identity: each value", parts: [{ name: "Values", bounds: [2, 1_048_576], first: "1024" }] },
  ranges: { label: "Ranges: every interval", parts: [{ name: "Values", bounds: [2, 1_024], first: "64" }] },
  bins: {
    label: "Bins: intervals of one width",
    parts: [
      { name: "Values", bounds: [2, 1_048_576], first: "100" },
      { name: "Width", bounds: [1, 1_048_576], first: "10" },
    ],
  },
  marginals: {
    label: "Marginals: tables of attributes",
    parts: [
      { name: "Attributes and their sizes", bounds: null, first: "age=10,sex=2,country=30" },
      { name: "Attributes a table", bounds: [1, 8], first: "2" },
    ],
  },
  parities: {
    label: "Parities of bits",
    parts: [{ name: "Bits", bounds: [1, 30], first: "10" }, { name: "Bits a parity, at most", bounds: [1, 8], first: "3" }],
  },
};

/** A family and its parts as one word. */
export const workloadText = (family: string, parts: string[]): string => [family, ...parts.map((part) => part.trim())].join(":");

/** The family and the parts of a text; the first family as it begins where there is no such one. */
export function workloadOf(text: string): { family: string; parts: string[] } {
  const [family = "", ...parts] = text.split(":");
  const known = Object.hasOwn(FAMILIES, family) ? FAMILIES[family] : undefined;
  if (known !== undefined && parts.length === known.parts.length) return { family, parts };
  return { family: "prefix", parts: FAMILIES["prefix"]!.parts.map((part) => part.first) };
}
