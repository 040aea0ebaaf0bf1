/** Which mechanism a survey has: the best one for it, unless somebody names another. */
import { el, fill } from "../../parts/dom.js";
import type { Kind } from "../list/kinds.js";
import type { Filled } from "./draft.js";
import type { Fields } from "./fields.js";

const VECTORS = ["codebook", "rejection"];
/** Ways to get answers from reports; those that take long to work out are for the command line. */
const STRATEGIES = ["direct", "hierarchical", "haar", "fourier", "histogram"];
const MECHANISMS: Record<Kind, string[]> = {
  distribution: [
    "hadamard",
    "hadamard_blocks",
    "projective_geometry",
    "subset_selection",
    "unary_optimized",
    "unary_symmetric",
    "randomized_response",
  ],
  queries: [...STRATEGIES, ...VECTORS],
  mean: VECTORS,
  adaptive: [],
};

/** The field, and a function that shows what the chosen kind can have. */
export function mechanismField(
  fields: Fields,
  filled: Filled,
  onChange: () => void,
): { element: HTMLElement; show: () => void } {
  const select = el("select", {
    onchange: () => {
      filled.mechanism = select.value;
      onChange();
    },
  });

  const element = fields.field("mechanism", "Mechanism", select);

  function show(): void {
    const names = MECHANISMS[filled.kind];
    if (!names.includes(filled.mechanism)) filled.mechanism = "auto";
    const option = (value: string, text: string): HTMLElement =>
      el("option", { value, selected: value === filled.mechanism }, text);
    fill(
      select,
      option("auto", "the best for this survey"),
      ...names.map((name) => option(name, name.replaceAll("_", " "))),
    );
    element.hidden = names.length === 0;
  }

  show();
  return { element, show };
}
