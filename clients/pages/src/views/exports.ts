/** What can be taken away from a survey's page: its numbers as files, and the link to hand to people. */
import { el, fill } from "../parts/dom.js";

const FORMATS = [
  ["csv", "CSV", "for spreadsheets"],
  ["json", "JSON", "with the bound and the level"],
  ["parquet", "Parquet", "for pandas, Polars, DuckDB"],
] as const;

export function exportsView(id: string): HTMLElement {
  const links = FORMATS.map(([format, name, use]) =>
    el("li", {}, el("a", { class: "button plain small", href: `/v1/surveys/${id}/table.${format}`, download: true }, name), el("span", { class: "quiet" }, use)),
  );
  return el(
    "section",
    { class: "card exports", "aria-labelledby": "exports" },
    el("h2", { id: "exports" }, "Take it with you"),
    el("ul", {}, ...links),
    el("p", { class: "quiet" }, "Each picture has a button of its own that saves it as SVG."),
  );
}

/** The address of the page where people answer, and a button that copies it. */
export function peopleLink(id: string): HTMLElement {
  const address = `${location.origin}/s/${id}`;
  const field = el("input", { id: "people-link", readonly: true, value: address, onfocus: () => field.select() });
  const copy = el("button", { type: "button", onclick: () => void copied() }, "Copy");

  async function copied(): Promise<void> {
    try {
      await navigator.clipboard.writeText(address);
      fill(copy, "Copied");
      setTimeout(() => fill(copy, "Copy"), 2_000);
    } catch {
      // Where the clipboard is closed to pages, the person's own copy works on what is now selected.
      field.focus();
    }
  }

  return el(
    "section",
    { class: "card people", "aria-labelledby": "people" },
    el("h2", { id: "people" }, "Hand it to people"),
    el("label", { for: "people-link", class: "quiet" }, "They answer here, and see what leaves their machine:"),
    el("div", { class: "link-row" }, field, copy),
    el("p", {}, el("a", { href: `/s/${id}` }, "Open it yourself")),
  );
}
