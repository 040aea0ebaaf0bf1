/** The numbers behind a chart, for those who would rather read, and for screen readers: filled when opened, not before. */
import { el, fill } from "../parts/dom.js";
import { count } from "../parts/format.js";

export interface Table {
  head: string[];
  rows: number;
  /** The texts of one row; the first is its name. */
  row(at: number): string[];
}

const MOST = 1000;

/** A folded table; `refresh` reads the numbers again, and changes only those cells that differ. */
export class FoldedTable {
  private readonly body = el("tbody");
  private readonly head = el("tr");
  private readonly note = el("p", { class: "quiet" });
  readonly element: HTMLDetailsElement;

  constructor(
    name: string,
    private readonly read: () => Table,
  ) {
    const table = el("table", { "aria-label": name }, el("thead", {}, this.head), this.body);
    this.element = el(
      "details",
      { class: "chart-table", ontoggle: () => this.refresh() },
      el("summary", {}, "Numbers"),
      el("div", { class: "chart-table-window", tabindex: 0, role: "region", "aria-label": `Numbers: ${name}` }, table),
      this.note,
    );
  }

  refresh(): void {
    if (!this.element.open) return;
    const { head, rows, row } = this.read();
    if (this.head.children.length !== head.length) {
      fill(this.head, ...head.map((text) => el("th", { scope: "col" }, text)));
      fill(this.body);
    } else head.forEach((text, at) => put(this.head.children[at] as Element, text));
    const shown = Math.min(MOST, rows);
    while (this.body.rows.length > shown) this.body.deleteRow(-1);
    for (let at = 0; at < shown; at += 1) {
      const texts = row(at);
      const there = this.body.rows[at];
      if (there === undefined) this.body.append(made(texts));
      else texts.forEach((text, column) => put(there.cells[column] as Element, text));
    }
    this.note.hidden = rows <= MOST;
    put(this.note, `The first ${count(MOST)} of ${count(rows)}. The exports hold all of them.`);
  }
}

function made(texts: string[]): HTMLTableRowElement {
  return el("tr", {}, ...texts.map((text, at) => (at === 0 ? el("th", { scope: "row", dir: "auto" }, text) : el("td", {}, text))));
}

function put(cell: Element, text: string): void {
  if (cell.textContent !== text) cell.textContent = text;
}
