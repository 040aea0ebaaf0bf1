/** Workloads to begin with, beneath the line in which they are written. */
import { el } from "../parts/dom.js";

const EXAMPLES: Record<string, string> = {
  "prefix:64": "cumulative shares of 64 values: a CDF",
  "ranges:64": "the share of every interval of 64 values",
  "bins:100:10": "100 values in bins of ten",
  "marginals:age=10,sex=2,country=30:2": "a table for every two of three attributes",
  "parities:10:3": "parities of up to three out of ten bits",
};

/** Buttons that write one of them into the line. */
export function workloadExamples(line: HTMLInputElement): HTMLElement {
  const use = (text: string) => () => {
    line.value = text;
    line.dispatchEvent(new Event("input"));
    line.focus();
  };
  return el(
    "ul",
    { class: "examples" },
    ...Object.entries(EXAMPLES).map(([text, about]) =>
      el(
        "li",
        {},
        el("button", { type: "button", class: "plain small", onclick: use(text) }, el("code", {}, text)),
        el("span", { class: "quiet" }, about),
      ),
    ),
  );
}
