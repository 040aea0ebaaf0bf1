/** From what the collector tells of periods and answers to the picture of a curve, and to a file of its numbers. */
import type { CurveSpec, CurvePlace, Track } from "../../charts/curve.js";
import type { CurveBody, CurvePointBody, PeriodStatus, SmoothPointBody } from "../../parts/api_types.js";

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const month = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric", timeZone: "UTC" });

/** Days between two neighbours, or of all periods together, from which on a mark is a month. */
const MONTHLY = 28;
const LONG = 400;
const DAY = 86_400_000;

/** What the axis says of periods: their months where they are months or longer or there are years of them, else their first days. */
export function ticksOf(starts: readonly string[]): string[] {
  const [first = 0, second = first] = starts.slice(0, 2).map((moment) => Date.parse(moment));
  const last = Date.parse(starts.at(-1) ?? "");
  const format = second - first >= MONTHLY * DAY || last - first >= LONG * DAY ? month : day;
  return starts.map((moment) => format.format(new Date(moment)));
}

/** How many reports a period is likely to have in the end: the median of those that are closed, which one bad week does not move. */
export function expected(periods: readonly Pick<PeriodStatus, "state" | "n_reports">[]): number | null {
  const closed = periods.flatMap(({ state, n_reports: reports }) => (state === "sealed" ? [reports] : [])).sort((a, b) => a - b);
  return closed[Math.floor(closed.length / 2)] ?? null;
}

/** The periods on the axis of a curve. */
export function placesOf(periods: readonly PeriodStatus[]): CurvePlace[] {
  const ticks = ticksOf(periods.map(({ starts }) => starts));
  const likely = expected(periods);
  return periods.map(({ label, n_reports: reports, state }, at): CurvePlace => {
    const open = state === "open";
    return { label, tick: ticks[at] as string, reports, open, expected: open ? likely : null };
  });
}

/** The curve of one or several answers, all over the same periods. */
export function specOf(periods: readonly PeriodStatus[], bodies: readonly CurveBody[], compared: readonly [number, number] | null): CurveSpec {
  const placeOf = new Map(periods.map(({ number }, at) => [number, at]));
  const [earlier, later] = (compared ?? []).map((number) => placeOf.get(number));
  const [first] = bodies;
  return {
    name: `${bodies.map(({ answer }) => answer).join(", ")} over time`,
    places: placesOf(periods),
    tracks: bodies.map((body) => trackOf(body, periods)),
    share: first?.share ?? false,
    unit: first?.unit ?? "",
    level: first?.level ?? 0.95,
    compared: earlier === undefined || later === undefined ? null : [earlier, later],
  };
}

/** One line of a picture: of an answer, or of a group. */
type FollowedLine = Pick<CurveBody, "answer" | "points" | "smooth">;

/** The answer's values at the places of the periods, which may have been told a moment apart. */
export function trackOf({ answer, points, smooth }: FollowedLine, periods: readonly PeriodStatus[]): Track {
  const byPeriod = new Map(points.map((point) => [point.period, point]));
  const smoothed = new Map(smooth?.points.map((point) => [point.period, point]));
  const of = (read: (point: CurvePointBody) => number | null): (number | null)[] =>
    periods.map(({ number }) => {
      const point = byPeriod.get(number);
      return point === undefined ? null : read(point);
    });
  const line = (read: (point: SmoothPointBody) => number): (number | null)[] =>
    periods.map(({ number }) => {
      const point = smoothed.get(number);
      return point === undefined ? null : read(point);
    });
  return {
    name: answer,
    value: of(({ value }) => value),
    low: of(({ low }) => low),
    high: of(({ high }) => high),
    bandLow: of(({ band_low: low }) => low),
    bandHigh: of(({ band_high: high }) => high),
    smooth: smooth && { value: line(({ value }) => value), low: line(({ low }) => low), high: line(({ high }) => high) },
  };
}

const COLUMNS = ["period", "label", "starts", "state", "n_reports", "value", "raw", "low", "high", "band_low", "band_high"] as const;

/** Every number behind the picture, for spreadsheets; `first` is what the lines of the picture are of. */
export function csvOf(bodies: readonly FollowedLine[], first = "answer"): string {
  const rows = bodies.flatMap(({ answer, points, smooth }) => {
    const smoothed = new Map(smooth?.points.map((point) => [point.period, point.value]));
    return points.map((point) => [answer, ...COLUMNS.map((name) => point[name]), smoothed.get(point.period) ?? null]);
  });
  return [[first, ...COLUMNS, "smoothed"], ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** A cell that no spreadsheet takes for a formula. */
function cell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const plain = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
