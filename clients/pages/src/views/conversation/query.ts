/** A query's text, coloured by what its symbols are, and with the place marked that was found wrong. */
import { el } from "../../parts/dom.js";
import { tokens } from "./tokens.js";

/** The text as code; `wrong` is where the symbol begins that is to be marked. */
export function queryText(text: string, wrong?: number): HTMLElement {
  let at = 0;
  const parts = tokens(text).map((token) => {
    const marked = wrong !== undefined && wrong >= at && wrong < at + token.text.length;
    at += token.text.length;
    return el(marked ? "mark" : "span", { class: `token ${token.kind}` }, token.text);
  });
  return el("code", { class: "query" }, ...parts);
}
