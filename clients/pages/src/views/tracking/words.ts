/** How a tracking survey stands, and what its curve says, in words. */
import type { DifferenceBody, PeriodList, TrendBody } from "../../parts/api_types.js";
import { count, figure, named, percent } from "../../parts/format.js";
import { capital } from "../../parts/trouble.js";

const whole = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

const dateOf = (moment: string): string => whole.format(new Date(moment));

/** Ends are exclusive: what ends at midnight ends on the day before. */
const lastDay = (moment: string): string => whole.format(new Date(Date.parse(moment) - 1));

/** Which period is running, which take late answers, and when the next one begins. */
export function standing({ periods, now, next, total }: PeriodList, over: boolean): string[] {
  if (over) return [`The survey is over: ${count(periods.length)}${total === null ? "" : ` of ${count(total)}`} periods were asked.`];
  const running = periods.find(({ starts, ends }) => starts <= now && now < ends);
  const late = periods.filter(({ ends, state }) => state === "open" && ends <= now);
  const of = total === null ? "" : ` of ${count(total)}`;
  return [
    ...(running === undefined
      ? []
      : [`${capital(running.label)}, period ${count(running.number)}${of}, is running until ${lastDay(running.ends)}; late answers are taken until ${lastDay(running.closes)}.`]),
    ...late.map(({ label, closes }) => `${capital(label)} is over and takes late answers until ${lastDay(closes)}.`),
    ...(next === null ? [] : [`The ${periods.length === 0 ? "first" : "next"} period begins on ${dateOf(next.starts)}, at 00:00 UTC.`]),
  ];
}

/** An amount of change: points of a share, or the unit of the answer. */
export function amount(value: number, { share, unit }: { share: boolean; unit: string }): string {
  if (!share) return `${figure(value)}${unit && `\u00a0${unit}`}`;
  const points = figure(100 * value);
  return `${points} ${points === "1" || points === "−1" ? "point" : "points"}`;
}

/** What a difference says, and whether anything can be said at all. */
export function differenceWords(earlier: string, later: string, found: DifferenceBody): string {
  const { answer, value, low, high, level } = found;
  const moved = value >= 0 ? "rose" : "fell";
  const sure = low > 0 || high < 0 ? "The interval leaves out zero." : "The interval contains zero: it may not have changed at all.";
  return `From ${named(earlier)} to ${named(later)}, “${answer}” ${moved} by ${amount(Math.abs(value), found)}. ${percent(level)} interval of the change: ${amount(low, found)} to ${amount(high, found)}. ${sure}`;
}

/** What the line through the closed periods says. */
export function trendWords(trend: TrendBody, share: boolean): string {
  const { answer, slope, low, high, level, p_value: p, p_value_change: still, periods } = trend;
  const measure = { share, unit: trend.unit };
  const way = low > 0 ? "rises" : high < 0 ? "falls" : null;
  const line =
    way === null
      ? `No steady rise or fall of “${answer}” can be seen over ${count(periods)} closed periods`
      : `“${answer}” ${way} by ${amount(Math.abs(slope), measure)} per period over ${count(periods)} closed periods`;
  const between = `${percent(level)} interval of the slope: ${amount(low, measure)} to ${amount(high, measure)} per period; p\u00a0${probability(p)}`;
  return `${line} (${between}). That nothing changed at all: p\u00a0${probability(still)}.`;
}

const probability = (p: number): string => (p < 0.0001 ? "<\u00a00.0001" : `=\u00a0${figure(Number(p.toPrecision(2)))}`);
