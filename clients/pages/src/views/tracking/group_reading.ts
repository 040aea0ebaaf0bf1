/** From what the collector tells of groups over periods to the pictures of their curves and of their difference. */
import type { CurveSpec, Track } from "../../charts/curve.js";
import type { CurveBody, CurveComparisonBody, PeriodStatus } from "../../parts/api_types.js";
import { counted } from "../../parts/format.js";
import { isReal } from "../groups/difference_table.js";
import { watchedWords } from "../groups/words.js";
import type { Looks } from "../shared/looks.js";
import { placesOf, trackOf } from "./reading.js";

/** The lines of a picture of groups, each named by its group. */
export const linesOf = ({ groups }: CurveBody) => (groups ?? []).map(({ label, points }) => ({ answer: label, points, smooth: null }));

/** The curve of every group, all over the same periods. */
export function groupsSpec(periods: readonly PeriodStatus[], body: CurveBody): CurveSpec {
  const { answer, share, unit, level } = body;
  const tracks = linesOf(body).map((line) => trackOf(line, periods));
  return { name: `${answer}, by group`, places: placesOf(periods), tracks, share, unit, level, compared: null };
}

/** The difference of two groups in every period; of shares in percentage points. */
export function differenceSpec(periods: readonly PeriodStatus[], found: CurveComparisonBody): CurveSpec {
  const scale = found.share ? 100 : 1;
  const byPeriod = new Map(found.points.map((point) => [point.period, point]));
  type Key = "value" | "low" | "high" | "band_low" | "band_high";
  const of = (key: Key): (number | null)[] =>
    periods.map(({ number }) => {
      const value = byPeriod.get(number)?.[key] ?? null;
      return value === null ? null : scale * value;
    });
  const name = `${found.answer}: ${found.names[0]} less ${found.names[1]}`;
  const track: Track = { name, value: of("value"), low: of("low"), high: of("high"), bandLow: of("band_low"), bandHigh: of("band_high"), smooth: null };
  return { name, places: placesOf(periods), tracks: [track], share: false, unit: found.share ? "points" : found.unit, level: found.level, compared: null };
}

/** In how many closed periods the two differ, all of them with a probability of 5 % of any error. */
export function verdictOver({ points, names }: CurveComparisonBody): string {
  const closed = points.filter(({ state, value }) => state === "closed" && value !== null);
  const real = closed.filter(isReal);
  if (closed.length === 0) return "No period is closed yet.";
  return `${names[0]} and ${names[1]} differ in ${real.length} of ${counted(closed.length, "closed period")} (at 5\u00a0%, adjusted for the number of periods).`;
}

/** Which test it is, for somebody who watches: open periods are looked at again and again, closed ones change no more. */
export const watchedPeriods = (always: boolean, looks: Looks, isOpen: boolean): string | null =>
  always ? "Open periods are watched: their intervals and p-values hold at every look together. Closed periods change no more; theirs are of one look." : watchedWords(false, looks, isOpen);
