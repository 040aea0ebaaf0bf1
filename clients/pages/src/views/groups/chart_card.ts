/** A picture with the buttons that take it away: as SVG, as PNG, and its numbers as CSV where there is a file of them. */
import type { Chart } from "../../charts/stage.js";
import { captioned, fileName, savePng, saveSvg } from "../../charts/svg_export.js";
import { el } from "../../parts/dom.js";

export interface ChartCard<Spec> {
  /** The buttons. */
  save: HTMLElement;
  host: HTMLElement;
  /** Draws it anew; `caption` is what a file says of itself, `csv` the address of its numbers. */
  draw(spec: Spec, caption: string, csv?: string): void;
  clear(): void;
}

/** `make` draws the chart; `title` is the survey's. */
export function chartCard<Spec extends { name: string }>(title: string, make: (host: HTMLElement, spec: Spec) => Chart<Spec>): ChartCard<Spec> {
  const host = el("div");
  const csv = el("a", { class: "button plain small", download: true, hidden: true }, "CSV");
  let chart: Chart<Spec> | null = null;
  let name = "";
  let said = "";
  const picture = (): string => captioned(chart?.toSvg() ?? "", title === "" ? name : `${title} · ${name}`, said);
  const button = (kind: "svg" | "png", act: (text: string, file: string) => unknown): HTMLElement =>
    el("button", { type: "button", class: "plain small", onclick: () => void (chart && act(picture(), fileName([title || "survey", name], kind))) }, kind.toUpperCase());
  const save = el("div", { class: "save", hidden: true }, csv, button("svg", saveSvg), button("png", savePng));

  function clear(): void {
    chart?.destroy();
    chart = null;
    save.hidden = true;
  }

  return {
    save,
    host,
    draw(spec, caption, address) {
      // What a chart is called is said to those who hear it: of other groups it is another one.
      if (name !== spec.name) clear();
      [name, said] = [spec.name, caption];
      if (chart === null) chart = make(host, spec);
      else chart.update(spec);
      save.hidden = false;
      csv.hidden = address === undefined;
      if (address !== undefined) csv.setAttribute("href", address);
    },
    clear,
  };
}
