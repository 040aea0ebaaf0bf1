/** How precise the estimate is and will be: the bound against the number of reports, and what has been seen of it. */
import type { BoundCurveBody, Picture, Status } from "../../parts/api_types.js";
import { lines, type LinesSpec } from "../../charts/lines.js";
import { captioned, captionOf, fileName, saveSvg } from "../../charts/svg_export.js";
import type { Chart } from "../../charts/stage.js";
import { ask } from "../../parts/api.js";
import { el, fill } from "../../parts/dom.js";
import { compact, count, counted } from "../../parts/format.js";
import { halfWidth, upward } from "./picture.js";

/** What the collector said of exactly so many reports. */
interface Exact {
  n: number;
  l2: number | null;
}

/** The level at which the collector tells margins: only intervals of the same level are held against them. */
const LEVEL = 0.95;
/** Most points kept of what was seen. */
const KEPT = 500;

interface BoundView {
  element: HTMLElement;
  /** The number of reports has changed, or whether more can come. */
  count(reports: number, open: boolean): void;
  /** A picture has come, whose intervals say how precise it is. */
  seen(picture: Picture): void;
}

/** The curve is asked for once: only the place on it moves as reports arrive. */
export function boundView(survey: Status): BoundView {
  const { id, title } = survey;
  const host = el("div");
  const said = el("p", { class: "quiet" });
  const save = el("button", { type: "button", class: "plain small", "aria-label": "Save as SVG: error against reports", onclick: () => saved() }, "SVG");
  const element = el(
    "section",
    { class: "card bound", "aria-labelledby": "bound", hidden: true },
    el("div", { class: "panel-head" }, el("h2", { id: "bound" }, "Error against reports"), save),
    said,
    host,
  );
  let curve: BoundCurveBody | null = null;
  let chart: Chart<LinesSpec> | null = null;
  let reports = 0;
  let more = true;
  let exact: Exact | null = null;
  let points: SeenWidth[] = [];
  let asking = false;
  let unit = "";

  const heading = [title, "error against reports"].filter((part) => part !== "").join(" · ");
  const saved = (): void => {
    if (chart !== null) saveSvg(captioned(chart.toSvg(), heading, captionOf(reports, survey, LEVEL)), fileName([title || "survey", "error"], "svg"));
  };

  async function load(): Promise<void> {
    if (asking || curve !== null) return;
    asking = true;
    try {
      curve = await ask<BoundCurveBody>(`/v1/surveys/${id}/bound`);
      draw();
    } catch {
      // The page already says that the collector is unavailable; the next count asks again.
    } finally {
      asking = false;
    }
  }

  function draw(): void {
    if (curve === null) return void load();
    element.hidden = false;
    const spec = specOf(curve, reports, more, points);
    if (chart === null) chart = lines(host, spec);
    else chart.update(spec);
    fill(said, promise(curve, exact, reports, more, unit));
  }

  return {
    element,
    count(now, open) {
      reports = now;
      more = open;
      draw();
    },
    seen(picture) {
      const half = halfWidth(picture);
      exact = { n: picture.n_reports, l2: picture.bound.l2 };
      unit = picture.unit;
      if (half !== null && picture.level === LEVEL && points.at(-1)?.n !== picture.n_reports) {
        points = [...points, { n: picture.n_reports, half, always: picture.always !== null }].slice(-KEPT);
      }
      draw();
    },
  };
}

/** Half of the widest interval that was shown, and whether it was to hold at every look. */
interface SeenWidth {
  n: number;
  half: number;
  always: boolean;
}

function seenSeries(points: SeenWidth[], always: boolean): LinesSpec["series"][number] {
  const kept = points.filter((point) => point.always === always);
  const name = `half of the widest 95 % interval, seen${always ? " at every look" : ""}`;
  return { name, x: kept.map(({ n }) => n), y: kept.map(({ half }) => half), as: "points" };
}

/** The curve up to a hundred times the reports there are: what can still be hoped for. */
function specOf(curve: BoundCurveBody, reports: number, open: boolean, points: SeenWidth[]): LinesSpec {
  const end = Math.max(1e6, 100 * reports);
  const kept = curve.n.flatMap((n, at) => (n <= end ? [at] : []));
  const margin = kept.map((at) => curve.margin[at] ?? null);
  const hasMargin = margin.some((value) => value !== null);
  return {
    name: "Error against reports",
    x: kept.map((at) => curve.n[at] as number),
    xLabel: "reports",
    logX: true,
    logY: true,
    series: [
      { name: "bound on the expected L2 error", y: kept.map((at) => curve.l2[at] ?? null) },
      { name: "margin of one answer (95 %), expected", y: hasMargin ? margin : [] },
      ...[false, true].map((always) => seenSeries(points, always)),
    ].filter(({ y }) => y.length > 0),
    ...(reports > 0 ? { mark: { x: reports, label: `${reports < 100_000 ? count(reports) : compact(reports)} ${open ? "now" : "in all"}` } } : {}),
  };
}

/** What the expected error stays below now, and as long as more can come at the first known number of reports that is four times as large or more. */
export function promise(curve: BoundCurveBody, exact: Exact | null, reports: number, open: boolean, unit = ""): string {
  const told = (bound: number): string => upward(bound) + (unit && `\u00a0${unit}`);
  const now = exact?.n === reports ? exact.l2 : boundAt(curve, reports);
  const later = curve.n.findIndex((n) => n >= 4 * Math.max(1, reports));
  const then = curve.l2[later] ?? null;
  if (!open) return now === null ? "" : `The bound on the expected error is ${told(now)}.`;
  if (now === null || then === null) return "Every report makes the answers more precise.";
  return `The bound on the expected error is now ${told(now)}; with ${counted(curve.n[later] as number, "report")} it is ${told(then)}.`;
}

/** The bound at the largest known number that is reached: more reports only lower it, so it holds, though it is not the lowest. */
function boundAt({ n, l2 }: BoundCurveBody, reports: number): number | null {
  const above = n.findIndex((known) => known > reports);
  return l2[(above < 0 ? n.length : above) - 1] ?? null;
}
