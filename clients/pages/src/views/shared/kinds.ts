/** The kinds of survey, each with a small picture of what comes out of it. */
import { el, svg } from "../../parts/dom.js";
import { capital } from "../../parts/trouble.js";

/** Lines in a box of 44 by 28. */
const PICTURES: Record<string, string> = {
  shares: "M5 25V12M13.5 25V4M22 25V9M30.5 25V17M39 25V21",
  queries: "M3 25H9V20H16V12H24V8H32V4H41",
  number: "M4 20H40M6 15V25M38 15V25M25 4V25M20 4H30",
  choices: "M5 5H12V12H5ZM6 8L8 11L13 3M18 9H39M5 18H12V25H5ZM18 22H33",
  records: "M5 4H39V25H5ZM5 11H39M5 18H39M17 4V25M28 4V25",
  words: "M4 6H22M4 13H14M4 20H18M4 27H10M28 4H40M28 10H35",
  vector: "M5 20H39M12 16V24M32 16V24M22 5V24M18 9L22 5L26 9",
  tracking: "M4 20L12 12L20 17L28 8L40 5M4 25H40M12 9V15M20 14V20M28 5V11",
  adaptive: "M4 4H26V15H12L7 19V15H4ZM31 10H40V21H37V25L32 21H18V19",
};

/** Names of the kinds that have a picture. */
export const KINDS = Object.keys(PICTURES);

/** The kind as a word of its own. */
export const kindName = (kind: string): string => capital(kind);

/** The kind's small picture; nothing for one that this page does not know. */
export function kindPicture(kind: string): Element {
  if (!Object.hasOwn(PICTURES, kind)) return el("span");
  return svg(
    "svg",
    { viewBox: "0 0 44 28", width: 44, height: 28, class: "kind-picture", "aria-hidden": "true" },
    svg("path", { d: PICTURES[kind] }),
  );
}
