/** The lines that show the survey in another page, and whether any other page may ask yet. */
import type { Embedding } from "../../parts/api_types.js";
import { ask } from "../../parts/api.js";
import { el, fill } from "../../parts/dom.js";
import { troublePlace } from "../../parts/trouble.js";
import { copyButton } from "./exports.js";

/** Folded away; the lines are fetched when somebody opens it. */
export function embedView(id: string): HTMLElement {
  const { place, tell } = troublePlace();
  const told = el("div", {});
  const element = el(
    "details",
    { class: "card embed", ontoggle: () => void opened() },
    el("summary", {}, "Embed it in another page"),
    place,
    told,
  );

  async function opened(): Promise<void> {
    if (!element.open || told.firstChild) return;
    try {
      const address = encodeURIComponent(location.origin);
      fill(told, shown(await ask<Embedding>(`/v1/surveys/${id}/embedding?address=${address}`)));
      tell(null);
    } catch (error) {
      tell(error);
    }
  }

  return element;
}

function shown({ snippet, allow_origins: origins }: Embedding): HTMLElement {
  const field = el("textarea", { id: "embed-lines", readonly: true, rows: 8, spellcheck: "false", onfocus: () => field.select() }, snippet.trim());
  return el(
    "div",
    {},
    el("label", { for: "embed-lines", class: "quiet" }, "Put these lines where the question shall stand:"),
    field,
    el("p", {}, copyButton(snippet, field)),
    el(
      "p",
      { class: "quiet" },
      origins.length === 0
        ? "No other page may ask this collector yet: start it with --allow-origins and the web origin of that page."
        : `Pages that may ask this collector: ${origins.includes("*") ? "all" : origins.join(", ")} (--allow-origins).`,
    ),
    el("p", { class: "quiet" }, "After an upgrade of the collector the script is another one: then fetch these lines again."),
  );
}
