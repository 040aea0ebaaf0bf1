/** A picture of groups with the buttons that take it away: as SVG, as PNG, and its numbers as CSV where there is a file of them. */
import { clusters, type ClustersSpec } from "../../charts/clusters.js";
import type { Chart } from "../../charts/stage.js";
import { captioned, fileName, savePng, saveSvg } from "../../charts/svg_export.js";
import { el } from "../../parts/dom.js";

export interface ChartCard {
  /** The buttons. */
  save: HTMLElement;
  host: HTMLElement;
  /** Draws it anew; `caption` is what a file says of itself, `csv` the address of its numbers. */
  draw(spec: ClustersSpec, caption: string, csv?: string): void;
  clear(): void;
}

export function chartCard(title: string): ChartCard {
  const host = el("div");
  const csv = el("a", { class: "button plain small", download: true, hidden: true }, "CSV");
  let chart: Chart<ClustersSpec> | null = null;
  let shown: ClustersSpec | null = null;
  let said = "";
  const picture = (): string => captioned(chart?.toSvg() ?? "", [title, shown?.name ?? ""].filter((part) => part !== "").join(" · "), said);
  const named = (ending: "svg" | "png"): string => fileName([title || "survey", shown?.name ?? ""], ending);
  const button = (name: string, save: () => unknown): HTMLElement => el("button", { type: "button", class: "plain small", onclick: () => void (chart && save()) }, name);
  const save = el("div", { class: "save", hidden: true }, csv, button("SVG", () => saveSvg(picture(), named("svg"))), button("PNG", () => savePng(picture(), named("png"))));

  return {
    save,
    host,
    draw(spec, caption, address) {
      // A chart has one name for its life; of other groups it is another chart.
      if (shown !== null && shown.name !== spec.name) this.clear();
      [shown, said] = [spec, caption];
      if (chart === null) chart = clusters(host, spec);
      else chart.update(spec);
      save.hidden = false;
      csv.hidden = address === undefined;
      if (address !== undefined) csv.setAttribute("href", address);
    },
    clear() {
      chart?.destroy();
      chart = null;
      save.hidden = true;
    },
  };
}
