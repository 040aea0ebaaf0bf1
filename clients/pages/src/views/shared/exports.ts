/** What can be taken away from a survey's page: its numbers as files, and the link to hand to people. */
import { el, fill } from "../../parts/dom.js";
import type { Looks } from "./looks.js";

const FORMATS = [
  ["csv", "CSV", "for spreadsheets"],
  ["json", "JSON", "with the bound and the level"],
  ["parquet", "Parquet", "for pandas, Polars, DuckDB"],
  ["arrow", "Arrow", "the same, read without decoding"],
] as const;

interface ExportsView {
  element: HTMLElement;
  /** The files have these intervals from now on. */
  intervals(wanted: Precision): void;
}

/** The level of intervals, and the looks that they hold at. */
export interface Precision {
  level: number;
  looks: Looks;
}

export function exportsView(id: string, first: Precision): ExportsView {
  const links = FORMATS.map(([format, name, use]) => ({ format, use, link: el("a", { class: "button plain small", download: true }, name) }));
  const element = el(
    "section",
    { class: "card exports", "aria-labelledby": "exports" },
    el("h2", { id: "exports" }, "Take it with you"),
    el("ul", {}, ...links.map(({ link, use }) => el("li", {}, link, el("span", { class: "quiet" }, use)))),
    el("p", { class: "quiet" }, "Each picture has a button of its own that saves it as SVG."),
  );

  function intervals({ level, looks }: Precision): void {
    for (const { link, format } of links) link.setAttribute("href", `/v1/surveys/${id}/table.${format}?level=${level}&always=${looks}`);
  }

  intervals(first);
  return { element, intervals };
}

/** The address of the page where people answer, and a button that copies it. */
export function peopleLink(id: string): HTMLElement {
  const address = `${location.origin}/s/${id}`;
  const field = el("input", { id: "people-link", readonly: true, value: address, onfocus: () => field.select() });

  return el(
    "section",
    { class: "card people", "aria-labelledby": "people" },
    el("h2", { id: "people" }, "Hand it to people"),
    el("label", { for: "people-link", class: "quiet" }, "They answer here, and see what leaves their machine:"),
    el("div", { class: "link-row" }, field, copyButton(address, field)),
    el("p", {}, el("a", { href: `/s/${id}` }, "Open it yourself")),
  );
}

/** `field` holds the same text, for where a page may not write to the clipboard. */
export function copyButton(text: string, field: HTMLElement): HTMLElement {
  const copy = el("button", { type: "button", onclick: () => void copied() }, "Copy");

  async function copied(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      fill(copy, "Copied");
      setTimeout(() => fill(copy, "Copy"), 2_000);
    } catch {
      // Where the clipboard is closed to pages, the person's own copy works on what is now selected.
      field.focus();
    }
  }

  return copy;
}
